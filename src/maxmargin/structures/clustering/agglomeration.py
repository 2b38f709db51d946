"""A local search for the clustering with the highest total gain of pairs, and an upper bound on that total."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.structures.clustering.labels import Clusters

BUDGET = 100_000_000  # most triangles that one bound examines: all of a set of 500 items


class ClimbScratch(NamedTuple):
    """Scratch arrays of the search for a clustering of n items, see compiled/agglomeration.py."""

    between: Array  # (n, n): the gain of merging two clusters
    shared: NDArray[np.int32]  # (n, n): the number of true clusters that two clusters both meet
    cells: NDArray[np.int32]  # (n, true clusters): the number of items that a cluster shares with a true one
    sizes: NDArray[np.int64]  # (n,): the number of items of each cluster
    kinds: NDArray[np.int64]  # (n,): the number of true clusters that each cluster meets
    nearest: NDArray[np.int64]  # (n,): the best partner of each cluster among those after it
    heights: Array  # (n,): the gain of merging with it
    asked: Array  # (n,): the price of a shared true cluster when the partner was chosen

    @classmethod
    def of(cls, n: int, n_true: int, counting: bool) -> ClimbScratch:
        """Allocate the arrays; true clusters are counted only with `counting`."""
        counted = n if counting else 1
        shared, cells = np.empty((counted, counted), np.int32), np.empty((counted, n_true), np.int32)
        sizes, kinds, nearest = np.empty((3, n), np.int64)
        return cls(np.empty((n, n)), shared, cells, sizes, kinds, nearest, np.empty(n), np.empty(n))


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
        scratch = ClimbScratch.of(n, n_true, counting=rate > 0)
        least = 1e-12 * (float(np.abs(self.gains).sum()) + rate)  # smaller gains may be rounding errors
        climb(self.matrix, labels, truth, n_true, float(rate), least, scratch)
        return labels

    def bound(self) -> float:
        """Bound the total of any clustering: the sum of positive gains minus the least cost of violated triangles."""
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
