"""Other processes of this machine: for tasks in plain Python, whose decoder holds the interpreter lock."""

from __future__ import annotations

import gc
import itertools
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from maxmargin.executors.base import Executor, n_workers
from maxmargin.executors.wire import Handle, Ledger, Survey, answered, apply, apply_and_keep, forget, keep


class Processes(Executor):
    """`workers` processes (-1: one per core), each with its own part of the data.

    It pays where a decoder call takes several milliseconds of Python and cores are free. Compiled tasks gain nothing
    over Threads, which need no copy of the data. Starting takes a second or two; processes stay until `close`. `sent`
    and `received` count the bytes that have crossed.
    """

    shares_memory = False

    def __init__(self, workers: int = -1):
        self.workers = n_workers(workers)
        self.sent = self.received = 0
        self._workers: list[_Worker] = []

    def place(self, parts: Sequence[Any]) -> list[Any]:
        workers = self._started()
        placed = [workers[k % self.workers].place(part) for k, part in enumerate(parts)]
        return [handle.ready() for handle in placed]

    def map(self, fn: Callable[..., Any], placed: Sequence[Any], each: Sequence[Any], *shared: Any) -> Iterator[Any]:
        waiting = [handle.worker.call(apply, fn, handle, own, shared) for handle, own in zip(placed, each, strict=True)]
        return (answer() for answer in waiting)

    def derive(self, fn: Callable[..., Any], placed: Sequence[Any], *shared: Any) -> list[Any]:
        made = [handle.worker.derive(fn, handle, shared) for handle in placed]
        return [handle.ready() for handle in made]

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
        return {"workers": self.workers, "sent": 0, "received": 0, "_workers": []}  # they start on demand


class _Worker:
    """One process. A pool of its own makes sure that what is placed there is found there."""

    _tokens = itertools.count(1)

    def __init__(self, executor: Processes):
        from joblib.externals.loky import ProcessPoolExecutor

        self.executor, self.ledger, self.busy = executor, Ledger(), 0
        self.pool = ProcessPoolExecutor(max_workers=1, timeout=None, initializer=_begin)

    def place(self, part: Any) -> _Placed:
        survey, handle = Survey(part), _Placed(self, next(self._tokens))
        self.ledger.keep(handle.token, survey.table)
        self.executor.sent += len(survey.data)
        future = self.pool.submit(keep, handle.token, survey.data, survey.sign)
        handle.answer = lambda: self._settle(handle.token, future)
        return handle

    def _settle(self, token: int, future: Any) -> None:
        if not _value(future):  # the two sides number differently: then all is sent as it is
            self.ledger.forget(token)

    def derive(self, fn: Callable[..., Any], source: _Placed, shared: Sequence[Any]) -> _Placed:
        handle = _Placed(self, next(self._tokens))
        handle.answer = self.call(apply_and_keep, handle.token, fn, source, shared)
        handle.origin = source  # whose arrays it may be made of
        return handle

    def call(self, fn: Callable[..., Any], *message: Any) -> Callable[[], Any]:
        """Begin; what is returned waits for the answer."""
        data = self.ledger.dumps(message)
        self.executor.sent += len(data)
        future = self.pool.submit(answered, fn, data)
        self.busy += 1
        future.add_done_callback(self._done)

        def answer(held: Any = message) -> Any:  # handles in it must outlive the call
            good, payload = _value(future)
            self.executor.received += len(payload)
            result = self.ledger.loads(payload)
            if not good:
                raise result
            return result

        return answer

    def _done(self, future: Any) -> None:
        self.busy -= 1


class _Placed(Handle):
    """A part at a worker, until the last reference to this handle is gone."""

    origin: _Placed | None = None

    def __init__(self, worker: _Worker, token: int):
        super().__init__(token)
        self.worker, self.answer = worker, None
        weakref.finalize(self, _release, worker, token).atexit = False

    answer: Callable[[], Any] | None

    def ready(self) -> _Placed:
        """Wait until it is there."""
        if self.answer is not None:
            self.answer()
            self.answer = None
        return self


def _release(worker: _Worker, token: int) -> None:
    worker.ledger.forget(token)
    if worker in worker.executor._workers:  # its process is still there
        worker.pool.submit(forget, token)


def _value(future: Any) -> Any:
    from joblib.externals.loky.process_executor import BrokenProcessPool

    try:
        return future.result()
    except BrokenProcessPool as error:
        raise RuntimeError(
            "a process of the executor ended before its answer came (killed, out of memory, or crashed in compiled "
            "code); use fewer workers, or executors.Serial() to see the error itself"
        ) from error


def _begin() -> None:
    """In the new process."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)  # the processes own the cores
    gc.freeze()  # a worker collects garbage every second; it need not look at all that was imported each time
