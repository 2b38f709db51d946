"""Dask: the executor of a Dask cluster, whose workers are on other machines or are processes of this one."""

from __future__ import annotations

import itertools
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from typing import Any

from maxmargin.base.errors import PartsLate, WorkersLost
from maxmargin.executors.base import Executor, check_deadline, joined_in_a_tree, late_parts, n_workers
from maxmargin.executors.dask_tasks import (
    FEW,
    Call,
    Common,
    DaskTask,
    DerivedPart,
    Job,
    Join,
    Source,
    begun,
    part_of,
)
from maxmargin.executors.messages import Message

LOOK = 0.5  # seconds between two checks that the scheduler is still there
TRIES = 5  # how often a task that the cluster has lost is submitted


class Dask(Executor):
    """The executor of a Dask cluster (`pip install 'maxmargin[dask]'`).

    Parameters
    ----------
    client : distributed.Client or str
        The cluster, or the address of its scheduler.
    parts : int or None
        The number of shards that data are split into. None: the number of threads that the cluster has now. Results
        do not depend on which worker processes which shard.
    deadline : float
        Seconds within which all shards must answer; after that, PartsLate names those that did not.

    Notes
    -----
    A shard is a Dask task. Its input is kept by the scheduler: a pickle of the examples or, for packed
    data, the path of the folder and the numbers of the examples. No shard is tied to a worker. If a worker dies, leaves
    or restarts, others recompute its shards; new workers may join at any time, and the results are the same.
    WorkersLost ends the training with the best model so far if one shard kills every worker that tries it, or if the
    scheduler is gone.

    See Also
    --------
    Processes : several processes of this machine, without a scheduler.
    """

    shares_memory = False
    sums_there = True

    def __init__(self, client: Any, parts: int | None = None, deadline: float = 3600.0):
        self._given: Any = client
        self._own: Any = None
        self.deadline = check_deadline(deadline)
        self.workers = max(1, sum(self.client.nthreads().values())) if parts is None else n_workers(parts)
        self.rounds = 0  # the number of calls so far, which is part of the names of tasks
        self.sent = self.received = 0  # bytes that this process has sent and received
        self.unfetched: set[Any] = set()  # futures that have not been fetched

    @property
    def client(self) -> Any:
        """The connection to the scheduler, opened here if only its address was given."""
        if not isinstance(self._given, str):
            return self._given
        if self._own is None:
            from distributed import Client

            self._own = Client(self._given, set_as_default=False)
        return self._own

    def collected(self, data: Any) -> Any:
        """Return a Dask bag as a list and a Dask array as an array, computed by the cluster; other data as they are."""
        return self.client.compute(data).result() if hasattr(data, "__dask_graph__") else data

    def items(self, bag: Any) -> Iterator[Any]:
        """Yield the items of a Dask bag for `maxmargin.pack`; at most two partitions are in memory here."""
        coming = None
        for partition in bag.to_delayed():
            last, coming = coming, self.client.compute(partition)
            if last is not None:
                yield from last.result()
        if coming is not None:
            yield from coming.result()

    def place(self, parts: Sequence[Any]) -> list[Any]:
        known: dict[int, Source] = {}  # an object that occurs several times is one task
        for number, part in enumerate(parts):
            known.setdefault(id(part), Source(self, part, number))
        self._tried(lambda: [each.future for each in known.values()])
        return [known[id(part)] for part in parts]

    def map(self, fn: Callable[..., Any], placed: Sequence[Any], each: Sequence[Any], *shared: Any) -> Iterator[Any]:
        return self._answers(self._calls(fn, placed, each, shared))

    def reduce(
        self,
        join: Callable[[Any, Any], Any],
        fn: Callable[..., Any],
        placed: Sequence[Any],
        each: Sequence[Any],
        *shared: Any,
    ) -> Any:
        tasks = self._calls(fn, placed, each, shared)
        tasks = joined_in_a_tree(lambda one, other: Join(join, one, other, self.rounds), tasks, FEW)
        return joined_in_a_tree(join, list(self._answers(tasks, together=True)))[0]

    def _calls(
        self, fn: Callable[..., Any], placed: Sequence[Any], each: Sequence[Any], shared: Sequence[Any]
    ) -> list[Any]:
        self.rounds += 1
        common = Common(self, shared, len(placed))
        return [Call(fn, part, own, common, self.rounds) for part, own in zip(placed, each, strict=True)]

    def derive(self, fn: Callable[..., Any], placed: Sequence[Any], *shared: Any) -> list[Any]:
        self.rounds += 1
        common = Common(self, shared, len(placed)).owned()  # a copy, because a lost shard may need it much later
        return [DerivedPart(fn, part, common, self.rounds) for part in placed]

    def alive(self, placed: Sequence[Any]) -> bool:
        return all(each.executor is self for each in placed)

    def close(self) -> None:
        running, self.unfetched = self.unfetched, set()
        if running and self.client.status == "running":
            self.client.cancel(list(running))
        if self._own is not None:
            self._own.close()
            self._own = None

    def __repr__(self) -> str:
        return f"Dask(parts={self.workers})"

    def __copy__(self) -> Dask:
        return Dask(self._given, self.workers, self.deadline)

    def __deepcopy__(self, memo: Any) -> Dask:
        return self.__copy__()  # scikit-learn's clone copies parameters, but a connection can only be shared

    def __reduce__(self) -> Any:
        return Dask, (self.client.scheduler.address, self.workers, self.deadline)  # opens its own connection

    # --- communication with the cluster

    @property
    def in_this_process(self) -> bool:
        """True if the cluster runs in this process, so that messages are passed without a copy."""
        return bool(self.client.scheduler.address.startswith("inproc:"))

    def submit(self, jobs: Sequence[Job]) -> list[Any]:
        """Submit jobs and return their futures. The scheduler keeps the arguments, so any worker can repeat a job."""
        import dask

        messages = {id(each): each for job in jobs for each in job.arguments if isinstance(each, Message)}
        self.sent += sum(map(len, messages.values()))
        futures: list[Any] = [None] * len(jobs)
        for fn in dict.fromkeys(job.fn for job in jobs):
            alike = [k for k, job in enumerate(jobs) if job.fn is fn]
            # Dask shows tasks grouped by the part of their keys before the first "-".
            keys = [f"maxmargin: {jobs[k].name}-{uuid.uuid4().hex}" for k in alike]
            arguments = zip(*(jobs[k].arguments for k in alike), strict=True)
            with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 PiB"}):
                several = self.client.map(fn, *arguments, key=keys, pure=False)
            for k, future in zip(alike, several, strict=True):
                futures[k] = future
        return futures

    def _answers(self, tasks: Sequence[DaskTask], together: bool = False) -> Iterator[Any]:
        """Submit all tasks and return an iterator over their results, in order.

        together: results are useful only if all of them are there.
        """
        return _Round(self, tasks, self.begin(tasks), together).answers()

    def begin(self, tasks: Sequence[DaskTask]) -> list[Any]:
        futures = self._tried(lambda: begun(self, tasks))
        self.unfetched.update(futures)
        return futures

    def _tried(self, submit: Callable[[], list[Any]]) -> list[Any]:
        """Submit tasks, a second time if the connection to the scheduler was lost and has been restored."""
        try:
            return submit()
        except (CancelledError, OSError, RuntimeError) as error:
            self.check(error)
            return submit()

    def check(self, error: BaseException | None) -> None:
        """Raise WorkersLost if the scheduler cannot be reached; wait while the client is still connecting."""
        while self.client.status == "connecting":
            time.sleep(LOOK)
        if self.client.status != "running":
            raise WorkersLost(
                f"the connection to Dask's scheduler is {self.client.status}: the scheduler has ended, or "
                "the network has failed"
            ) from error


