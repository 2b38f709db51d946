"""Ranking: order the rows of a query, and pay where rows of low relevance come before those of high relevance."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.arrays import Array
from maxmargin.errors import TaskError
from maxmargin.objective import Formulation
from maxmargin.planes import Planes
from maxmargin.rescaling import tangent
from maxmargin.structures.ranking.groups import (
    GroupBatch,
    Groups,
    GroupTask,
    Scored,
    WeightedRows,
    levels_and_weights,
    pack_groups,
)
from maxmargin.structures.ranking.measures import checked_k
from maxmargin.structures.ranking.orders import average_precision, concordance, discounts, gains, ideal_dcg, ndcg

MEASURES = ("map", "ndcg", "roc_auc")
FEATURES = ("pairs", "positions")
STATES = 5_000_000  # of the dynamic program over graded rankings of one query
GRADE = 50  # gains 2^grade - 1 beyond this would leave nothing of the others


class Ranked(NamedTuple):
    """A ranking: row numbers from first to last; and the levels of the rows (or WeightedRows), where they are known."""

    order: Any
    levels: Any = None


class Ranking(GroupTask):
    """x is the matrix of a query's rows, y their relevance levels; an output is a ranking.

    With pairs (i, j) of a higher and a lower level, N of them in the query,

        Ψ(x, z) = (1/N) Σ_{pairs, i before j in z} (x_i - x_j)                                                 (1)

    and the ranking of highest ⟨w, Ψ⟩ is the one by scores ⟨w, x_i⟩. The loss 1 - measure is

    "roc_auc" : the share of pairs that z has the wrong way round, each pair decided for itself (for two levels the
        worst decisions are those of a ranking). max_z Δ - ⟨w, δΨ⟩ is the mean over pairs of max(0, 1 - (s_i - s_j)):
        RankSVM, normalised per query. O(n log n) per pair of levels, exact in all formulations.
    "map" : 1 - average precision, where rows of level >= `relevant` are relevant. O(n log n).
    "ndcg" : 1 - DCG/IDCG with gains 2^level - 1 and discounts 1/log2(1 + position), up to position k if given. A
        dynamic program over how many rows of each level are ranked: O(RN) for two levels, ∏(n_l + 1) states for more.
        With features="positions" instead Ψ(x, z) = (1/IDCG) Σ_i x_i / log2(1 + position of i), which is fast for any
        number of levels (a sort, or with k an assignment problem) but wants the scores of equally relevant rows to be
        equal, because the truth stands for all of their orders at once.

    A kernel of rows (maxmargin.kernels) has its features take the place of x_i.

    Levels of a query without pairs tell nothing and cost nothing. Slack rescaling and squared slacks are exact for
    "roc_auc"; for others they are searched with a proved upper bound, see rescaling.py.
    """

    def __init__(
        self,
        measure: str = "map",
        k: int | None = None,
        relevant: float = 1,
        features: str = "pairs",
        kernel: Any = None,
    ):
        self.measure = measure
        self.k = k
        self.relevant = relevant
        self.features = features
        self.kernel = kernel

    def setup(self, X: Any, Y: Any) -> None:
        if self.measure not in MEASURES:
            raise ValueError(f"measure must be one of {', '.join(map(repr, MEASURES))}, got {self.measure!r}")
        if self.features not in FEATURES:
            raise ValueError(f"features must be 'pairs' or 'positions', got {self.features!r}")
        if self.features == "positions" and self.measure != "ndcg":
            raise ValueError(f"features='positions' is for measure 'ndcg' only, not for {self.measure!r}")
        if self.k is not None:
            if self.measure != "ndcg":
                raise ValueError(f"measure {self.measure!r} looks at the whole ranking; k is for 'ndcg'")
            checked_k(self.k, self.measure)
        self._set_rows(X)
        levels, _ = self._levels(X, Y)
        if all(len(np.unique(values)) < 2 for values in levels):
            which = f"both relevant rows (>= {self.relevant:g}) and others" if self.measure == "map" else "two levels"
            raise ValueError(f"no query has {which}, so there is nothing to rank")

    def psi(self, x: Any, z: Any) -> Array:
        self._refuse_kernel("psi(x, z)")
        if isinstance(z, Ranked) and z.levels is None:
            raise TaskError("psi(x, z) counts pairs of different level; the levels of this ranking are not known")
        levels, rows = self._read(z.levels if isinstance(z, Ranked) else z)
        if len(np.unique(levels)) < 2:
            return np.zeros(self.dim)
        position = np.empty(len(levels), dtype=np.int64)
        if isinstance(z, Ranked):
            position[np.asarray(z.order)] = np.arange(len(levels))
        else:  # the truth: rows of equal level have no order among themselves
            position[:] = np.sum(np.subtract.outer(levels, levels) < 0, axis=1)
        if self.features == "positions":
            weights = self._weights_of_positions(levels, position) / ideal_dcg(levels, self.k)
        else:
            pairs = np.outer(rows, rows) * (np.subtract.outer(levels, levels) > 0)
            right = pairs * (np.subtract.outer(position, position) < 0)
            weights = (right.sum(axis=1) - right.sum(axis=0)) / pairs.sum()
        return np.asarray(weights @ x, dtype=float).reshape(-1)

    def loss(self, y: Any, z: Any) -> float:
        if not isinstance(z, Ranked):
            return 0.0
        levels, weights = self._read(y)
        if len(np.unique(levels)) < 2:
            return 0.0
        order = np.asarray(z.order)
        if self.measure == "ndcg":
            return 1 - ndcg(levels, order, self.k)
        if self.measure == "map":
            return 1 - average_precision(levels, order)
        scores = np.empty(len(order))
        scores[order] = -np.arange(len(order))
        return max(1 - concordance(levels, scores, weights), 0.0)

    def decode(self, w: Array, X: Any) -> list[Ranked]:
        """The rows of every query from first to last; rows of equal score in their own order."""
        groups = Groups.of(X)
        scores = self.row_scores(w, groups.matrix)
        return [Ranked(np.argsort(-s, kind="stable")) for s in groups.of_rows(scores)]

    def label(self, z: Any) -> Any:
        """Row numbers from first to last."""
        return z.order if isinstance(z, Ranked) else z

    def pack(self, X: Any, Y: Any) -> GroupBatch:
        levels, weights = self._levels(X, Y)
        if weights is not None and self.measure != "roc_auc":
            raise ValueError(f"measure {self.measure!r} is not a sum over pairs, so that rows cannot have weights")
        batch = pack_groups(self, X, levels, weights)
        if batch.weights is None or np.ptp(batch.weights) == 0:  # equal weights of whatever size mean the same
            batch.weights = np.ones(len(batch.rows))
        batch.about = about = self._about(batch, levels)
        if self.measure == "ndcg" and self.features == "pairs" and about.states.max() > STATES:
            g = int(np.argmax(about.states))
            raise ValueError(
                f"query {g}, counted from 0 as they appear, has {about.states[g]:.3g} ways to take some rows of each "
                f"level, more than {STATES:.1g}; "
                "use features='positions', or fewer levels"
            )
        return batch

    def planes(self, w: Array, batch: GroupBatch, augment: float | Array = 1.0) -> Planes:
        lam = np.array(np.broadcast_to(np.asarray(augment, dtype=float), len(batch)))
        scored = batch.scored(w)
        if self.features == "positions":
            return self._by_position(batch, scored, lam)
        if self.measure == "roc_auc":
            return self._swapped(batch, scored, lam, np.zeros(len(batch), dtype=np.int64))[0]
        return self._precise(batch, scored, lam) if self.measure == "map" else self._gained(batch, scored, lam)

    def rescaled_planes(self, w: Array, batch: GroupBatch, formulation: Formulation) -> Planes | None:
        """For "roc_auc" the swapped pairs are those with s_i - s_j below a threshold t, and perhaps some with equality.

        One more pair of difference d raises the violation while d < tangent(Δ, m) of rescaling.py, which falls with
        every pair above 0 that has been swapped: t is found by bisection down to neighbouring numbers.
        """
        if self.measure != "roc_auc" or np.ptp(batch.weights) > 0:  # type: ignore[arg-type]
            return None
        scored, about = batch.scored(w), batch.about.take(batch.ids)
        none = np.zeros(len(batch), dtype=np.int64)

        def swap(thresholds: Array, ties: NDArray[np.int64] = none) -> tuple[Planes, Array]:
            return self._swapped(batch, scored, thresholds, ties)

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
                for group in zip(below.loss, through.loss, margins, low, about.pairs, strict=True)
            ]
        )
        return swap(low, ties)[0]

    def _swapped(
        self, batch: GroupBatch, scored: Scored, thresholds: Array, ties: NDArray[np.int64]
    ) -> tuple[Planes, Array]:
        from maxmargin.structures.ranking.compiled.ranking import swap_pairs

        coefficients, marks = np.zeros(len(scored.scores)), np.empty(len(scored.scores))
        losses, margins = np.empty(len(batch)), np.empty(len(batch))
        weights: Array = batch.weights[scored.places]  # type: ignore[index]
        pairs = batch.about.take(batch.ids).pairs
        swap_pairs(thresholds, ties, scored.scores, weights, *scored[3:], pairs, coefficients, marks, losses, margins)
        return Planes(batch.combined(scored, coefficients), losses), margins

    def _precise(self, batch: GroupBatch, scored: Scored, lam: Array) -> Planes:
        from maxmargin.structures.ranking.compiled.ranking import swap_for_average_precision

        longest = int(np.diff(scored.bounds).max()) + 2
        coefficients, losses = np.zeros(len(scored.scores)), np.empty(len(batch))
        suffix, above = np.empty(longest), np.empty(longest, dtype=np.int64)
        harmonic = batch.about.harmonic
        swap_for_average_precision(lam, scored.scores, *scored[3:], harmonic, suffix, above, coefficients, losses)
        return Planes(batch.combined(scored, coefficients), losses)

    def _gained(self, batch: GroupBatch, scored: Scored, lam: Array) -> Planes:
        from maxmargin.structures.ranking.compiled.ranking import swap_for_gains

        about = batch.about.take(batch.ids)
        coefficients, losses = np.zeros(len(scored.scores)), np.empty(len(batch))
        levels, states = int(np.diff(scored.segments).max()), int(about.states.max())
        counts, strides = np.empty(levels, dtype=np.int64), np.empty(levels, dtype=np.int64)
        prefix, best, choice = np.empty(len(scored.scores)), np.empty(states), np.empty(states, dtype=np.int8)
        paid = discounts(int(np.diff(scored.bounds).max()), self.k)
        earned = np.concatenate([batch.about.gains[batch.segments[g] : batch.segments[g + 1]] for g in batch.ids])
        swap_for_gains(
            lam, scored.scores, *scored[3:], about.pairs, earned, paid, prefix, counts, strides, best, choice,
            coefficients, losses,
        )  # fmt: skip
        return Planes(batch.combined(scored, coefficients), losses)

    def _by_position(self, batch: GroupBatch, scored: Scored, lam: Array) -> Planes:
        """Choose positions q for rows i to maximise Σ c_q s_i - λ G_i D_q, with G and c divided by the ideal DCG.

        c_q = 1/log2(1 + q), and D_q = c_q up to position k, then 0. Without k the best order is by s_i - λ G_i.
        """
        from scipy.optimize import linear_sum_assignment

        coefficients, losses = np.zeros(len(scored.scores)), np.zeros(len(batch))
        for j, g in enumerate(batch.ids):
            begin, end = scored.bounds[j], scored.bounds[j + 1]
            lengths = np.diff(scored.segment_bounds[scored.segments[j] : scored.segments[j + 1] + 1])
            earned = np.repeat(batch.about.gains[batch.segments[g] : batch.segments[g + 1]], lengths)
            if len(lengths) < 2:
                continue
            ideal, scores = batch.about.ideal[g], scored.scores[begin:end]
            weights, paid = discounts(end - begin), discounts(end - begin, self.k)
            position = np.empty(end - begin, dtype=np.int64)
            if self.k is None:
                position[np.argsort(lam[j] * earned * ideal - scores, kind="stable")] = np.arange(end - begin)
            else:
                values = np.outer(scores, weights) / ideal - lam[j] * np.outer(earned, paid)
                position = linear_sum_assignment(values, maximize=True)[1]
            less = earned - earned[np.argsort(position)]  # than the truth earns at each position: exactly 0 if no less
            losses[j] = max(float(np.dot(less, paid)), 0.0)
            steps = np.append(0, np.cumsum(lengths))
            truth = np.repeat([np.mean(weights[a:b]) for a, b in pairwise(steps)], lengths)
            coefficients[begin:end] = (truth - weights[position]) / ideal
        return Planes(batch.combined(scored, coefficients), losses)

    def _levels(self, X: Any, Y: Any) -> tuple[list[Array], list[Array] | None]:
        levels, weights = levels_and_weights(X, Y, "query")
        if self.measure == "ndcg":
            for g, values in enumerate(levels):
                bad = np.flatnonzero((values < 0) | (values > GRADE))
                if len(bad):
                    raise ValueError(
                        f"query {g}, row {bad[0]}: the relevance is {values[bad[0]]:g}; "
                        f"gains 2^relevance - 1 need a relevance from 0 to {GRADE}"
                    )
        return [self._leveled(values) for values in levels], weights

    def _read(self, y: Any) -> tuple[Array, Array]:
        """The levels of rows as the measure sees them, and the rows' weights."""
        levels = np.asarray(y.labels if isinstance(y, WeightedRows) else y, dtype=float)
        weights = np.asarray(y.weights, dtype=float) if isinstance(y, WeightedRows) else np.ones(len(levels))
        return self._leveled(levels), weights

    def _leveled(self, values: Array) -> Array:
        """Relevance as the measure sees it."""
        return (values >= self.relevant).astype(float) if self.measure == "map" else values

    def _weights_of_positions(self, levels: Array, position: NDArray[np.int64]) -> Array:
        """1/log2(1 + position); where several rows share one, the mean over the positions that they fill."""
        counts, weights = np.bincount(position, minlength=len(levels)), discounts(len(levels))
        return np.array([np.mean(weights[p : p + counts[p]]) for p in position])

    def _about(self, batch: GroupBatch, levels: list[Array]) -> Queries:
        n = len(levels)
        pairs, states, ideal, earned = np.zeros(n), np.ones(n), np.ones(n), np.zeros(len(batch.segment_bounds))
        ends = np.append(batch.segment_bounds, len(batch.rows))
        weight = np.add.reduceat(batch.weights, batch.segment_bounds) if len(batch.rows) else np.zeros(0)  # type: ignore
        for g, values in enumerate(levels):
            own = slice(batch.segments[g], batch.segments[g + 1])
            heavy = weight[own]
            pairs[g] = (heavy.sum() ** 2 - np.dot(heavy, heavy)) / 2
            if self.measure == "ndcg" and len(heavy) > 1:
                states[g] = np.prod(np.diff(ends[own.start : own.stop + 1]) + 1.0)
                ideal[g] = ideal_dcg(values, self.k)
                earned[own] = gains(-np.unique(-values)) / ideal[g]
        longest = max(map(len, levels), default=0)
        harmonic = np.append(0.0, np.cumsum(1 / np.arange(1, longest + 1)))
        return Queries(pairs, states, ideal, earned, harmonic)


class Queries(NamedTuple):
    """What the search knows of every query before it sees scores."""

    pairs: Array  # the (weight of the) pairs
    states: Array  # of the dynamic program over rankings
    ideal: Array  # the best DCG
    gains: Array  # of every segment of the batch, divided by the query's best DCG
    harmonic: Array  # harmonic numbers up to the longest query

    def take(self, ids: NDArray[np.intp]) -> Queries:
        return self._replace(pairs=self.pairs[ids], states=self.states[ids], ideal=self.ideal[ids])


def _best_ties(
    formulation: Formulation, below: float, through: float, margin: float, difference: float, pairs: float
) -> int:
    """How many of the tied pairs to swap: the violation has one top in their number, found by halving."""
    low, high = 0, round((through - below) * pairs)

    def value(r: int) -> float:
        return float(formulation.value(below + r / pairs, margin + r * difference / pairs))

    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if value(middle + 1) > value(middle) else (low, middle)
    return low
