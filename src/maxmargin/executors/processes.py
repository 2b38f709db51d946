"""Processes: the executor with other processes of this machine, for tasks in plain Python, which hold the GIL."""

from __future__ import annotations

import gc
import itertools
import os
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from typing import Any, NamedTuple

from maxmargin.base.errors import PartsLate, WorkersLost
from maxmargin.executors.base import Executor, check_deadline, late_parts, n_workers
from maxmargin.executors.messages import Handle, Ledger, Message, answered, apply, apply_and_keep, forget, keep
from maxmargin.executors.orphans import end_with_parent

TRIES = 3  # how often a call is made if its process ends each time


class Processes(Executor):
    """The executor with processes of this machine, each with its own shards of the data.

    This helps if a decoder call takes several milliseconds of Python and cores are free. Compiled tasks gain nothing
    over Threads, which need no copy of the data. Starting takes a second or two; processes stay until `close`.

    Parameters
    ----------
    workers : int
        The number of processes; -1 for one per core.
    deadline : float
        Seconds within which a call must be answered; after that, PartsLate ends the training with the best model so far
        and names the shards that have not answered.

    Attributes
    ----------
    sent, received : int
        Bytes that have been sent to the processes and received from them.

    Notes
    -----
    If a process ends (killed, out of memory), it is started again with its shards, and the call is
    repeated. If the same call fails three times, WorkersLost ends the training with the best model so far.

    See Also
    --------
    Threads : for compiled tasks, which release the GIL.
    Dask : workers on other machines.
    """

    shares_memory = False

    def __init__(self, workers: int = -1, deadline: float = 3600.0):
        self.workers, self.deadline = n_workers(workers), check_deadline(deadline)
        self.sent = self.received = 0
        self._workers: list[_Worker] = []

    def place(self, parts: Sequence[Any]) -> list[Any]:
        workers = self._started()
        placed = [_Source(workers[k % self.workers], part, k) for k, part in enumerate(parts)]
        return self._made(placed)

    def map(self, fn: Callable[..., Any], placed: Sequence[Any], each: Sequence[Any], *shared: Any) -> Iterator[Any]:
        calls = [_Call(handle, (apply, fn, handle, own, shared)) for handle, own in zip(placed, each, strict=True)]
        began = [call.begin() for call in calls]
        return self._answers(calls, began)

    def derive(self, fn: Callable[..., Any], placed: Sequence[Any], *shared: Any) -> list[Any]:
        return self._made([_Derived(handle, fn, shared) for handle in placed])

    def _made(self, handles: Sequence[_Placed]) -> list[Any]:
        """Place all shards at once, then wait for them."""
        calls = [_Making(handle) for handle in handles]
        for _ in self._answers(calls, [call.begin() for call in calls]):
            pass
        return list(handles)

    def _answers(self, calls: Sequence[_Making | _Call], began: list[_Begun]) -> Iterator[Any]:
        """Yield the results in order. A call whose process has ended is repeated."""
        from loky import BrokenProcessPool

        until = time.monotonic() + self.deadline
        for k, call in enumerate(calls):
            for tries in itertools.count(1):
                try:
                    result = began[k].future.result(timeout=max(until - time.monotonic(), 0.0))
                    break
                except BrokenProcessPool as error:
                    if tries == TRIES:
                        raise WorkersLost(_LOST) from error
                    call.handle.worker.revive(began[k])
                    began[k] = call.begin()
                except TimeoutError as error:
                    late = [
                        f"part {calls[j].handle.number}" for j in range(k, len(calls)) if not began[j].future.done()
                    ]
                    raise PartsLate(late_parts(late, len(calls), self.deadline)) from error
            yield _read(call.handle.worker, result)

    def alive(self, placed: Sequence[Any]) -> bool:
        return all(handle.worker in self._workers for handle in placed)

    def close(self) -> None:
        workers, self._workers = self._workers, []
        for worker in workers:
            worker.pool.shutdown(wait=True, kill_workers=bool(worker.busy))

    def _started(self) -> list[_Worker]:
        if not self._workers:
            self._workers = [_Worker(self) for _ in range(self.workers)]
        return self._workers

    def __repr__(self) -> str:
        return f"Processes({self.workers})"

    def __getstate__(self) -> dict[str, Any]:
        return {"workers": self.workers, "deadline": self.deadline, "sent": 0, "received": 0, "_workers": []}


_LOST = (
    "a process of the executor ended before its answer came, and so did those in its place (killed, out of memory, or "
    "crashed in compiled code); use fewer workers, or executors.Serial() to see the error itself"
)


class _Begun(NamedTuple):
    """A call that was submitted to a process."""

    future: Future  # the future of the result
    life: int  # the number of the start of the process that the call was submitted to


