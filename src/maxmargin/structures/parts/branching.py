"""Branch and bound over parts, for the most violated set of parts if the violation is not a sum over parts.

With the loss Δ(z) = most + Σ_{p in z} added_p and the margin m(z) = Σ_{p in y} s_p - Σ_{p in z} s_p, slack rescaling
searches for the z with the highest V = Δ(1 - m) (see objective.py for all formulations). The decoder maximises sums
over parts, hence λΔ - m for any λ > 0, which bounds V over all z (rescaling.py). If the bound exceeds the best V found,
the best z may lie inside the convex hull of all (Δ, m), which no λ finds. But scores can be altered so that a part is
chosen, or not chosen, whenever that is possible. The outputs are therefore divided into those with and those without a
part in which two neighbours on the hull differ, and each half is bounded on its own. A half whose bound does not exceed
the best V found is closed.

Two facts make bounds tight if nothing is violated, the usual state of a learnt example: a loss is 0 or at least the
smallest price δ, and F(λ) of a half without the truth may be negative.
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

CLOSED = 1e-9  # relative gap at which a half is closed
AT_A_TIME = 30  # the most decodes for one half
SMALLEST = 1e-100  # the smallest λ
FAR = 16.0  # factor of a step of λ without a tangent
SLOPPY = 1e7  # multiple of the rounding error by which a maximiser may miss the truth
ROUNDING = 1e-14  # rounding error of the decoder, relative to the numbers that it adds up


class Violated(NamedTuple):
    """The most violated output that was found, with a bound on the violation of all outputs."""

    chosen: PartNumbers | None  # the parts of the output; None stands for the truth, whose violation is 0
    value: float  # the violation of this output
    upper: float  # an upper bound on the violation of every output


class _Half(NamedTuple):
    """Outputs that have all parts in `forced` and none in `barred`; none of them is violated by more than `upper`."""

    upper: float
    forced: tuple[int, ...]
    barred: tuple[int, ...]
    divide_at: int  # a part in which its best outputs differ; -1 if the half was not bounded yet
    lam: float = 1.0  # the first λ to try


class PartScores(NamedTuple):
    """The scores and losses of the parts of one example."""

    scores: Array  # the score s of each part
    added: Array  # the increase of the loss by choosing each part
    truth: PartNumbers  # the true parts

    def measured(self, chosen: PartNumbers) -> tuple[float, float]:
        """Compute the loss and the margin of an output from the parts in which it differs from the truth."""
        left, wrong = np.setdiff1d(self.truth, chosen), np.setdiff1d(chosen, self.truth)
        loss = float(self.added[wrong].sum() - self.added[left].sum())
        return loss, float(self.scores[left].sum() - self.scores[wrong].sum())


def most_violated_parts(
    best: Callable[[Array], PartNumbers], problem: PartScores, formulation: Formulation, most_decodes: int
) -> Violated:
    """Search until the best output is proved to be best, or the decoder was called `most_decodes` times."""
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
    """Return the error message for a decoder that missed a known output with a higher score."""
    return (
        f"best(scores, x) chose the parts {chosen.tolist()}, and others have a total score higher by {by:g}. It must "
        "maximise the total score over all outputs, and the label must be one of them"
    )


def divided(half: _Half) -> list[_Half]:
    """Divide a set of outputs into those with and those without the part `divide_at`."""
    p = half.divide_at
    return [
        half._replace(forced=(*half.forced, p), divide_at=-1),
        half._replace(barred=(*half.barred, p), divide_at=-1),
    ]


class _Search:
    """State that the halves of one search share."""

    def __init__(
        self, best: Callable[[Array], PartNumbers], problem: PartScores, formulation: Formulation, most_decodes: int
    ):
        self.best, self.problem, self.formulation, self.left = best, problem, formulation, most_decodes
        self.chosen: PartNumbers | None = None
        self.value = 0.0  # violation of the truth
        prices = np.abs(problem.added)
        self.least = float(prices[prices > 0].min(initial=np.inf))  # δ, the smallest positive loss
        self.whole = float(np.abs(problem.added[problem.truth]).sum())  # loss of choosing nothing

    def closed(self, upper: float, rounding: float = 0.0) -> bool:
        """Return whether a bound proves that no output is better than the best one found, up to rounding."""
        return upper <= self.value * (1 + CLOSED) + rounding

    def bounded(self, half: _Half) -> _Half | None:
        """Return the half with a better bound and a part to divide it at, or None if it has no better output.

        F(λ) = max λΔ - m is convex and piecewise linear, with one line for each output on the hull. An output is the
        best of all if it is still found at its own tangent. Otherwise two outputs bracket the best λ, and the next λ is
        where their lines meet. If no output is above that point, the two are neighbours on the hull, and no λ has a
        better bound.
        """
        lines: dict[bool, _Line] = {}  # at the lower end of the bracket (True: λ should grow) and at the upper end
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
                return None  # the half has no better output, or no other one
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
            else:  # no tangent: the truth (the only output beyond 2/δ), or an output far below it
                lam = max(lam * FAR, 2 / self.least) if rises else lam / FAR
            if not SMALLEST < lam < 1 / SMALLEST:
                break
        divide_at = self._branching_part([line.chosen for line in lines.values()], half)
        return half._replace(upper=upper, divide_at=divide_at, lam=min(max(lam, SMALLEST), 1 / SMALLEST))

    def _has_truth(self, half: _Half) -> bool:
        return bool(
            np.isin(half.forced, self.problem.truth).all() and not np.isin(half.barred, self.problem.truth).any()
        )

    def _branching_part(self, ends: list[PartNumbers], half: _Half) -> int:
        """Return the largest part in only one of two outputs, or the largest one that is not fixed yet."""
        fixed = {*half.forced, *half.barred}
        differences = np.setxor1d(ends[0], ends[1]).tolist() if len(ends) == 2 else []
        sizes = np.abs(self.problem.scores) + np.abs(self.problem.added)
        free = [p for p in differences or range(len(sizes)) if p not in fixed]
        return max(free, key=lambda p: sizes[p])

    def _decoded(self, lam: float, half: _Half) -> _Line | None:
        """Decode λΔ - m within the half; None if the half has no output."""
        self.left -= 1
        problem = self.problem
        altered = problem.scores + lam * problem.added
        size = float(np.abs(altered).sum())
        if half.forced or half.barred:
            size = 1.0 + 2.0 * size  # outweighs all other parts together
            altered[list(half.forced)] += size
            altered[list(half.barred)] -= size
        chosen = self.best(altered)
        if not np.isin(half.forced, chosen).all() or np.isin(half.barred, chosen).any():
            return None
        rounding = ROUNDING * (size * (1 + len(half.forced) + len(half.barred)) + lam * self.whole)
        return _Line(chosen, *problem.measured(chosen), rounding)


def violation_bound(formulation: Formulation, highest: float, lam: float, least: float) -> float:
    """Bound V from above over all outputs with λΔ - m <= highest whose Δ is 0 or at least `least`.

    V <= g(Δ) with g = Δ(1 + F - λΔ), √Δ(1 + F - λΔ) or √Δ + F - λΔ, which is unimodal in Δ.
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
    """Line λΔ - m of an output as a function of λ, with the rounding error of the decoder."""

    chosen: PartNumbers  # the numbers of the chosen parts
    loss: float  # Δ
    margin: float  # m
    rounding: float  # the rounding error of the decoder's value

    def at(self, lam: float) -> float:
        return lam * self.loss - self.margin


def _meeting(low: _Line, high: _Line) -> float:
    """Return the λ at which two lines meet."""
    rise = high.loss - low.loss
    return (high.margin - low.margin) / rise if rise > 0 else 0.0
