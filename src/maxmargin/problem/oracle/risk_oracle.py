"""RiskOracle: the regularised risk of n examples, the common interface of oracles for solvers."""

from __future__ import annotations

from copy import copy
from typing import Any, ClassVar, Self

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.files.fields import Whole
from maxmargin.base.files.objects import Fields
from maxmargin.base.memory_budget import UNLIMITED, MemoryBudget
from maxmargin.base.rounding import gamma
from maxmargin.base.search import Search
from maxmargin.executors import Executor, Serial
from maxmargin.problem.contract.batch import Batch
from maxmargin.problem.dual.geometry import Geometry
from maxmargin.problem.dual.objective import Formulation, primal
from maxmargin.problem.oracle.mean_plane import MeanPlane
from maxmargin.problem.oracle.placement import Placement
from maxmargin.problem.oracle.sample_weights import normalised_weights
from maxmargin.problem.oracle.weight_space import WeightSpace


class RiskOracle:
    """The objective P(w) = ½‖w‖² + C R(w) of n examples, seen through values and cuts of its risk R.

    Oracle sees examples through their most violated outputs, SoftOracle through distributions over all outputs. A
    solver that needs one of the two lists it in `requires`.

    The constructor sets `n`, `dim`, `weights` (they sum to n), `formulation`, `geometry` (a prior and bounds, or None),
    `space` (inner products of weights), `placement` (where the examples are searched) and `memory` (the budget from
    which solvers allocate large arrays). `calls` counts decoder calls, the calls of `slacks`, `risk`, `proved_risk` and
    `mean_plane`, and the calls that a solver adds itself.

    Order of calls: any. Each call is a pass over the data, except for `risk_of` and `objective`, which compute with
    what a pass has returned.
    """

    learnt: ClassVar[Fields] = {"calls": Whole()}

    def __init__(
        self,
        batch: Batch,
        formulation: Formulation,
        sample_weight: Any = None,
        executor: Executor | None = None,
        geometry: Geometry | None = None,
        sizes: Array | None = None,
        memory: MemoryBudget = UNLIMITED,
    ):
        self.placement = Placement(batch, executor or Serial())
        self.space, self.geometry = WeightSpace(batch, geometry), geometry
        self.formulation, self.memory = formulation, memory
        self.n, self.dim = len(batch), batch.dim
        self.weights = normalised_weights(sample_weight, self.n)
        if sizes is not None:  # the risk is a mean over the units of examples
            self.weights = self.weights * (self.n / np.dot(self.weights, sizes))
        self.calls = 0

    @property
    def batch(self) -> Batch:
        """The examples: their name in messages, their costs of calls, and their capabilities."""
        return self.placement.batch

    @property
    def search(self) -> Search:
        """The kind of search that the decoder makes on these data."""
        return self.batch.search

    @property
    def method(self) -> str:
        """A description of the decoder's search for the certificate."""
        return self.batch.method

    def with_placement(self, placement: Placement) -> Self:
        """Return the same problem with other truths or other workers; calls of it do not affect this one."""
        other = copy(self)
        other.placement, other.dim = placement, placement.batch.dim
        other.space = WeightSpace(placement.batch, self.geometry)
        return other

    def objective(self, w: Array, risk: float, C: float) -> float:
        """Return P(w), given its measured risk, not rounded down."""
        return primal(self.space.square(w), risk, C) * (1 + gamma(8))

    def slacks(self, w: Array) -> Array:
        """Return ξᵢ(w) of every example, not rounded down."""
        raise NotImplementedError

    def proved_risk(self, w: Array) -> float:
        """Return a proved upper bound on R(w); inf if nothing is proved."""
        raise NotImplementedError

    def mean_plane(self, w: Array) -> MeanPlane:
        """Return the risk linearised at w, a cut that is nowhere above R, and R(w) itself."""
        raise NotImplementedError

    def negligible(self, w: Array, C: float) -> float:
        """Return an objective value that is only rounding at w; 0 if rounding cannot hide the risk."""
        raise NotImplementedError

    def risk(self, w: Array) -> float:
        """Return R(w), the weighted mean penalty of the slacks at w."""
        return self.risk_of(self.slacks(w))

    def risk_of(self, slacks: Array) -> float:
        """Return R(w) from the slacks at w, not rounded down."""
        counting = self.weights > 0  # an example without weight may have no bound
        penalty = np.dot(self.weights[counting], self.formulation.penalty(slacks[counting])) / self.n
        return float(penalty) * (1 + gamma(self.n + 8))

    def _count(self, w: Array, calls: int) -> None:
        """Count decoder calls before making them; refuse weights of another length, which kernels do not check."""
        if len(w) != self.dim:
            raise ValueError(f"expected {self.dim} weights, got {len(w)}")
        self.calls += calls