class _Worker:
    """One process. It has a pool of its own, so that objects placed in it are found there."""

    tokens = itertools.count(1)

    def __init__(self, executor: Processes):
        self.executor = executor
        self.life = 0  # how often the process has been started
        self.gone: deque[int] = deque()  # tokens of shards whose handles are gone
        self._begin()

    def _begin(self) -> None:
        from loky import ProcessPoolExecutor

        self.ledger, self.busy, self.life = Ledger(), 0, self.life + 1
        self.pool = ProcessPoolExecutor(max_workers=1, timeout=None, initializer=_begin, initargs=(os.getpid(),))

    def revive(self, failed: _Begun) -> None:
        """Start the process again, unless that was done after the failed call was submitted."""
        if failed.life == self.life:
            self.pool.shutdown(wait=True, kill_workers=True)
            self._begin()

    def tidy(self) -> None:
        """Free the shards whose handles are gone, before the next message to the process.

        Garbage collection may delete a handle at any time, also while a call is being sent and locks are held. Deletion
        therefore only records the token, and the shard is freed here.
        """
        while self.gone:
            token = self.gone.popleft()
            self.ledger.forget(token)
            self.submit(forget, token)

    def submit(self, fn: Callable[..., Any], *arguments: Any) -> _Begun:
        """Submit a call. If the process has ended, the error appears when the result is read."""
        from loky import BrokenProcessPool

        self.executor.sent += sum(len(each) for each in arguments if isinstance(each, Message))
        try:
            future = self.pool.submit(fn, *arguments)
        except BrokenProcessPool as error:
            future = Future()
            future.set_exception(error)
        begun = _Begun(future, self.life)
        if fn is not forget:
            self.busy += 1
            future.add_done_callback(lambda _: self._done(begun))
        return begun

    def _done(self, begun: _Begun) -> None:
        if begun.life == self.life:
            self.busy -= 1


class _Placed(Handle):
    """A shard in a process, which is freed when the last reference to this handle is gone."""

    def __init__(self, worker: _Worker, number: int):
        super().__init__(next(_Worker.tokens))
        self.worker, self.number = worker, number
        self.life = 0  # the number of the start of the worker's process at which this shard was sent
        weakref.finalize(self, worker.gone.append, self.token).atexit = False

    def bring(self) -> _Begun:
        """Send the shard to its worker."""
        raise NotImplementedError

    def be_there(self) -> None:
        """Send the shard again if its process was restarted. Later calls wait for it there."""
        if self.life != self.worker.life:
            self.bring()


class _Source(_Placed):
    """A shard that this process keeps a copy of."""

    def __init__(self, worker: _Worker, part: Any, number: int):
        super().__init__(worker, number)
        self.part = part

    def bring(self) -> _Begun:
        self.worker.tidy()
        self.life = self.worker.life
        message, contents = Message.placing(self.part)
        self.worker.ledger.keep(self.token, contents)
        return self.worker.submit(keep, self.token, message)


class _Derived(_Placed):
    """A shard computed from another one, with which it may share arrays."""

    def __init__(self, origin: _Placed, fn: Callable[..., Any], shared: Sequence[Any]):
        super().__init__(origin.worker, origin.number)
        self.origin, self.made_by = origin, Message.of(Ledger(), (fn, shared)).owned()

    def bring(self) -> _Begun:
        self.worker.tidy()
        self.origin.be_there()
        self.life = self.worker.life
        fn, shared = self.made_by.read(Ledger())
        message = Message.of(self.worker.ledger, (self.token, fn, self.origin, shared))
        return self.worker.submit(answered, apply_and_keep, message)


class _Call:
    """A call for one shard."""

    def __init__(self, handle: _Placed, message: tuple[Any, ...]):
        self.handle, self.message = handle, message  # the handles in the message must outlive the call

    def begin(self) -> _Begun:
        fn, *arguments = self.message
        self.handle.worker.tidy()
        for each in arguments:
            if isinstance(each, _Placed):
                each.be_there()
        worker = self.handle.worker
        return worker.submit(answered, fn, Message.of(worker.ledger, arguments))


class _Making:
    """The placement of a shard with its worker."""

    def __init__(self, handle: _Placed):
        self.handle = handle

    def begin(self) -> _Begun:
        return self.handle.bring()


def _read(worker: _Worker, result: tuple[bool, Message]) -> Any:
    good, message = result
    worker.executor.received += len(message)
    answer = message.read(worker.ledger)
    if not good:
        raise answer
    return answer


def _begin(parent: int) -> None:
    """Set up a new process."""
    from threadpoolctl import threadpool_limits

    end_with_parent(parent)
    threadpool_limits(1)  # the number of processes is chosen to fill the cores
    gc.freeze()  # otherwise every collection, one per second, would visit all imported modules
