"""Smaller problems on the data of an oracle: fewer outputs near a point, or only the units of some planes."""

from __future__ import annotations

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.rounding import gamma
from maxmargin.executors import Serial
from maxmargin.problem.contract.batch import Batch
from maxmargin.problem.contract.capabilities.kernel_space import KernelSpace
from maxmargin.problem.contract.capabilities.narrowed_search import NarrowedSearch
from maxmargin.problem.oracle.mean_plane import CutSum, MeanPlane
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.problem.oracle.placement import Placement, chunks_of
from maxmargin.problem.oracle.searches import Searches
from maxmargin.problem.planes.planes import Planes


class NearbyCuts:
    """The risk over the outputs that matter near a point.

    Its cuts are cuts of the whole risk, and its own risk is a lower bound on that. Calls are not counted.

    Order of calls: `nearby_cuts` at a point, then `mean_plane` at points near it.
    """

    def __init__(self, oracle: Oracle, batch: Batch):
        self.searches: Searches = oracle.searches.with_placement(Placement(batch, Serial()))
        self.dim, self.n, self.weights, self.formulation = oracle.dim, oracle.n, oracle.weights, oracle.formulation

    def mean_plane(self, w: Array) -> MeanPlane:
        """Return this risk linearised at w; `risk` of the plane does not include an allowance for rounding."""
        total, slacks = CutSum(self.dim, self.formulation), []
        chunks = chunks_of(np.arange(self.n))
        for index, chunk in zip(chunks, self.searches.chunks(w, chunks, True), strict=True):
            assert chunk.found is not None
            total.add(chunk.found, self.weights[index] / self.n)
            slacks.append(chunk.slacks)
        penalties = self.formulation.penalty(np.concatenate(slacks))
        risk = float(np.dot(self.weights, penalties)) / self.n * (1 + gamma(self.n + 8))
        return MeanPlane(total.a, total.offset, risk, total.row(), size=total.size)


def nearby_cuts(oracle: Oracle, w: Array) -> NearbyCuts | None:
    """Return the cuts of a problem with fewer outputs, those close to w; None if nothing can be saved."""
    search = oracle.batch.offers(NarrowedSearch)
    few = None if search is None else search.narrowed(w)
    return None if few is None else NearbyCuts(oracle, few)


def restricted_to(oracle: Oracle, planes: Planes) -> tuple[Oracle, Planes]:
    """Return the same planes, and an oracle whose plane dual costs no more than these planes need."""
    space = oracle.batch.offers(KernelSpace)
    if space is None:
        return oracle, planes
    few, planes = space.restricted_to(planes)
    return oracle.with_placement(Placement(few, oracle.placement.executor)), planes
