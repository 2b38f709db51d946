"""SoftOracle: the oracle of a smooth risk, for solvers that use tangents (tangents.py)."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.base.arrays import Array, Index
from maxmargin.base.memory_budget import UNLIMITED, MemoryBudget
from maxmargin.executors import Executor
from maxmargin.problem.contract.batch import Batch
from maxmargin.problem.contract.capabilities.descriptions import required
from maxmargin.problem.contract.capabilities.distribution_dual import DistributionDual
from maxmargin.problem.contract.capabilities.smooth import Smooth
from maxmargin.problem.contract.tangents import Softness, Tangents
from maxmargin.problem.dual.geometry import Geometry
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.oracle.mean_plane import MeanPlane
from maxmargin.problem.oracle.placement import chunks_of
from maxmargin.problem.oracle.risk_oracle import RiskOracle
from maxmargin.problem.planes.plane_sizes import CutSize


class SoftOracle(RiskOracle):
    """An oracle that sees n examples through their distributions of outputs.

    Order of calls: as for every RiskOracle; `gibbs_dual` at the beginning of a run that keeps distributions.
    """

    def __init__(
        self,
        batch: Batch,
        softness: Softness,
        sample_weight: Any = None,
        executor: Executor | None = None,
        geometry: Geometry | None = None,
        sizes: Array | None = None,
        memory: MemoryBudget = UNLIMITED,
    ):
        required(batch, Smooth, "an objective other than 'hinge'")
        super().__init__(batch, Formulation(), sample_weight, executor, geometry, sizes, memory)
        self.softness = softness

    def slacks(self, w: Array) -> Array:
        found, _ = self._tangents(w)
        return found.slacks + found.errors

    def proved_risk(self, w: Array) -> float:
        return self.risk(w)

    def mean_plane(self, w: Array) -> MeanPlane:
        """Return the tangent of the risk at w; its offset is lowered by its possible rounding error."""
        found, a = self._tangents(w)
        a /= self.n
        mass, low = (
            found.mass / self.n,
            float(np.dot(self.weights, np.maximum(found.slacks - found.errors, 0.0))) / self.n,
        )
        # The gradient has an error e: at w' the cut may be too high by ‖e‖ (‖w‖ + ‖w'‖). The users of a cut allow for
        # the second term, which depends on their own w'.
        size = CutSize(mass, low + mass * float(np.linalg.norm(w)), int(min(found.terms + self.n + self.dim, 2**62)))
        return MeanPlane(a, low + float(np.dot(a, w)), self.risk_of(found.slacks + found.errors), size=size)

    def negligible(self, w: Array, C: float) -> float:
        """Return 0: all outputs contribute to a smooth risk, so rounding does not hide it."""
        return 0.0

    def gibbs_dual(self, C: float, earlier: Any = None) -> Any:
        """Return the dual point with one distribution of outputs per example, in the form of the batch."""
        dual = required(self.batch, DistributionDual, "a dual over distributions")
        return dual.gibbs_dual(self.weights, self.softness, C, self.memory, earlier)

    def _tangents(self, w: Array) -> tuple[Tangents, Array]:
        """Return the tangents of all examples, and their sum."""
        self._count(w, self.n)
        shares, order = self.placement.spread(np.arange(self.n))
        weights = self.weights if order is None else self.weights[np.argsort(order)]
        own = np.split(weights, np.cumsum([len(share.at) for share in shares])[:-1])
        requests = [(share.at, v) for share, v in zip(shares, own, strict=True)]
        found = self.placement.map_shares(add_up, shares, requests, w, self.softness)
        total = found[0][1]
        for _, more in found[1:]:
            total += more
        return Tangents.joined([each for each, _ in found]), total


def add_up(batch: Batch, request: tuple[Index, Array], w: Array, softness: Softness) -> tuple[Tangents, Array]:
    """Return the tangents of some examples, one chunk after the other, and the array that they were added to."""
    index, weights = request
    total = np.zeros(len(w))
    found = []
    for own, v in zip(chunks_of(index), chunks_of(weights), strict=True):
        smooth = required(batch.take(own), Smooth, "an objective other than 'hinge'")
        found.append(smooth.add_tangents(w, v, softness, total))
    return Tangents.joined(found), total
