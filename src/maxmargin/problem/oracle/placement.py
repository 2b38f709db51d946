"""Placement: the assignment of the examples of a batch to the workers that search them.

If executors share this memory, the batch is searched in place, and any share of the examples may go to any worker. If
not, the batch is split into shards, and every worker keeps one: the data travel once, and a call sends only the numbers
of examples, w, and the results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Index
from maxmargin.executors import Executor, Serial
from maxmargin.problem.contract.batch import Batch
from maxmargin.problem.contract.capabilities.kernel_space import KernelSpace
from maxmargin.problem.contract.capabilities.portable import Portable
from maxmargin.problem.contract.capabilities.summing_shards import SummingShards

CHUNK = 512  # examples per call, which bounds the memory for rows of planes
FEWEST = 4  # the fewest examples that are worth another thread
SHARES = 4  # the fewest shares of a pass per worker: a worker that is done early takes another


class Share(NamedTuple):
    """Some of the requested examples, all in one batch."""

    data: Any  # the batch, or the handle of a shard
    at: Index  # the examples' positions there


class Placement:
    """A batch on an executor.

    Order of calls: `spread` (or `spread_ahead`) assigns examples to workers, `map` calls a function there. Shards are
    made and sent at the first call that needs them, which sets `placed`.
    """

    def __init__(self, batch: Batch, executor: Executor, placed: list[Any] | None = None):
        # Compiled code reads the cache of kernel rows without a lock, so one run at a time uses it, in this process.
        self.exclusive = batch.offers(KernelSpace) is not None
        # Workers that do not share this memory would need all units, so this process searches in their place.
        self.batch, self.executor = batch, executor if executor.shares_memory or not self.exclusive else Serial()
        self.placed = placed  # the handles of shards, once they have been sent
        self._placed_to_sum: list[Any] | None = None  # the same for shards that are only summed
        self.shard_rounds = (1, 0)  # the number of shards that were summed, and how often

    @property
    def in_this_process(self) -> bool:
        """True if the batch is searched in this process."""
        return self.executor.shares_memory

    @property
    def alone(self) -> bool:
        """True if it is searched in this process by the caller's own thread."""
        return self.in_this_process and self.executor.workers == 1

    @property
    def sums_there(self) -> bool:
        """True if shards are summed by their workers."""
        return self.executor.sums_there and not self.in_this_process

    @property
    def shards(self) -> list[Any]:
        """The handles of the shards, which are sent at the first use."""
        if self.placed is None:
            portable = self.batch.offers(Portable)
            shard = self.batch.take if portable is None else portable.shard
            self.placed = self.executor.place([shard(index) for index in self.indices])
        return self.placed

    @property
    def summing_shards(self) -> list[Any]:
        """The handles of shards that return only sums and no planes, and may hold less data."""
        if self.placed is None and self._placed_to_sum is None:
            summing = self.batch.offers(SummingShards)
            if summing is not None:
                self._placed_to_sum = self.executor.place([summing.summing_shard(index) for index in self.indices])
        return self.shards if self._placed_to_sum is None else self._placed_to_sum

    @cached_property
    def indices(self) -> list[Index]:
        """The examples of every shard.

        They are consecutive if a shard is summed as a whole. Otherwise every shard has its share of every chunk, so
        that no worker waits while one chunk after the other is searched.
        """
        n = len(self.batch)
        workers = min(self.executor.workers, n)
        if self.sums_there:
            return np.array_split(np.arange(n), workers)
        shares = [np.array_split(chunk, workers) for chunk in chunks_of(np.arange(n))]
        return [np.concatenate(own) for own in zip(*shares, strict=True)]

    @cached_property
    def _locations(self) -> tuple[Index, Index]:
        """The shard of every example, and its position there."""
        owner, position = np.empty(len(self.batch), dtype=np.int64), np.empty(len(self.batch), dtype=np.int64)
        for k, index in enumerate(self.indices):
            owner[index], position[index] = k, np.arange(len(index))
        return owner, position

    @property
    def order(self) -> Index:
        """The position of every example in the concatenated results of the shards."""
        return np.argsort(np.concatenate(self.indices))

    def spread(self, index: Index) -> tuple[list[Share], Index | None]:
        """Return the shares of these examples, and the order that sorts the results as in `index`."""
        if self.in_this_process:
            return [Share(self.batch, each) for each in self._shares(index, self.executor.workers)], None
        owner, position = self._locations
        of, own = owner[index], position[index]
        used = [k for k in range(len(self.shards)) if (of == k).any()]
        order = np.argsort(np.concatenate([np.flatnonzero(of == k) for k in used]))
        return [Share(self.shards[k], own[of == k]) for k in used], order

    def spread_ahead(self, chunks: Sequence[Index]) -> list[list[Index]] | None:
        """Return the shares of every chunk of a pass, if threads can search ahead; otherwise None."""
        if not self.in_this_process or self.executor.workers == 1 or self.exclusive:
            return None
        each = -(-SHARES * self.executor.workers // len(chunks))
        return [self._shares(chunk, each) for chunk in chunks]

    def _shares(self, index: Index, most: int) -> list[Index]:
        shares = min(most, max(1, len(index) // FEWEST))
        return np.array_split(index, shares) if shares > 1 else [index]

    def map(self, fn: Callable[..., Any], data: Sequence[Any], each: Sequence[Any], *shared: Any) -> Iterator[Any]:
        """Yield fn(data[k], each[k], *shared) in order; a single call in this process bypasses the executor."""
        executor = self.executor if len(data) > 1 or not self.in_this_process else Serial()
        return executor.map(fn, data, each, *shared)

    def reduce_shards(self, join: Callable[..., Any], fn: Callable[..., Any], each: Sequence[Any], *shared: Any) -> Any:
        """Call fn(shard, each[k], *shared) for every shard, and join the results at the workers."""
        self.shard_rounds = (len(each), self.shard_rounds[1] + 1)
        return self.executor.reduce(join, fn, self.summing_shards, each, *shared)

    def map_shares(
        self, fn: Callable[..., Any], shares: Sequence[Share], each: Sequence[Any], *shared: Any
    ) -> list[Any]:
        """Return the results of `map` for the data of these shares."""
        return list(self.map(fn, [share.data for share in shares], each, *shared))


def chunks_of(index: NDArray[Any]) -> list[NDArray[Any]]:
    """Split an array into pieces of the number of examples that are searched at once."""
    return [index[start : start + CHUNK] for start in range(0, len(index), CHUNK)]
