"""RescaledSearch: the exact search for slack rescaling and squared slacks."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from maxmargin.base.arrays import Array
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.planes.planes import Planes


@runtime_checkable
class RescaledSearch(Protocol):
    """A batch that finds the most violated outputs of formulations other than the plain hinge.

    The violation of slack rescaling and of squared slacks is not Δ - ⟨w, δΨ⟩, so `Batch.planes` alone cannot find its
    maximum. Without this capability the oracle searches over λ with `Batch.planes` (oracle/rescaling.py), which proves
    less.

    Order of calls: `take`, then `rescaled_planes`, any number of times. Nothing is set.
    """

    def rescaled_planes(self, w: Array, formulation: Formulation) -> Planes:
        """Return, for every example, the plane of the output with the highest formulation.value(Δ, ⟨w, δΨ⟩).

        If a search was cut short, `upper` of the planes bounds the violation.
        """
