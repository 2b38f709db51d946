"""SegmentBatch: packed sequences with their true segmentations, and their loss-augmented search."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.rounding import UNIT, gamma
from maxmargin.problem.contract.batch import Batch, Offered
from maxmargin.problem.contract.capabilities.rescaled_search import RescaledSearch
from maxmargin.problem.contract.capabilities.smooth import Smooth
from maxmargin.problem.contract.tangents import Softness, Tangents
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.planes.atoms import Atoms
from maxmargin.problem.planes.planes import Planes
from maxmargin.structures.segments.losses import F1Loss, Segmented, SegmentLoss, TokenLoss
from maxmargin.structures.segments.scored import ScoredSegments
from maxmargin.structures.segments.segment_features import FeatureTable
from maxmargin.structures.segments.segment_space import TrueSegments
from maxmargin.structures.segments.segment_sums import PieceScores, SegmentSums
from maxmargin.structures.segments.spans import Codes, SegmentEnds

COUNT_TABLE = 8_000_000  # entries of the largest table (tokens × labels × counts) for exact slack rescaling


class SegmentBatch(Batch, RescaledSearch, Smooth):
    """Batch of sequences: sequence i owns tokens offsets[i]:offsets[i + 1], whose true codes are `codes`."""

    def __init__(
        self, task: Any, atoms: Atoms, table: FeatureTable, offsets: NDArray[np.int64], codes: Codes, loss: Any
    ):
        super().__init__(task, len(offsets) - 1)
        self.atoms, self.table, self.offsets, self.codes = atoms, table, offsets, codes
        self.loss: TokenLoss | SegmentLoss = loss
        self.longest = int(np.max(np.diff(offsets), initial=1))
        self.ends = SegmentEnds.of(codes, offsets)
        self.call_cost = 150.0 if isinstance(loss, F1Loss) else 10.0  # measured on named entities

    def scored(self) -> ScoredSegments:
        """Return the score space of these sequences with their truths."""
        begins, lengths = self.offsets[self.ids], np.diff(self.offsets)[self.ids]
        bounds = np.concatenate([[0], np.cumsum(lengths)])
        units = np.arange(bounds[-1]) + np.repeat(begins - bounds[:-1], lengths)
        ends = SegmentEnds(self.ends.lengths[units], self.ends.labels[units])
        truths = TrueSegments(Segmented(self.codes[units], ends, bounds), self.loss)
        return ScoredSegments(self.task, self.atoms, self.table, units, bounds, truths)

    # --- search

    @property
    def plane_atoms(self) -> Atoms:
        return self.atoms

    def planes(self, w: Array, augment: float | Array = 1.0) -> Planes:
        scored = self.scored()
        return scored.planes_of(scored.best(scored.scores(w), augment).found)

    def offers(self, capability: type[Offered]) -> Offered | None:
        if capability is RescaledSearch and not (self.loss.counted and self._counts_fit()):
            return None
        return super().offers(capability)

    def rescaled_planes(self, w: Array, formulation: Formulation) -> Planes:
        """Search exactly: the loss is a function of counts, and a table has the best score for each of them."""
        scored = self.scored()
        pieces = scored.pieces(scored.scores(w))
        right, codes = pieces.of(self._truth(scored)), np.empty(len(scored.units), dtype=np.int32)
        for j, (a, b) in enumerate(zip(scored.bounds[:-1], scored.bounds[1:], strict=True)):
            value = partial(_violation, formulation, float(right[j]))
            codes[a:b], _ = scored.best_by_counts(pieces, j, value)
        return scored.planes_of(codes)

    def _counts_fit(self) -> bool:
        """Return whether tables over counts are small enough for all sequences of the data."""
        lengths = np.diff(self.offsets)
        g = np.add.reduceat(self.ends.lengths > 0, self.offsets[:-1], dtype=np.int64)
        most = np.array([self.loss.most_counted(int(a), int(b)) for a, b in zip(g, lengths, strict=True)])  # type: ignore[union-attr]
        return bool(np.max((lengths + 1) * (self.task.n_types_ + 1) * (g + 1) * (most + 1)) <= COUNT_TABLE)

    def _truth(self, scored: ScoredSegments) -> Segmented:
        assert scored.truths is not None
        return scored.truths.segmented

    # --- sums

    def add_tangents(self, w: Array, weights: Array, softness: Softness, total: Array) -> Tangents:
        """Add gradients computed by compiled/segment_sums.py, at b times the scores."""
        if softness.margin and isinstance(self.loss, F1Loss):
            raise ValueError(
                "objective='softmax_margin' needs measure='tokens' or 'segments', because 'f1' is not a sum over pieces"
            )
        view, b = self.scored(), softness.sharpness
        truth, m, L, given = self._truth(view), view.n_types, view.max_length, view.scores(w)
        right = view.pieces(given).of(truth)
        scores = view.pieces(given, np.full(len(self), softness.margin))
        A, s, f = scores.links
        raised = PieceScores(b * scores.outside, b * scores.segments, (b * A, b * s, b * f))
        sums, pairs = SegmentSums(view.names, raised, view.bounds), np.zeros_like(A)
        log_z, outside, P = sums.summed(weights, pairs)
        slacks = log_z / b + softness.margin * self.loss.constants(truth) - right
        self._add_expected(view, weights, outside, P, pairs, total)
        lengths = np.diff(view.bounds)
        # Scores are sums of `terms` products of no more than `largest` each; every step of the recursion adds the
        # exponentials of L segments, or of m + 1 labels. An error of a score is as large a relative error of a
        # probability.
        of_rows = int(np.max(np.diff(self.table.indptr), initial=0)) + 4
        size = float(np.max(np.abs(self.table.values), initial=1.0))
        largest = 3 * self.atoms.largest(w) + of_rows * size * float(np.max(np.abs(w[: self.atoms.arrays.direct])))
        largest += softness.margin * self.loss.largest
        paths = (lengths + 1) * 2 * largest
        terms = 3 * self.atoms.terms + of_rows + 4 * L + 2 * m + 16
        errors = 4 * gamma(terms) * (paths + lengths / b)
        each = np.repeat(weights, lengths)
        mass = float(np.dot(each, 6 * self.atoms.lengths[view.units] + 2 * of_rows * size + 6)) + 4 * float(
            weights.sum()
        )
        steps = 8.0 * (L + m + 8) * self.longest + 4 * b * float(np.max(errors, initial=0.0)) / UNIT
        return Tangents(slacks, errors, mass, steps + len(each))

    def _add_expected(
        self, view: ScoredSegments, weights: Array, outside: Array, P: Array, pairs: Array, total: Array
    ) -> None:
        """Add the features of the truth minus their expectations: links, lengths, segments and tokens."""
        from maxmargin.structures.segments.compiled import segments

        truth, (first, last), m = self._truth(view), (view.bounds[:-1], view.bounds[1:] - 1), self.task.n_types_
        each, parts = np.repeat(weights, np.diff(view.bounds)), self.task.split_weights(total)
        P *= -each[:, None, None]
        outside *= -each
        at = np.flatnonzero(truth.ends.lengths)
        # ends of pieces of each label, at first and last tokens, before the truth is added
        shares = np.zeros((len(each), 1 + 3 * m))
        segments.token_shares(P, view.bounds, shares)
        shares[:, 0] = outside
        parts.start[0] += outside[first].sum()
        parts.start[1:] += shares[first, 2::3].sum(axis=0)
        parts.end[0] += outside[last].sum()
        parts.end[1:] += shares[last, 3::3].sum(axis=0)
        labels = truth.ends.labels
        np.add.at(parts.start, labels[first] + 1, weights)
        np.add.at(parts.end, labels[last] + 1, weights)
        begins = (truth.codes % 2 == 1) | (truth.codes == 0)
        begins[first] = False
        t = np.flatnonzero(begins)
        parts.transitions[...] -= pairs
        np.add.at(parts.transitions, (labels[t - 1] + 1, labels[t] + 1), each[t])
        P[at, truth.ends.lengths[at] - 1, labels[at]] += each[at]
        parts.lengths[...] += P.sum(axis=0)
        if len(self.table.columns):
            segments.add_features(P, *self.table, view.units, parts.segments)
        own = np.arange(len(each))
        inside = truth.codes > 0
        shares[own[~inside], 0] += each[~inside]
        shares[own[inside], 1 + 3 * labels[inside]] += each[inside]
        starts = truth.codes % 2 == 1
        shares[own[starts], 2 + 3 * labels[starts]] += each[starts]
        shares[at, 3 + 3 * labels[at]] += each[at]
        self.atoms.add_units(total, view.units, shares)


def _violation(formulation: Formulation, true: float, loss: Array, score: Array) -> Array:
    return formulation.value(loss, true - score)
