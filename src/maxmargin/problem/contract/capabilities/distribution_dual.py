"""DistributionDual: a dual point with one distribution of outputs per example."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from maxmargin.base.arrays import Array
from maxmargin.base.memory_budget import MemoryBudget
from maxmargin.problem.contract.tangents import Softness


@runtime_checkable
class DistributionDual(Protocol):
    """A batch that keeps a distribution of outputs for every example, as exponentiated gradient updates do.

    Order of calls: `gibbs_dual` once at the beginning of a run. The solver improves the returned point.
    """

    def gibbs_dual(
        self, weights: Array, softness: Softness, C: float, memory: MemoryBudget, earlier: Any = None
    ) -> Any:
        """Return the dual point of a smooth objective: a new one, or `earlier`, of an earlier run, moved to this C."""
