"""Measures of the agreement between predicted and true clusterings.

A clustering of n items is a list of n labels; items with equal labels form one cluster, and the labels themselves do
not matter. K denotes a true cluster and R a predicted one. All scores are ratios of sums over clusters, items or pairs
of items, and all take lists of clusterings, one for every document, name or set of items.

If neither clustering has anything to count (links, pairs), precision, recall and F1 are 1; if only one of them has
nothing to count, its ratio is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from maxmargin.report.scoring.scorer import Scorer
from maxmargin.structures.clustering.labels import Clusters, cluster_numbers

Numbers = NDArray[np.int64]
ClusterAverage = Literal["micro", "macro"]
AVERAGES = get_args(ClusterAverage)


class ClusterScore(NamedTuple):
    """Agreement of two clusterings: precision, recall and their harmonic mean, each between 0 and 1.

    Attributes
    ----------
    precision : float
        The share of predicted links, items or pairs that are right.
    recall : float
        The share of true links, items or pairs that are found.
    f1 : float
        The harmonic mean of both.

    See Also
    --------
    muc, b_cubed, ceaf, pairwise : The measures that return it.

    Examples
    --------
    >>> from maxmargin import metrics
    >>> metrics.pairwise([[0, 0, 0]], [[0, 0, 1]])
    ClusterScore(precision=1.0, recall=0.3333333333333333, f1=0.5)
    """

    precision: float
    recall: float
    f1: float


class AgreementCounts(NamedTuple):
    """Numerators and denominators of precision and recall."""

    right_of_found: float  # the numerator of precision
    found: float  # the denominator of precision
    right_of_true: float  # the numerator of recall
    true: float  # the denominator of recall


class Overlaps(NamedTuple):
    """Contingency table of one example: sizes of its true and predicted clusters and of their intersections."""

    true: Numbers  # sizes |K|
    found: Numbers  # sizes |R|
    rows: Numbers  # the true cluster of every pair (K, R) that shares items
    columns: Numbers  # the predicted cluster of every such pair
    shared: Numbers  # |K ∩ R|


def muc(truth: Sequence[Any], found: Sequence[Any], average: ClusterAverage = "micro") -> ClusterScore:
    """Compute the link-based MUC (MITRE) score of coreference resolution.

    A true cluster that the prediction cuts into p(K) pieces lacks p(K) - 1 of the |K| - 1 links that hold it together:

        recall = Σ_K (|K| - p(K)) / Σ_K (|K| - 1),    precision the same with the two clusterings exchanged

    (Vilain et al., "A model-theoretic coreference scoring scheme", MUC-6, 1995). Clusters of one item do not count.
    One cluster of all items has recall 1 and often a high precision.

    Parameters
    ----------
    truth, found : sequence of clusterings
        The true and the predicted clusterings, each a list of labels, one per item.
    average : {"micro", "macro"}
        "micro" adds up the counts of all examples before taking ratios, as scorers of coreference do, so that large
        examples weigh more; "macro" is the mean of each ratio over the examples.

    Returns
    -------
    ClusterScore

    See Also
    --------
    mitre_loss : 1 - F1 of this score.
    b_cubed, ceaf, pairwise : Scores that count items, matched clusters or pairs.

    Examples
    --------
    >>> from maxmargin import metrics
    >>> metrics.muc([["a", "a", "a"]], [[0, 0, 1]])
    ClusterScore(precision=1.0, recall=0.5, f1=0.6666666666666666)
    """
    return _score(truth, found, average, _links)


def mitre_loss(truth: Sequence[Any], found: Sequence[Any], average: ClusterAverage = "micro") -> float:
    """Compute the MITRE loss of Yu and Joachims (2009, Table 2): 1 - F1 of `muc`.

    Parameters
    ----------
    truth, found, average
        As for `muc`.

    Returns
    -------
    float
        Between 0 (best) and 1.

    See Also
    --------
    muc : The score.

    Examples
    --------
    >>> from maxmargin import metrics
    >>> round(metrics.mitre_loss([["a", "a", "a"]], [[0, 0, 1]]), 3)
    0.333
    """
    return 1.0 - muc(truth, found, average).f1


def b_cubed(truth: Sequence[Any], found: Sequence[Any], average: ClusterAverage = "micro") -> ClusterScore:
    """Compute the item-based B³ score of Bagga and Baldwin (LREC workshop, 1998).

    Precision is the mean over items of |K ∩ R| / |R|, and recall the mean of |K ∩ R| / |K|, where K and R are the
    clusters of the item.

    Parameters
    ----------
    truth, found, average
        As for `muc`.

    Returns
    -------
    ClusterScore

    See Also
    --------
    muc, ceaf, pairwise : Other scores.

    Examples
    --------
    >>> from maxmargin import metrics
    >>> metrics.b_cubed([["a", "a", "b", "b"]], [[0, 0, 0, 0]])
    ClusterScore(precision=0.5, recall=1.0, f1=0.6666666666666666)
    """
    return _score(truth, found, average, _items)


def ceaf(
    truth: Sequence[Any],
    found: Sequence[Any],
    by: Literal["items", "clusters"] = "items",
    average: ClusterAverage = "micro",
) -> ClusterScore:
    """Compute the CEAF score, which matches true and predicted clusters one to one.

    The largest total similarity φ(K, R) of a matching is divided by Σ_K φ(K, K) for recall and by Σ_R φ(R, R) for
    precision (Luo, "On coreference resolution performance metrics", HLT-EMNLP 2005).

    Parameters
    ----------
    truth, found, average
        As for `muc`.
    by : {"items", "clusters"}
        "items": φ = |K ∩ R|, the share of items in matched clusters (CEAF-m). "clusters":
        φ = 2|K ∩ R| / (|K| + |R|), so that clusters of all sizes weigh the same (CEAF-e).

    Returns
    -------
    ClusterScore

    See Also
    --------
    muc, b_cubed, pairwise : Other scores.

    Examples
    --------
    >>> from maxmargin import metrics
    >>> metrics.ceaf([["a", "a", "b", "b"]], [[0, 0, 0, 0]])
    ClusterScore(precision=0.5, recall=0.5, f1=0.5)
    """
    if by not in ("items", "clusters"):
        raise ValueError(f"by must be 'items' or 'clusters', got {by!r}")
    return _score(truth, found, average, _matched_items if by == "items" else _matched_clusters)


def pairwise(truth: Sequence[Any], found: Sequence[Any], average: ClusterAverage = "micro") -> ClusterScore:
    """Compute precision, recall and F1 of the pairs of items that share a cluster.

    Parameters
    ----------
    truth, found, average
        As for `muc`.

    Returns
    -------
    ClusterScore

    See Also
    --------
    pair_loss : The share of wrong pairs.
    muc, b_cubed, ceaf : Other scores.

    Examples
    --------
    >>> from maxmargin import metrics
    >>> metrics.pairwise([["a", "a", "b", "b"]], [[0, 0, 1, 2]])
    ClusterScore(precision=1.0, recall=0.5, f1=0.6666666666666666)
    """
    return _score(truth, found, average, _pairs)


def pair_loss(truth: Sequence[Any], found: Sequence[Any], average: ClusterAverage = "micro") -> float:
    """Compute the share of pairs of items that one clustering joins and the other separates: 1 - Rand index.

    Parameters
    ----------
    truth, found, average
        As for `muc`.

    Returns
    -------
    float
        Between 0 (best) and 1; 0 for examples of one item.

    See Also
    --------
    pairwise : Precision and recall of joined pairs.

    Examples
    --------
    >>> from maxmargin import metrics
    >>> metrics.pair_loss([["a", "a", "b", "b"]], [[0, 0, 0, 0]])
    0.6666666666666666
    """
    counts = []
    for overlaps in _compared(truth, found, average):
        right, together, _, true = _pairs(overlaps)
        counts.append((together + true - 2 * right, _n_pairs(overlaps.true.sum())))
    if average == "micro":
        counts = [(sum(wrong for wrong, _ in counts), sum(total for _, total in counts))]
    return float(np.mean([wrong / total if total else 0.0 for wrong, total in counts]))


def overlaps_of(true: Clusters, found: Clusters) -> Overlaps:
    """Return the contingency table of two clusterings, both given as cluster numbers 0, 1, …"""
    width = int(found.max(initial=-1)) + 1
    cells, shared = np.unique(true * width + found, return_counts=True)
    rows, columns = np.divmod(cells, max(width, 1))
    return Overlaps(np.bincount(true), np.bincount(found), rows, columns, shared)


def _score(
    truth: Sequence[Any], found: Sequence[Any], average: str, count: Callable[[Overlaps], AgreementCounts]
) -> ClusterScore:
    counts = [count(overlaps) for overlaps in _compared(truth, found, average)]
    if average == "micro":
        return _ratios(AgreementCounts(*(float(sum(column)) for column in zip(*counts, strict=True))))
    return ClusterScore(*np.mean([_ratios(each) for each in counts], axis=0).tolist())


def _ratios(counts: AgreementCounts) -> ClusterScore:
    if counts.found == 0 and counts.true == 0:
        return ClusterScore(1.0, 1.0, 1.0)
    precision = counts.right_of_found / counts.found if counts.found else 0.0
    recall = counts.right_of_true / counts.true if counts.true else 0.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return ClusterScore(float(precision), float(recall), float(f1))


def f1_of_sums(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute F1 of sums of AgreementCounts, one per row."""
    return np.array([_ratios(AgreementCounts(*row)).f1 for row in sums.tolist()])


