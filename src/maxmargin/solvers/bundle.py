"""The proximal bundle method: 1-slack cuts with a centre that keeps steps short where the model is poor."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from maxmargin.arrays import Array
from maxmargin.oracle import Oracle
from maxmargin.solvers.base import Solution, Solver, Step
from maxmargin.solvers.confined_master import solve_confined
from maxmargin.solvers.cuts import Cuts
from maxmargin.solvers.qp import solve_master


class Bundle(Solver):
    """Minimise J(w) = ½‖w‖² + C R(w) through the cuts of R, close to the best point c seen so far.

        w⁺ = argmin ½‖w‖² + C max(0, max_t (offset_t - ⟨a_t, w⟩)) + (ρ/2)‖w - c‖²
           = (ρ c + Σ α a) / (1 + ρ)                                                                  (1)
        α  = argmax Σ α (offset - ρ/(1+ρ) ⟨a, c⟩) - ‖Σ α a‖² / 2(1+ρ),   α >= 0, Σ α <= C             (2)
    The step is serious (c <- w⁺) if J falls by at least a tenth of what the model promised; ρ falls when the model is
    good and doubles at every third null step in a row that made things worse. For any feasible α,
    Σ α offset - ½‖Σ α a‖² bounds the optimum from below, without the proximal term.
    The larger C, the more this saves over the 1-slack method (a third of the passes at C = 1000).

    Teo, Vishwanathan, Smola, Le (JMLR 2010) for the setting; Kiwiel (1990) for the proximity control.
    """

    patience: int = 50
    rho: float = 1.0  # first weight of the proximal term

    def steps(self, oracle: Oracle, C: float, seed: int, start: Solution | None) -> Iterator[Step]:
        if not np.isfinite(C):
            raise ValueError(
                "the bundle method needs a finite C; for a hard margin use 'n_slack', 'one_slack' or 'bcfw'"
            )
        known = None if start is None else start.memory
        cuts = known if isinstance(known, Cuts) else Cuts(columns_wanted=oracle.geometry is not None)
        rho, nulls, stalled, dual = self.rho, 0, 0, -np.inf
        centre = oracle.point(np.zeros(oracle.dim)) if start is None else start.w.copy()
        plane = oracle.mean_plane(centre)
        value = oracle.objective(centre, plane.risk, C)
        cuts.add(plane)
        yield Step(centre, oracle.least, risk=plane.risk, memory=cuts)
        while stalled < 20:  # null steps in a row are normal; so many from which nothing is learnt are not
            before = dual, value
            w, model = self._proximal_point(cuts, centre, rho, C, oracle)
            total = float(cuts.alpha.sum())
            dual = max(dual, cuts.bound(oracle, most=C / total if total > 0 else 1.0))
            away = w - centre
            predicted = value - model - 0.5 * rho * oracle.inner(away, away)
            plane = oracle.mean_plane(w)
            new = oracle.objective(w, plane.risk, C)
            if oracle.search.estimates:  # cuts found elsewhere may know of worse outputs
                new = max(new, model)
            yield Step(w, dual, risk=plane.risk, memory=cuts)
            cuts.add(plane)
            if value - new >= 0.1 * predicted:
                if value - new > 0.9 * predicted:
                    rho /= 10
                elif value - new > 0.5 * predicted:
                    rho /= 2
                centre, value, nulls = w, new, 0
            else:
                nulls += 1
                if nulls % 3 == 0 and new > value:
                    rho *= 2
            # A cut that is higher at w than the model was makes the next model better, even if neither bound moves by
            # more than rounding yet: where C or the features are large, they begin many powers of ten apart.
            learnt = max(dual - before[0], before[1] - value, new - model)
            stalled = 0 if learnt > 1e-12 * abs(value) else stalled + 1
            rho = max(rho, 1e-10)
            cuts.drop_idle(self.patience)

    def _proximal_point(self, cuts: Cuts, centre: Array, rho: float, C: float, oracle: Oracle) -> tuple[Array, float]:
        """w⁺ of (1), and the model's value there without the proximal term."""
        if oracle.geometry is not None:
            solve_confined(cuts, C, oracle.geometry.moved(centre, rho), 1 + rho)
            w = oracle.geometry.moved(centre, rho).point(cuts.combined(oracle.dim) / (1 + rho))
            return w, oracle.objective(w, cuts.risk(w), C)
        heights = cuts.dots(centre)
        shift = rho / (1 + rho)
        solution = solve_master(cuts.gram / (1 + rho), cuts.offset - shift * heights, C, alpha=cuts.alpha)
        cuts.weigh(solution.alpha)
        w = (rho * centre + cuts.combined(oracle.dim)) / (1 + rho)
        at_w = cuts.offset - shift * heights - cuts.gram @ cuts.alpha / (1 + rho)
        return w, oracle.objective(w, max(0.0, float(np.max(at_w))), C)
