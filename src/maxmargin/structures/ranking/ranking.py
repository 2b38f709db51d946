"""Ranking: order the rows of a query, with losses for rows of low relevance before rows of high relevance."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.errors import TaskError
from maxmargin.base.files.fields import OneOf, Real, Whole
from maxmargin.base.files.objects import Fields, Sometimes
from maxmargin.structures.ranking.average_precision_batch import AveragePrecisionBatch
from maxmargin.structures.ranking.gain_batch import GainBatch, PositionBatch
from maxmargin.structures.ranking.group_task import GroupTask
from maxmargin.structures.ranking.groups import Groups
from maxmargin.structures.ranking.measures import checked_k
from maxmargin.structures.ranking.orders import average_precision, concordance, discounts, gains, ideal_dcg, ndcg
from maxmargin.structures.ranking.pair_batch import PairBatch
from maxmargin.structures.ranking.row_labels import WeightedRows, levels_and_weights
from maxmargin.structures.ranking.segmented_batch import SegmentedBatch

Features = Literal["pairs", "positions"]
Surrogate = Literal["pairs", "listwise"]

RankingMeasure = Literal["map", "ndcg", "roc_auc"]
MEASURES = get_args(RankingMeasure)
SURROGATES = get_args(Surrogate)
FEATURES = get_args(Features)
GRADE = 50  # the largest grade; next to larger gains 2^grade - 1, other gains would vanish by rounding


class Ranked(NamedTuple):
    """A ranking of the rows of a query.

    Attributes
    ----------
    order : array of int
        Row numbers from first to last.
    levels : array, WeightedRows or None
        The levels of the rows, if known.

    See Also
    --------
    Ranking : The task whose outputs these are.

    Examples
    --------
    >>> from maxmargin import tasks
    >>> tasks.Ranked([2, 0, 1]).order
    [2, 0, 1]
    """

    order: Any
    levels: Any = None


class Ranking(GroupTask):
    """Learning to rank the rows of queries for average precision, NDCG or the area under the ROC curve.

    x is the matrix of a query's rows, y their relevance levels, and an output z a ranking. If the query has N pairs
    (i, j) where row i has a higher level than row j,

        Ψ(x, z) = (1/N) Σ_{pairs, i before j in z} (x_i - x_j)                                                 (1)

    and the ranking of highest ⟨w, Ψ⟩ sorts the rows by their scores s_i = ⟨w, x_i⟩. The loss 1 - measure is

    "roc_auc" : the share of pairs in the wrong order. Each pair is decided on its own (for two levels the most violated
        decisions form a ranking), so max_z Δ - ⟨w, δΨ⟩ is the mean over pairs of max(0, 1 - (s_i - s_j)). This is
        RankSVM, normalised per query. The search takes O(n log n) per pair of levels and is exact in all formulations.
    "map" : 1 - average precision, where rows of level >= `relevant` are relevant. The search takes O(n log n).
    "ndcg" : 1 - NDCG, with gains 2^level - 1 and discounts 1/log2(1 + position), up to position k if given.
        surrogate="pairs" decides each pair on its own, as "roc_auc" does, but gives it a weight. Let γ be the gains,
        divided by the highest gain in the training data, and G = Σ_{pairs} (γ_i - γ_j) in the query. Then

            Ψ(x, z) = (1/G) Σ_{pairs, i before j in z} (γ_i - γ_j) (x_i - x_j)
            Δ(y, z) = (1/G) Σ_{pairs, j before i in z} (γ_i - γ_j)²
            max_z Δ - ⟨w, δΨ⟩ = (1/G) Σ_{pairs} (γ_i - γ_j) · max(0, γ_i - γ_j - (s_i - s_j))                  (2)

        so the difference of two scores should be at least the difference of the gains. Sorting z by exchanges of
        neighbours corrects each of its wrong pairs once, which raises the DCG by γ_i - γ_j times the step between two
        discounts. If δ is the largest step (at position k the step is the whole discount) and IDCG the ideal DCG of γ,

            1 - NDCG@k  <=  (δ / IDCG) Σ_{pairs, j before i} (γ_i - γ_j)  <=  (δ G / (γ_min · IDCG)) Δ         (3)

        where γ_min is the smallest difference between gains of the query. Hence (2) bounds 1 - NDCG up to a factor that
        depends on the query but not on w. k does not change the pairs. The search takes O(n log n) per pair of levels.
    "ndcg", surrogate="listwise" : Δ is 1 - DCG/IDCG itself. The hinge loss with the features (1) bounds it, but loosely
        if scores overlap. The search is a dynamic program over the numbers of ranked rows of each level: with two
        levels it takes O(RS) for R relevant rows and S others, with more levels it has ∏(n_l + 1) states.
        features="positions" replaces (1) by Ψ(x, z) = (1/IDCG) Σ_i x_i / log2(1 + position of i). Its search is fast
        for any number of levels (a sort, or with k an assignment problem), but it favours equal scores of equally
        relevant rows, because the truth represents all of their orders at once.

    Parameters
    ----------
    measure : "map", "ndcg" or "roc_auc"
        The measure of a ranking: mean average precision, NDCG, or the share of pairs in the right order.
    k : int or None
        The depth of "ndcg", which only surrogate="listwise" uses in training; None is the whole ranking.
    relevant : float
        The least relevance of a row that counts as relevant for "map" and "precision_at_k".
    surrogate : "pairs" or "listwise"
        The objective of "ndcg". "pairs" has a hinge loss for every pair of rows of different grade, whose weight and
        margin are the difference of their gains 2^relevance - 1. It is fast, and learns from data that "listwise" does
        not learn from. "listwise" bounds 1 - NDCG of whole rankings; it is loose, and slow for many levels.
    features : "pairs" or "positions"
        The joint features of surrogate="listwise"; "positions" is for long queries with many levels.
    kernel : None, str, callable or Kernel
        A kernel of rows (maxmargin.kernels), whose features replace x_i.

    Notes
    -----
    A query without pairs has zero loss. The search for slack rescaling and squared slacks is exact for "roc_auc"; for
    other measures it is approximate with a proved upper bound, see rescaling.py.

    See Also
    --------
    maxmargin.Ranker : The estimator.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import tasks
    >>> x, task = np.array([[0.9], [0.1], [0.8]]), tasks.Ranking("map")
    >>> task.setup([x], [[1, 0, 0]])
    >>> task.decode(np.array([1.0]), [x])[0].order.tolist()
    [0, 2, 1]
    """

    saved: ClassVar[Fields] = {"k": OneOf(None, Whole(1)), "highest_gain_": Sometimes(Real())}

    def __init__(
        self,
        measure: RankingMeasure = "map",
        k: int | None = None,
        relevant: float = 1,
        surrogate: Surrogate = "pairs",
        features: Features = "pairs",
        kernel: Any = None,
    ):
        self.measure = measure
        self.k = k
        self.relevant = relevant
        self.surrogate = surrogate
        self.features = features
        self.kernel = kernel

    def setup(self, X: Any, Y: Any) -> None:
        if self.measure not in MEASURES:
            raise ValueError(f"measure must be one of {', '.join(map(repr, MEASURES))}, got {self.measure!r}")
        if self.surrogate not in SURROGATES:
            raise ValueError(f"surrogate must be 'pairs' or 'listwise', got {self.surrogate!r}")
        if self.features not in FEATURES:
            raise ValueError(f"features must be 'pairs' or 'positions', got {self.features!r}")
        if self.measure != "ndcg":
            for name, value in (("surrogate", self.surrogate), ("features", self.features)):
                if value != "pairs":
                    raise ValueError(f"{name}={value!r} is for measure 'ndcg' only, not for {self.measure!r}")
        if self.features == "positions" and self.surrogate != "listwise":
            raise ValueError("features='positions' is for surrogate='listwise' only; single pairs have no positions")
        if self.k is not None:
            if self.measure != "ndcg":
                raise ValueError(f"measure {self.measure!r} uses the whole ranking; k is for 'ndcg' only")
            checked_k(self.k, self.measure)
        self._set_rows(X)
        levels, _ = self._levels(X, Y)
        if all(len(np.unique(values)) < 2 for values in levels):
            which = f"both relevant rows (>= {self.relevant:g}) and others" if self.measure == "map" else "two levels"
            raise ValueError(f"no query has {which}; expected at least one such query")
        if self._weighs_pairs:
            self.highest_gain_ = max(float(gains(values.max())) for values in levels)
            if self.highest_gain_ == 0:
                raise ValueError(
                    "every gain 2^relevance - 1 is rounded to 0, because all relevances are too close to 0; "
                    "use whole numbers"
                )

    @property
    def _weighs_pairs(self) -> bool:
        """True if the loss is a sum over pairs weighted by differences of gains, as in (2)."""
        return self.measure == "ndcg" and self.surrogate == "pairs"

    def psi(self, x: Any, z: Any) -> Array:
        self._refuse_kernel("psi(x, z)")
        if isinstance(z, Ranked) and z.levels is None:
            raise TaskError(
                "psi(x, z) counts pairs of different levels, but this ranking does not have the levels of its rows; "
                "use Ranked(order, levels)"
            )
        levels, rows = self._read(z.levels if isinstance(z, Ranked) else z)
        if not self._pair_margins(levels).any():
            return np.zeros(self.dim)
        position = np.empty(len(levels), dtype=np.int64)
        if isinstance(z, Ranked):
            position[np.asarray(z.order)] = np.arange(len(levels))
        else:  # the truth: rows of equal level have no order among themselves
            position[:] = np.sum(np.subtract.outer(levels, levels) < 0, axis=1)
        if self.features == "positions":
            weights = self._weights_of_positions(levels, position) / ideal_dcg(levels, self.k)
        else:
            pairs = np.outer(rows, rows) * self._pair_margins(levels)
            right = pairs * (np.subtract.outer(position, position) < 0)
            weights = (right.sum(axis=1) - right.sum(axis=0)) / pairs.sum()
        return np.asarray(weights @ x, dtype=float).reshape(-1)

    def loss(self, y: Any, z: Any) -> float:
        if not isinstance(z, Ranked):
            return 0.0
        levels, weights = self._read(y)
        if not self._pair_margins(levels).any():
            return 0.0
        order = np.asarray(z.order)
        if self._weighs_pairs:
            margins, rows = self._pair_margins(levels)[np.ix_(order, order)], weights[order]
            weight = np.outer(rows, rows)
            return float(np.sum(np.tril(weight * margins**2)) / np.sum(weight * margins))
        if self.measure == "ndcg":
            return 1 - ndcg(levels, order, self.k)
        if self.measure == "map":
            return 1 - average_precision(levels, order)
        scores = np.empty(len(order))
        scores[order] = -np.arange(len(order))
        return max(1 - concordance(levels, scores, weights), 0.0)

    def decode(self, w: Array, X: Any) -> list[Ranked]:
        """Rank the rows of every query by score; ties keep their order."""
        groups = Groups.of(X)
        scores = self.row_scores(w, groups.matrix)
        return [Ranked(np.argsort(-s, kind="stable")) for s in groups.of_rows(scores)]

    def label(self, z: Any) -> Any:
        """Return the row numbers from first to last."""
        return z.order if isinstance(z, Ranked) else z

    def pack(self, X: Any, Y: Any) -> SegmentedBatch:
        levels, weights = self._levels(X, Y)
        if weights is not None and self.measure != "roc_auc" and not self._weighs_pairs:
            raise ValueError(
                f"measure {self.measure!r} is not a sum over pairs, so rows cannot have weights; use 'roc_auc'"
            )
        packed = self._segments(X, levels, weights)
        if self.measure == "roc_auc":
            return PairBatch(self, packed)
        if self._weighs_pairs:
            return PairBatch(self, packed, np.concatenate([self._gains(-np.unique(-values)) for values in levels]))
        if self.measure == "map":
            return AveragePrecisionBatch(self, packed)
        return (PositionBatch if self.features == "positions" else GainBatch)(self, packed, levels, self.k)

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
        """Return the levels of rows as the measure uses them, and the weights of rows."""
        levels, weights = (np.asarray(each, dtype=float) for each in WeightedRows.of(y))
        return self._leveled(levels), weights

    def _leveled(self, values: Array) -> Array:
        """Return the relevance as the measure uses it."""
        return (values >= self.relevant).astype(float) if self.measure == "map" else values

    def _gains(self, levels: Array) -> Array:
        """Compute the normalised gains γ of (2)."""
        return gains(levels) / self.highest_gain_

    def _pair_margins(self, levels: Array) -> Array:
        """Return the (rows, rows) weights of pairs, which are also the margins; 0 unless the first level is higher."""
        if self._weighs_pairs:
            return np.maximum(np.subtract.outer(self._gains(levels), self._gains(levels)), 0.0)
        return (np.subtract.outer(levels, levels) > 0).astype(float)

    def _weights_of_positions(self, levels: Array, position: NDArray[np.int64]) -> Array:
        """Compute 1/log2(1 + position) of each row; tied rows get the mean over the positions that they share."""
        counts, weights = np.bincount(position, minlength=len(levels)), discounts(len(levels))
        return np.array([np.mean(weights[p : p + counts[p]]) for p in position])
