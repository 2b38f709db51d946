"""Folds of a sample for cross-validation: which rows are held out together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.structures.ranking.groups import Groups, Indices

FEW, FOLDS_OF_FEW, FOLDS = 100, 5, 3  # with few examples of a class, more folds leave more of them for training


def deal_folds(sample: Groups, truth: Array, seed: int) -> Indices | None:
    """Return the fold of every row, or None if the rows of a class are all equal, so that none can be held out.

    Positive and negative rows are shuffled and dealt in turn (stratified folds). Equal rows of a class share a fold:
    training never sees a held-out row, and a row that occurs twice is equivalent to one of weight 2. The order of rows
    does not matter. There are three folds, five if a class has fewer than a hundred different rows, and never more than
    the different rows of a class.
    """
    rng = np.random.default_rng(seed)
    kind = _kinds(sample, truth, rng)
    _, first = np.unique(kind, return_index=True)
    positive = truth[first] > 0
    fewest = min(int(positive.sum()), int((~positive).sum()))
    if fewest < 2:
        return None
    order = np.concatenate([rng.permutation(np.flatnonzero(own)) for own in (positive, ~positive)])
    dealt = np.empty(len(first), dtype=np.int64)
    dealt[order] = np.arange(len(order)) % min(FOLDS_OF_FEW if fewest < FEW else FOLDS, fewest)
    return dealt[kind]


def _kinds(sample: Groups, truth: Array, rng: Any) -> NDArray[np.int64]:
    """Number the different rows of each class, identified and sorted by their products with a random vector."""
    marks = np.asarray(sample.matrix @ rng.uniform(1, 2, sample.matrix.shape[1]), dtype=float)[sample.rows]
    order = np.lexsort((marks, truth))
    rounding = 1e-12 * np.abs(marks).max()
    new = (np.diff(marks[order]) > rounding) | (np.diff(truth[order]) > 0)
    kind = np.empty(len(order), dtype=np.int64)
    kind[order] = np.append(0, np.cumsum(new))
    return kind