def _compared(truth: Sequence[Any], found: Sequence[Any], average: str) -> list[Overlaps]:
    if average not in AVERAGES:
        raise ValueError(f"average must be 'micro' or 'macro', got {average!r}")
    for name, clusterings in (("true", truth), ("predicted", found)):
        if isinstance(clusterings, str) or not hasattr(clusterings, "__len__"):
            raise ValueError(f"the {name} clusterings are {clusterings!r}; expected a list of clusterings")
    if len(truth) != len(found):
        raise ValueError(
            f"there are {len(truth)} true but {len(found)} predicted clusterings; expected one prediction per truth"
        )
    if len(truth) == 0:
        raise ValueError("there are no clusterings to compare; expected at least one")
    compared = []
    for i, (true, predicted) in enumerate(zip(truth, found, strict=True)):
        if not hasattr(true, "__len__") or isinstance(true, str):
            raise ValueError(f"example {i}: the true clustering is {true!r}; expected a list of labels, one per item")
        n_items = len(true)
        both = (cluster_numbers(labels, n_items, f"example {i}") for labels in (true, predicted))
        compared.append(overlaps_of(*both))
    return compared


def _links(overlaps: Overlaps) -> AgreementCounts:
    meetings = len(overlaps.shared)  # Σ_K p(K) = Σ_R p(R)
    n, n_true, n_found = overlaps.true.sum(), len(overlaps.true), len(overlaps.found)
    return AgreementCounts(n - meetings, n - n_found, n - meetings, n - n_true)


