"""Executor: the interface for running the oracle. It places shards of the data once and maps functions over them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any


class Executor:
    """An object that runs the oracle in this thread, in threads, in processes or on a cluster, with the same results.

    Functions must be importable by name, so that other processes find them. Arguments in `each` and `shared` should be
    small; the data are in the shards (parts).

    Examples
    --------
    >>> from maxmargin.executors import Serial
    >>> list(Serial().map(pow, [2, 3], [5, 2]))
    [32, 9]

    See Also
    --------
    Serial, Threads, Processes, Dask : the implementations.
    """

    workers: int = 1  # the number of shards that are processed at once
    sums_there: bool = False  # True if results are summed by the workers, and only the sum returns
    shares_memory: bool = True  # True if shards stay in this process, so that nothing is copied

    def collected(self, data: Any) -> Any:
        """Return data that are distributed over this executor as a list or an array; return other data unchanged."""
        return data

    def place(self, parts: Sequence[Any]) -> list[Any]:
        """Give the shards to the workers and return handles for `map`. Deleting a handle frees its shard."""
        return list(parts)

    def map(self, fn: Callable[..., Any], placed: Sequence[Any], each: Sequence[Any], *shared: Any) -> Iterator[Any]:
        """Yield fn(part, each, *shared) for every shard, in order.

        `each` has one entry per shard; an entry that is itself a handle stands for its shard, which must have the same
        worker.
        """
        raise NotImplementedError

    def reduce(
        self,
        join: Callable[[Any, Any], Any],
        fn: Callable[..., Any],
        placed: Sequence[Any],
        each: Sequence[Any],
        *shared: Any,
    ) -> Any:
        """Return the results of `map` joined in a tree that depends only on the number of shards: neighbours first."""
        return joined_in_a_tree(join, list(self.map(fn, placed, each, *shared)))[0]

    def derive(self, fn: Callable[..., Any], placed: Sequence[Any], *shared: Any) -> list[Any]:
        """Compute fn(part, *shared) for every shard, keep the results with the workers and return handles for them."""
        return [fn(part, *shared) for part in placed]

    def alive(self, placed: Sequence[Any]) -> bool:
        """Return whether these shards are still with their workers."""
        return True

    def close(self) -> None:
        """Release threads, processes or connections. They are created again when they are needed."""


def joined_in_a_tree(join: Callable[[Any, Any], Any], found: list[Any], until: int = 1) -> list[Any]:
    """Join neighbours, then neighbours of the results, until at most `until` are left."""
    while len(found) > until:
        found = [join(*found[k : k + 2]) if k + 1 < len(found) else found[k] for k in range(0, len(found), 2)]
    return found


def n_workers(workers: int) -> int:
    """Return the number of workers: -1 stands for one per core."""
    if workers == 0 or workers < -1:
        raise ValueError(f"workers must be a positive number or -1 for all cores, got {workers}")
    return os.cpu_count() or 1 if workers == -1 else workers


def check_deadline(deadline: float) -> float:
    """Return the deadline in seconds; raise a ValueError unless it is positive."""
    if not deadline > 0:
        raise ValueError(f"deadline must be a positive number of seconds, got {deadline!r}")
    return deadline


def late_parts(names: Sequence[str], n_parts: int, deadline: float) -> str:
    """Return a message that names the shards that did not answer in time."""
    which = ", ".join(names[:8]) + (f" and {len(names) - 8} others" if len(names) > 8 else "")
    return (
        f"of {n_parts} parts, {which} did not answer within the deadline of {deadline:g} s. If this is too short for a "
        "pass over a part, set the executor's deadline"
    )