class _Round:
    """The tasks of one call of `map` or `reduce`, and the results that have been fetched."""

    def __init__(self, executor: Dask, tasks: Sequence[DaskTask], futures: list[Any], together: bool):
        self.executor, self.tasks, self.futures, self.together = executor, tasks, futures, together
        self.began, self.got = time.monotonic(), {}

    got: dict[int, Any]

    def answers(self) -> Iterator[Any]:
        try:
            for k, task in enumerate(self.tasks):
                for tries in itertools.count(1):
                    try:
                        self._fetch(k)
                        break
                    except (CancelledError, OSError) as error:
                        self.executor.check(error)
                        if tries == TRIES:
                            raise WorkersLost(f"Dask has lost the task {task.name} {TRIES} times") from error
                        self._begin_again([j for j in self._coming(k) if self.futures[j].cancelled()] or [k])
                yield task.read(self.got.pop(k))
        finally:
            self.executor.unfetched.difference_update(self.futures)

    def _coming(self, k: int) -> list[int]:
        """Return the numbers of the tasks, from k on, whose results have not been fetched."""
        return [j for j in range(k, len(self.futures)) if j not in self.got]

    def _begin_again(self, forgotten: list[int]) -> None:
        self.executor.unfetched.difference_update(self.futures[j] for j in forgotten)
        again = self.executor.begin([self.tasks[j] for j in forgotten])
        for j, future in zip(forgotten, again, strict=True):
            self.futures[j] = future

    def _fetch(self, k: int) -> None:
        """Fetch the result of task k, and the results of later tasks that have finished."""
        from distributed import wait
        from distributed.scheduler import KilledWorker

        client = self.executor.client
        while k not in self.got:
            awaited = [self.futures[j] for j in (self._coming(k) if self.together else [k])]
            try:
                with client.as_current():
                    wait(awaited, timeout=LOOK)
            except TimeoutError:
                self._check_deadline()
                continue
            for future in awaited:
                if future.status != "error":
                    continue
                error = future.exception()
                if not isinstance(error, KilledWorker):
                    raise error
                part, last = part_of(str(error.task)), error.last_worker.address
                raise WorkersLost(
                    f"every worker that began {part} has died, the last one {last}: "
                    "killed, out of memory, or crashed in compiled code. Give workers more memory, or use more parts"
                ) from error
            ready = [j for j in self._coming(k) if self.futures[j].status == "finished"]
            answers = client.gather([self.futures[j] for j in ready], direct=True)
            self.got.update(zip(ready, answers, strict=True))

    def _check_deadline(self) -> None:
        executor = self.executor
        if executor.client.status != "running":
            raise CancelledError
        if time.monotonic() - self.began > executor.deadline:
            pending = [
                task for task, future in zip(self.tasks, self.futures, strict=True) if future.status == "pending"
            ]
            names, n_parts = [name for task in pending for name in task.late()], sum(task.parts for task in self.tasks)
            working = len(executor.client.nthreads())
            executor.client.cancel(self.futures)
            late = late_parts(names, n_parts, executor.deadline)
            raise PartsLate(f"{late}; the cluster has {working} workers")
