"""The measures of predictions that solvers are compared by, so that no solver marks its own work.

``relevant`` and ``y`` are arrays of truth values, ``relevance`` one of grades 0, 1, 2, …, and ``scores`` the numbers
that examples are ranked by, the highest first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np


def f1(y: np.ndarray, predicted: np.ndarray) -> float:
    """2 tp / (2 tp + fp + fn), and 0 where nothing positive is found."""
    tp, n_either = np.count_nonzero(y & predicted), np.count_nonzero(y) + np.count_nonzero(predicted)
    return 2 * tp / n_either if n_either else 0.0


def best_threshold_f1(y: np.ndarray, scores: np.ndarray) -> float:
    """The highest F1 that a threshold on the scores reaches."""
    order = np.argsort(-scores, kind="stable")
    found = np.cumsum(y[order])
    possible = np.append(np.diff(scores[order]) != 0, True)  # equal scores are on one side of a threshold
    n_predicted = np.arange(1, len(y) + 1)
    return float(np.max((2 * found / (np.count_nonzero(y) + n_predicted))[possible]))


def break_even(y: np.ndarray, scores: np.ndarray) -> float:
    """Precision (and so recall) where as many examples are predicted positive as there are.

    Of examples with equal scores at the border a share counts, the mean over their orders.
    """
    k = np.count_nonzero(y)
    border = np.partition(scores, len(scores) - k)[len(scores) - k]
    above, tied = scores > border, scores == border
    places = k - np.count_nonzero(above)
    return (np.count_nonzero(y & above) + places * np.count_nonzero(y & tied) / np.count_nonzero(tied)) / k


def roc_area(y: np.ndarray, scores: np.ndarray) -> float:
    """The share of pairs, one positive and one negative, in the right order; equal scores are half right."""
    from scipy.stats import rankdata

    n_positive = np.count_nonzero(y)
    n_negative = len(y) - n_positive
    below = np.sum(rankdata(scores)[y]) - n_positive * (n_positive + 1) / 2
    return float(below / (n_positive * n_negative))


def _worst_order(relevance: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Rows from the highest score to the lowest, the less relevant first where scores are equal.

    The rows of OHSUMED's files are nearly sorted by relevance, so that their order must not decide.
    """
    return np.lexsort((relevance, -scores))


def average_precision(relevant: np.ndarray, scores: np.ndarray) -> float:
    """The mean over relevant documents of the precision down to their ranks, 0 where none is relevant."""
    hits = relevant[_worst_order(relevant, scores)]
    ranks = 1 + np.flatnonzero(hits)
    return float(np.mean(np.arange(1, len(ranks) + 1) / ranks)) if len(ranks) else 0.0


def ndcg(relevance: np.ndarray, scores: np.ndarray, k: int) -> float:
    """Σ over the first k ranks of (2^relevance - 1) / log2(1 + rank), divided by its maximum; 0 if none is relevant."""
    gains = 2.0**relevance - 1
    discounts = 1 / np.log2(1 + np.arange(1, min(k, len(gains)) + 1))
    best = np.sort(gains)[::-1][:k] @ discounts
    return float(gains[_worst_order(relevance, scores)][:k] @ discounts / best) if best else 0.0


def queries(qid: np.ndarray) -> Iterator[slice]:
    """The rows of every query, which are adjacent."""
    borders = [0, *(1 + np.flatnonzero(np.diff(qid))).tolist(), len(qid)]
    return (slice(a, b) for a, b in pairwise(borders))


def average_precisions(relevance: np.ndarray, scores: np.ndarray, qid: np.ndarray) -> np.ndarray:
    """Of every query, 0 for those without a relevant document; relevant is a grade of at least 1."""
    return np.array([average_precision(relevance[rows] >= 1, scores[rows]) for rows in queries(qid)])


def ndcgs_at_10(relevance: np.ndarray, scores: np.ndarray, qid: np.ndarray) -> np.ndarray:
    """NDCG@10 of every query, 0 for those without a relevant document."""
    return np.array([ndcg(relevance[rows], scores[rows], 10) for rows in queries(qid)])


def mean_precision_at(relevance: np.ndarray, scores: np.ndarray, qid: np.ndarray, k: int) -> float:
    """The share of relevant documents among the first k, the mean over all queries."""
    shares = []
    for rows in queries(qid):
        first = _worst_order(relevance[rows], scores[rows])[:k]
        shares.append(np.sum(relevance[rows][first] >= 1) / k)
    return float(np.mean(shares))


def first_common_ancestor(a: str, b: str) -> int:
    """How many levels above ``a`` its first common ancestor with ``b`` is, both being paths such as "6/2/0"."""
    steps_a, steps_b = a.split("/"), b.split("/")
    shared = 0
    while shared < min(len(steps_a), len(steps_b)) and steps_a[shared] == steps_b[shared]:
        shared += 1
    return len(steps_a) - shared


BINARY: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "f1": lambda y, scores: f1(y, scores > 0),
    "prbep": break_even,
    "roc_auc": roc_area,
}
RANKING: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]] = {
    "MAP": average_precisions,
    "NDCG@10": ndcgs_at_10,
}


def median_best(marks: list[float]) -> int:
    """Where the marks are highest, and of several such places the middle one (the lower one of two)."""
    best = np.flatnonzero(np.asarray(marks) == max(marks))
    return int(best[(len(best) - 1) // 2])
