"""PairBatch: pairwise search for the most violated ranking of queries: "roc_auc", and "ndcg" by default."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.problem.contract.batch import Offered
from maxmargin.problem.contract.capabilities.rescaled_search import RescaledSearch
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.oracle.rescaling import tangent
from maxmargin.problem.planes.planes import Planes
from maxmargin.structures.ranking.segmented_batch import ScoredRows, SegmentedBatch, Segments


class PairBatch(SegmentedBatch, RescaledSearch):
    """Batch of queries whose loss is a sum over swapped pairs of rows of different level.

    gains : one per segment; their differences are the weights and margins of pairs. None counts every pair the same.
    """

    def __init__(self, task: Any, packed: Segments, gains: Array | None = None):
        super().__init__(task, packed)
        self.gains = gains
        self.weights = np.ones(len(self.rows))
        if packed.weights is not None and np.ptp(packed.weights) > 0:  # equal weights of any size are the same problem
            self.weights = packed.weights
        self.pairs = pair_weights(packed, self.weights, gains)

    def offers(self, capability: type[Offered]) -> Offered | None:
        if capability is RescaledSearch and (self.gains is not None or np.ptp(self.weights) > 0):
            return None
        return super().offers(capability)

    def planes(self, w: Array, augment: float | Array = 1.0) -> Planes:
        lam = self.loss_weights(augment)
        return self._swapped(self.scored(w), lam, np.zeros(len(self), dtype=np.int64))[0]

    def rescaled_planes(self, w: Array, formulation: Formulation) -> Planes:
        """Swap the pairs with s_i - s_j below a threshold t, and perhaps some with equality.

        One more pair of difference d raises the violation while d < tangent(Δ, m) of rescaling.py, which falls with
        every swapped pair of positive difference: t is found by bisection down to adjacent floating-point numbers.
        Pairs of different weight have no such search.
        """
        scored = self.scored(w)
        none = np.zeros(len(self), dtype=np.int64)

        def swap(thresholds: Array, ties: NDArray[np.int64] = none) -> tuple[Planes, Array]:
            return self._swapped(scored, thresholds, ties)

        spread = np.array([np.ptp(scored.scores[a:b]) for a, b in pairwise(scored.bounds)]) + 1.0
        low, high = -spread, spread
        planes, margins = swap(high)
        low = np.where(tangent(formulation, planes.loss, margins) > high, high, low)  # all are swapped
        while True:
            middle = 0.5 * (low + high)
            if not ((low < middle) & (middle < high)).any():
                break
            planes, margins = swap(middle)
            up = tangent(formulation, planes.loss, margins) > middle
            low, high = np.where(up, middle, low), np.where(up, high, middle)
        (below, margins), (through, _) = swap(low), swap(high)
        ties = np.array(
            [
                _best_ties(formulation, *group)
                for group in zip(below.loss, through.loss, margins, low, self.pairs[self.ids], strict=True)
            ]
        )
        return swap(low, ties)[0]

    def _swapped(self, scored: ScoredRows, thresholds: Array, ties: NDArray[np.int64]) -> tuple[Planes, Array]:
        """Return the planes of the rankings that `swap_pairs` makes, and their ⟨w, δΨ⟩."""
        from maxmargin.structures.ranking.compiled.ranking import swap_pairs

        coefficients, marks = np.zeros(len(scored.scores)), np.empty(len(scored.scores))
        losses, margins = np.empty(len(self)), np.empty(len(self))
        weights, pairs = self.weights[scored.positions], self.pairs[self.ids]
        gains = np.zeros(0) if self.gains is None else self.of_segments(self.gains)
        segments = scored.segments, scored.segment_bounds
        found = coefficients, marks, losses, margins
        swap_pairs(thresholds, ties, scored.scores, weights, gains, *segments, pairs, *found)
        return Planes(self.combined(scored, coefficients), losses), margins


def pair_weights(packed: Segments, weights: Array, gains: Array | None = None) -> Array:
    """Return the total weight of the pairs of rows of different level of every group.

    That is their number if all rows weigh 1; with gains of segments, each pair counts the difference of its gains.
    """
    total = np.add.reduceat(weights, packed.starts) if len(weights) else np.zeros(0)  # one sum per segment
    each = [slice(a, b) for a, b in pairwise(packed.segments)]
    if gains is None:
        return np.array([(total[own].sum() ** 2 - np.dot(total[own], total[own])) / 2 for own in each])
    return np.array([_gain_differences(total[own], gains[own]) for own in each])


def _gain_differences(total: Array, gains: Array) -> float:
    """Compute Σ total_a · total_b · (gain_a - gain_b) over a < b, whose terms are all positive."""
    return float(sum(total[a] * np.dot(total[a + 1 :], gains[a] - gains[a + 1 :]) for a in range(len(total))))


def _best_ties(
    formulation: Formulation, below: float, through: float, margin: float, difference: float, pairs: float
) -> int:
    """Return the best number of tied pairs to swap, by bisection, because the violation is unimodal in that number."""
    low, high = 0, round((through - below) * pairs)

    def value(r: int) -> float:
        return float(formulation.value(below + r / pairs, margin + r * difference / pairs))

    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if value(middle + 1) > value(middle) else (low, middle)
    return low
