"""What is sent to a Dask cluster, and what its workers do with it: tasks that can be done anew anywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from maxmargin.executors.messages import Ledger, Message, outcome

SHORT = 2**14  # bytes that are sent with every task
FEW = 2  # parts that need no tree: the scheduler sends w to each, and what they come to is joined by who asked


class Job(NamedTuple):
    """A task as the scheduler has it: what it can be done with anew, anywhere."""

    name: str
    fn: Callable[..., Any]
    arguments: tuple[Any, ...]


class Cluster(Protocol):
    """Who sends."""

    sent: int
    received: int

    @property
    def in_this_process(self) -> bool:
        """Whether messages are handed over, and not copied."""

    def submit(self, jobs: Sequence[Job]) -> list[Any]:
        """Their futures."""


class DaskTask(Protocol):
    """Something to do for one part, or for several."""

    name: str
    parts: int
    joins: tuple[Any, ...]  # the tasks whose results it is made of

    def late(self) -> list[str]:
        """Which parts are not done."""

    def job(self, *joined: Any) -> Job:
        """What is to be done, with the futures of the tasks that it joins."""

    def read(self, result: Any) -> Any:
        """What it came to, or an error."""


def begun(executor: Cluster, tasks: Sequence[DaskTask]) -> list[Any]:
    """New futures of these tasks, and of those that they join. Those of a kind are sent in one message."""
    below = [each for task in tasks for each in task.joins]
    futures = iter(begun(executor, below)) if below else iter(())
    return executor.submit([task.job(*(next(futures) for _ in task.joins)) for task in tasks])


class Common:
    """What all parts of a round are told: w, as a rule.

    If it is long and parts are many, it is sent to the cluster once, as a task whose result goes on to each worker.
    """

    def __init__(self, executor: Cluster, shared: Sequence[Any], readers: int):
        self.executor, self.message = executor, Message.of(Ledger(), tuple(shared))
        self.readers = readers
        self._future: Any = None

    def owned(self) -> Common:
        """The same, whatever becomes of the arrays that it was made of."""
        self.message = self.message.owned()
        return self

    @property
    def future(self) -> Any:
        """Of the message; or itself, where it is not worth a task."""
        if len(self.message) < SHORT or self.readers <= FEW:
            return self.message
        if not _is_there(self._future):
            [self._future] = self.executor.submit([Job("weights", passed_on, (self.message,))])
        return self._future


class Placed:
    """A part, as a task that makes it. Dask forgets it when the last reference to this handle is gone."""

    def __init__(self, executor: Cluster, number: int, ledger: Ledger):
        self.executor, self.number, self.ledger = executor, number, ledger
        self._future: Any = None

    @property
    def future(self) -> Any:
        if not _is_there(self._future):
            [self._future] = self.executor.submit([self._job()])
        return self._future

    def _job(self) -> Job:
        raise NotImplementedError


class Source(Placed):
    """A part whose pickle the scheduler has."""

    def __init__(self, executor: Cluster, part: Any, number: int):
        super().__init__(executor, number, Ledger())
        self.part = part

    def _job(self) -> Job:
        message, contents = Message.placing(self.part)
        self.ledger.keep(0, contents)
        return Job(f"data-part {self.number}", unpacked, (message,))


class DerivedPart(Placed):
    """A part that is made of another one, and may share arrays with it."""

    def __init__(self, fn: Callable[..., Any], origin: Placed, common: Common, round: int):
        super().__init__(origin.executor, origin.number, origin.ledger)
        self.fn, self.origin, self.common, self.round = fn, origin, common, round

    def _job(self) -> Job:
        name, data = _name(self.fn, self.number, self.round), Message.of(self.ledger, self.fn)
        return Job(name, derived, (data, self.origin.future, self.common.future))


class Call:
    """fn(part, own, *shared)."""

    parts = 1
    joins: tuple[Any, ...] = ()

    def __init__(self, fn: Callable[..., Any], part: Placed, own: Any, common: Common, round: int):
        self.fn, self.part, self.own, self.common, self.round = fn, part, own, common, round
        self.name = f"part {part.number}"

    def job(self, *joined: Any) -> Job:
        part, other = self.part, self.own if isinstance(self.own, Placed) else None
        data = Message.of(part.ledger, (self.fn, None if other is not None else self.own))
        name = _name(self.fn, part.number, self.round)
        also = None if other is None else other.future
        return Job(name, called, (data, part.future, also, self.common.future))

    def late(self) -> list[str]:
        return [self.name]

    def read(self, result: tuple[bool, Message]) -> Any:
        return _read(self.part.executor, self.part.ledger, result)


class Join:
    """join(one, other), of the answers of two tasks, where one of them is."""

    def __init__(self, join: Callable[[Any, Any], Any], one: Any, other: Any, round: int):
        self.join, self.joins, self.round = join, (one, other), round
        self.name, self.part, self.parts = f"{one.name}, {other.name}", one.part, one.parts + other.parts
        self._begun: list[tuple[Any, Any]] = []  # both tasks and their futures

    def job(self, *joined: Any) -> Job:
        self._begun = list(zip(self.joins, joined, strict=True))
        name = _name(self.join, self.part.number, self.round)
        return Job(name, joined_there, (Message.of(Ledger(), self.join), *joined))

    def late(self) -> list[str]:
        return [name for task, future in self._begun if future.status == "pending" for name in task.late()]

    def read(self, result: tuple[bool, Message]) -> Any:
        return _read(self.part.executor, Ledger(), result)


def _read(executor: Cluster, ledger: Ledger, result: tuple[bool, Message]) -> Any:
    good, message = result
    executor.received += len(message)
    answer = message.read(ledger, alone=not executor.in_this_process)
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


class PartThere:
    """A part on a worker, with its numbered contents, which stay the same when it travels on to other workers."""

    def __init__(self, thing: Any, contents: list[Any]):
        self.thing, self.contents = thing, contents
        self._ledger: Ledger | None = None

    @property
    def ledger(self) -> Ledger:
        """The record for messages about this part."""
        if self._ledger is None:
            self._ledger = Ledger()
            self._ledger.keep(0, self.contents)
        return self._ledger

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_ledger": None}  # a ledger holds for the objects of one process only


def unpacked(data: Message) -> PartThere:
    """Make a part of the pickle that the scheduler has."""
    return PartThere(*data.read_placed(Ledger()))


def derived(data: Message, part: PartThere, shared: Message) -> PartThere:
    """Make one call of `Executor.derive`."""
    fn = data.read(part.ledger)
    return PartThere(fn(part.thing, *shared.read(part.ledger)), part.contents)


def joined_there(join: Message, one: tuple[bool, Message], other: tuple[bool, Message]) -> tuple[bool, Message]:
    """One step of `Executor.reduce`; an error takes the place of what it would be joined with."""
    for good, message in (one, other):
        if not good:
            return good, message
    ledger = Ledger()
    return outcome(ledger, lambda: join.read(ledger)(one[1].read(ledger), other[1].read(ledger)))


def called(data: Message, part: PartThere, other: PartThere | None, shared: Message) -> tuple[bool, Message]:
    """One call of `Executor.map`."""

    def work() -> Any:
        fn, own = data.read(part.ledger)
        return fn(part.thing, own if other is None else other.thing, *shared.read(part.ledger))

    return outcome(part.ledger, work)
