"""Measures of one ranking, from the relevance of its rows; 1 is perfect.

Rows of equal score count in the worst order, so that a model with constant scores does not profit from the order of the
file; "roc_auc" counts tied pairs by half, as is usual.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array


def worst_order(levels: Array, scores: Array) -> NDArray[np.int64]:
    """Sort rows from the highest score to the lowest, the less relevant first among equal scores."""
    return np.lexsort((levels, -scores))


def gains(levels: Any) -> Array:
    """Compute the gains 2^level - 1."""
    return np.exp2(levels) - 1


def discounts(n: int, k: int | None = None) -> Array:
    """Compute 1/log2(1 + position) for the first n positions; 0 after position k."""
    values = 1 / np.log2(np.arange(2, n + 2))
    if k is not None:
        values[k:] = 0.0
    return values


def ideal_dcg(levels: Array, k: int | None = None) -> float:
    """Compute the discounted cumulated gain of the best ranking."""
    return float(np.dot(np.sort(gains(levels))[::-1], discounts(len(levels), k)))


def ndcg(levels: Array, order: Any, k: int | None = None) -> float:
    """Compute the normalised discounted cumulative gain (NDCG) (Järvelin and Kekäläinen 2002; gains 2^level - 1)."""
    return float(np.dot(gains(levels[order]), discounts(len(levels), k))) / ideal_dcg(levels, k)


def average_precision(relevant: Array, order: Any) -> float:
    """Average, over the relevant rows, the precision among the rows up to each of them."""
    hits = np.flatnonzero(relevant[order]) + 1
    return float(np.mean(np.arange(1, len(hits) + 1) / hits))


def precision_at(relevant: Array, order: Any, k: int) -> float:
    """Compute the share of relevant rows among the first k; missing rows count as not relevant."""
    return float(np.sum(relevant[order[:k]])) / k


def concordance(levels: Array, scores: Array, weights: Array | None = None) -> float:
    """Compute the share of pairs of different level with scores in the right order: the area under the ROC curve.

    A pair weighs as much as the product of its rows' weights.
    """
    weights = np.ones(len(levels)) if weights is None else weights
    right, pairs = 0.0, 0.0
    for low, high in combinations(np.unique(levels), 2):
        order = np.flatnonzero(levels == low)[np.argsort(scores[levels == low])]
        below, above = scores[order], scores[levels == high]
        running = np.append(0.0, np.cumsum(weights[order]))
        less, not_more = (running[np.searchsorted(below, above, side=side)] for side in ("left", "right"))
        right += 0.5 * float(np.dot(weights[levels == high], less + not_more))
        pairs += float(running[-1] * weights[levels == high].sum())
    return right / pairs
