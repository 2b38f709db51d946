"""Rounds over all examples together, for data on which passes over single examples make no progress.

Steps that change one block of the dual at a time are slow if blocks pull w in directions that nearly cancel: features
of very different sizes, a large C, or few examples with many planes. The n-slack cutting plane method is better then,

    (α', w')  <-  the best weights of all planes remembered so far          interior_point.py
    α         <-  the maximiser of D between α and α'                       PlaneDual.ascend_towards
    planes    <-  the most violated ones of all examples at w', or between w' and the best point so far,

with a master problem whose cost does not depend on any scale. The query is w' itself, not Σ α a: both have the same
limit, but P is far more sensitive to w than D is to α. P is measured at the query, and D at α with a freshly summed w,
so the bound holds whatever the interior point method returns.

All decisions depend on counted work only, so that the seed determines the result.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, isfinite, log
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from maxmargin.base.arrays import Array
from maxmargin.base.files.fields import Flag, Real, Whole
from maxmargin.base.files.learnt import Inner, InPlace, Learnt, NumberList, RandomState, learnt_of, relearn
from maxmargin.base.files.objects import Fields
from maxmargin.problem.dual.block_dual import BlockDual
from maxmargin.problem.dual.geometry import Geometry
from maxmargin.problem.dual.known_planes import JointSize, KnownPlanes
from maxmargin.problem.dual.plane_dual import PlaneDual
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.solvers.interior_point import JointProblem, multiplications, solve
from maxmargin.solvers.steps import Step

LOOK = 4  # passes or rounds before their rate is trusted
DENSE = 8.0  # matrix multiplications that take as long as one multiplication of a visit
PATIENCE = 20  # passes with bounds after which cheap joint solves are tried
WORTH = 10.0  # the number of joint solves, usually needed, that must be cheaper than the passes they replace
DEAREST = 10.0  # a joint solve costs at most this many times the work of the fit so far,
SMALL = 1e9  # or this many multiplications
TINY = 2e7  # multiplications of a joint solve that is tried if the passes left will not suffice
CENTRED = 0.1  # share of the gap at which a joint solve stops, so that the query stays inside the known region
FALL = 1e-3  # share of the gap by which P must fall to count as a decrease
PLANES = 1024  # planes that a joint solve should know, however few the examples are
LIGHT = 1e-3  # share of its example's cap below which a plane is used only if it is high at the last query
HIGH = 0.5  # share of its example's highest plane there


class Approach:
    """The choice of the next query, on the segment from the best point so far to the minimiser of the model.

    If every query adds few planes (few examples), the minimiser of the model jumps, and P there may be worse for tens
    of rounds. As in bundle methods, the step is shorter after a failure and longer after a success.
    """

    learnt: ClassVar[Fields] = {
        "centre": InPlace(),
        "value": Real(finite=False),
        "share": Real(least=0, most=1),
    }

    def __init__(self, w: Array):
        self.centre, self.value, self.share = w.copy(), inf, 1.0

    def query(self, best: Array) -> Array:
        return best if self.share == 1.0 else self.centre + self.share * (best - self.centre)

    def judge(self, query: Array, value: float, dual: float, added: int) -> None:
        """Update the best point and the step length by P at the query."""
        if not added:  # the model was exact here
            self.share = 1.0
        elif self.value == inf:
            self.share = 0.3
        elif value < self.value - 0.1 * self.share * (self.value - dual):
            self.share = min(1.0, 2 * self.share)
        elif value > self.value:
            self.share = max(0.02, 0.5 * self.share)
        if value < self.value:
            self.centre, self.value = query, value


class Rounds:
    """The state of joint rounds."""

    learnt: ClassVar[Fields] = {
        "approach": Inner(),
        "gaps": NumberList(),
        "idle": Whole(),
        "query": InPlace(),
        "instead": Real(least=0, finite=False),
    }

    def __init__(self, w: Array, instead: float):
        self.approach, self.query = Approach(w), w.copy()
        self.gaps = [1.0]
        self.idle = 0  # consecutive rounds without gain
        self.instead = instead  # the estimated cost of the passes that rounds replace


class LearntJointRounds(Learnt):
    """The rounds in progress, if there are any."""

    def left(self, value: Rounds | None) -> Any:
        return None if value is None else learnt_of(value)

    def refilled(self, found: Any, current: Any, owner: JointRounds) -> Rounds | None:
        if found is None:
            return None
        if not owner.over_planes:
            raise ValueError("expected planes")
        rounds = Rounds(np.zeros(owner.oracle.dim), 0.0)
        relearn(rounds, found)
        return rounds


class Passes:
    """The state of a solver between two passes over single examples."""

    learnt: ClassVar[Fields] = {
        "rng": RandomState(),
        "joint": Inner(),
        "calls_before": Whole(),
        "passes": Whole(),
        "stalled": Whole(),
        "epsilon": Real(least=0, finite=False),
    }

    def __init__(self, oracle: Oracle, joint: JointRounds, seed: int):
        self.rng, self.joint = np.random.default_rng(seed), joint
        self.calls_before = oracle.calls
        self.passes = 0
        self.stalled = 0  # consecutive passes without gain
        self.epsilon = inf  # the violation above which the n-slack method adds a constraint

    @property
    def memory(self) -> BlockDual:
        return self.joint.blocks


class JointRounds:
    """A monitor of a solver's passes over single examples, which replaces them by joint rounds if those are cheaper."""

    def __init__(self, oracle: Oracle, blocks: BlockDual, C: float, tol: float):
        self.oracle, self.blocks, self.C, self.tol = oracle, blocks, C, tol
        self.gaps: list[float] = []  # one for each pass
        self.work = 0.0  # multiplications of these passes
        self.before = 0.0  # multiplications before these passes
        self.model_gap = inf  # the gap of the last joint solve, over the planes that it used
        self.share = 1.0  # the share of the planes that the last joint solve used
        self.least, self.highest = inf, -inf  # P and D when the certificate last improved
        self.fruitless = 0  # how often rounds have taken over since then
        self.exhausted = False  # True if nothing more can be gained: the remaining gap is rounding
        self.rounds: Rounds | None = None  # in progress

    learnt: ClassVar[Fields] = {
        "over_planes": Flag(),
        "blocks": Inner(),
        "gaps": NumberList(),
        **dict.fromkeys(("work", "before", "share"), Real(least=0)),
        **dict.fromkeys(("model_gap", "least", "highest"), Real(finite=False)),
        "fruitless": Whole(),
        "exhausted": Flag(),
        "rounds": LearntJointRounds(),
    }

    @property
    def over_planes(self) -> bool:
        """True if the dual point stores planes; it may begin in another form."""
        return isinstance(self.blocks, PlaneDual)

    @over_planes.setter
    def over_planes(self, wanted: bool) -> None:
        if wanted:
            self.blocks = PlaneDual.of(self.blocks)
        elif self.over_planes:
            raise ValueError("expected planes")

    def note(self, work: float, guess: float) -> None:
        """Record a pass and its work, in visits of every example; `guess` estimates P."""
        self.work += self.blocks.visit_work * (work + 1)
        self.gaps.append(_gap(guess, self.blocks.dual))

    def due(self, stalled: bool, remaining: float) -> bool:
        """Return whether joint rounds should replace passes.

        They do so if passes gain nothing any more (`stalled`), if rounds will be cheaper, or if the passes that the
        solver may still make (`remaining`) will not suffice at their present rate.
        """
        if self.rounds is not None:  # in progress
            return True
        if not self.gaps:
            return False
        if not isfinite(self.C) or self.gaps[-1] <= self.tol:
            return False
        if stalled:
            return self._affordable()
        bounded, cost = self.oracle.geometry is not None, self._cost()
        if len(self.gaps) >= PATIENCE:
            if bounded and cost <= 0.1 * SMALL:
                return True  # steps that ignore bounds may stay too short, although the gap falls
            if cost <= TINY and self._passes_cost(remaining) == inf and self._affordable():
                return True
        if len(self.gaps) < LOOK or (self.gaps[-1] <= 2.5 * self.tol and not bounded):
            return False
        return self.work >= cost and self._passes_cost(remaining) > WORTH * cost and self._affordable()

    def _passes_cost(self, remaining: float) -> float:
        """Estimate the cost of the passes to come at their present rate.

        It is inf if a joint solve is tiny and `remaining` passes will not suffice: then any number of solves is
        worthwhile.
        """
        passes = _left(self.gaps, self.tol)
        if passes > remaining and self._cost() <= TINY:
            return inf
        return passes * self.work / len(self.gaps)

    def _size(self) -> JointSize:
        """Return the numbers of planes and blocks of a joint solve, including those that bounds add."""
        size, geometry = self.blocks.joint_size, self.oracle.geometry
        bounds = 0 if geometry is None else geometry.n_bounds
        return JointSize(int(self.share * size.planes) + bounds, size.examples + bounds, size.writing)

    def _cost(self) -> float:
        """Return the cost of one joint solve, in multiplications of a visit."""
        size = self._size()
        return (multiplications(size.planes, size.examples, self.oracle.dim) + size.writing) / DENSE

    def _affordable(self) -> bool:
        """Return whether a joint solve is affordable in memory and work."""
        size = self._size()
        mb = 4 * 8 * (size.planes + size.examples) * self.oracle.dim / 2**20  # matrices of the interior point method
        dearest = max(DEAREST * (self.before + self.work), SMALL)
        return mb <= self.blocks.problem.limits.cache_mb and self._cost() <= dearest

    def steps(self, remaining: float) -> Iterator[Step]:
        """Yield rounds until they gain nothing, or will cost more than the passes they replace.

        They change `blocks`, whose planes they need one by one; later passes continue with the changed `blocks`.
        """
        oracle = self.oracle
        if self.rounds is None:
            self.over_planes = True
            self.rounds = Rounds(self.blocks.w, self._passes_cost(remaining))
            self.before, self.work = self.before + self.work, 0.0
            self._planes.make_slots(PLANES // oracle.n)
        rounds, blocks = self.rounds, self._planes
        while True:
            if len(rounds.gaps) > 1:  # after a round
                blocks.tidy()
                self.work += oracle.call_cost * blocks.visit_work
                if self._slow(rounds):
                    break
            if rounds.idle >= 3 or not self._affordable():
                break
            before = blocks.dual
            self.work += self._cost()
            target = self._joint_step(blocks, rounds.query, max(0.1 * self.tol, CENTRED * rounds.gaps[-1]))
            rounds.query = query = rounds.approach.query(target)
            planes, slacks = oracle.planes_and_slacks(query)
            report = blocks.admit(planes, query)
            oracle.check_missed(0, report.missed, query)
            risk, added = oracle.risk_of(slacks), report.added
            rounds.approach.judge(query, oracle.objective(query, risk, self.C), blocks.dual, added)
            rounds.gaps.append(_gap(rounds.approach.value, blocks.dual))
            nothing = not added and blocks.dual - before <= 1e-12 * abs(blocks.dual)
            rounds.idle = rounds.idle + 1 if nothing else 0
            yield Step(query, risk=risk, memory=blocks, slacks=slacks, hoped=blocks.dual)
        self._weigh(rounds.approach.value)
        self.exhausted = (rounds.idle == 3 and self.model_gap <= self.tol) or self.fruitless == 3
        self.before, self.work, self.gaps, self.rounds = self.before + self.work, 0.0, [], None

    @property
    def _planes(self) -> PlaneDual:
        """The dual point, while it stores planes."""
        assert isinstance(self.blocks, PlaneDual)
        return self.blocks

    def _slow(self, rounds: Rounds) -> bool:
        """Return whether the remaining rounds will cost more than the passes they replace."""
        gaps = rounds.gaps
        return len(gaps) > LOOK and _left(gaps, self.tol) * self.work / len(gaps) > rounds.instead

    def _weigh(self, value: float) -> None:
        """Decide whether rounds, the best of them with this P, have improved the certificate.

        D counts as higher if it rose by more than its rounding error, and P as lower if the gap shrank noticeably.
        Steps that do neither may continue forever if features are huge, because they only move rounding errors.
        """
        dual = self.blocks.dual
        risen = dual - self.highest > dual - self.blocks.bound()
        fallen = self.least == inf or self.least - value > FALL * (self.least - dual)
        self.fruitless = 0 if risen or fallen else self.fruitless + 1
        if not self.fruitless:
            self.least, self.highest = min(self.least, value), max(self.highest, dual)

    def _joint_step(self, blocks: PlaneDual, query: Array, tol: float) -> Array:
        """Raise D, and return the best weights for the planes that matter, the newest of which were found at `query`.

        These are all planes or, if that is expensive, those that carry weight or were high at the query. If one of the
        others is above them at the new weights, it is so at the next query as well, and is used then.
        """
        planes = blocks.known_planes()
        geometry, w = self.oracle.geometry, np.zeros(self.oracle.dim)
        if len(planes.offset):
            with threadpool_limits(1, user_api="blas"):  # the same bits for any number of threads
                vectors, used = blocks.written(planes)
                heights = planes.offset - (planes.rows @ query if used is None else vectors @ query[used])
                all_of_them = multiplications(len(vectors), blocks.n, vectors.shape[1]) <= SMALL
                matter = np.flatnonzero(_matter(blocks, planes, heights) | all_of_them)
                examples, owner = np.unique(planes.owners[matter], return_inverse=True)
                problem = JointProblem(
                    vectors[matter], planes.offset[matter], owner, blocks.cap[examples], blocks.squared
                )
                if geometry is not None:
                    assert used is not None  # kernels have neither prior nor bounds
                    problem = _with_bounds(problem, geometry, used)
                point = solve(problem, tol)
            self.model_gap, self.share = point.gap, len(matter) / len(planes.offset)
            target, mixture = np.zeros(len(planes.offset)), np.zeros(len(planes.offset))
            target[matter], mixture[matter] = point.alpha[: len(matter)], point.mixture[: len(matter)]
            blocks.ascend_towards(planes, target)
            if used is None:  # with a kernel, w is given by its coefficients
                planes.rows.add_to(w, mixture)
            else:
                w[used] = point.w
        return self.oracle.space.point(w)


def _matter(blocks: PlaneDual, planes: KnownPlanes, heights: Array) -> NDArray[np.bool_]:
    """Select the planes for a joint solve: at least one of every example, and all if slacks are squared.

    (For squared slacks, a cap does not limit α.)
    """
    if blocks.squared:
        return np.ones(len(heights), dtype=bool)
    highest = np.full(blocks.n, -inf)
    np.maximum.at(highest, planes.owners, heights)
    highest = highest[planes.owners]
    heavy = planes.alpha > LIGHT * blocks.cap[planes.owners]
    return np.asarray(heavy | (heights >= np.where(highest > 0, HIGH * highest, highest)))


def _with_bounds(problem: JointProblem, geometry: Geometry, used: NDArray[np.intp]) -> JointProblem:
    """Return the problem of v = w - w₀, in these coordinates, with a slack for every bound.

    max(0, low - w₀ - v) times a price is a block with one plane. No multiplier of a bound exceeds the amount that
    clipping can take away: |Σ α a| plus the distance of the bound from w₀. At twice that price, no optimum violates a
    bound.
    """
    origin, rows = geometry.origin[used], problem.rows
    offset = problem.offset - rows @ origin
    pull = float(np.sum(problem.cap)) * np.max(np.abs(rows), axis=0)
    kinds = [(1.0, geometry.low[used] - origin), (-1.0, origin - geometry.high[used])]
    known = [(sign, np.flatnonzero(np.isfinite(needed)), needed) for sign, needed in kinds]
    of = np.concatenate([places for _, places, _ in known])
    signs = np.concatenate([np.full(len(places), sign) for sign, places, _ in known])
    needed = np.concatenate([needed[places] for _, places, needed in known])
    bounds = np.zeros((len(of), rows.shape[1]))
    bounds[np.arange(len(of)), of] = signs
    owner = np.concatenate([problem.owner, len(problem.cap) + np.arange(len(of))])
    prices = 2.0 * (pull[of] + np.abs(needed))
    prices += 1e-3 * np.max(prices, initial=0.0) + float(np.max(problem.cap))  # keeps every price well above zero
    return JointProblem(
        np.vstack([rows, bounds]),
        np.concatenate([offset, needed]),
        owner,
        np.concatenate([problem.cap, prices]),
        np.concatenate([np.full(len(problem.cap), problem.squared), np.zeros(len(of), dtype=bool)]),
    )


def _gap(value: float, dual: float) -> float:
    """Return the relative gap of an estimated objective: above zero, and 1 if nothing is known (C = inf)."""
    if not isfinite(value):
        return 1.0
    return max((value - dual) / value, 1e-16) if value > 0 else 1e-16


def _left(gaps: list[float], tol: float) -> float:
    """Estimate how many more steps are needed if the gaps continue to fall as in their second half."""
    half = len(gaps) // 2
    fallen = log(max(gaps[half] / gaps[-1], 1.0))
    return max(log(gaps[-1] / tol), 0.0) * max(len(gaps) - 1 - half, 1) / fallen if fallen > 0 else inf
