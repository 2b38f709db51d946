"""DualProblem: the n-slack problem whose dual a BlockDual improves."""

from __future__ import annotations

from typing import NamedTuple

from maxmargin.base.arrays import Array
from maxmargin.problem.dual.caps import caps
from maxmargin.problem.dual.geometry import Geometry
from maxmargin.problem.dual.limits import DEFAULT_LIMITS, Limits
from maxmargin.problem.dual.objective import Formulation


class DualProblem(NamedTuple):
    """The weights of the examples, the formulation, C, the limits of memory, and the prior and bounds of w."""

    weights: Array  # (n,) normalised: they sum to n
    formulation: Formulation
    C: float
    limits: Limits = DEFAULT_LIMITS
    geometry: Geometry | None = None  # None: the prior is 0, and w has no bounds

    @property
    def caps(self) -> Array:
        """Return C vᵢ / n of every example."""
        return caps(self.weights, self.C)
