"""TopKBatch: packed queries of TopK, with the latent choice of the relevant rows that are shown."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.problem.contract.capabilities.latent import Latent
from maxmargin.problem.contract.capabilities.rescaled_search import RescaledSearch
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.planes.atoms import AtomRows
from maxmargin.problem.planes.planes import Planes
from maxmargin.structures.ranking.groups import Indices
from maxmargin.structures.ranking.segmented_batch import SegmentedBatch, Segments

Mask = NDArray[np.bool_]


class RowLayout(NamedTuple):
    """Positions of the concatenated rows of some queries, the relevant rows of each first."""

    bounds: Indices  # query q has the rows bounds[q] … bounds[q + 1] - 1
    n_relevant: Indices  # the number of relevant rows of every query
    n_others: Indices  # the number of other rows of every query
    mixed: Mask  # whether a query has rows of both kinds
    query: Indices  # the query of every row
    place: Indices  # the number of every row within its query
    relevant: Mask  # whether a row is relevant

    @classmethod
    def of(cls, sizes: Indices, n_relevant: Indices) -> RowLayout:
        bounds = np.append(0, np.cumsum(sizes))
        query = np.repeat(np.arange(len(sizes)), sizes)
        place = np.arange(len(query)) - bounds[query]
        mixed = (n_relevant > 0) & (n_relevant < sizes)
        return cls(bounds, n_relevant, sizes - n_relevant, mixed, query, place, place < n_relevant[query])

    def shown(self, hits: Indices, k: int) -> Mask:
        """Choose the first hits[q] relevant rows of query q and its first k - hits[q] others."""
        count = hits[self.query]
        return np.where(self.relevant, self.place < count, self.place - self.n_relevant[self.query] < k - count)


class TopKBatch(SegmentedBatch, Latent, RescaledSearch):
    """Batch of queries with n_relevant[q] relevant rows, and the rows that their truths show."""

    def __init__(self, task: Any, packed: Segments, n_relevant: Indices, k: int):
        super().__init__(task, packed)
        self.n_relevant, self.k = n_relevant, k
        all_rows = RowLayout.of(np.diff(self.bounds), n_relevant)
        self.truth: Mask = all_rows.place < k  # in the order of `rows`, in which relevant ones come first

    def planes(self, w: Array, augment: float | Array = 1.0) -> Planes:
        lam = self.loss_weights(augment)[:, None]
        return self._worst(w, lambda loss, margin: lam * loss - margin)

    def rescaled_planes(self, w: Array, formulation: Formulation) -> Planes:
        return self._worst(w, formulation.value)

    def completed(self, w: Array) -> TopKBatch:
        layout = self._layout()
        shown = layout.shown(np.minimum(self.k, layout.n_relevant), self.k)
        return self._with_truth(layout, self.scored(w).positions, shown)

    def guessed(self, rng: np.random.Generator) -> TopKBatch:
        layout = self._layout()
        order = np.lexsort((rng.random(len(layout.query)), ~layout.relevant, layout.query))
        shown = np.empty(len(order), dtype=bool)
        shown[order] = layout.place < self.k
        return self._with_truth(layout, self._positions(layout), shown)

    def shifts_to(self, after: TopKBatch) -> AtomRows:
        layout = self._layout()
        positions = self._positions(layout)
        change = (after.truth[positions].astype(float) - self.truth[positions]) / self.k
        used = np.flatnonzero(change)
        indptr = np.searchsorted(used, layout.bounds).astype(np.int32)
        return AtomRows(self.atoms, indptr, self.rows[positions[used]].astype(np.int32), change[used])

    def _worst(self, w: Array, violation: Callable[[Array, Array], Array]) -> Planes:
        """Return the planes of the highest violation(Δ, ⟨w, δΨ⟩), both (n, k + 1) arrays over the number of hits."""
        scored, layout, k = self.scored(w), self._layout(), self.k
        truth = self.truth[scored.positions]
        begins, hits, others = layout.bounds[:-1], np.arange(k + 1), k - np.arange(k + 1)
        gain = _first_sums(scored.scores, begins, layout.n_relevant, k)
        gain += _first_sums(scored.scores, begins + layout.n_relevant, layout.n_others, k)[:, others]
        gain -= np.add.reduceat(np.where(truth, scored.scores, 0.0), begins)[:, None]
        losses = (np.minimum(k, layout.n_relevant)[:, None] - hits) / k
        possible = (hits <= layout.n_relevant[:, None]) & (others <= layout.n_others[:, None])
        # negative losses belong to impossible choices, and their square root would warn
        values = np.where(possible, violation(np.maximum(losses, 0.0), gain / -k), -np.inf)
        found = np.argmax(values, axis=1)
        shown = layout.shown(found, k)
        coefficients = np.where(layout.mixed[layout.query], (truth.astype(float) - shown) / k, 0.0)
        loss = np.where(layout.mixed, losses[np.arange(len(found)), found], 0.0)
        return Planes(self.combined(scored, coefficients), loss)

    def _layout(self) -> RowLayout:
        return RowLayout.of(np.diff(self.bounds)[self.ids], self.n_relevant[self.ids])

    def _positions(self, layout: RowLayout) -> Indices:
        """Return the positions in `rows` of the concatenated rows of these queries."""
        return self.bounds[self.ids][layout.query] + layout.place

    def _with_truth(self, layout: RowLayout, positions: Indices, shown: Mask) -> TopKBatch:
        """Return a copy with another truth of the mixed queries, given for the rows at these positions."""
        other, mixed = copy(self), layout.mixed[layout.query]
        other.truth = self.truth.copy()
        other.truth[positions[mixed]] = shown[mixed]
        return other


def _first_sums(scores: Array, begins: Indices, counts: Indices, k: int) -> Array:
    """Return the (n, k + 1) sums of the first 0, 1, …, k scores from begins[q] on, of which at most counts[q] count."""
    steps = np.arange(k)
    at = np.minimum(begins[:, None] + steps, len(scores) - 1)
    first = np.where(steps < counts[:, None], scores[at], 0.0)
    return np.concatenate([np.zeros((len(begins), 1)), np.cumsum(first, axis=1)], axis=1)
