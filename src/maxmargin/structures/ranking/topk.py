"""TopK: choose the k rows of a query that are shown, and pay for those among them that are not relevant."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.arrays import Array
from maxmargin.atoms import AtomRows
from maxmargin.objective import Formulation
from maxmargin.planes import Planes
from maxmargin.structures.ranking.groups import GroupBatch, Groups, GroupTask, Indices, binary_levels, pack_groups
from maxmargin.structures.ranking.measures import checked_k

Mask = NDArray[np.bool_]


class TopK(GroupTask):
    """x is the matrix of a query's rows, y says which are relevant (1) or not (0), z are the k rows that are shown.

        Ψ(x, z) = (1/k) Σ_{j in z} x_j,      Δ(y, z) = min(1, n(y)/k) - (1/k) Σ_{j in z} y_j                   (1)

    with n(y) relevant rows, so that z explains y if it shows relevant rows only, or all of them. Which ones is hidden:
    not all relevant rows must stand out, only the best k (Yu and Joachims 2009, section 5.3; in Δ it is the rows of the
    prediction that count). With scores s_j = ⟨w, x_j⟩

        prediction        the k highest s_j
        loss-augmented    the k highest s_j - λ y_j                                                            (2)
        completion        relevant rows by score, then, if there are fewer than k, others by score.

    Whatever the violation, if h relevant rows are shown the worst choice is the first h of them and the first k - h
    others, so that k + 1 choices are tried after a sort: exact in all formulations.

    A query whose rows are all relevant, or none, has loss 0 whatever is shown. Both maxima of the objective are then
    the same for all w, so that it costs nothing: its planes are zero, and its truth is never completed.

    k : how many rows are shown; no query may have fewer.
    """

    latent = True

    def __init__(self, k: int = 10):
        self.k = k

    def setup(self, X: Any, Y: Any) -> None:
        checked_k(self.k, "precision_at_k")
        self._set_rows(X)
        if all(np.ptp(y) == 0 for y in self._relevant(X, Y)):
            raise ValueError("no query has both relevant rows and others, so there is nothing to choose")

    def psi(self, x: Any, z: Any) -> Array:
        return np.asarray(x[np.asarray(z)].sum(axis=0), dtype=float).reshape(-1) / self.k

    def loss(self, y: Any, z: Any) -> float:
        y = np.asarray(y)
        return (min(self.k, int(np.sum(y))) - int(np.sum(y[np.asarray(z)]))) / self.k

    def outputs(self, x: Any) -> Iterable[Indices]:
        """All choices of k rows: for small queries."""
        return (np.array(z) for z in combinations(range(x.shape[0]), self.k))

    def argmax(self, w: Array, x: Any, y: Any = None) -> Indices:
        """(2): row numbers, from first to last."""
        scores = np.asarray(x @ w)
        return self._first(scores if y is None else scores - np.asarray(y))

    def complete(self, w: Array, x: Any, y: Any) -> Indices:
        return np.lexsort((-np.asarray(x @ w), np.asarray(y) == 0))[: self.k]

    def guess(self, rng: np.random.Generator, x: Any, y: Any) -> Indices:
        """Any relevant rows, and any others if those are too few."""
        return np.lexsort((rng.random(len(y)), np.asarray(y) == 0))[: self.k]

    def decode(self, w: Array, X: Any) -> list[Indices]:
        """The numbers of the k rows of every query with the highest scores, from first to last."""
        groups = Groups.of(X)
        self._check_sizes(groups)
        return [self._first(s) for s in groups.of_rows(self.row_scores(w, groups.matrix))]

    def pack(self, X: Any, Y: Any) -> GroupBatch:
        levels = self._relevant(X, Y)
        batch = pack_groups(self, X, levels, None)
        first = np.arange(len(batch.rows)) - np.repeat(batch.bounds[:-1], np.diff(batch.bounds)) < self.k
        batch.about = Queries(np.array([int(np.sum(y)) for y in levels]), first)  # relevant rows come first in a batch
        return batch

    def planes(self, w: Array, batch: GroupBatch, augment: float | Array = 1.0) -> Planes:
        lam = np.broadcast_to(np.asarray(augment, dtype=float), len(batch))[:, None]
        return self._worst(w, batch, lambda loss, margin: lam * loss - margin)

    def rescaled_planes(self, w: Array, batch: GroupBatch, formulation: Formulation) -> Planes:
        return self._worst(w, batch, formulation.value)

    def completed(self, w: Array, batch: GroupBatch) -> GroupBatch:
        layout = Layout.of(batch)
        shown = layout.shown(np.minimum(self.k, layout.n_relevant), self.k)
        return layout.with_truth(batch, batch.scored(w).places, shown)

    def guessed(self, rng: np.random.Generator, batch: GroupBatch) -> GroupBatch:
        layout = Layout.of(batch)
        order = np.lexsort((rng.random(len(layout.query)), ~layout.relevant, layout.query))
        truth = np.empty(len(order), dtype=bool)
        truth[order] = layout.place < self.k
        return layout.with_truth(batch, layout.places(batch), truth)

    def shifts(self, before: GroupBatch, after: GroupBatch) -> AtomRows:
        layout = Layout.of(before)
        places = layout.places(before)
        change = (after.about.truth[places].astype(float) - before.about.truth[places]) / self.k
        used = np.flatnonzero(change)
        indptr = np.searchsorted(used, layout.bounds).astype(np.int32)
        return AtomRows(before.atoms, indptr, before.rows[places[used]].astype(np.int32), change[used])

    def _worst(self, w: Array, batch: GroupBatch, violation: Callable[[Array, Array], Array]) -> Planes:
        """The planes of the highest violation(Δ, ⟨w, δΨ⟩), both (n, k + 1) arrays over the number of hits."""
        scored, layout, k = batch.scored(w), Layout.of(batch), self.k
        truth = batch.about.truth[scored.places]
        begins, hits, others = layout.bounds[:-1], np.arange(k + 1), k - np.arange(k + 1)
        gain = _first_sums(scored.scores, begins, layout.n_relevant, k)
        gain += _first_sums(scored.scores, begins + layout.n_relevant, layout.n_others, k)[:, others]
        gain -= np.add.reduceat(np.where(truth, scored.scores, 0.0), begins)[:, None]
        losses = (np.minimum(k, layout.n_relevant)[:, None] - hits) / k
        possible = (hits <= layout.n_relevant[:, None]) & (others <= layout.n_others[:, None])
        # A loss below 0 is not possible, and its root would warn.
        values = np.where(possible, violation(np.maximum(losses, 0.0), gain / -k), -np.inf)
        found = np.argmax(values, axis=1)
        shown = layout.shown(found, k)
        coefficients = np.where(layout.mixed[layout.query], (truth.astype(float) - shown) / k, 0.0)
        loss = np.where(layout.mixed, losses[np.arange(len(found)), found], 0.0)
        return Planes(batch.combined(scored, coefficients), loss)

    def _first(self, scores: Array) -> Indices:
        return np.argsort(-scores, kind="stable")[: self.k]

    def _relevant(self, X: Any, Y: Any) -> list[Array]:
        levels, weights = binary_levels(X, Y, "query")
        if weights is not None:
            raise ValueError("precision at k counts rows, so that they cannot have weights; queries can")
        self._check_sizes(Groups.of(X))
        return levels

    def _check_sizes(self, groups: Groups) -> None:
        sizes = np.diff(groups.bounds)
        short = np.flatnonzero(sizes < self.k)
        if len(short):
            found = f"query {short[0]}, counted from 0, has {sizes[short[0]]} rows"
            raise ValueError(f"{found}; expected at least k = {self.k}, as many as are shown")


class Queries(NamedTuple):
    """What a batch keeps: the number of relevant rows of every query, and which rows the truth shows."""

    n_relevant: Indices
    truth: Mask  # in the order of the batch's rows


class Layout(NamedTuple):
    """Where the rows of some queries stand when these follow each other, the relevant rows of each first."""

    bounds: Indices  # query q has the rows bounds[q] … bounds[q + 1] - 1
    n_relevant: Indices
    n_others: Indices
    mixed: Mask  # whether it has both
    query: Indices  # of every row
    place: Indices  # of every row within its query
    relevant: Mask  # whether a row is

    @classmethod
    def of(cls, batch: GroupBatch) -> Layout:
        sizes = np.diff(batch.bounds)[batch.ids]
        bounds, n_relevant = np.append(0, np.cumsum(sizes)), batch.about.n_relevant[batch.ids]
        query = np.repeat(np.arange(len(sizes)), sizes)
        place = np.arange(len(query)) - bounds[query]
        mixed = (n_relevant > 0) & (n_relevant < sizes)
        return cls(bounds, n_relevant, sizes - n_relevant, mixed, query, place, place < n_relevant[query])

    def places(self, batch: GroupBatch) -> Indices:
        """Of every row, in the batch's own order."""
        return batch.bounds[batch.ids][self.query] + self.place

    def shown(self, found: Indices, k: int) -> Mask:
        """The first found[q] relevant rows of query q, and as many of its others as make k."""
        count = found[self.query]
        return np.where(self.relevant, self.place < count, self.place - self.n_relevant[self.query] < k - count)

    def with_truth(self, batch: GroupBatch, places: Indices, truth: Mask) -> GroupBatch:
        """The batch with another truth of its mixed queries, given for its rows at these places."""
        part, mixed, changed = copy(batch), self.mixed[self.query], batch.about.truth.copy()
        changed[places[mixed]] = truth[mixed]
        part.about = batch.about._replace(truth=changed)
        return part


def _first_sums(scores: Array, begins: Indices, counts: Indices, k: int) -> Array:
    """(n, k + 1): the sums of the first 0, 1, …, k scores from begins[q] on, where no more than counts[q] count."""
    steps = np.arange(k)
    at = np.minimum(begins[:, None] + steps, len(scores) - 1)
    first = np.where(steps < counts[:, None], scores[at], 0.0)
    return np.concatenate([np.zeros((len(begins), 1)), np.cumsum(first, axis=1)], axis=1)
