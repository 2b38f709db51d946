"""OwnDual: a dual point in a form of the structure's own."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from maxmargin.problem.dual.block_dual import BlockDual
from maxmargin.problem.dual.dual_problem import DualProblem


@runtime_checkable
class OwnDual(Protocol):
    """A batch that knows all planes of an example at once, and stores the n-slack dual in a form of its own.

    Order of calls: solvers call `block_dual` once at the beginning of a run, and then improve the dual point that it
    returns.
    """

    def block_dual(self, problem: DualProblem, earlier: BlockDual | None = None) -> BlockDual | None:
        """Return the dual point in the structure's own form, or None if a PlaneDual is better.

        `earlier` is the dual point of an earlier run on the same data; if it has this form, it is moved to `problem`
        and returned.
        """
