"""KernelSpace: weights that are coefficients of training units."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from maxmargin.base.arrays import Array
from maxmargin.problem.contract.batch import Batch
from maxmargin.problem.dual.dual_problem import DualProblem
from maxmargin.problem.dual.plane_dual import PlaneDual
from maxmargin.problem.planes.planes import Planes


@runtime_checkable
class KernelSpace(Protocol):
    """The weight space of a batch with a kernel, where w holds coefficients and inner products need kernel values.

    Kernel values are kept in a cache that compiled code reads without a lock: searches of such a batch run one at a
    time, in this process.

    Order of calls: `lifted` first, if training starts from a trained model; `plane_dual` at the beginning of a run;
    `inner` and `square` at any time. `restricted_to` makes a smaller problem for a while.
    """

    @property
    def cache(self) -> Any:
        """The cache of kernel rows, an object whose class lists its fields for checkpoints in `learnt`."""

    def inner(self, v: Array, w: Array) -> float:
        """Return ⟨v, w⟩ in the feature space."""

    def square(self, w: Array) -> float:
        """Return ‖w‖² in the feature space, not rounded down."""

    def lifted(self, w: Array) -> Array:
        """Return the weights of a trained model, which has only its support vectors, as weights of this batch."""

    def plane_dual(self, problem: DualProblem, earlier: PlaneDual | None = None) -> PlaneDual:
        """Return the dual point over planes found one by one: an empty one, or `earlier` moved to this problem."""

    def restricted_to(self, planes: Planes) -> tuple[Batch, Planes]:
        """Return a batch over the units of these planes alone, and the same planes over its atoms."""
