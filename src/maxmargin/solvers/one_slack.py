"""The 1-slack cutting plane method: one constraint per pass, for the whole data set."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.errors import NotSeparable
from maxmargin.base.files.fields import Flag, NumberArray, Real, Whole
from maxmargin.base.files.learnt import Inner
from maxmargin.base.files.objects import Fields
from maxmargin.problem.oracle.mean_plane import MeanPlane
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.problem.oracle.risk_oracle import RiskOracle
from maxmargin.problem.oracle.smaller_problems import NearbyCuts, nearby_cuts
from maxmargin.solvers.base import Solver
from maxmargin.solvers.bounded_master import solve_bounded
from maxmargin.solvers.cuts import Cuts, known_cuts
from maxmargin.solvers.learnt_cuts import LearntCut
from maxmargin.solvers.qp import UnboundedMaster, solve_master
from maxmargin.solvers.solution import Solution
from maxmargin.solvers.steps import Step

TOWARDS = 0.4  # distance of the next query from the best point, as a share of the segment to the model's minimiser
MOST_NEARBY = 50  # rounds with a narrowed search before a full one
SHARE = 0.2  # share of the gap that is left to the full search


class CutPoint:
    """The state of the method: the cuts, the next query, and the best point so far."""

    learnt: ClassVar[Fields] = {
        "cuts": Inner(),
        "w": NumberArray(float, "oracle.dim"),
        "best": NumberArray(float, "oracle.dim"),
        "value": Real(finite=False),
        "dual": Real(finite=False),
        "stalled": Whole(),
        "unasked": Flag(),
        "ended": Flag(),
        "plane": LearntCut(),
    }

    def __init__(self, oracle: RiskOracle, cuts: Cuts):
        self.oracle, self.cuts = oracle, cuts
        self.w = self.best = np.zeros(0)  # set once the cuts have weights
        self.value, self.dual = np.inf, -np.inf  # P at the best point, and the bound
        self.stalled = 0  # consecutive cuts that did not raise the bound
        self.unasked = False  # True if a query at w = 0 is worthwhile
        self.ended = False
        self.plane: MeanPlane | None = None  # the cut at w, if it is not among the others yet

    @property
    def memory(self) -> Cuts:
        return self.cuts


class OneSlack(Solver, name="one_slack"):
    """Cut the mean slack as one convex function; the master problem has one variable per cut.

    Minimise  ½‖w‖² + Cξ  subject to  ⟨w, a_t⟩ >= offset_t - ξ  for the cuts t found so far              (1)
    where a cut averages the most violated constraints of all examples at one w (for squared slacks it is the tangent of
    the risk there). Its dual is the master QP
        max_α  Σ α offset - ½‖Σ α a‖²,  α >= 0, Σ α <= C,     w = Σ α a,                              (2)
    whose value is a lower bound on the objective. At most O(C/ε) cuts are ever needed, whatever the number of examples.

    Two measures save cuts and time. A new cut is computed between the best point so far and the minimiser of the model,
    because the model is poor far from the best point; if the bound does not rise, it is computed at the minimiser. If a
    batch can narrow its search to outputs that matter near a point, most cuts are found by the narrowed search; they
    are valid cuts of the whole risk, and only the risk from a full search is reported.

    Joachims, Finley, Yu (MLJ 2009), Algorithm 3; the refinement named in section 2.4 of Joachims et al. 2009. Points in
    between: Ben-Ameur, Neto (Networks 2007); Franc, Sonnenburg (ICML 2008).

    Parameters
    ----------
    tol, max_passes : float
        As for `Solver`.
    patience : int
        Rounds after which a cut without weight is dropped.
    """

    patience: int = 50

    def begin(self, oracle: RiskOracle, C: float, seed: int, start: Solution | None) -> CutPoint:
        at = CutPoint(oracle, known_cuts(oracle, start))
        if len(at.cuts):
            self._optimise(at.cuts, C, oracle)
        at.w, at.dual = at.cuts.point(oracle), at.cuts.bound(oracle)
        at.best = at.w
        # Without known cuts, the first point is w = 0; a search that estimates may understate the risk there.
        at.unasked = len(at.cuts) > 0 and bool(np.isfinite(C)) and not oracle.search.estimates
        return at

    def advance(self, oracle: RiskOracle, C: float, at: CutPoint) -> Iterator[Step]:
        cuts, origin = at.cuts, oracle.space.point(np.zeros(oracle.dim))
        while True:
            if at.plane is not None:  # the cut of the last step
                self._learn(oracle, C, at, at.plane)
            if at.stalled >= 3:
                break
            if at.unasked and self._may_be_optimal(origin, cuts, oracle, C, at.dual):
                at.w, at.unasked = origin, False
            at.plane = oracle.mean_plane(at.w)
            yield Step(at.w, at.dual, risk=at.plane.risk, memory=cuts)
        if not at.ended:
            at.ended, at.plane = True, None
            yield Step(at.w, at.dual, memory=cuts)

    def _learn(self, oracle: RiskOracle, C: float, at: CutPoint, plane: MeanPlane) -> None:
        """Add this cut of the current point, and move to the next point."""
        cuts, new = at.cuts, oracle.objective(at.w, plane.risk, C)
        if new < at.value:
            at.best, at.value = at.w, new
        near = nearby_cuts(oracle, at.w) if isinstance(oracle, Oracle) and np.isfinite(C) else None
        cuts.add(plane)
        model = self._optimise(cuts, C, oracle)
        nearby = None if near is None else self._cut_nearby(oracle, near, cuts, C, at.value, model)
        cuts.drop_idle(self.patience)
        before, at.dual = at.dual, max(at.dual, cuts.bound(oracle))
        at.stalled = at.stalled + 1 if at.dual - before <= 1e-14 * np.abs(at.dual) else 0
        at.w = cuts.point(oracle)
        if nearby is not None and not at.stalled:
            at.w = nearby
        elif np.isfinite(at.value) and not at.stalled:
            at.w = at.best + TOWARDS * (at.w - at.best)

    def _may_be_optimal(self, origin: Array, cuts: Cuts, oracle: RiskOracle, C: float, dual: float) -> bool:
        """Return whether w = 0 (or the prior) may be within tol of this bound, as far as the cuts know.

        If w = 0 is optimal, a warm start ends near it at a w of rounding errors, and nothing would be reported as
        learnt.
        """
        least = oracle.objective(origin, cuts.risk(origin), C)
        return bool(least - dual <= self.tol * least)

    def _cut_nearby(
        self, oracle: RiskOracle, near: NearbyCuts, cuts: Cuts, C: float, value: float, model: float
    ) -> Array:
        """Continue with the narrowed search until its gap is a share of the whole one, and return the best point.

        Points are represented by weights of the cuts; nothing is proved of them.
        """
        enough = max(SHARE * (value - model), 0.9 * self.tol * value)
        least, at, weights = np.inf, cuts.alpha, cuts.alpha
        best = cuts.point(oracle)
        for _ in range(MOST_NEARBY):
            w = oracle.space.point(cuts.vectors.combined(weights, oracle.dim))
            plane = near.mean_plane(w)
            height = 0.5 * oracle.space.square(w) + C * plane.risk
            if height < least:
                least, at, best = height, weights, w
            if least - model <= enough:
                break
            cuts.add(plane)
            before, model = model, self._optimise(cuts, C, oracle)
            weights = cuts.alpha.copy()
            if model > before:
                weights *= TOWARDS
                weights[: len(at)] += (1 - TOWARDS) * at
        return best

    def _optimise(self, cuts: Cuts, C: float, oracle: RiskOracle) -> float:
        """Solve the master problem (2) from the last weights, and return its value up to rounding."""
        if oracle.geometry is not None:
            return solve_bounded(cuts, C, oracle.geometry)
        try:
            solution = solve_master(cuts.gram, cuts.offset, C, alpha=cuts.alpha)
        except UnboundedMaster as error:
            raise NotSeparable(
                "no weights separate all examples, so C = inf has no solution; use a finite C"
            ) from error
        cuts.weigh(solution.alpha)
        return solution.value
