"""The most violated set of parts where the violation is no sum over parts, by branch and bound over parts.

With the loss Δ(z) = most + Σ_{p in z} added_p and the margin m(z) = Σ_{p in y} s_p - Σ_{p in z} s_p, slack rescaling
asks for the z with the highest V = Δ(1 - m) (see objective.py for all formulations). The decoder maximises sums over
parts, hence λΔ - m for any λ > 0, and so bounds V over all z (rescaling.py). Where found and bound do not meet, the
best z lies inside the convex hull of all (Δ, m), which no λ reaches. But the decoder takes altered scores: a part that
scores very much is chosen if it can be, one that scores very little is not. So the outputs are divided into those with
and those without a part that two neighbours on the hull do not share, and each half is bounded by itself. A half whose
bound is no higher than what was found is done with.

Two things make bounds tight where nothing is violated, the usual state of an example that was learnt. A loss is 0 or
at least the smallest price δ, so that outputs next to the truth cannot pretend to have a small one; and a half without
the truth may have F < 0, down to where every margin is large enough.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from itertools import count
from typing import NamedTuple

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.errors import TaskError
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.oracle.rescaling import tangent
from maxmargin.structures.parts.numbers import PartNumbers

CLOSED = 1e-9  # relative distance of found and bound at which a half is done with
AT_A_TIME = 30  # decodes for one half, at most
SMALLEST = 1e-100  # λ
FAR = 16.0  # a step of λ where nothing says how far it should go
SLOPPY = 1e7  # times rounding: a decoder that misses the truth by more is no maximiser
ROUNDING = 1e-14  # of the sizes that the decoder adds up: by so much it may miss the maximum


class Violated(NamedTuple):
    """The most violated output that was found, and a bound on all others."""

    chosen: PartNumbers | None  # None: the truth, whose violation is 0
    value: float
    upper: float


class _Half(NamedTuple):
    """Outputs that have all parts in `forced` and none in `barred`; none of them is violated by more than `upper`."""

    upper: float
    forced: tuple[int, ...]
    barred: tuple[int, ...]
    divide_at: (
        int  # a part that some of its best outputs have and others do not; -1: of the whole, which is not bounded
    )
    lam: float = 1.0  # where to begin


class PartScores(NamedTuple):
    """One example: scores s of its parts, what choosing each adds to the loss, and the right parts."""

    scores: Array
    added: Array
    truth: PartNumbers

    def measured(self, chosen: PartNumbers) -> tuple[float, float]:
        """Loss and margin of an output, from what it does not share with the truth: nothing is left by cancellation."""
        left, wrong = np.setdiff1d(self.truth, chosen), np.setdiff1d(chosen, self.truth)
        loss = float(self.added[wrong].sum() - self.added[left].sum())
        return loss, float(self.scores[left].sum() - self.scores[wrong].sum())


def most_violated_parts(
    best: Callable[[Array], PartNumbers], problem: PartScores, formulation: Formulation, most_decodes: int
) -> Violated:
    """Search until the best output is proved to be that, or the decoder was called `most_decodes` times."""
    search = _Search(best, problem, formulation, most_decodes)
    number = count()
    halves = [(-np.inf, next(number), _Half(np.inf, (), (), -1))]  # the highest bound first
    while halves and not search.closed(-halves[0][0]):
        _, _, half = heapq.heappop(halves)
        for each in [half] if half.divide_at < 0 else divided(half):
            if search.left <= 0:
                return Violated(search.chosen, search.value, max(search.value, half.upper))
            bounded = search.bounded(each)
            if bounded is not None:
                heapq.heappush(halves, (-bounded.upper, next(number), bounded))
    return Violated(search.chosen, search.value, max([search.value, *(-key for key, _, _ in halves[:1])]))


def no_maximiser(chosen: PartNumbers, by: float) -> str:
    """What is wrong with a decoder that was given scores at which another output is known to be better."""
    return (
        f"best(scores, x) chose the parts {chosen.tolist()}, and others have a total score higher by {by:g}. It must "
        "maximise the total score over all outputs, and the label must be one of them"
    )


def divided(half: _Half) -> list[_Half]:
    """The two halves of a set of outputs, with and without the part to divide at."""
    p = half.divide_at
    return [
        half._replace(forced=(*half.forced, p), divide_at=-1),
        half._replace(barred=(*half.barred, p), divide_at=-1),
    ]


class _Search:
    """What the halves of one search share."""

    def __init__(
        self, best: Callable[[Array], PartNumbers], problem: PartScores, formulation: Formulation, most_decodes: int
    ):
        self.best, self.problem, self.formulation, self.left = best, problem, formulation, most_decodes
        self.chosen: PartNumbers | None = None
        self.value = 0.0  # the truth's
        prices = np.abs(problem.added)
        self.least = float(prices[prices > 0].min(initial=np.inf))  # loss of an output that has any
        self.whole = float(np.abs(problem.added[problem.truth]).sum())  # loss of choosing nothing

    def closed(self, upper: float, rounding: float = 0.0) -> bool:
        """Whether no output that this bounds is better than what was found, as far as the decoder can tell."""
        return upper <= self.value * (1 + CLOSED) + rounding

    def bounded(self, half: _Half) -> _Half | None:
        """The half with a better bound and a part to divide it at; None where no better output is in it.

        F(λ) = max λΔ - m is a convex chain of lines, one for each output on the hull. An output is the best of all if
        it is still found at its own tangent. Otherwise two outputs enclose the best λ, and the bracket is cut where
        their lines meet. If no output is above that point, the two are neighbours on the hull, and no λ has a better
        bound.
        """
        lines: dict[bool, _Line] = {}  # at the lower end of the bracket (True: λ should be larger) and the upper one
        ends = {True: 0.0, False: np.inf}
        lam, upper, meeting = half.lam, half.upper, False
        for _ in range(min(AT_A_TIME, self.left)):
            line = self._decoded(lam, half)
            if line is None:
                return None
            value = float(self.formulation.value(line.loss, line.margin))
            if value > self.value:
                self.value, self.chosen = value, line.chosen
            highest = line.at(lam) + line.rounding
            if line.at(lam) < -SLOPPY * line.rounding and self._has_truth(half):
                raise TaskError(no_maximiser(line.chosen, -line.at(lam)))
            upper = min(upper, violation_bound(self.formulation, highest, lam, self.least))
            if self.closed(upper, line.rounding) or len(half.forced) + len(half.barred) == len(self.problem.scores):
                return None  # nothing better is there, or nothing else
            if meeting and all(line.at(lam) <= each.at(lam) + 2 * line.rounding for each in lines.values()):
                break
            best = float(tangent(self.formulation, np.array([line.loss]), np.array([line.margin]))[0])
            rises = best > lam
            lines[rises], ends[rises] = line, lam
            meeting = len(lines) == 2 and not ends[True] < best < ends[False]
            if meeting:
                lam = _meeting(lines[True], lines[False])
            elif 0 < best < np.inf:
                lam = best
            else:  # the truth has no tangent (beyond 2/δ it is alone), and what is far below it has none either
                lam = max(lam * FAR, 2 / self.least) if rises else lam / FAR
            if not SMALLEST < lam < 1 / SMALLEST:
                break
        divide_at = self._apart([line.chosen for line in lines.values()], half)
        return half._replace(upper=upper, divide_at=divide_at, lam=min(max(lam, SMALLEST), 1 / SMALLEST))

    def _has_truth(self, half: _Half) -> bool:
        return bool(
            np.isin(half.forced, self.problem.truth).all() and not np.isin(half.barred, self.problem.truth).any()
        )

    def _apart(self, ends: list[PartNumbers], half: _Half) -> int:
        """A part that one of two outputs has and the other has not, or any that is not decided yet."""
        fixed = {*half.forced, *half.barred}
        differences = np.setxor1d(ends[0], ends[1]).tolist() if len(ends) == 2 else []
        sizes = np.abs(self.problem.scores) + np.abs(self.problem.added)
        free = [p for p in differences or range(len(sizes)) if p not in fixed]
        return max(free, key=lambda p: sizes[p])

    def _decoded(self, lam: float, half: _Half) -> _Line | None:
        """The best output of the half for λΔ - m; None where the half has no output."""
        self.left -= 1
        problem = self.problem
        altered = problem.scores + lam * problem.added
        size = float(np.abs(altered).sum())
        if half.forced or half.barred:
            size = 1.0 + 2.0 * size  # more than all parts together: the decoder cannot but obey, where it can
            altered[list(half.forced)] += size
            altered[list(half.barred)] -= size
        chosen = self.best(altered)
        if not np.isin(half.forced, chosen).all() or np.isin(half.barred, chosen).any():
            return None
        rounding = ROUNDING * (size * (1 + len(half.forced) + len(half.barred)) + lam * self.whole)
        return _Line(chosen, *problem.measured(chosen), rounding)


def violation_bound(formulation: Formulation, highest: float, lam: float, least: float) -> float:
    """An upper bound on V over all outputs with λΔ - m <= highest, whose Δ is 0 or at least `least`.

    V <= g(Δ) with g = Δ(1 + F - λΔ), √Δ(1 + F - λΔ) or √Δ + F - λΔ, which rises up to one Δ and falls from there.
    """
    total = 1 + highest
    if formulation.rescaling == "margin":
        peak = max(0.25 / lam**2, least)
        return max(highest, np.sqrt(peak) + highest - lam * peak if peak < np.inf else highest)
    if total <= 0 or least == np.inf:
        return 0.0
    peak = max(total / ((3 if formulation.squared else 2) * lam), least)
    return max(0.0, float((np.sqrt(peak) if formulation.squared else peak) * (total - lam * peak)))


class _Line(NamedTuple):
    """What an output has to say of all λ: λΔ - m, which the decoder may have missed by a rounding error."""

    chosen: PartNumbers
    loss: float
    margin: float
    rounding: float

    def at(self, lam: float) -> float:
        return lam * self.loss - self.margin


def _meeting(low: _Line, high: _Line) -> float:
    """The λ at which two lines meet."""
    rise = high.loss - low.loss
    return (high.margin - low.margin) / rise if rise > 0 else 0.0
