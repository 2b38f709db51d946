"""The 1-slack cutting plane method: one constraint per pass, for the whole data set."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from maxmargin.arrays import Array
from maxmargin.errors import NotSeparable
from maxmargin.oracle import Oracle
from maxmargin.solvers.base import Solution, Solver, Step
from maxmargin.solvers.confined_master import solve_confined
from maxmargin.solvers.cuts import Cuts
from maxmargin.solvers.qp import UnboundedMaster, solve_master

TOWARDS = 0.4  # how far the next point lies from the best one towards the model's lowest
MOST_NEARBY = 50  # rounds without looking at all outputs
SHARE = 0.2  # of the gap that is left to those who do


class OneSlack(Solver):
    """Cut the mean slack as one convex function; the master problem has one variable per cut.

    Minimise  ½‖w‖² + Cξ  subject to  ⟨w, a_t⟩ >= offset_t - ξ  for the cuts t found so far              (1)
    where a cut averages the most violated constraints of all examples at one w (for squared slacks it is the tangent of
    the risk there). Its dual is the master QP
        max_α  Σ α offset - ½‖Σ α a‖²,  α >= 0, Σ α <= C,     w = Σ α a,                              (2)
    whose value is a lower bound on the objective. At most O(C/ε) cuts are ever needed, whatever the number of examples.

    Two things save cuts and time. A new cut is asked for between the best point so far and the lowest of the model,
    because far from the best point the model is poor; at the lowest itself where the bound did not rise otherwise. And
    where a batch can be narrowed to outputs that matter near a point, most cuts are found by that: they are cuts of the
    whole risk, and only the risk of the whole counts.

    Joachims, Finley, Yu (MLJ 2009), Algorithm 3; the refinement named in section 2.4 of Joachims et al. 2009. Points in
    between: Ben-Ameur, Neto (Networks 2007); Franc, Sonnenburg (ICML 2008).
    """

    patience: int = 50  # rounds after which a cut without weight is forgotten

    def steps(self, oracle: Oracle, C: float, seed: int, start: Solution | None) -> Iterator[Step]:
        known = None if start is None else start.memory
        cuts = known if isinstance(known, Cuts) else Cuts(columns_wanted=oracle.geometry is not None)
        if len(cuts):
            self._optimise(cuts, C, oracle)
        w, dual = cuts.point(oracle), cuts.bound(oracle)
        best, value, stalled = w, np.inf, 0
        origin = oracle.point(np.zeros(oracle.dim))
        # Without known cuts, this is the first point; a search that estimates may say too little of it.
        unasked = len(cuts) > 0 and np.isfinite(C) and not oracle.search.estimates
        while stalled < 3:
            if unasked and self._may_be_optimal(origin, cuts, oracle, C, dual):
                w, unasked = origin, False
            plane = oracle.mean_plane(w)
            yield Step(w, dual, risk=plane.risk, memory=cuts)
            new = oracle.objective(w, plane.risk, C)
            if new < value:
                best, value = w, new
            near = oracle.narrowed(w) if np.isfinite(C) else None
            cuts.add(plane)
            model = self._optimise(cuts, C, oracle)
            nearby = None if near is None else self._cut_nearby(near, cuts, C, value, model)
            cuts.drop_idle(self.patience)
            before, dual = dual, max(dual, cuts.bound(oracle))
            stalled = stalled + 1 if dual - before <= 1e-14 * np.abs(dual) else 0
            w = cuts.point(oracle)
            if nearby is not None and not stalled:
                w = nearby
            elif np.isfinite(value) and not stalled:
                w = best + TOWARDS * (w - best)
        yield Step(w, dual, memory=cuts)

    def _may_be_optimal(self, origin: Array, cuts: Cuts, oracle: Oracle, C: float, dual: float) -> bool:
        """Whether w = 0 (or the prior) may be within tol of this bound, as far as the cuts know.

        A warm start comes near it where it is optimal, with a w of mere rounding: nothing would be said to be learnt.
        """
        least = oracle.objective(origin, cuts.risk(origin), C)
        return bool(least - dual <= self.tol * least)

    def _cut_nearby(self, near: Oracle, cuts: Cuts, C: float, value: float, model: float) -> Array:
        """Go on with an oracle that knows fewer outputs, until its gap is a share of the whole's; its best point.

        Points are known by their weights of the cuts here: nothing is proved of them.
        """
        enough = max(SHARE * (value - model), 0.9 * self.tol * value)
        least, at, weights = np.inf, cuts.alpha, cuts.alpha
        best = cuts.point(near)
        for _ in range(MOST_NEARBY):
            w = near.point(cuts.vectors.combined(weights, near.dim))
            plane = near.mean_plane(w)
            height = 0.5 * near.square(w) + C * plane.risk
            if height < least:
                least, at, best = height, weights, w
            if least - model <= enough:
                break
            cuts.add(plane)
            before, model = model, self._optimise(cuts, C, near)
            weights = cuts.alpha.copy()
            if model > before:
                weights *= TOWARDS
                weights[: len(at)] += (1 - TOWARDS) * at
        return best

    def _optimise(self, cuts: Cuts, C: float, oracle: Oracle) -> float:
        """Solve the master problem (2) from the last weights; returns its value, but for rounding."""
        if oracle.geometry is not None:
            return solve_confined(cuts, C, oracle.geometry)
        try:
            solution = solve_master(cuts.gram, cuts.offset, C, alpha=cuts.alpha)
        except UnboundedMaster as error:
            raise NotSeparable(
                "no weights separate all examples, so C = inf has no solution; use a finite C"
            ) from error
        cuts.weigh(solution.alpha)
        return solution.value
