"""Rounds over all examples together, for data on which passes over single examples get nowhere.

Steps that change one block of the dual at a time are slow where blocks pull w in directions that nearly cancel: features
of very different sizes, a large C, or few examples with many planes. There the n-slack cutting plane method is better,

    (α', w')  <-  the best weights of all planes remembered so far          interior_point.py
    α         <-  the maximiser of D between α and α'                       DualBlocks.ascend_towards
    planes    <-  the most violated ones of all examples at w', or between w' and the best point so far,

with a master problem whose cost does not depend on the scale of anything. The query is w' itself, not Σ α a: both have
the same limit, but P is far more sensitive to w than D is to α. P is measured at the query, and D from α with w summed
up anew, so the bound holds whatever the interior point did.

All decisions rest on counted work, so that a seed fixes the result.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, isfinite, log

import numpy as np

from maxmargin.arrays import Array
from maxmargin.dual_blocks import DualBlocks
from maxmargin.objective import relative_gap
from maxmargin.oracle import Oracle
from maxmargin.solvers.base import Step
from maxmargin.solvers.interior_point import Problem, multiplications, solve

LOOK = 4  # passes before the first forecast
DENSE = 8.0  # multiplications of matrices that take as long as one of a visit
WORTH = 10.0  # joint solves that must be cheaper than the passes they replace: so many are needed as a rule
CENTRED = 0.1  # share of the gap to which a joint solve goes: the query should not be at the edge of what is known
CHUNK = 256  # examples per oracle call
PLACES = 1024  # planes that a joint solve should know of, however few the examples are


class JointRounds:
    """Watches the passes of a solver over single examples, and takes its place where that will be cheaper."""

    def __init__(self, oracle: Oracle, blocks: DualBlocks, C: float, tol: float):
        self.oracle, self.blocks, self.C, self.tol = oracle, blocks, C, tol
        self.gaps: list[float] = []  # after every pass
        self.work = 0.0  # multiplications of these passes

    def note(self, cached: float, guess: float) -> None:
        """A pass is over, with so many cached ones; `guess` estimates P."""
        self.work += self.blocks.visit_work * (self.oracle.call_cost + cached + 1)
        self.gaps.append(max(relative_gap(guess, self.blocks.dual), 1e-16))

    def due(self, stalled: bool) -> bool:
        """Whether joint rounds will be cheaper than more passes; `stalled`: passes gain nothing any more."""
        if not isfinite(self.C) or self.gaps[-1] <= self.tol or not self._fits():
            return False
        if stalled:
            return True
        cost = self._cost()
        if len(self.gaps) < LOOK or self.gaps[-1] <= 2.5 * self.tol or self.work < cost:
            return False
        return _passes_left(self.gaps, self.tol) * self.work / len(self.gaps) > WORTH * cost

    def _cost(self) -> float:
        return multiplications(*self.blocks.size, self.oracle.dim) / DENSE

    def _fits(self) -> bool:
        """Whether planes are written out, and the matrices of a joint solve within the limit of the cache."""
        return self.blocks.explicit and 4 * 8 * sum(self.blocks.size) * self.oracle.dim <= 2**20 * self.blocks.cache_mb

    def steps(self) -> Iterator[Step]:
        """Rounds until they gain nothing, or cost more than the passes they replace."""
        blocks, oracle = self.blocks, self.oracle
        instead = _passes_left(self.gaps, self.tol) * self.work / max(len(self.gaps), 1)
        blocks.make_places(PLACES // oracle.n)
        gaps, spent = [1.0], self.work
        centre, value, share, idle = blocks.w.copy(), inf, 1.0, 0
        while idle < 3:
            before = blocks.dual
            best = self._joint_step(max(0.1 * self.tol, CENTRED * gaps[-1]))
            query = best if share == 1.0 else centre + share * (best - centre)
            risk, added = self._query(query)
            yield Step(query, blocks.dual, risk=risk, memory=blocks)
            new = oracle.objective(query, risk, self.C)
            if value == inf:
                share = 0.3
            elif new < value - 0.1 * share * (value - blocks.dual):
                share = min(1.0, 2 * share)
            elif new > value:
                share = max(0.02, 0.5 * share)
            if not added:
                share = 1.0
            if new < value:
                centre, value = query, new
            gaps.append(relative_gap(value, blocks.dual))
            idle = idle + 1 if not added and blocks.dual - before <= 1e-12 * abs(blocks.dual) else 0
            blocks.tidy()
            cost = self._cost() + oracle.call_cost * blocks.visit_work
            spent += cost
            if cost > spent or not self._fits() or _passes_left(gaps, self.tol) * cost > instead and len(gaps) > LOOK:
                break
        self.gaps, self.work = [], 0.0

    def _joint_step(self, tol: float) -> Array:
        """Raise D over all planes; the weights that are best for these planes."""
        planes = self.blocks.remembered()
        if not len(planes.slots):
            return self.blocks.w.copy()
        examples, owner = np.unique(planes.owners, return_inverse=True)
        explicit = planes.rows.tocsr().tocsc()
        used = np.flatnonzero(np.diff(explicit.indptr))
        problem = Problem(
            explicit[:, used].toarray(), planes.offset, owner, self.blocks.cap[examples], self.blocks.squared
        )
        point = solve(problem, tol)
        self.blocks.ascend_towards(planes, point.alpha)
        w = np.zeros(self.oracle.dim)
        w[used] = point.w
        return w

    def _query(self, w: Array) -> tuple[float, int]:
        """R(w), and how many planes were new."""
        oracle, total, added = self.oracle, 0.0, 0
        for begin in range(0, oracle.n, CHUNK):
            index = np.arange(begin, min(begin + CHUNK, oracle.n))
            found = oracle.violations(w, index)
            slacks = oracle.formulation.penalty(np.maximum(found.measured, 0.0))
            total += float(np.dot(oracle.weights[index], slacks))
            added += self.blocks.admit(index, found.planes, w)
        return total / oracle.n, added


def _passes_left(gaps: list[float], tol: float) -> float:
    """How many more it takes if the gap goes on falling as in the second half of them."""
    half = len(gaps) // 2
    fallen = log(max(gaps[half] / gaps[-1], 1.0)) if gaps and gaps[-1] > 0 else inf
    return max(log(gaps[-1] / tol), 0.0) * max(len(gaps) - 1 - half, 1) / fallen if fallen > 0 else inf
