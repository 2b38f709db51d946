"""TopK: choose the k rows of a query to show; the loss counts those that are not relevant."""

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
    """Choice of the k best rows of a query, with the relevant rows to show as latent variables.

    x is the matrix of a query's rows, y their relevance (1 or 0), and an output z the k rows that are shown:

        Ψ(x, z) = (1/k) Σ_{j in z} x_j,      Δ(y, z) = min(1, n(y)/k) - (1/k) Σ_{j in z} y_j                   (1)

    with n(y) relevant rows, so that z explains y if it shows only relevant rows, or all of them. The relevant rows to
    show are latent: not all of them need high scores, only the best k (Yu and Joachims 2009, section 5.3; here Δ counts
    the rows of the prediction). With scores s_j = ⟨w, x_j⟩

        prediction        the k highest s_j
        loss-augmented    the k highest s_j - λ y_j                                                            (2)
        completion        relevant rows by score, then, if there are fewer than k, others by score.

    If h relevant rows are shown, the most violated choice has the first h of them and the first k - h others, so that
    k + 1 choices are tried after a sort: exact in all formulations.

    A query whose rows are all relevant, or none, has loss 0 for every z. Its planes are zero, and its truth is never
    completed.

    Parameters
    ----------
    k : int
        The number of rows shown; no query may have fewer.

    See Also
    --------
    Contingency : With measure "precision_at_k", the same without latent variables.
    maxmargin.Ranker : The estimator, with latent=True.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import tasks
    >>> x, task = np.array([[0.9], [0.1], [0.8], [0.2]]), tasks.TopK(k=2)
    >>> task.setup([x], [[1, 0, 0, 1]])
    >>> task.argmax(np.array([1.0]), x).tolist()
    [0, 2]
    """

    latent = True

    saved: ClassVar[Fields] = {"k": Whole(1)}

    def __init__(self, k: int = 10):
        self.k = k

    def setup(self, X: Any, Y: Any) -> None:
        checked_k(self.k, "precision_at_k")
        self._set_rows(X)
        if all(np.ptp(y) == 0 for y in self._relevant(X, Y)):
            raise ValueError("no query has both relevant rows and others; expected at least one such query")

    def psi(self, x: Any, z: Any) -> Array:
        return np.asarray(x[np.asarray(z)].sum(axis=0), dtype=float).reshape(-1) / self.k

    def loss(self, y: Any, z: Any) -> float:
        y = np.asarray(y)
        return (min(self.k, int(np.sum(y))) - int(np.sum(y[np.asarray(z)]))) / self.k

    def outputs(self, x: Any) -> Iterable[Indices]:
        """Enumerate all choices of k rows, for small queries."""
        return (np.array(z) for z in combinations(range(x.shape[0]), self.k))

    def argmax(self, w: Array, x: Any, y: Any = None) -> Indices:
        """Return the row numbers of (2), from first to last."""
        scores = np.asarray(x @ w)
        return self._first(scores if y is None else scores - np.asarray(y))

    def complete(self, w: Array, x: Any, y: Any) -> Indices:
        return np.lexsort((-np.asarray(x @ w), np.asarray(y) == 0))[: self.k]

    def guess(self, rng: np.random.Generator, x: Any, y: Any) -> Indices:
        """Draw relevant rows at random, and others if there are fewer than k."""
        return np.lexsort((rng.random(len(y)), np.asarray(y) == 0))[: self.k]

    def decode(self, w: Array, X: Any) -> list[Indices]:
        """Return the numbers of the k rows of every query with the highest scores, from first to last."""
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
