"""Threads: the executor with a pool of threads in this process; compiled kernels release the GIL."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from maxmargin.executors.base import Executor, n_workers

AHEAD = 2  # calls per thread that may run ahead, which bounds the memory of results


class Threads(Executor):
    """The executor with a pool of threads. The results do not depend on their number.

    Parameters
    ----------
    workers : int
        The number of threads; -1 for one per core.

    Examples
    --------
    >>> from maxmargin.executors import Threads
    >>> with_two = Threads(2)
    >>> list(with_two.map(max, [1, 5], [3, 2]))
    [3, 5]
    >>> with_two.close()

    See Also
    --------
    Processes : for tasks in plain Python, which hold the GIL.
    """

    def __init__(self, workers: int = -1):
        self.workers = n_workers(workers)
        self._pool: ThreadPoolExecutor | None = None

    def map(self, fn: Callable[..., Any], placed: Sequence[Any], each: Sequence[Any], *shared: Any) -> Iterator[Any]:
        if len(placed) == 1:  # switching to another thread would only cost time
            return iter([fn(placed[0], each[0], *shared)])
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.workers, thread_name_prefix="maxmargin")
        calls = ((self._pool, fn, part, own, *shared) for part, own in zip(placed, each, strict=True))
        return _in_order(calls, AHEAD * self.workers)

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def __repr__(self) -> str:
        return f"Threads({self.workers})"

    def __getstate__(self) -> dict[str, Any]:
        return {"workers": self.workers, "_pool": None}  # threads cannot be copied or pickled; they start on demand


def _in_order(calls: Iterator[tuple[Any, ...]], most: int) -> Iterator[Any]:
    """Yield the results of calls in order, with at most `most` calls begun ahead."""
    begun: deque[Future[Any]] = deque()
    try:
        for pool, *call in calls:
            begun.append(pool.submit(*call))
            if len(begun) >= most:
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()
    finally:
        for future in begun:
            future.cancel()
