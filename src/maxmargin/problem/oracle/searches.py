"""Searches: the decoder calls of an oracle, spread over its placement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any, ClassVar

import numpy as np

from maxmargin.base.arrays import Array, Index
from maxmargin.base.files.fields import NumberArray
from maxmargin.base.files.learnt import MaybeInner
from maxmargin.base.files.objects import Fields
from maxmargin.base.files.stacked import Stacked
from maxmargin.problem.contract.batch import Batch
from maxmargin.problem.contract.capabilities.kernel_space import KernelSpace
from maxmargin.problem.contract.capabilities.resumable_searches import ResumableSearches
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.oracle.placement import Placement, Share
from maxmargin.problem.oracle.shard_sums import ShardRequest, ShardSum, joined_sums, shard_sum
from maxmargin.problem.oracle.violations import (
    ChunkResult,
    SearchRequest,
    Violations,
    joined,
    joined_chunk,
    most_violated,
    predicted,
    search_chunk,
)
from maxmargin.problem.planes.plane_sizes import PlaneSizes


class Searches:
    """The searches of a placed batch in one formulation.

    Order of calls: any of `violations`, `predicted`, `chunks` and `shard_sums`. Rescaling searches begin where the last
    one of the same example ended, which `violations`, `chunks` and `shard_sums` set in `lam`.
    """

    def __init__(self, placement: Placement, formulation: Formulation):
        self.placement, self.formulation = placement, formulation
        self.n = len(placement.batch)
        self.lam = np.ones(self.n)  # the final λ of the last rescaling search of each example

    # A checkpoint keeps the state on which later answers depend, besides the data: see base/files/learnt.py.
    learnt: ClassVar[Fields] = {
        "lam": NumberArray(float, "n", least=0),
        "cache": MaybeInner(),
        "states": Stacked(),
    }

    def with_placement(self, placement: Placement) -> Searches:
        """Return searches of other data that begin with the state of these, and then continue on their own."""
        other = copy(self)
        other.placement, other.lam = placement, self.lam.copy()
        return other

    @property
    def cache(self) -> Any:
        """The cache of kernel rows, if there is a kernel."""
        space = self.placement.batch.offers(KernelSpace)
        return None if space is None else space.cache

    @property
    def states(self) -> list[Any] | None:
        """The search state of each example as plain data, for a later resume; None if searches keep no state."""
        placement = self.placement
        if placement.in_this_process:
            return search_states(placement.batch, np.arange(self.n))
        each: list[list[Any] | None] = list(placement.map(search_states, placement.shards, placement.indices))
        known = [one for some in each if some is not None for one in some]
        return [known[k] for k in placement.order] if len(known) == self.n else None

    @states.setter
    def states(self, found: list[Any] | None) -> None:
        if found is None:
            return
        placement = self.placement
        if placement.in_this_process:
            restore_searches(placement.batch, found)
            return
        shares = [[found[i] for i in index] for index in placement.indices]
        list(placement.map(restore_searches, placement.shards, shares))

    def violations(self, w: Array, index: Index, scale: float = 1.0) -> Violations:
        """Find the most violated cut of each of these examples at scale·w."""
        if scale != 1 and not self.formulation.plain:
            w, scale = scale * w, 1.0
        if self.formulation.plain and self.placement.alone:  # the usual case, on a short path
            return most_violated(self.placement.batch, (index, None), w, scale, self.formulation)
        shares, order = self.placement.spread(index)
        requests = self._requests(shares, index, order)
        found = joined(self.placement.map_shares(most_violated, shares, requests, w, scale, self.formulation), order)
        if found.lam is not None:
            self.lam[index] = found.lam
        return found

    def predicted(self, w: Array, index: Index, hint: float) -> Violations:
        """Find the cuts of plain predictions, in which a hint of loss decides ties."""
        shares, order = self.placement.spread(index)
        return joined(self.placement.map_shares(predicted, shares, [share.at for share in shares], w, hint), order)

    def chunks(self, w: Array, chunks: Sequence[Index], wants_planes: bool) -> Iterator[ChunkResult]:
        """Search one chunk after the other. Idle threads search ahead of the caller."""
        placement, rest = self.placement, (w, self.formulation, wants_planes)
        ahead = placement.spread_ahead(chunks)
        results: Iterator[Any] = iter(())
        if ahead is not None:
            jobs = [(share, self._begin(share)) for shares in ahead for share in shares]
            results = placement.map(search_chunk, [placement.batch] * len(jobs), jobs, *rest)
        for k, index in enumerate(chunks):
            if ahead is not None:
                result = joined_chunk([next(results) for _ in ahead[k]], None)
            else:
                shares, order = placement.spread(index)
                requests = self._requests(shares, index, order)
                result = joined_chunk(placement.map_shares(search_chunk, shares, requests, *rest), order)
            if result.lam is not None:
                self.lam[index] = result.lam
            yield result

    def shard_sums(self, w: Array, weights: Array, sizes: PlaneSizes, cut: bool) -> ShardSum:
        """Make a pass over all shards and sum it at the workers; through rounding, the sum depends on their number."""
        indices, sizes = self.placement.indices, sizes._replace(atoms=None)
        requests = [ShardRequest(weights[index], sizes, self._begin(index), cut) for index in indices]
        found: ShardSum = self.placement.reduce_shards(joined_sums, shard_sum, requests, w, self.formulation)
        for index, own in zip(indices, found.lam, strict=True):
            if own is not None:
                self.lam[index] = own
        return found

    def _begin(self, index: Index) -> Array | None:
        """Return the λ with which rescaling searches of these examples begin."""
        return None if self.formulation.plain else self.lam[index]

    def _requests(self, shares: Sequence[Share], index: Index, order: Index | None) -> list[SearchRequest]:
        """Return the request for every share of an index."""
        lam = self._begin(index)
        if lam is None:
            return [(share.at, None) for share in shares]
        own = np.split(lam if order is None else lam[np.argsort(order)], np.cumsum([len(s.at) for s in shares])[:-1])
        return [(share.at, begin) for share, begin in zip(shares, own, strict=True)]


# --- functions that run where the data are


def search_states(batch: Batch, index: Index) -> list[Any] | None:
    """Return the search states of a batch or shard; `index`, its examples, is not used."""
    resumable = batch.offers(ResumableSearches)
    return None if resumable is None else resumable.search_states()


def restore_searches(batch: Batch, states: list[Any]) -> None:
    """Set the states with which the next searches of a batch or shard begin."""
    resumable = batch.offers(ResumableSearches)
    if resumable is None:
        raise ValueError(f"the searches of {batch.name} keep no state")
    resumable.restore_searches(states)
