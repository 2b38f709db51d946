"""The tasks that are sent to a Dask cluster, and the functions that its workers run for them.

Any worker can repeat a task.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from maxmargin.executors.messages import Ledger, Message, outcome

SHORT = 2**14  # bytes up to which a message is sent with every task
FEW = 2  # shards up to which w is sent to each directly, and results are joined by the caller instead of in a tree


class Job(NamedTuple):
    """A task as the scheduler keeps it: a function and arguments with which any worker can repeat it."""

    name: str  # the key of the task at the scheduler
    fn: Callable[..., Any]  # the function that a worker calls
    arguments: tuple[Any, ...]


class Cluster(Protocol):
    """The parts of the Dask executor that tasks use: submission, and counts of bytes."""

    sent: int
    received: int

    @property
    def in_this_process(self) -> bool:
        """True if the cluster runs in this process, so that messages are passed without a copy."""

    def submit(self, jobs: Sequence[Job]) -> list[Any]:
        """Submit jobs and return their futures."""


class DaskTask(Protocol):
    """A computation for one shard, or a join of such computations."""

    name: str
    parts: int
    joins: tuple[Any, ...]  # the tasks whose results are joined

    def late(self) -> list[str]:
        """Return the names of the shards that have not answered."""

    def job(self, *joined: Any) -> Job:
        """Return the job, given the futures of the tasks that it joins."""

    def read(self, result: Any) -> Any:
        """Return the result of the task, or raise its error."""


def begun(executor: Cluster, tasks: Sequence[DaskTask]) -> list[Any]:
    """Submit tasks, after those that they join, and return their futures. Each level of the tree is one submission."""
    below = [each for task in tasks for each in task.joins]
    futures = iter(begun(executor, below)) if below else iter(())
    return executor.submit([task.job(*(next(futures) for _ in task.joins)) for task in tasks])


class Common:
    """The arguments that all shards of a call share, usually w.

    A long message for many shards is sent to the cluster once, as a task whose result travels from worker to worker.
    """

    def __init__(self, executor: Cluster, shared: Sequence[Any], readers: int):
        self.executor, self.message = executor, Message.of(Ledger(), tuple(shared))
        self.readers = readers
        self._future: Any = None

    def owned(self) -> Common:
        """Copy the arrays of the message, so that later changes of them do not matter, and return self."""
        self.message = self.message.owned()
        return self

    @property
    def future(self) -> Any:
        """The future of the message, or the message itself if it is too short, or has too few readers, for a task."""
        if len(self.message) < SHORT or self.readers <= FEW:
            return self.message
        if not _is_there(self._future):
            [self._future] = self.executor.submit([Job("weights", passed_on, (self.message,))])
        return self._future


class Placed:
    """A shard, as a task that creates it. Dask frees it when the last reference to this handle is gone."""

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
    """A shard whose pickle the scheduler keeps."""

    def __init__(self, executor: Cluster, part: Any, number: int):
        super().__init__(executor, number, Ledger())
        self.part = part

    def _job(self) -> Job:
        message, contents = Message.placing(self.part)
        self.ledger.keep(0, contents)
        return Job(f"data-part {self.number}", unpacked, (message,))


class DerivedPart(Placed):
    """A shard computed from another one, with which it may share arrays."""

    def __init__(self, fn: Callable[..., Any], origin: Placed, common: Common, round: int):
        super().__init__(origin.executor, origin.number, origin.ledger)
        self.fn, self.origin, self.common, self.round = fn, origin, common, round

    def _job(self) -> Job:
        name, data = _name(self.fn, self.number, self.round), Message.of(self.ledger, self.fn)
        return Job(name, derived, (data, self.origin.future, self.common.future))


class Call:
    """The computation of fn(shard, own, *shared)."""

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
    """The computation of join(one, other) for the results of two tasks, on the worker of one of them."""

    def __init__(self, join: Callable[[Any, Any], Any], one: Any, other: Any, round: int):
        self.join, self.joins, self.round = join, (one, other), round
        self.name, self.part, self.parts = f"{one.name}, {other.name}", one.part, one.parts + other.parts
        self._begun: list[tuple[Any, Any]] = []  # both tasks, with their futures

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
    """Return the part of a task's key that names the shard."""
    return key.partition("-")[2].partition(",")[0] or key


def _name(fn: Callable[..., Any], number: int, round: int) -> str:
    """Return a readable name for a task: function, shard and round."""
    return f"{getattr(fn, '__name__', 'work').strip('_').replace('_', ' ')}-part {number}, round {round}"


# --- functions that workers run


def passed_on(message: Message) -> Message:
    """Return the message. As the result of a task, it is kept, copied and recomputed by Dask."""
    return message


class PartThere:
    """A shard on a worker, with its numbered contents; their numbers stay the same when it moves to other workers."""

    def __init__(self, thing: Any, contents: list[Any]):
        self.thing, self.contents = thing, contents
        self._ledger: Ledger | None = None

    @property
    def ledger(self) -> Ledger:
        """The record of the contents, for messages about this shard."""
        if self._ledger is None:
            self._ledger = Ledger()
            self._ledger.keep(0, self.contents)
        return self._ledger

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_ledger": None}  # a ledger refers to objects of one process only


def unpacked(data: Message) -> PartThere:
    """Unpickle a shard."""
    return PartThere(*data.read_placed(Ledger()))


def derived(data: Message, part: PartThere, shared: Message) -> PartThere:
    """Run one call of `Executor.derive`."""
    fn = data.read(part.ledger)
    return PartThere(fn(part.thing, *shared.read(part.ledger)), part.contents)


def joined_there(join: Message, one: tuple[bool, Message], other: tuple[bool, Message]) -> tuple[bool, Message]:
    """Run one join of `Executor.reduce`. If an input is an error, return that error."""
    for good, message in (one, other):
        if not good:
            return good, message
    ledger = Ledger()
    return outcome(ledger, lambda: join.read(ledger)(one[1].read(ledger), other[1].read(ledger)))


def called(data: Message, part: PartThere, other: PartThere | None, shared: Message) -> tuple[bool, Message]:
    """Run one call of `Executor.map`."""

    def work() -> Any:
        fn, own = data.read(part.ledger)
        return fn(part.thing, own if other is None else other.thing, *shared.read(part.ledger))

    return outcome(part.ledger, work)
