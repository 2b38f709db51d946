"""Measures of diversity: the share of a query's subtopics that the first documents of an order cover."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.checks import is_whole
from maxmargin.structures.diversity.subtopics import Subtopics, SubtopicWeights, checked_weights


def subtopic_recall(
    Y: Any, orders: Any, k: int | None = None, weights: SubtopicWeights = "equal"
) -> NDArray[np.float64]:
    """Compute, for every query, the share of its subtopics that the first k documents of an order cover.

    Parameters
    ----------
    Y : sequence
        For each query a list of sets of subtopics, one set per document.
    orders : sequence
        For each query the numbers of its documents, in the order in which they are shown.
    k : int or None
        The number of documents considered; None for all.
    weights : {"equal", "documents"}
        "equal": all subtopics count the same (subtopic recall of Zhai, Cohen and Lafferty 2003). "documents": each
        subtopic counts as often as it has documents.

    Returns
    -------
    array of shape (n_queries,)

    See Also
    --------
    subtopic_loss : The share that is not covered.
    maxmargin.Diversifier : Learns such orders.

    Examples
    --------
    >>> from maxmargin import metrics
    >>> metrics.subtopic_recall([[{"a"}, {"a", "b"}, {"c"}]], [[0, 1, 2]], k=2)
    array([0.66666667])
    """
    curves = coverage_curves(Y, orders, weights)
    if k is None:
        return np.array([curve[-1] for curve in curves])
    if not is_whole(k) or k < 1:
        raise ValueError(f"k must be a whole number of documents, 1 or more, got {k!r}")
    for i, curve in enumerate(curves):
        if len(curve) <= k:
            raise ValueError(f"the order of query {i} has {len(curve) - 1} documents; expected at least k = {k}")
    return np.array([curve[k] for curve in curves])


def subtopic_loss(
    Y: Any, orders: Any, k: int | None = None, weights: SubtopicWeights = "documents"
) -> NDArray[np.float64]:
    """Compute, for every query, the weighted share of subtopics that the first k documents do not cover.

    With the weights "documents" this is the loss of Joachims et al. 2009, section 3.1: popular subtopics weigh more.

    Parameters
    ----------
    Y, orders, k, weights
        As for `subtopic_recall`.

    Returns
    -------
    array of shape (n_queries,)

    See Also
    --------
    subtopic_recall : 1 - this loss.

    Examples
    --------
    >>> from maxmargin import metrics
    >>> metrics.subtopic_loss([[{"a"}, {"a", "b"}, {"c"}]], [[0, 1, 2]], k=2)
    array([0.25])
    """
    return 1.0 - subtopic_recall(Y, orders, k, weights)


def coverage_curves(Y: Any, orders: Any, weights: SubtopicWeights = "equal") -> list[NDArray[np.float64]]:
    """Compute, for every query, the shares covered by the first 0, 1, 2, … documents of its order."""
    checked_weights(weights)
    Y, orders = list(Y), list(orders)
    if len(Y) != len(orders):
        raise ValueError(f"there are subtopics for {len(Y)} queries but {len(orders)} orders; expected one per query")
    if not Y:
        raise ValueError("there are no queries to compare; expected at least one")
    curves = []
    for i, (y, order) in enumerate(zip(Y, orders, strict=True)):
        try:
            curves.append(_curve(y if isinstance(y, Subtopics) else Subtopics(y, weights), _numbers(order, len(y))))
        except ValueError as error:
            raise ValueError(f"query {i}: {error}") from None
    return curves


def random_coverage(Y: Any, n: int, weights: SubtopicWeights = "equal") -> list[NDArray[np.float64]]:
    """Compute, for every query, the expected share that 0, 1, …, n random documents cover.

    k random documents of N miss a subtopic with m documents with probability C(N - m, k) / C(N, k).
    """
    curves = []
    for y in Y:
        subtopics = y if isinstance(y, Subtopics) else Subtopics(y, weights)
        of_subtopic = np.bincount(np.concatenate(subtopics.numbers), minlength=len(subtopics.weights))
        missed, curve = np.ones(len(of_subtopic)), [0.0]
        for k in range(min(n, len(subtopics))):
            missed = missed * np.maximum(len(subtopics) - of_subtopic - k, 0) / (len(subtopics) - k)
            curve.append(float(np.dot(subtopics.weights, 1 - missed)) / subtopics.total)
        curves.append(np.array(curve))
    return curves


def _curve(subtopics: Subtopics, order: Sequence[int]) -> NDArray[np.float64]:
    counted: set[int] = set()
    covered = [0]
    for d in order:
        new = set(subtopics.numbers[d].tolist()) - counted
        covered.append(covered[-1] + sum(int(subtopics.weights[s]) for s in new))
        counted |= new
    return np.array(covered) / subtopics.total


def _numbers(order: Any, n: int) -> list[int]:
    if isinstance(order, str) or not isinstance(order, Iterable):
        raise ValueError(f"the order is {order!r}; expected the numbers of documents")
    numbers = np.asarray(order)
    if numbers.ndim != 1 or (len(numbers) and numbers.dtype.kind not in "iu"):
        raise ValueError(f"the order is {order!r}; expected the numbers of documents")
    listed = [int(d) for d in numbers]
    for d in listed:
        if not 0 <= d < n:
            raise ValueError(f"the order names document {d}; expected numbers from 0 to {n - 1}")
    if len(set(listed)) < len(listed):
        twice = next(d for i, d in enumerate(listed) if d in listed[:i])
        raise ValueError(f"the order names document {twice} twice; expected every document at most once")
    return listed
