"""A pool of threads in this process: compiled kernels release the GIL."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from maxmargin.executors.base import Executor, n_workers


class Threads(Executor):
    """`workers` threads (-1: one per core). The results do not depend on their number."""

    def __init__(self, workers: int = -1):
        self.workers = n_workers(workers)
        self._pool: ThreadPoolExecutor | None = None

    def map(self, fn: Callable[..., Any], placed: Sequence[Any], each: Sequence[Any], *shared: Any) -> Iterator[Any]:
        if len(placed) == 1:  # a hop to another thread and back would only cost
            return iter([fn(placed[0], each[0], *shared)])
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.workers, thread_name_prefix="maxmargin")
        return self._pool.map(lambda part, own: fn(part, own, *shared), placed, each)

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def __repr__(self) -> str:
        return f"Threads({self.workers})"

    def __getstate__(self) -> dict[str, Any]:
        return {"workers": self.workers, "_pool": None}  # threads cannot be copied or pickled; they start on demand
