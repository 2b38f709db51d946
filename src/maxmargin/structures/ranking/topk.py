"""TopK: choose the k rows of a query that are shown, and pay for those among them that are not relevant."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.files.fields import Whole
from maxmargin.base.files.objects import Fields
from maxmargin.structures.ranking.group_task import GroupTask
from maxmargin.structures.ranking.groups import Groups, Indices
from maxmargin.structures.ranking.measures import checked_k
from maxmargin.structures.ranking.row_labels import binary_levels
from maxmargin.structures.ranking.topk_batch import TopKBatch


class TopK(GroupTask):
    """x is the matrix of a query's rows, y says which are relevant (1) or not (0), z are the k rows that are shown.

        Ψ(x, z) = (1/k) Σ_{j in z} x_j,      Δ(y, z) = min(1, n(y)/k) - (1/k) Σ_{j in z} y_j                   (1)

    with n(y) relevant rows, so that z explains y if it shows relevant rows only, or all of them. Which ones is hidden:
    not all relevant rows must stand out, only the best k (Yu and Joachims 2009, section 5.3; in Δ it is the rows of the
    prediction that count). With scores s_j = ⟨w, x_j⟩

        prediction        the k highest s_j
        loss-augmented    the k highest s_j - λ y_j                                                            (2)
        completion        relevant rows by score, then, if there are fewer than k, others by score.

    Whatever the violation, if h relevant rows are shown the worst choice is the first h of them and the first k - h
    others, so that k + 1 choices are tried after a sort: exact in all formulations.

    A query whose rows are all relevant, or none, has loss 0 whatever is shown. Both maxima of the objective are then
    the same for all w, so that it costs nothing: its planes are zero, and its truth is never completed.

    k : how many rows are shown; no query may have fewer.
    """

    latent = True

    saved: ClassVar[Fields] = {"k": Whole(1)}

    def __init__(self, k: int = 10):
        self.k = k

    def setup(self, X: Any, Y: Any) -> None:
        checked_k(self.k, "precision_at_k")
        self._set_rows(X)
        if all(np.ptp(y) == 0 for y in self._relevant(X, Y)):
            raise ValueError("no query has both relevant rows and others, so there is nothing to choose")

    def psi(self, x: Any, z: Any) -> Array:
        return np.asarray(x[np.asarray(z)].sum(axis=0), dtype=float).reshape(-1) / self.k

    def loss(self, y: Any, z: Any) -> float:
        y = np.asarray(y)
        return (min(self.k, int(np.sum(y))) - int(np.sum(y[np.asarray(z)]))) / self.k

    def outputs(self, x: Any) -> Iterable[Indices]:
        """All choices of k rows: for small queries."""
        return (np.array(z) for z in combinations(range(x.shape[0]), self.k))

    def argmax(self, w: Array, x: Any, y: Any = None) -> Indices:
        """(2): row numbers, from first to last."""
        scores = np.asarray(x @ w)
        return self._first(scores if y is None else scores - np.asarray(y))

    def complete(self, w: Array, x: Any, y: Any) -> Indices:
        return np.lexsort((-np.asarray(x @ w), np.asarray(y) == 0))[: self.k]

    def guess(self, rng: np.random.Generator, x: Any, y: Any) -> Indices:
        """Any relevant rows, and any others if those are too few."""
        return np.lexsort((rng.random(len(y)), np.asarray(y) == 0))[: self.k]

    def decode(self, w: Array, X: Any) -> list[Indices]:
        """The numbers of the k rows of every query with the highest scores, from first to last."""
        groups = Groups.of(X)
        self._check_sizes(groups)
        return [self._first(s) for s in groups.of_rows(self.row_scores(w, groups.matrix))]

    def pack(self, X: Any, Y: Any) -> TopKBatch:
        relevant = self._relevant(X, Y)
        return TopKBatch(self, self._segments(X, relevant), np.array([int(np.sum(y)) for y in relevant]), self.k)

    def _first(self, scores: Array) -> Indices:
        return np.argsort(-scores, kind="stable")[: self.k]

    def _relevant(self, X: Any, Y: Any) -> list[Array]:
        levels, weights = binary_levels(X, Y, "query")
        if weights is not None:
            raise ValueError("precision at k counts rows, so rows cannot have weights; queries can")
        self._check_sizes(Groups.of(X))
        return levels

    def _check_sizes(self, groups: Groups) -> None:
        short = np.flatnonzero(groups.sizes < self.k)
        if len(short):
            found = f"query {short[0]}, counted from 0, has {groups.sizes[short[0]]} rows"
            raise ValueError(f"{found}; expected at least k = {self.k}, the number of rows that are shown")
