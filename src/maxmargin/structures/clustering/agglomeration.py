"""A local search for the clustering with the highest total gain of pairs, and an upper bound on that total."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.structures.clustering.labels import Clusters

BUDGET = 100_000_000  # most triangles that one bound examines: all of a set of 500 items


class PairGains:
    """Gains of putting pairs of n items into one cluster; the gain of pairs that are not listed is 0.

    The value of a clustering is the total gain of the pairs in its clusters, plus rate · MITRE loss against the true
    clustering (compiled/agglomeration.py defines both and the search). The search needs memory for n² numbers.
    """

    def __init__(self, n_items: int, first: NDArray[np.int32], second: NDArray[np.int32], gains: Array):
        self.n_items, self.first, self.second, self.gains = n_items, first, second, gains

    @cached_property
    def matrix(self) -> Array:
        """The symmetric (n, n) matrix of all gains."""
        matrix = np.zeros((self.n_items, self.n_items))
        matrix[self.first, self.second] = matrix[self.second, self.first] = self.gains
        return matrix

    def plus(self, added: Array) -> PairGains:
        """Return the same pairs with `added` added to their gains."""
        return PairGains(self.n_items, self.first, self.second, self.gains + added)

    def together(self, labels: Clusters) -> NDArray[np.bool_]:
        """Return, for every listed pair, whether it is in one cluster."""
        return np.asarray(labels[self.first] == labels[self.second])

    def total(self, labels: Clusters) -> float:
        """Return Σ gain over the pairs that share a cluster."""
        return float(self.gains[self.together(labels)].sum())

    def climbed(self, start: Clusters, truth: Clusters | None = None, rate: float = 0.0) -> Clusters:
        """Climb from `start` to a clustering that no merge of two clusters and no move of one item improves.

        truth : the true clustering as numbers 0, 1, …, for the MITRE loss; rate : the factor of that loss.
        """
        from maxmargin.structures.clustering.compiled.agglomeration import climb

        n, labels = self.n_items, np.array(start, dtype=np.int64)
        if truth is None or rate == 0:
            truth, rate = np.zeros(1, dtype=np.int64), 0.0
        n_true = int(truth.max(initial=0)) + 1
        counted = n if rate > 0 else 1  # the kernel reads the counts of the MITRE loss only if rate > 0
        shared, cells = np.empty((counted, counted), np.int32), np.empty((counted, n_true), np.int32)
        sizes, kinds, nearest = (np.empty(n, np.int64) for _ in range(3))
        between, heights, asked = np.empty((n, n)), np.empty(n), np.empty(n)
        least = 1e-12 * (float(np.abs(self.gains).sum()) + rate)  # smaller gains may be rounding errors
        counts = shared, cells, sizes, kinds, nearest
        climb(self.matrix, labels, truth, n_true, float(rate), least, between, *counts, heights, asked)
        return labels

    def bound(self) -> float:
        """Bound the total of any clustering: the sum of positive gains less what violated triangles must cost."""
        from maxmargin.structures.clustering.compiled.agglomeration import pack_triangles

        free = float(np.maximum(self.gains, 0).sum())
        return free - float(pack_triangles(self.matrix.copy(), BUDGET))


def partitions(n_items: int) -> Iterator[Clusters]:
    """Enumerate all clusterings of a few items, with clusters numbered 0, 1, … in order of appearance."""

    def grow(labels: list[int], clusters: int) -> Iterator[list[int]]:
        if len(labels) == n_items:
            yield labels
            return
        for label in range(clusters + 1):
            yield from grow([*labels, label], max(clusters, label + 1))

    return (np.array(labels, dtype=np.int64) for labels in grow([], 0))
