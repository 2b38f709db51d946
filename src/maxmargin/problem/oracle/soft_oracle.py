"""SoftOracle: a smooth risk (tangents.py) in the place of the largest violations, for solvers that ask for tangents."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from maxmargin.base.arrays import Array, Index
from maxmargin.base.memory_budget import UNLIMITED, MemoryBudget
from maxmargin.executors import Executor
from maxmargin.problem.contract.batch import Batch
from maxmargin.problem.contract.capabilities.descriptions import required
from maxmargin.problem.contract.capabilities.distribution_dual import DistributionDual
from maxmargin.problem.contract.capabilities.smooth import Smooth
from maxmargin.problem.contract.tangents import Softness, Tangents
from maxmargin.problem.dual.block_dual import BlockDual
from maxmargin.problem.dual.geometry import Geometry
from maxmargin.problem.dual.limits import DEFAULT_LIMITS, Limits
from maxmargin.problem.oracle.oracle import MeanPlane, Oracle
from maxmargin.problem.oracle.placement import chunks_of
from maxmargin.problem.planes.plane_sizes import CutSize
from maxmargin.problem.planes.planes import Planes

NEEDS_SUMS = "an objective other than 'hinge'"


class SoftOracle(Oracle):
    """n examples seen through their distributions of outputs."""

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
        super().__init__(batch, None, sample_weight, executor, geometry, sizes, memory)
        self.softness = softness

    def slacks(self, w: Array) -> Array:
        found, _ = self._tangents(w)
        return found.slacks + found.errors

    def proved_risk(self, w: Array) -> float:
        return self.risk(w)

    def mean_plane(self, w: Array, sample: Index | None = None) -> MeanPlane:
        """The tangent of the risk at w; its offset is lowered by what rounding may have added to it."""
        if sample is not None:
            self._refuse("samples of cuts")
        found, a = self._tangents(w)
        a /= self.n
        mass, low = (
            found.mass / self.n,
            float(np.dot(self.weights, np.maximum(found.slacks - found.errors, 0.0))) / self.n,
        )
        # The gradient is off by some e: at w' the cut may be too high by ‖e‖ (‖w‖ + ‖w'‖). What reads a cut allows for
        # the second part, which belongs to its own w'.
        size = CutSize(mass, low + mass * float(np.linalg.norm(w)), int(min(found.terms + self.n + self.dim, 2**62)))
        return MeanPlane(a, low + float(np.dot(a, w)), self.risk_of(found.slacks + found.errors), size=size)

    def planes(self, w: Array, index: Index, scale: float = 1.0) -> Planes:
        self._refuse("single outputs")

    def planes_and_slacks(self, w: Array) -> tuple[Planes, Array]:
        self._refuse("single outputs")

    def predicted_planes(self, w: Array, index: Index, hint: float) -> Planes:
        self._refuse("single outputs")

    def block_dual(self, C: float, limits: Limits = DEFAULT_LIMITS, earlier: Any = None) -> BlockDual:
        self._refuse("single outputs")

    def gibbs_dual(self, C: float, earlier: Any = None) -> Any:
        """A dual point with one distribution of outputs per example, in the form that the batch has for it."""
        dual = required(self._batch, DistributionDual, "solver='exponentiated_gradient'", "use solver='lbfgs'")
        return dual.gibbs_dual(self.weights, self.softness, C, self.memory, earlier)

    def narrowed(self, w: Array) -> None:
        """All outputs count."""

    def deny_misses(self, w: Array, remembered: Array, slacks: Array, first: int = 0) -> None:
        """There is no search that could miss anything."""

    def noise(self, w: Array, C: float) -> float:
        found, _ = self._tangents(w)
        return C * float(np.dot(self.weights, found.errors)) / self.n

    @property
    def largest_loss(self) -> float:
        return 0.0

    def _tangents(self, w: Array) -> tuple[Tangents, Array]:
        """Of all examples."""
        self._check(w)
        self.calls += self.n
        shares, order = self._places.spread(np.arange(self.n))
        weights = self.weights if order is None else self.weights[np.argsort(order)]
        own = np.split(weights, np.cumsum([len(share.at) for share in shares])[:-1])
        found = self._map(
            add_up, shares, [(share.at, v) for share, v in zip(shares, own, strict=True)], w, self.softness
        )
        total = found[0][1]
        for _, more in found[1:]:
            total += more
        return Tangents.joined([each for each, _ in found]), total

    def _refuse(self, what: str) -> NoReturn:
        raise ValueError(
            f"this solver asks for {what}, which smooth objectives do not have; use solver='exponentiated_gradient', "
            "'lbfgs', 'bundle' or 'one_slack'"
        )


def add_up(batch: Batch, asked: tuple[Index, Array], w: Array, softness: Softness) -> tuple[Tangents, Array]:
    """The tangents of some examples, a chunk after the other, and the array that they were added to."""
    index, weights = asked
    total = np.zeros(len(w))
    each = zip(chunks_of(index), chunks_of(weights), strict=True)
    found = [required(batch.take(own), Smooth, NEEDS_SUMS).add_tangents(w, v, softness, total) for own, v in each]
    return Tangents.joined(found), total
