"""GainBatch and PositionBatch: search for the most violated ranking of queries if the loss is 1 - NDCG itself.

They differ in the joint features Ψ, which are sums over pairs or over positions; see tasks.Ranking.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.problem.planes.planes import Planes
from maxmargin.structures.ranking.orders import discounts, gains, ideal_dcg
from maxmargin.structures.ranking.pair_batch import pair_weights
from maxmargin.structures.ranking.segmented_batch import SegmentedBatch, Segments

STATES = 5_000_000  # the most states of the dynamic program for one query


class GainScratch(NamedTuple):
    """Scratch arrays of the dynamic program over graded rankings, see compiled/ranking.py."""

    prefix: Array  # (rows,): the sum of scores before each row within its segment
    counts: NDArray[np.int64]  # (levels,): how many rows of each level have been ranked
    strides: NDArray[np.int64]  # (levels,): the distance of states that differ by one row of a level
    best: Array  # (states,): the highest value of each state
    choice: NDArray[np.int8]  # (states,): the level of the last row

    @classmethod
    def of(cls, rows: int, levels: int, states: int) -> GainScratch:
        """Allocate the arrays."""
        counts, strides = np.empty((2, levels), dtype=np.int64)
        return cls(np.empty(rows), counts, strides, np.empty(states), np.empty(states, dtype=np.int8))


class GradedBatch(SegmentedBatch):
    """Base class with the gains of queries; k is the last position with a positive discount, or None."""

    def __init__(self, task: Any, packed: Segments, levels: Sequence[Array], k: int | None):
        super().__init__(task, packed)
        self.k = k
        self.ideal = np.ones(len(levels))  # the best DCG of every query
        self.gains = np.zeros(len(self.starts))  # the gain of every segment, divided by the ideal DCG
        for g, values in enumerate(levels):
            own = slice(self.segments[g], self.segments[g + 1])
            if own.stop - own.start > 1:
                self.ideal[g] = ideal_dcg(values, k)
                self.gains[own] = gains(-np.unique(-values)) / self.ideal[g]


class GainBatch(GradedBatch):
    """Batch with Ψ of pairs: a dynamic program over the numbers of ranked rows of each level (compiled/ranking.py)."""

    def __init__(self, task: Any, packed: Segments, levels: Sequence[Array], k: int | None):
        super().__init__(task, packed, levels, k)
        self.pairs = pair_weights(packed, np.ones(len(self.rows)))
        sizes = np.diff(np.append(self.starts, len(self.rows))) + 1.0
        each = [sizes[a:b] for a, b in pairwise(self.segments)]
        self.states = np.array([np.prod(own) if len(own) > 1 else 1.0 for own in each])
        if self.states.max() > STATES:
            g = int(np.argmax(self.states))
            raise ValueError(
                f"query {g}, counted from 0 as they appear, has {self.states[g]:.3g} ways to choose rows of each "
                f"level, more than {STATES:.1g}; use surrogate='pairs', features='positions', or fewer levels"
            )

    def planes(self, w: Array, augment: float | Array = 1.0) -> Planes:
        from maxmargin.structures.ranking.compiled.ranking import swap_for_gains

        lam = self.loss_weights(augment)
        scored = self.scored(w)
        coefficients, losses = np.zeros(len(scored.scores)), np.empty(len(self))
        levels, states = int(np.diff(scored.segments).max()), int(self.states[self.ids].max())
        scratch = GainScratch.of(len(scored.scores), levels, states)
        paid = discounts(int(np.diff(scored.bounds).max()), self.k)
        earned = self.of_segments(self.gains)
        segments = scored.segments, scored.segment_bounds
        pairs = self.pairs[self.ids]
        swap_for_gains(lam, scored.scores, *segments, pairs, earned, paid, scratch, coefficients, losses)
        return Planes(self.combined(scored, coefficients), losses)


class PositionBatch(GradedBatch):
    """Batch with Ψ of positions: choose positions q for rows i to maximise Σ_i c_q s_i - λ G_i D_q.

    c_q = 1/log2(1 + q), and D_q = c_q up to position k, then 0; c and the gains G are divided by the ideal DCG. Without
    k the best order is by s_i - λ G_i.
    """

    def planes(self, w: Array, augment: float | Array = 1.0) -> Planes:
        from scipy.optimize import linear_sum_assignment

        lam = self.loss_weights(augment)
        scored = self.scored(w)
        coefficients, losses = np.zeros(len(scored.scores)), np.zeros(len(self))
        for j, g in enumerate(self.ids):
            begin, end = scored.bounds[j], scored.bounds[j + 1]
            lengths = np.diff(scored.segment_bounds[scored.segments[j] : scored.segments[j + 1] + 1])
            if len(lengths) < 2:
                continue
            earned = np.repeat(self.gains[self.segments[g] : self.segments[g + 1]], lengths)
            ideal, scores = self.ideal[g], scored.scores[begin:end]
            weights, paid = discounts(end - begin), discounts(end - begin, self.k)
            position = np.empty(end - begin, dtype=np.int64)
            if self.k is None:
                position[np.argsort(lam[j] * earned * ideal - scores, kind="stable")] = np.arange(end - begin)
            else:
                values = np.outer(scores, weights) / ideal - lam[j] * np.outer(earned, paid)
                position = linear_sum_assignment(values, maximize=True)[1]
            less = earned - earned[np.argsort(position)]  # loss of gain at each position, exactly 0 for equal gains
            losses[j] = max(float(np.dot(less, paid)), 0.0)
            steps = np.append(0, np.cumsum(lengths))
            truth = np.repeat([np.mean(weights[a:b]) for a, b in pairwise(steps)], lengths)
            coefficients[begin:end] = (truth - weights[position]) / ideal
        return Planes(self.combined(scored, coefficients), losses)
