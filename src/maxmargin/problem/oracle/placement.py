"""Placement: which examples of a batch are worked on where.

Where executors share this memory, the batch is worked on as it is, and any share of the examples may go to any worker.
Where they do not, every part of the batch has its place: what travels with a call are the numbers of examples, w, and
what was found; the data travel once.
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

CHUNK = 512  # examples per call: bounds the memory that rows of planes take
FEWEST = 4  # examples that are worth a hop to another thread
SHARES = 4  # of a pass per worker, at least: whoever is done early takes another


class Share(NamedTuple):
    """Some of the examples that were asked for, all in one place."""

    place: Any  # a batch, or the handle of one
    at: Index  # their positions there


class Placement:
    """A batch on an executor."""

    def __init__(self, batch: Batch, executor: Executor, placed: list[Any] | None = None):
        self.batch, self.executor = batch, executor
        # Compiled code reads the cache of kernel rows without a lock: one run at a time uses it, in this process.
        self.exclusive = batch.offers(KernelSpace) is not None
        self.made = placed  # the handles of parts, once they are in their places
        self._own: list[Any] | None = None  # the same of parts that are only summed up

    @property
    def here(self) -> bool:
        """Whether the batch is worked on where it is."""
        return self.executor.shares_memory or self.exclusive

    @property
    def alone(self) -> bool:
        """Whether it is worked on here by whoever asks."""
        return self.here and self.executor.workers == 1

    @property
    def sums_there(self) -> bool:
        """Whether parts are summed up where they are."""
        return self.executor.sums_there and not self.here

    @property
    def placed(self) -> list[Any]:
        """The parts of the batch where they are worked on."""
        if self.made is None:
            portable = self.batch.offers(Portable)
            shard = self.batch.take if portable is None else portable.shard
            self.made = self.executor.place([shard(part) for part in self.parts])
        return self.made

    @property
    def placed_to_sum(self) -> list[Any]:
        """The same for whoever gets no rows of planes from them, only sums: parts may have less than these."""
        if self.made is None and self._own is None:
            summing = self.batch.offers(SummingShards)
            if summing is not None:
                self._own = self.executor.place([summing.summing_shard(part) for part in self.parts])
        return self.placed if self._own is None else self._own

    @cached_property
    def parts(self) -> list[Index]:
        """The examples of every part.

        They are consecutive where a part is summed up as a whole. Else every part has its share of every chunk, so
        that nobody waits while one chunk after the other is searched.
        """
        n = len(self.batch)
        workers = min(self.executor.workers, n)
        if self.sums_there:
            return np.array_split(np.arange(n), workers)
        shares = [np.array_split(chunk, workers) for chunk in chunks_of(np.arange(n))]
        return [np.concatenate(own) for own in zip(*shares, strict=True)]

    @cached_property
    def _where(self) -> tuple[Index, Index]:
        """The part of every example, and its position there."""
        owner, position = np.empty(len(self.batch), dtype=np.int64), np.empty(len(self.batch), dtype=np.int64)
        for k, part in enumerate(self.parts):
            owner[part], position[part] = k, np.arange(len(part))
        return owner, position

    @property
    def order(self) -> Index:
        """Where every example stands in what the parts return, one after the other."""
        return np.argsort(np.concatenate(self.parts))

    def spread(self, index: Index) -> tuple[list[Share], Index | None]:
        """Which examples are looked up in which place, and the order that makes the answers those of `index`."""
        if self.here:
            return [Share(self.batch, each) for each in self._shares(index, self.executor.workers)], None
        owner, position = self._where
        of, own = owner[index], position[index]
        used = [k for k in range(len(self.placed)) if (of == k).any()]
        order = np.argsort(np.concatenate([np.flatnonzero(of == k) for k in used]))
        return [Share(self.placed[k], own[of == k]) for k in used], order

    def spread_ahead(self, chunks: Sequence[Index]) -> list[list[Index]] | None:
        """The shares of every chunk of a pass, if workers of this memory can search them all as they come."""
        if not self.here or self.executor.workers == 1 or self.exclusive:  # threads take turns with one cache
            return None
        each = -(-SHARES * self.executor.workers // len(chunks))
        return [self._shares(chunk, each) for chunk in chunks]

    def _shares(self, index: Index, most: int) -> list[Index]:
        shares = min(most, max(1, len(index) // FEWEST))
        return np.array_split(index, shares) if shares > 1 else [index]

    def map(self, fn: Callable[..., Any], places: Sequence[Any], each: Sequence[Any], *shared: Any) -> Iterator[Any]:
        """fn(place, each, *shared) in order; a hop to another thread and back would only cost where there is one."""
        executor = self.executor if len(places) > 1 or not self.here else Serial()
        return executor.map(fn, places, each, *shared)


def chunks_of(index: NDArray[Any]) -> list[NDArray[Any]]:
    """As many at a time as are searched at once."""
    return [index[start : start + CHUNK] for start in range(0, len(index), CHUNK)]
