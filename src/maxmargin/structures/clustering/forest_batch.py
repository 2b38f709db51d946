"""Packed examples of Forest: the latent forests of their true clusters, and Kruskal's search for the best forests."""

from __future__ import annotations

from copy import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.arrays import Array, Index
from maxmargin.problem.contract.batch import Batch
from maxmargin.problem.contract.capabilities.latent import Latent
from maxmargin.problem.planes.atoms import Atoms
from maxmargin.problem.planes.planes import Planes, Rows
from maxmargin.structures.clustering.pair_table import PairTable

Edges = NDArray[np.int64]


class SpanningForests(NamedTuple):
    """Forests of several examples, concatenated."""

    edges: Edges  # row numbers in the table of pairs
    counts: Edges  # number of edges of every example


class ForestBatch(Batch, Latent):
    """Packed sets of items with true clusters, each of which a latent forest explains.

    inside : for every example, whether each of its pairs is inside a true cluster.
    most : for every example, the number of links of a largest forest inside clusters.
    steps : for every example and pair, the distance of its items, counted in items of their cluster.
    """

    call_cost = 100.0  # scoring and sorting all pairs, against one visit of a plane

    def __init__(self, task: Any, table: PairTable, inside: list[NDArray[np.bool_]], most: Edges, steps: list[Edges]):
        super().__init__(task, len(most))
        self.table, self.inside, self.most, self.steps = table, inside, most, steps
        self.prices = list(map(task.prices, inside))  # l_e of every pair
        self.flat_inside = np.concatenate(inside) if inside else np.empty(0, dtype=bool)
        # every forest that explains the clusters of an example has the same number of links
        self.truth_bounds = np.append(0, np.cumsum(most)).astype(np.int64)
        self.truth: Edges = np.empty(self.truth_bounds[-1], dtype=np.int64)
        self.truth = self._chained().truth

    @property
    def plane_atoms(self) -> Atoms:
        return self.table.plane_atoms

    def planes(self, w: Array, augment: float | Array = 1.0) -> Planes:
        lam = self.loss_weights(augment)
        prices = [rate * self.prices[g] for rate, g in zip(lam, self.ids, strict=True)]
        found = best_forests(w, self.table, self.ids, prices)
        right = self.flat_inside[found.edges]
        examples = np.repeat(np.arange(len(self)), found.counts)
        n_right = np.bincount(examples[right], minlength=len(self))
        loss = self.most[self.ids] - n_right + self.task.penalty * (found.counts - n_right)
        return Planes(self.table.combined(_difference(self.truths(), found, self.table)), loss)

    def completed(self, w: Array) -> ForestBatch:
        return self._explained_by(self.table.scores(w, self.ids))

    def guessed(self, rng: np.random.Generator) -> ForestBatch:
        if self.task.start == "chain":
            return self._chained()
        return self._explained_by([rng.random(len(self.inside[g])) for g in self.ids])

    def shifts_to(self, after: ForestBatch) -> Rows:
        return self.table.combined(_difference(after.truths(), self.truths(), self.table))

    def truths(self) -> SpanningForests:
        """Return the forests that currently explain the labels of these examples."""
        edges = [self.truth[self.truth_bounds[g] : self.truth_bounds[g + 1]] for g in self.ids]
        return SpanningForests(np.concatenate(edges) if edges else np.empty(0, dtype=np.int64), self.most[self.ids])

    def _chained(self) -> ForestBatch:
        """Link every item to the next one of its cluster, or to the nearest candidate."""
        return self._explained_by([-self.steps[g].astype(float) for g in self.ids])

    def _explained_by(self, weights: list[Array]) -> ForestBatch:
        """Return a copy whose true forests are the maximum spanning forests inside clusters at these weights."""
        found = maximum_forests(self.table, self.ids, weights, [self.inside[g] for g in self.ids])
        changed = copy(self)
        changed.truth = self.truth.copy()
        rows = np.concatenate([np.arange(self.truth_bounds[g], self.truth_bounds[g + 1]) for g in self.ids])
        changed.truth[rows] = found.edges
        return changed


def best_forests(w: Array, table: PairTable, ids: Index, prices: list[Array] | None = None) -> SpanningForests:
    """Return the forests of these examples with the highest Σ s_e - price_e."""
    scores = table.scores(w, ids)
    gains = scores if prices is None else [s - p for s, p in zip(scores, prices, strict=True)]
    return maximum_forests(table, ids, gains, [each > 0 for each in gains])


def maximum_forests(
    table: PairTable, ids: Index, weights: list[Array], allowed: list[NDArray[np.bool_]]
) -> SpanningForests:
    """Return the maximum spanning forest of the allowed pairs of each example."""
    from maxmargin.inputs.labels.compiled.spanning_forest import spanning_forests

    order, bounds = [np.empty(0, dtype=np.int64)], [0]
    for g, gains, mask in zip(ids, weights, allowed, strict=True):
        candidates = np.flatnonzero(mask)
        order.append(candidates[np.argsort(-gains[candidates])] + table.bounds[g])
        bounds.append(bounds[-1] + len(candidates))
    n_items = table.n_items[ids]
    taken, counts = np.empty(int(np.sum(n_items - 1)), dtype=np.int64), np.zeros(len(ids), dtype=np.int64)
    parent = np.empty(int(n_items.max(initial=0)), dtype=np.int32)
    flat = np.concatenate(order).astype(np.int64, copy=False)
    spanning_forests(flat, np.array(bounds, dtype=np.int64), n_items, table.first, table.second, parent, taken, counts)
    return SpanningForests(taken[: counts.sum()], counts)


def _difference(plus: SpanningForests, minus: SpanningForests, table: PairTable) -> sparse.csr_array:
    """Return an (examples, pairs) matrix: 1 for links of `plus` only, -1 for links of `minus` only."""

    def indicators(forests: SpanningForests) -> sparse.csr_array:
        ends = np.append(0, np.cumsum(forests.counts))
        shape = len(forests.counts), int(table.bounds[-1])
        rows = sparse.csr_array((np.ones(len(forests.edges)), forests.edges, ends), shape=shape)
        rows.sort_indices()  # subtracting unsorted rows would allocate as much as the table
        return rows

    return indicators(plus) - indicators(minus)  # shared links cancel exactly and are not stored
