"""The 1-slack cutting plane method: one constraint per pass, for the whole data set."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from maxmargin.errors import NotSeparable
from maxmargin.oracle import Oracle
from maxmargin.solvers.base import Solution, Solver, Step
from maxmargin.solvers.cuts import Cuts
from maxmargin.solvers.qp import UnboundedMaster, solve_master


class OneSlack(Solver):
    """Cut the mean slack as one convex function; the master problem has one variable per cut.

    Minimise  ½‖w‖² + Cξ  subject to  ⟨w, a_t⟩ >= offset_t - ξ  for the cuts t found so far              (1)
    where a cut averages the most violated constraints of all examples at one w (for squared slacks it is the tangent of
    the risk there). Its dual is the master QP
        max_α  Σ α offset - ½‖Σ α a‖²,  α >= 0, Σ α <= C,     w = Σ α a,                              (2)
    whose value is a lower bound on the objective. At most O(C/ε) cuts are ever needed, whatever the number of examples.

    Joachims, Finley, Yu (MLJ 2009), Algorithm 3; the refinement named in section 2.4 of Joachims et al. 2009.
    """

    patience: int = 50  # rounds after which a cut without weight is forgotten

    def steps(self, oracle: Oracle, C: float, seed: int, start: Solution | None) -> Iterator[Step]:
        cuts = start.memory if start is not None and isinstance(start.memory, Cuts) else Cuts()
        if len(cuts):
            self._optimise(cuts, C)
        w, dual = cuts.combined(oracle.dim), cuts.bound(oracle)
        stalled = 0
        while stalled < 3:
            plane = oracle.mean_plane(w)
            yield Step(w, dual, risk=plane.risk, memory=cuts)
            cuts.add(plane)
            self._optimise(cuts, C)
            cuts.drop_idle(self.patience)
            w = cuts.combined(oracle.dim)
            before, dual = dual, max(dual, cuts.bound(oracle))
            stalled = stalled + 1 if dual - before <= 1e-14 * np.abs(dual) else 0
        yield Step(w, dual, memory=cuts)

    def _optimise(self, cuts: Cuts, C: float) -> None:
        """Solve the master problem (2) from the last weights."""
        try:
            cuts.weigh(solve_master(cuts.gram, cuts.offset, C, alpha=cuts.alpha).alpha)
        except UnboundedMaster as error:
            raise NotSeparable(
                "no weights separate all examples, so C = inf has no solution; use a finite C"
            ) from error
