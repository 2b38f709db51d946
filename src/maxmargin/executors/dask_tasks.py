"""What is sent to a Dask cluster, and what its workers do with it: tasks that can be done anew anywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from maxmargin.executors.wire import Handle, Ledger, Message, NumberedObject, Survey, outcome

SHORT = 2**14  # bytes that are sent with every task


class Cluster(Protocol):
    """Who sends."""

    sent: int
    received: int

    def submit(self, name: str, fn: Callable[..., Any], *arguments: Any) -> Any:
        """A future."""


class DaskTask(Protocol):
    """Something to do for one part, or for several."""

    name: str
    parts: int

    def late(self) -> list[str]:
        """Which parts are not done."""

    def begin(self) -> Any:
        """A new future of it."""

    def read(self, result: Any) -> Any:
        """What it came to, or an error."""


class Common:
    """What all parts of a round are told: w, as a rule. If long, it is sent to the cluster once, and to each worker."""

    def __init__(self, executor: Cluster, shared: Sequence[Any]):
        self.executor, self.message = executor, Message.of(Ledger(), tuple(shared))
        self._future: Any = None

    def owned(self) -> Common:
        """The same, whatever becomes of the arrays that it was made of."""
        self.message = self.message.owned()
        return self

    @property
    def future(self) -> Any:
        """Of the message; of a short one itself, which is not worth a task."""
        if len(self.message) < SHORT:
            return self.message
        if not _is_there(self._future):
            self._future = self.executor.submit("weights", passed_on, self.message)
        return self._future


class Placed(Handle):
    """A part, as a task that makes it. Dask forgets it when the last reference to this handle is gone."""

    def __init__(self, executor: Cluster, number: int, ledger: Ledger):
        super().__init__(0)
        self.executor, self.number, self.ledger = executor, number, ledger
        self._future: Any = None

    @property
    def future(self) -> Any:
        if not _is_there(self._future):
            self._future = self._made()
        return self._future

    def _made(self) -> Any:
        raise NotImplementedError


class Source(Placed):
    """A part whose pickle the scheduler has."""

    def __init__(self, executor: Cluster, part: Any, number: int):
        super().__init__(executor, number, Ledger())
        self.part, self.sign = part, 0
        self.numbered = True  # whether both sides number its arrays alike; if not, all is sent as it is

    def _made(self) -> Any:
        survey = Survey(self.part)
        self.sign = survey.sign
        if self.numbered:
            self.ledger.keep(0, survey.table)
        return self.executor.submit(f"data-part {self.number}", unpacked, survey.message, self.numbered)


class DerivedPart(Placed):
    """A part that is made of another one, and may share arrays with it."""

    def __init__(self, fn: Callable[..., Any], origin: Placed, common: Common, round: int):
        super().__init__(origin.executor, origin.number, origin.ledger)
        self.fn, self.origin, self.common, self.round = fn, origin, common, round

    def _made(self) -> Any:
        name, data = _name(self.fn, self.number, self.round), Message.of(self.ledger, self.fn)
        return self.executor.submit(name, derived, data, self.origin.future, self.common.future)


class Placing:
    """Make a part, and compare its numbers."""

    parts = 1

    def __init__(self, part: Source):
        self.part, self.name = part, f"part {part.number} (its data)"

    def begin(self) -> Any:
        return self.part.executor.submit(f"look-part {self.part.number}", signed, self.part.future)

    def late(self) -> list[str]:
        return [self.name]

    def read(self, sign: Any) -> None:
        if sign != self.part.sign:
            self.part.numbered, self.part._future = False, None
            self.part.ledger.forget(0)


class Call:
    """fn(part, own, *shared)."""

    parts = 1

    def __init__(self, fn: Callable[..., Any], part: Placed, own: Any, common: Common, round: int):
        self.fn, self.part, self.own, self.common, self.round = fn, part, own, common, round
        self.name = f"part {part.number}"

    def begin(self) -> Any:
        part, other = self.part, self.own if isinstance(self.own, Placed) else None
        data = Message.of(part.ledger, (self.fn, None if other is not None else self.own))
        name = _name(self.fn, part.number, self.round)
        also = None if other is None else other.future
        return part.executor.submit(name, called, data, part.future, also, self.common.future)

    def late(self) -> list[str]:
        return [self.name]

    def read(self, result: tuple[bool, Message]) -> Any:
        good, message = result
        self.part.executor.received += len(message)
        answer = message.read(self.part.ledger)
        if not good:
            raise answer
        return answer


class Join:
    """join(one, other), of the answers of two tasks, where one of them is."""

    def __init__(self, join: Callable[[Any, Any], Any], one: Any, other: Any, round: int):
        self.join, self.one, self.other, self.round = join, one, other, round
        self.name, self.part, self.parts = f"{one.name}, {other.name}", one.part, one.parts + other.parts
        self._begun: list[tuple[Any, Any]] = []  # both tasks and their futures

    def begin(self) -> Any:
        executor, fn = self.part.executor, Message.of(Ledger(), self.join)
        name = _name(self.join, self.part.number, self.round)
        self._begun = [(each, each.begin()) for each in (self.one, self.other)]
        return executor.submit(name, joined, fn, *(future for _, future in self._begun))

    def late(self) -> list[str]:
        return [name for task, future in self._begun if future.status == "pending" for name in task.late()]

    def read(self, result: tuple[bool, Message]) -> Any:
        good, message = result
        self.part.executor.received += len(message)
        answer = message.read(Ledger())
        if not good:
            raise answer
        return answer


def _is_there(future: Any) -> bool:
    return future is not None and future.status not in ("cancelled", "lost")


def part_of(key: str) -> str:
    """What the name of a task says of its part."""
    return key.partition("-")[2].partition(",")[0] or key


def _name(fn: Callable[..., Any], number: int, round: int) -> str:
    """Of a task, for people."""
    return f"{getattr(fn, '__name__', 'work').strip('_').replace('_', ' ')}-part {number}, round {round}"


# --- what workers do


def passed_on(message: Message) -> Message:
    """As a task of its own, it can be done anew."""
    return message


def unpacked(data: Message, numbered: bool) -> NumberedObject:
    """A part, from what the scheduler has."""
    thing = data.read(Ledger())
    return NumberedObject(thing, Survey(thing).table if numbered else [])


def signed(part: NumberedObject) -> int:
    """By which the numbers of its arrays are known as those of the other side."""
    return Survey(part.thing).sign


def derived(data: Message, part: NumberedObject, shared: Message) -> NumberedObject:
    """One call of `Executor.derive`."""
    fn = data.read(part.ledger)
    return NumberedObject(fn(part.thing, *shared.read(part.ledger)), part.table)


def joined(join: Message, one: tuple[bool, Message], other: tuple[bool, Message]) -> tuple[bool, Message]:
    """One step of `Executor.reduce`; an error takes the place of what it would be joined with."""
    for good, message in (one, other):
        if not good:
            return good, message
    ledger = Ledger()
    return outcome(ledger, lambda: join.read(ledger)(one[1].read(ledger), other[1].read(ledger)))


def called(data: Message, part: NumberedObject, other: NumberedObject | None, shared: Message) -> tuple[bool, Message]:
    """One call of `Executor.map`."""

    def work() -> Any:
        fn, own = data.read(part.ledger)
        return fn(part.thing, own if other is None else other.thing, *shared.read(part.ledger))

    return outcome(part.ledger, work)
