"""Tasks over groups of rows with all of their outputs listed: the reference of their searches on small groups."""

from __future__ import annotations

from itertools import permutations, product
from typing import Any, NamedTuple

import numpy as np

from maxmargin import Task
from maxmargin.tasks import Contingency, Ranked, Ranking, WeightedRows


def squared_error(tp, fp, fn, tn):
    """A loss of a user's own, of no special form."""
    return ((fp + 2 * fn) / (tp + fp + fn + tn)) ** 2


class Labellings(Contingency):
    """All labellings of a sample that setup has seen, or those with as many positives as the measure looks at."""

    def setup(self, X, Y):
        super().setup(X, Y)
        self.labels_ = {id(x): y for x, y in zip(X, Y, strict=True)}

    def outputs(self, x):
        y = self.labels_[id(x)]
        truth = np.asarray(y.labels if isinstance(y, WeightedRows) else y, dtype=int)
        found = [truth]
        if 0 < truth.sum() < len(truth):
            size = None if self.measure_.size is None else min(self.measure_.size(truth.sum()), len(truth))
            found += [np.array(z) for z in product((0, 1), repeat=len(truth)) if size is None or sum(z) == size]
        return [WeightedRows(z, y.weights) for z in found] if isinstance(y, WeightedRows) else found

    def decode(self, w, X):
        """The best of the outputs above, which know how many positives there are."""
        return Task.decode(self, w, X)


class Rankings(Ranking):
    """All orders of the rows of a query that setup has seen, and the truth."""

    def setup(self, X, Y):
        super().setup(X, Y)
        self.levels_ = {id(x): y for x, y in zip(X, Y, strict=True)}

    def outputs(self, x):
        y = self.levels_[id(x)]
        return [y, *(Ranked(np.array(order), y) for order in permutations(range(x.shape[0])))]

    def decode(self, w, X):
        return [Ranked(z.order, self.levels_[id(x)]) for x, z in zip(X, super().decode(w, X), strict=True)]


class Decided(NamedTuple):
    """For every pair of rows of different level whether it is the wrong way round."""

    swapped: Any
    levels: Any


class PairDecisions(Rankings):
    """What "roc_auc" and the pairs of "ndcg" search: each pair is decided for itself, be that a ranking or not."""

    def __init__(self, measure="roc_auc"):
        super().__init__(measure)

    def get_params(self, deep=True):
        return {"measure": self.measure}

    def pairs(self, y):
        """All pairs, their weights, and the margins they are asked to have."""
        levels, weights = self._read(y)
        pairs = [(i, j) for i in range(len(levels)) for j in range(len(levels)) if levels[i] > levels[j]]
        margins = np.ones(len(pairs))
        if self.measure == "ndcg":
            top = max(2.0 ** np.max(WeightedRows.of(each).labels) - 1 for each in self.levels_.values())
            margins = np.array([(2.0 ** levels[i] - 2.0 ** levels[j]) / top for i, j in pairs])
        weighs = margins if self.measure == "ndcg" else np.ones(len(pairs))
        return pairs, weighs * np.array([weights[i] * weights[j] for i, j in pairs]), margins

    def outputs(self, x):
        y = self.levels_[id(x)]
        return [Decided(np.array(s, dtype=bool), y) for s in product((0, 1), repeat=len(self.pairs(y)[0]))]

    def psi(self, x, z):
        if not isinstance(z, Decided):
            return super().psi(x, z)
        pairs, weights, _ = self.pairs(z.levels)
        terms = [v * (x[i] - x[j]) for (i, j), v, s in zip(pairs, weights, z.swapped, strict=True) if not s]
        return np.sum(terms, axis=0) / weights.sum() if terms else np.zeros(self.dim)

    def loss(self, y, z):
        if not isinstance(z, Decided):
            return super().loss(y, z)
        _, weights, margins = self.pairs(y)
        return float((weights * margins)[z.swapped].sum() / weights.sum()) if len(weights) else 0.0
