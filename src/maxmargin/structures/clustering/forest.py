"""Forest: clusters as the trees of a forest of strong links, of which the data show the clusters only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from maxmargin.arrays import Array
from maxmargin.batch import Batch
from maxmargin.objective import Formulation
from maxmargin.planes import Planes, Rows
from maxmargin.structures.clustering.clusterings import cluster_numbers
from maxmargin.structures.clustering.pairs import Pairs, PairTable, read_all, read_clustered
from maxmargin.task import Task

STARTS = ("chain", "random")
Edges = NDArray[np.int64]


class Linked(NamedTuple):
    """A spanning forest: some of the pairs of x, which close no cycle."""

    x: Pairs
    rows: Edges  # the numbers of these pairs among those of x

    @property
    def pairs(self) -> Edges:
        """(m, 2) the items that are linked."""
        return self.x.pairs[self.rows]


class Forest(Task):
    """x is a set of items with features x_e of pairs e, y a cluster label for each item; an output z is a forest.

        Ψ(x, z) = Σ_{e in z} x_e,      Δ(y, z) = n - k - Σ_{e in z} l_e,

    with l_e = 1 for links inside a true cluster and l_e = -penalty for links between two (Yu and Joachims 2009, Eq. 8;
    penalty is the r of their modified loss). The trees of z are the clusters that it shows. Which links hold a true
    cluster together is not known: the data show y only, and the best forest that explains it is found in training.

    The best forest is found by Kruskal's algorithm on the scores s_e = ⟨w, x_e⟩: of all forests, from the positive
    edges; with λΔ, from the positive ones of s_e - λ l_e; of those that explain y, from all edges inside of clusters,
    negative ones too, because a cluster must hold together.

    Where x lists candidate pairs only, they may not connect a true cluster. n - k is then the number of links that a
    forest of candidates inside of clusters can have, so that there always is a forest with loss 0.

    penalty : what a link between two true clusters costs, where a missing one costs 1. A small penalty makes the model
        link more: it raises recall.
    start : the links before there are weights. "chain" links every item to the next one of its cluster, in the order of
        the items, as far as those pairs are candidates (else to near ones); "random" draws a spanning tree for each
        cluster, so that several starts differ.
    intercept : whether pairs have one more feature, 1, without which a score could not have a threshold but 0.

    Slack rescaling and squared slacks are searched with a proved upper bound, see rescaling.py.
    """

    latent = True

    def __init__(self, penalty: float = 1.0, start: str = "chain", intercept: bool = True):
        self.penalty = penalty
        self.start = start
        self.intercept = intercept

    n_features_: int

    def setup(self, X: Sequence[Any], Y: Sequence[Any]) -> None:
        if isinstance(self.penalty, bool) or not isinstance(self.penalty, Real) or not 0 < self.penalty < np.inf:
            raise ValueError(f"penalty must be a positive finite number, got {self.penalty!r}")
        if self.start not in STARTS:
            raise ValueError(f"start must be 'chain' or 'random', got {self.start!r}")
        self.n_features_ = read_clustered(X, Y)
        self.dim = self.n_features_ + bool(self.intercept)

    # --- the plain form: one example at a time

    def psi(self, x: Any, z: Linked) -> Any:
        features = read_all([x])[0].features[z.rows]
        total = np.asarray(features.sum(axis=0), dtype=float).reshape(-1)
        if not len(z.rows):  # an example without pairs does not know how many features they would have
            total = np.zeros(self.n_features_)
        total = np.append(total, len(z.rows)) if self.intercept else total
        if not sparse.issparse(features):
            return total
        indices = np.flatnonzero(total)
        return indices, total[indices]

    def loss(self, y: Any, z: Linked) -> float:
        inside = z.x.inside(cluster_numbers(y, z.x.n_items, "y"))
        right = np.count_nonzero(inside[z.rows])
        return float(_most_links(z.x, inside) - right + self.penalty * (len(z.rows) - right))

    def argmax(self, w: Array, x: Any, y: Any = None) -> Linked:
        (x,) = read_all([x])
        table = self._table([x])
        prices = None if y is None else [self._prices(x.inside(cluster_numbers(y, x.n_items, "y")))]
        return _outputs([x], table, self._best(w, table, np.arange(1), prices))[0]

    def complete(self, w: Array, x: Any, y: Any) -> Linked:
        examples = read_all([x])
        return _truths(examples, self.completed(w, self.pack(examples, [y])))[0]

    def guess(self, rng: np.random.Generator, x: Any, y: Any) -> Linked:
        examples = read_all([x])
        return _truths(examples, self.guessed(rng, self.pack(examples, [y])))[0]

    def label(self, z: Linked) -> Edges:
        """The cluster of every item, numbered 0, 1, … in order of appearance."""
        components = _components(z.x.n_items, z.pairs)[1]
        return cluster_numbers(components, z.x.n_items, "z")

    def outputs(self, x: Any) -> Iterator[Linked]:
        (x,) = read_all([x])

        def grow(taken: list[int], row: int) -> Iterator[list[int]]:
            if row == len(x.pairs):
                yield taken
                return
            yield from grow(taken, row + 1)
            more = [*taken, row]
            if _components(x.n_items, x.pairs[more])[0] == x.n_items - len(more):
                yield from grow(more, row + 1)

        return (Linked(x, np.array(rows, dtype=np.int64)) for rows in grow([], 0))

    def decode(self, w: Array, X: Sequence[Any]) -> list[Linked]:
        examples = read_all(X)
        table = self._table(examples)
        return _outputs(examples, table, self._best(w, table, np.arange(len(table))))

    # --- the compiled form: all examples at a time

    def pack(self, X: Sequence[Any], Y: Sequence[Any]) -> ForestBatch:
        examples = read_all(X)
        inside, most, steps = [], [], []
        for i, (x, y) in enumerate(zip(examples, Y, strict=True)):
            clusters = cluster_numbers(y, x.n_items, f"example {i}")
            inside.append(x.inside(clusters))
            most.append(_most_links(x, inside[-1]))
            places = _places(clusters)
            steps.append(np.abs(places[x.pairs[:, 0]] - places[x.pairs[:, 1]]))
        batch = ForestBatch(self._table(examples), inside, np.array(most, dtype=np.int64), steps)
        batch.prices = list(map(self._prices, inside))
        return self._chained(batch)

    def planes(self, w: Array, batch: ForestBatch, augment: float | Array = 1.0) -> Planes:
        lam = np.broadcast_to(np.asarray(augment, dtype=float), len(batch))
        prices = [rate * batch.prices[g] for rate, g in zip(lam, batch.ids, strict=True)]
        found = self._best(w, batch.table, batch.ids, prices)
        right = batch.flat_inside[found.edges]
        examples = np.repeat(np.arange(len(batch)), found.counts)
        n_right = np.bincount(examples[right], minlength=len(batch))
        loss = batch.most[batch.ids] - n_right + self.penalty * (found.counts - n_right)
        return Planes(batch.table.combined(_difference(batch.truths(), found, batch.table)), loss)

    def rescaled_planes(self, w: Array, batch: ForestBatch, formulation: Formulation) -> Planes | None:
        """None: only `planes` can search."""
        return None

    def completed(self, w: Array, batch: ForestBatch) -> ForestBatch:
        return batch.explained_by(batch.table.scores(w, batch.ids))

    def guessed(self, rng: np.random.Generator, batch: ForestBatch) -> ForestBatch:
        if self.start == "chain":
            return self._chained(batch)
        return batch.explained_by([rng.random(len(batch.inside[g])) for g in batch.ids])

    def shifts(self, before: ForestBatch, after: ForestBatch) -> Rows:
        return after.table.combined(_difference(after.truths(), before.truths(), after.table))

    # --- inside

    def _table(self, examples: list[Pairs]) -> PairTable:
        return PairTable(examples, self.n_features_, bool(self.intercept))

    def _prices(self, inside: NDArray[np.bool_]) -> Array:
        """l_e of Eq. 8."""
        return np.where(inside, 1.0, -float(self.penalty))

    def _best(
        self, w: Array, table: PairTable, ids: NDArray[np.intp], prices: list[Array] | None = None
    ) -> SpanningForests:
        """The forests with the highest Σ s_e - price_e."""
        scores = table.scores(w, ids)
        gains = scores if prices is None else [s - p for s, p in zip(scores, prices, strict=True)]
        return spanned(table, ids, gains, [each > 0 for each in gains])

    def _chained(self, batch: ForestBatch) -> ForestBatch:
        """Of the pairs inside of a cluster the nearest first, counted in items of the cluster."""
        return batch.explained_by([-batch.steps[g].astype(float) for g in batch.ids])


class SpanningForests(NamedTuple):
    """Forests of several examples: their edges one after another, by number in the table, and how many each has."""

    edges: Edges
    counts: Edges


class ForestBatch(Batch):
    """Pairs in the form of the kernels, which of them are inside of clusters, and the forests that explain these."""

    call_cost = 100.0  # scoring and sorting all pairs, against one visit of a plane
    prices: list[Array]  # l_e of every pair, per example

    def __init__(self, table: PairTable, inside: list[NDArray[np.bool_]], most: Edges, steps: list[Edges]):
        self.table, self.inside, self.most, self.steps = table, inside, most, steps
        self.flat_inside = np.concatenate(inside) if inside else np.empty(0, dtype=bool)
        # every forest that explains the clusters of an example has the same number of links
        self.truth_bounds = np.append(0, np.cumsum(most)).astype(np.int64)
        self.truth = np.empty(self.truth_bounds[-1], dtype=np.int64)
        self.ids = np.arange(len(most))

    def take(self, index: NDArray[np.intp]) -> ForestBatch:
        part = copy(self)
        part.ids = self.ids[index]
        return part

    def truths(self) -> SpanningForests:
        """The forests that stand for the labels of these examples."""
        parts = [self.truth[self.truth_bounds[g] : self.truth_bounds[g + 1]] for g in self.ids]
        return SpanningForests(np.concatenate(parts) if parts else np.empty(0, dtype=np.int64), self.most[self.ids])

    def explained_by(self, weights: list[Array]) -> ForestBatch:
        """The same with the maximum spanning trees of all clusters for the truth."""
        found = spanned(self.table, self.ids, weights, [self.inside[g] for g in self.ids])
        part = copy(self)
        part.truth = self.truth.copy()
        places = np.concatenate([np.arange(self.truth_bounds[g], self.truth_bounds[g + 1]) for g in self.ids])
        part.truth[places] = found.edges
        return part


def spanned(
    table: PairTable, ids: NDArray[np.intp], weights: list[Array], allowed: list[NDArray[np.bool_]]
) -> SpanningForests:
    """Of each example the spanning forest of its allowed pairs with the largest weight."""
    from maxmargin.structures.clustering.compiled.forest import spanning_forests

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
    """(examples, pairs of the table): 1 for links of the first only, -1 for those of the second only."""

    def indicators(forests: SpanningForests) -> sparse.csr_array:
        ends = np.append(0, np.cumsum(forests.counts))
        shape = len(forests.counts), int(table.bounds[-1])
        rows = sparse.csr_array((np.ones(len(forests.edges)), forests.edges, ends), shape=shape)
        rows.sort_indices()  # else subtracting takes work space as long as the table
        return rows

    return indicators(plus) - indicators(minus)  # what both share is 0 exactly, and not stored


def _outputs(examples: list[Pairs], table: PairTable, forests: SpanningForests) -> list[Linked]:
    ends = np.append(0, np.cumsum(forests.counts)).tolist()
    return [Linked(x, np.sort(forests.edges[ends[g] : ends[g + 1]] - table.bounds[g])) for g, x in enumerate(examples)]


def _truths(examples: list[Pairs], batch: ForestBatch) -> list[Linked]:
    return _outputs(examples, batch.table, batch.truths())


def _most_links(x: Pairs, inside: NDArray[np.bool_]) -> int:
    """How many links a forest inside of clusters can have: n - k where the candidates connect every cluster."""
    return x.n_items - _components(x.n_items, x.pairs[inside])[0]


def _components(n_items: int, pairs: Edges) -> tuple[int, Edges]:
    links = sparse.csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n_items, n_items))
    count, numbers = connected_components(links, directed=False)
    return int(count), numbers


def _places(clusters: Edges) -> Edges:
    """Of every item, how many items of its cluster come before it."""
    order = np.argsort(clusters, kind="stable")
    starts = np.append(0, np.cumsum(np.bincount(clusters)))
    places = np.empty(len(clusters), dtype=np.int64)
    places[order] = np.arange(len(clusters)) - starts[clusters[order]]
    return places
