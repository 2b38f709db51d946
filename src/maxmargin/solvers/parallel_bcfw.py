"""Block-coordinate Frank-Wolfe on several parts of the data at once."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from math import isfinite
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.files.fields import Real, Whole
from maxmargin.base.files.learnt import InPlace, Learnt
from maxmargin.base.files.objects import Fields
from maxmargin.base.rounding import gamma, lowered_dual, raised_square
from maxmargin.problem.dual.block_dual import Report
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.solvers.base import Solution, Solver, Step
from maxmargin.solvers.part_duals import (
    MISSING,
    Done,
    Told,
    Visits,
    WholeProblem,
    part_pass,
    part_proof,
    part_slacks,
    part_state,
    split,
)

AHEAD = 1.0  # θ: how much of what the others did last a part expects of them again, where parts pull w apart
LEAST = 0.9  # of σ
NEARLY = 0.9  # a joint step that is best so short is taken as a whole, because to go back costs more than it gains
LONG, SHORT = 1.2, 1.0  # joint steps that were better so much longer, or shorter, make σ smaller, or larger
MOST_AGAIN = 1000  # visits of everyone after one that searches
OFTEN = 10  # rounds after which sums are taken anew


class ParallelBCFW(Solver):
    """BCFW with the blocks of every part of the data in a place of their own.

    Maximise the dual of BCFW,   D(α) = Σ α b - ψ(Σ α a),   w = the gradient of ψ                       (1)
    (geometry.py; ψ is ½‖·‖² as a rule) by passes over K parts side by side. Part k improves its own blocks as BCFW
    does, as if Σ α a changed by σ times what it changes itself (part_duals.py), and returns that change δₖ with its
    linear gain gₖ. The joint step is taken to its best length,

        t in [0, 1] with the highest   t Σ gₖ - ψ(s + t Σ δₖ),     s = Σ α a,                             (2)

    or to t = 1 where that is nearly the best, so that α stays feasible and D never falls, whatever σ is; σ = K makes
    t = 1 safe. Two things save passes. σ is as small as joint steps allow. And parts that pull w apart, again and again
    by the same, expect that of each other: part k begins at w - θ(δₖ - δ/K), with its last change and the mean of all,
    instead of w. Without that, blocks of different parts approach what they agree on by a little in every pass.

    The bound is proved from sums of all parts. The result depends on the number of parts, not on who works on them.
    Smith, Forte, Ma, Takáč, Jordan, Jaggi (JMLR 2018), CoCoA+; the line search (2), σ that adapts, and what parts
    expect of each other are additions.
    """

    parts: int = 2  # of consecutive examples; results depend on it
    block: int = 16  # as of BCFW
    planes_per_example: int = 32
    cache_mb: float = 1024.0  # of every part's plane cache

    def begin(self, oracle: Oracle, C: float, seed: int, start: Solution | None) -> JointDual:
        if not isfinite(C):
            raise ValueError("ParallelBCFW needs a finite C; use solver='bcfw' for a hard margin")
        if oracle.latent:
            raise ValueError("ParallelBCFW does not train hidden parts; use solver='bcfw'")
        if self.parts < 1:
            raise ValueError(f"parts must be a positive number, got {self.parts}")
        limits = {"slots": self.planes_per_example, "cache_mb": self.cache_mb}
        return JointDual(oracle, C, seed, self.parts, self.block, limits)

    def advance(self, oracle: Oracle, C: float, at: JointDual) -> Iterator[Step]:
        most = at.calls_before + self.max_passes * oracle.n
        while at.stalled < 3:
            before = at.dual
            found = self._round(oracle, at, most)
            at.rounds += 1
            if at.rounds % OFTEN == 0:
                at.refresh()
            guess = 0.5 * oracle.square(at.w) + found.penalty
            nothing = at.dual - before <= 1e-16 * abs(at.dual) and not found.added
            at.stalled = at.stalled + 1 if nothing else 0
            yield Step(at.w, guess=guess, memory=at, hoped=at.dual)

    def _round(self, oracle: Oracle, at: JointDual, most: float) -> Report:
        """A pass with searches, and passes without while these gain more per unit of work than the round has so far."""
        before = at.dual
        found = at.make_pass(True)
        work, gain, share = found.work, np.inf, 1.0
        while gain * work >= share * (at.dual - before) > 0 and work < found.work + MOST_AGAIN:
            if oracle.calls + at.calls_again > most:
                break
            again = at.make_pass(False)
            gain, share = again.gain, again.work
            work += share
        return found


class PartStates(Learnt):
    """What the parts of a JointDual have learnt."""

    def left(self, value: JointDual) -> Any:
        return value.states()

    def refilled(self, found: Any, current: JointDual, owner: Any) -> JointDual:
        if not isinstance(found, list) or len(found) != len(current.index):
            raise ValueError(f"expected {len(current.index)} parts")
        current.restore(found)
        return current


class JointDual:
    """The dual point of all parts: what the driver knows of it."""

    learnt: ClassVar[Fields] = {
        "free": InPlace(),
        "w": InPlace(),
        "last": InPlace(),
        "dual": Real(),
        "sigma": Real(least=0),
        "back": Real(least=0),
        "passes": Whole(),
        "rounds": Whole(),
        "stalled": Whole(),
        "calls_before": Whole(),
        "calls_again": Whole(),
        "points": Whole(),
        "own": PartStates(),
    }

    def __init__(self, oracle: Oracle, C: float, seed: int, parts: int, block: int, limits: dict[str, Any]):
        self.oracle, self.C, self.block = oracle, C, block
        geometry = oracle.geometry
        bounds = None if geometry is None or geometry.limits is None else (geometry.low, geometry.high)
        run, here = uuid.uuid4().hex, oracle.shares_memory
        self.problem = WholeProblem(run, oracle.formulation, C, oracle.n, bounds, limits, seed, here)
        self.index = split(oracle.n, parts)
        self.placed = oracle.placed_apart(self.index)
        self.origin = np.zeros(oracle.dim) if geometry is None else geometry.origin
        self.free = self.origin.copy()  # w₀ + Σ α a
        self.w = self._clipped().copy()
        self.last = np.zeros((len(self.index), oracle.dim))  # how every part moved in the last pass
        self._starts, self._way = np.empty_like(self.last), np.zeros(oracle.dim)
        self._plain, self._averages = geometry is None, False
        self._marked = np.zeros(oracle.dim, dtype=np.bool_)
        self._moved: list[NDArray[np.int64]] | None = None  # where every part moved in the last pass, if that is known
        self._changed: NDArray[np.int64] | None = None  # where starts will be others than in that; None: anywhere
        self.dual = 0.0 if geometry is None else -geometry.potential(np.zeros(oracle.dim), self.w)
        self.sigma = float(len(self.index))
        self.back = 1.0  # the share of the last pass that was good
        self.passes = self.rounds = self.stalled = 0
        self.calls_before, self.calls_again = oracle.calls, 0
        self.points = 0  # that w is a mean of
        self.saved: list[Any] = [None] * len(self.index)
        self.since: list[list[Visits]] = [[] for _ in self.index]
        self.own = self

    @property
    def memory(self) -> JointDual:
        return self

    # --- passes

    def make_pass(self, search: bool) -> Report:
        """Of all parts, each with its own blocks, and the joint step."""
        self.passes += 1
        self._fill_starts()
        for k, start in enumerate(self._starts):
            # Where parts may get lost, passes are kept, to be made again.
            whence = (start, self._changed if self._plain else None) if self._stays else (start.copy(), None)
            visits = Visits(self.passes, search, self.block, *whence, self.sigma, self.back)
            self.since[k] = [visits] if self._stays and self.passes > 1 else [*self.since[k], visits]
        found = self._ask(part_pass, [tuple(each) for each in self.since], search and not self._stays)
        if search and not self._stays:
            self.saved = [each.state for each in found]
            self.since = [each[-1:] for each in self.since]
        return self._step(found, search)

    @property
    def _stays(self) -> bool:
        """Whether no part can get lost."""
        return self.oracle.shares_memory

    def _fill_starts(self) -> None:
        """Where every part begins. Of millions of weights, a pass changes few: all others are left as they are."""
        from maxmargin.problem.dual.compiled.joint_steps import fill_starts

        places = np.arange(self.oracle.dim) if self._changed is None else self._changed
        fill_starts(places, self.free, self.last, AHEAD, self._starts)

    def _union(self, *lists: NDArray[np.int64]) -> NDArray[np.int64]:
        from maxmargin.problem.dual.compiled.joint_steps import add_places

        union, count = np.empty(min(sum(map(len, lists)), self.oracle.dim), dtype=np.int64), 0
        for places in lists:
            count = add_places(places, self._marked, union, count)
        self._marked[union[:count]] = False
        return union[:count]

    def _step(self, found: Sequence[Done], search: bool) -> Report:
        from maxmargin.problem.dual.compiled.joint_steps import add_changes, products

        way, moved = self._way, self._union(*(each.places for each in found))
        for each in found:
            add_changes(each.places, each.way, way)
        slope, curvature = sum(each.slope for each in found), sum(each.curvature for each in found)
        geometry = self.oracle.geometry
        here, square = products(moved, way, self._clipped())
        rise, bend = slope - here, curvature + square
        best = rise / bend if bend > 0 else 1.0  # of (2), were there no limits
        if geometry is None:
            t = 1.0 if best > NEARLY else max(best, 0.0)
            gain = t * rise - 0.5 * t * t * bend
        else:
            s = self.free - self.origin
            t = geometry.best_share(slope, curvature, s, way)
            gain = t * slope - 0.5 * t * t * curvature + self._potential(s) - self._potential(s + t * way)
        self.free[moved] += t * way[moved]
        way[moved] = 0.0
        self.dual += gain
        self.back = t
        self._note_moves(found, moved)
        K = float(len(found))
        if best < SHORT:
            self.sigma = min(K, self.sigma / max(best, 0.5))
        elif best > LONG:
            self.sigma = max(LEAST, 0.95 * self.sigma) if K > 1 else 1.0
        self._average(found, search)
        shares = np.array([len(index) for index in self.index]) / self.oracle.n
        self.calls_again = sum(each.calls_again for each in found)
        self.oracle.searched_elsewhere(
            sum(each.calls for each in found),
            [(index, each.relaxed, each.reach) for index, each in zip(self.index, found, strict=True)],
        )
        penalty, added = sum(each.penalty for each in found), sum(each.moved for each in found)
        return Report(penalty, added, gain, work=float(np.dot(shares, [each.work for each in found])))

    def _note_moves(self, found: Sequence[Done], moved: NDArray[np.int64]) -> None:
        """What parts did in this pass, in the place of what they did before."""
        if self._moved is None:  # the pass before is not known: that of a checkpoint, or none
            self.last[:] = 0.0
            self._changed = None
        else:
            for last, places in zip(self.last, self._moved, strict=True):
                last[places] = 0.0
            self._changed = self._union(*self._moved, moved)
        self._moved = [each.places for each in found]
        for last, each in zip(self.last, found, strict=True):
            last[each.places] = self.back * each.way

    def _average(self, found: Sequence[Done], search: bool) -> None:
        """w is a mean over the passes of a round that search nothing, where duals of one part would take one."""
        self.points = 0 if search else self.points + 1
        self._averages = all(each.averages for each in found)
        if self.points and self._averages:
            self.w += (self._clipped() - self.w) / self.points
            if self.oracle.geometry is not None:
                self.oracle.geometry.allow(self.w)
        elif self._averages or self._changed is None or not self._plain:
            np.copyto(self.w, self._clipped())
        else:
            self.w[self._changed] = self.free[self._changed]

    def _clipped(self) -> Array:
        geometry = self.oracle.geometry
        return self.free if geometry is None else geometry.allowed(self.free)

    def _potential(self, s: Array) -> float:
        geometry = self.oracle.geometry
        assert geometry is not None
        return geometry.potential(s, geometry.point(s))

    # --- what follows from α of all parts

    def refresh(self) -> None:
        """Take sums of all parts anew, so that rounding errors of many passes do not add up."""
        found = self._look(part_proof)
        s = sum(each.s for each in found)
        np.copyto(self.free, self.origin + s)
        self._changed = None
        if not self._averages:
            np.copyto(self.w, self._clipped())
        linear = sum(each.linear for each in found)
        self.dual = linear - (0.5 * float(np.dot(s, s)) if self.oracle.geometry is None else self._potential(s))

    def bound(self) -> float:
        """D(α) as far as it is proved in floating point: see rounding.py. Sums of parts are sums of fewer terms."""
        found = self._look(part_proof)
        s = sum(each.s for each in found)
        # Caps of parts are those of the whole but for a few roundings, and so are sums that were divided by σ.
        excess = max(each.excess for each in found) + gamma(16)
        linear = sum(each.linear for each in found)
        losses = sum(each.losses for each in found)
        linear -= (excess + gamma(len(found) + 4)) * losses
        mass, error = sum(each.mass for each in found), sum(each.error for each in found)
        terms = max(each.terms for each in found) + len(found) + 4
        error += gamma(len(found) + 4) * sum(float(np.linalg.norm(each.s)) for each in found)
        geometry = self.oracle.geometry
        if geometry is not None:
            return geometry.lowered_dual(linear, losses, s, mass, terms, error, excess)
        return lowered_dual(linear, losses, raised_square(s), mass, terms, error)

    def slacks(self, w: Array, gains: Array | None = None) -> Array:
        """The highest known plane of every example at w, or 0."""
        return np.concatenate(self._look(part_slacks, w))

    def risk(self, w: Array, gains: Array | None = None) -> float:
        """R(w) is at least the mean penalty of these."""
        of = self.oracle
        return float(np.dot(of.weights, of.formulation.penalty(self.slacks(w)))) / of.n

    def shift(self, rows: Any) -> None:
        """Truths do not change here."""
        raise NotImplementedError

    # --- what parts are told

    def _ask(self, fn: Callable[..., Any], since: Sequence[tuple[Visits, ...]], state: bool, *shared: Any) -> list[Any]:
        """What all parts answer. Those that were lost are asked again, and told how to become what they were."""
        told = [Told(k, passes[-1:], state) for k, passes in enumerate(since)]
        found = self.oracle.ask_apart(fn, self.placed, told, self.problem, *shared)
        lost = [k for k, each in enumerate(found) if isinstance(each, str) and each == MISSING]
        if lost:
            weights = [self.oracle.weights[self.index[k]] for k in lost]
            told = [Told(k, since[k], state, v, self.saved[k]) for k, v in zip(lost, weights, strict=True)]
            again = self.oracle.ask_apart(fn, [self.placed[k] for k in lost], told, self.problem, *shared)
            for k, answer in zip(lost, again, strict=True):
                found[k] = answer
        return found

    def _look(self, fn: Callable[..., Any], *shared: Any) -> list[Any]:
        """Without a pass: parts go back as the last joint step says."""
        after = Visits(self.passes + 1, False, self.block, self.free[:0], None, self.sigma, self.back)
        return self._ask(fn, [(*each, after) for each in self.since], False, *shared)

    def states(self) -> list[Any]:
        """Of all parts, after they have gone back as they should."""
        return self._look(part_state)

    def restore(self, found: list[Any]) -> None:
        """Parts begin there when they are asked next."""
        self.saved, self.since = found, [[] for _ in self.index]
        self._moved = self._changed = None

    def __reduce__(self) -> Any:
        return _nothing, ()  # parts are in other places


def _nothing() -> None:
    return None
