"""How far predicted clusterings agree with the true ones.

A clustering of n items is a list of n labels; items with equal labels are in one cluster, and which labels they are
does not matter. K stands for a true cluster and R for a predicted one. All scores are ratios of sums over clusters,
items or pairs of items, and all take collections of clusterings, one for every document, name or set of items.

average : "micro" adds the counts of all examples up before ratios are taken, as scorers of coreference do, so that
    large examples weigh more; "macro" is the mean over examples of each ratio.

Where neither clustering has anything to count (links, pairs), nothing is wrong, and precision, recall and F1 are 1;
where only one of them has nothing, the ratio without anything to count is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.report.scoring.scorer import Scorer
from maxmargin.structures.clustering.labels import Clusters, cluster_numbers

Numbers = NDArray[np.int64]
AVERAGES = ("micro", "macro")


class ClusterScore(NamedTuple):
    """Precision, recall and their harmonic mean, each between 0 and 1."""

    precision: float
    recall: float
    f1: float


class AgreementCounts(NamedTuple):
    """Numerators and denominators of precision and recall."""

    right_of_found: float
    found: float
    right_of_true: float
    true: float


class Overlaps(NamedTuple):
    """The true and the predicted clusters of one example, and how many items those that meet have in common."""

    true: Numbers  # sizes |K|
    found: Numbers  # sizes |R|
    rows: Numbers  # the true cluster of every pair of clusters that meet
    columns: Numbers  # the predicted one
    shared: Numbers  # |K ∩ R|


def muc(truth: Sequence[Any], found: Sequence[Any], average: str = "micro") -> ClusterScore:
    """The MUC (MITRE) score of Vilain et al., "A model-theoretic coreference scoring scheme" (MUC-6, 1995).

    A true cluster that the prediction cuts into p(K) parts lacks p(K) - 1 of the |K| - 1 links that hold it together:

        recall = Σ_K (|K| - p(K)) / Σ_K (|K| - 1),    precision the same with the two clusterings exchanged.

    Clusters of one item do not count. One cluster of all items has recall 1 and often a high precision.
    """
    return _score(truth, found, average, _links)


def mitre_loss(truth: Sequence[Any], found: Sequence[Any], average: str = "micro") -> float:
    """1 - F1 of `muc`: what Yu and Joachims (2009, Table 2) call MITRE loss."""
    return 1.0 - muc(truth, found, average).f1


def b_cubed(truth: Sequence[Any], found: Sequence[Any], average: str = "micro") -> ClusterScore:
    """B³ of Bagga and Baldwin, "Algorithms for scoring coreference chains" (LREC workshop, 1998).

    The mean over items of |K ∩ R| / |R| (precision) and of |K ∩ R| / |K| (recall), where K and R are the clusters of
    the item.
    """
    return _score(truth, found, average, _items)


def ceaf(truth: Sequence[Any], found: Sequence[Any], by: str = "items", average: str = "micro") -> ClusterScore:
    """CEAF of Luo, "On coreference resolution performance metrics" (HLT-EMNLP 2005): clusters matched one to one.

    The matching with the largest total similarity φ(K, R), divided by Σ_K φ(K, K) for recall and by Σ_R φ(R, R) for
    precision.

    by : "items" (φ = |K ∩ R|: the share of items in matched clusters; CEAF-m) or "clusters"
        (φ = 2|K ∩ R| / (|K| + |R|), in which clusters of all sizes weigh the same; CEAF-e).
    """
    if by not in ("items", "clusters"):
        raise ValueError(f"by must be 'items' or 'clusters', got {by!r}")
    return _score(truth, found, average, _matched_items if by == "items" else _matched_clusters)


def pairwise(truth: Sequence[Any], found: Sequence[Any], average: str = "micro") -> ClusterScore:
    """Precision, recall and F1 of the pairs of items in one cluster."""
    return _score(truth, found, average, _pairs)


def pair_loss(truth: Sequence[Any], found: Sequence[Any], average: str = "micro") -> float:
    """The share of pairs of items that are together in one clustering and apart in the other: 1 - Rand's index.

    0 for examples of one item.
    """
    parts = []
    for overlaps in _compared(truth, found, average):
        right, together, _, true = _pairs(overlaps)
        parts.append((together + true - 2 * right, _n_pairs(overlaps.true.sum())))
    if average == "micro":
        parts = [(sum(wrong for wrong, _ in parts), sum(total for _, total in parts))]
    return float(np.mean([wrong / total if total else 0.0 for wrong, total in parts]))


def overlaps_of(true: Clusters, found: Clusters) -> Overlaps:
    """Which clusters meet, for two clusterings in numbers 0, 1, …"""
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
    """F1 of AgreementCounts that were added up, one row each."""
    return np.array([_ratios(AgreementCounts(*row)).f1 for row in sums.tolist()])


def _compared(truth: Sequence[Any], found: Sequence[Any], average: str) -> list[Overlaps]:
    if average not in AVERAGES:
        raise ValueError(f"average must be 'micro' or 'macro', got {average!r}")
    for name, clusterings in (("true", truth), ("predicted", found)):
        if isinstance(clusterings, str) or not hasattr(clusterings, "__len__"):
            raise ValueError(f"the {name} clusterings are {clusterings!r}; expected a list of clusterings")
    if len(truth) != len(found):
        raise ValueError(f"there are {len(truth)} true but {len(found)} predicted clusterings")
    if len(truth) == 0:
        raise ValueError("there are no clusterings to compare")
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
    """How many pairs the items of clusters of these sizes make."""
    sizes = np.asarray(sizes, dtype=float)
    return float(np.sum(sizes * (sizes - 1) / 2))


COUNTED = {"muc": _links, "b_cubed": _items, "pairwise": _pairs}  # by the name of the score
muc_f1_scorer = Scorer(muc, "f1")
b_cubed_f1_scorer = Scorer(b_cubed, "f1")
ceaf_f1_scorer = Scorer(ceaf, "f1")
pairwise_f1_scorer = Scorer(pairwise, "f1")
