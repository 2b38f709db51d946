"""RankingSpace: rankings of the rows of queries, searched by a score for every row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.arrays import Array
from maxmargin.problem.contract.scored import BestOutputs
from maxmargin.problem.planes.atoms import AtomRows
from maxmargin.structures.ranking.groups import Groups
from maxmargin.structures.ranking.ranking import Ranking, RankingMeasure


class FoundRankings(NamedTuple):
    """Rankings of n queries by what training needs of them."""

    behind: AtomRows  # (n, rows): score of the truth less that of the ranking, as a linear function of all scores
    losses: Array  # (n,)


class RankingSpace:
    """Score space of the rankings of n queries (problem/contract/scored.py).

    Scores are an array with a number for every row, those of all queries in a row. The score of a ranking is that of
    the task Ranking, less the score of the true ranking, so that truths have the score 0; the best ranking sorts the
    rows of a query by their scores. Found outputs are FoundRankings; `orders` returns rankings as row numbers.

    Parameters
    ----------
    levels : list of arrays
        The relevance levels of the rows of every query.
    measure : "map", "ndcg" or "roc_auc"
        The loss is 1 - measure, as in Ranking; gains of "ndcg" are divided by the highest one in `levels`.

    See Also
    --------
    Ranking : The task, and what its losses are.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import neural, tasks
    >>> space = tasks.RankingSpace([[1, 0, 0], [0, 1]], measure="map")
    >>> found = neural.loss(space, np.array([0.0, 1.0, 0.0, 0.0, 2.0]), "hinge")
    >>> found.values.round(3), found.gradient.round(1).tolist()
    (array([1.167, 0.   ]), [-1.0, 0.5, 0.5, 0.0, 0.0])
    >>> [order.tolist() for order in space.orders(np.array([0.0, 1.0, 0.0, 0.0, 2.0]))]
    [[1, 0, 2], [1, 0]]
    """

    def __init__(self, levels: Sequence[Any], measure: RankingMeasure = "map"):
        each = [np.asarray(own, dtype=float) for own in levels]
        self.bounds: NDArray[np.int64] = np.append(0, np.cumsum([len(own) for own in each])).astype(np.int64)
        n = int(self.bounds[-1])
        groups = Groups(sparse.eye_array(n, format="csr"), np.arange(n), self.bounds)
        task = Ranking(measure)
        self._batch = task.setup_and_pack(groups, each)

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @property
    def truth(self) -> FoundRankings:
        """The true rankings."""
        rows = AtomRows.of(self._batch.planes(np.zeros(int(self.bounds[-1])), 0.0).dpsi)
        none = np.zeros(len(self) + 1, dtype=rows.indptr.dtype)
        return FoundRankings(AtomRows(rows.atoms, none, rows.indices[:0], rows.values[:0]), np.zeros(len(self)))

    def best(self, scores: Array, augment: float | Array = 0.0) -> BestOutputs:
        """Return the ranking with the highest score + augment · loss of every query."""
        own, each = self._checked(scores), np.full(len(self), augment, dtype=float)
        planes = self._batch.planes(own, each)
        found = FoundRankings(AtomRows.of(planes.dpsi), np.asarray(planes.loss, dtype=float))
        return BestOutputs(found, each * found.losses - found.behind @ own, planes.upper)

    def losses(self, found: FoundRankings) -> Array:
        """Return the loss of every ranking."""
        return found.losses

    def totals(self, scores: Array, found: FoundRankings) -> Array:
        """Return the score of every ranking."""
        return -(found.behind @ self._checked(scores))

    def indicator(self, found: FoundRankings, weights: Array | None = None) -> Array:
        """Return the gradient of the scores of the rankings, times weights[j]."""
        counts = np.zeros(int(self.bounds[-1]))
        found.behind.add_to(counts, -np.ones(len(self)) if weights is None else -np.asarray(weights, dtype=float))
        return counts

    def orders(self, scores: Array) -> list[NDArray[np.intp]]:
        """Return the rows of every query from the highest score to the lowest, numbered from 0."""
        parts = np.split(self._checked(scores), self.bounds[1:-1]) if len(self) else []
        return [np.argsort(-own, kind="stable") for own in parts]

    def _checked(self, scores: Array) -> Array:
        given = np.ascontiguousarray(scores, dtype=np.float64)
        if given.shape != (self.bounds[-1],):
            raise ValueError(f"the scores have shape {given.shape}; expected ({self.bounds[-1]},), one for every row")
        return given