def _items(overlaps: Overlaps) -> AgreementCounts:
    squares = overlaps.shared.astype(float) ** 2
    n = float(overlaps.true.sum())
    precise = float(np.sum(squares / overlaps.found[overlaps.columns]))
    return AgreementCounts(precise, n, float(np.sum(squares / overlaps.true[overlaps.rows])), n)


def _pairs(overlaps: Overlaps) -> AgreementCounts:
    right = _n_pairs(overlaps.shared)
    return AgreementCounts(right, _n_pairs(overlaps.found), right, _n_pairs(overlaps.true))


def _matched_items(overlaps: Overlaps) -> AgreementCounts:
    n = float(overlaps.true.sum())
    right = _best_matching(overlaps, overlaps.shared.astype(float))
    return AgreementCounts(right, n, right, n)


def _matched_clusters(overlaps: Overlaps) -> AgreementCounts:
    sizes = overlaps.true[overlaps.rows] + overlaps.found[overlaps.columns]
    right = _best_matching(overlaps, 2 * overlaps.shared / sizes)
    return AgreementCounts(right, float(len(overlaps.found)), right, float(len(overlaps.true)))


def _best_matching(overlaps: Overlaps, similarity: NDArray[np.float64]) -> float:
    from scipy.optimize import linear_sum_assignment

    table = np.zeros((len(overlaps.true), len(overlaps.found)))
    table[overlaps.rows, overlaps.columns] = similarity
    return float(table[linear_sum_assignment(table, maximize=True)].sum())


def _n_pairs(sizes: Any) -> float:
    """Count the pairs of items within clusters of these sizes."""
    sizes = np.asarray(sizes, dtype=float)
    return float(np.sum(sizes * (sizes - 1) / 2))


COUNTED = {"muc": _links, "b_cubed": _items, "pairwise": _pairs}  # by the name of the score
muc_f1_scorer = Scorer(muc, "f1")
b_cubed_f1_scorer = Scorer(b_cubed, "f1")
ceaf_f1_scorer = Scorer(ceaf, "f1")
pairwise_f1_scorer = Scorer(pairwise, "f1")
