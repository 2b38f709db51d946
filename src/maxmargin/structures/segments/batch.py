"""SegmentBatch: packed sequences with their segmentations, and their search."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.rounding import UNIT, gamma
from maxmargin.problem.contract.batch import Batch, Offered
from maxmargin.problem.contract.capabilities.rescaled_search import RescaledSearch
from maxmargin.problem.contract.capabilities.smooth import Smooth
from maxmargin.problem.contract.tangents import Softness, Tangents
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.planes.atoms import AtomRows, Atoms
from maxmargin.problem.planes.planes import Planes
from maxmargin.structures.segments.losses import MOST_TRUE, F1Loss, Segmented, SegmentLoss, TokenLoss
from maxmargin.structures.segments.segment_features import FeatureTable
from maxmargin.structures.segments.segment_sums import SegmentScores, SegmentSums
from maxmargin.structures.segments.spans import Codes, SegmentEnds

COUNT_TABLE = 8_000_000  # entries of the table (tokens × labels × counts) up to which slack rescaling is exact


class SegmentView(NamedTuple):
    """The tokens of a batch's sequences in a row, sequence j at bounds[j]:bounds[j + 1], and their true codes."""

    units: NDArray[np.int64]
    truth: Segmented

    @property
    def bounds(self) -> NDArray[np.int64]:
        return self.truth.bounds


class SegmentBatch(Batch, RescaledSearch, Smooth):
    """Sequences of tokens: sequence i owns tokens offsets[i]:offsets[i + 1], whose true codes are `codes`."""

    def __init__(
        self, task: Any, atoms: Atoms, table: FeatureTable, offsets: NDArray[np.int64], codes: Codes, loss: Any
    ):
        super().__init__(task, len(offsets) - 1)
        self.atoms, self.table, self.offsets, self.codes = atoms, table, offsets, codes
        self.loss: TokenLoss | SegmentLoss = loss
        self.longest = int(np.max(np.diff(offsets), initial=1))
        self.ends = SegmentEnds.of(codes, offsets)
        self.call_cost = 150.0 if isinstance(loss, F1Loss) else 10.0  # measured on named entities

    def unrolled(self) -> SegmentView:
        """All tokens of these sequences, one sequence after another."""
        begins, lengths = self.offsets[self.ids], np.diff(self.offsets)[self.ids]
        bounds = np.concatenate([[0], np.cumsum(lengths)])
        units = np.arange(bounds[-1]) + np.repeat(begins - bounds[:-1], lengths)
        ends = SegmentEnds(self.ends.lengths[units], self.ends.labels[units])
        return SegmentView(units, Segmented(self.codes[units], ends, bounds))

    # --- search

    @property
    def plane_atoms(self) -> Atoms:
        return self.atoms

    def planes(self, w: Array, augment: float | Array = 1.0) -> Planes:
        view = self.unrolled()
        found, _ = self.decoded(w, augment, view)
        return self._wrong(view, found)

    def decoded(self, w: Array, augment: float | Array, view: SegmentView) -> tuple[Codes, Array]:
        """The best codes with `augment` times the loss added (a number, or one for each sequence), and their scores."""
        each = self.loss_weights(augment)
        if not isinstance(self.loss, F1Loss) or not each.any():
            return self._viterbi(self._scores(w, view, each), view.bounds)
        g = self._true_segments(view)
        listed = np.flatnonzero((g <= MOST_TRUE) & (each > 0))
        spread = np.where(g > MOST_TRUE, each / np.maximum(2 * g, 1), 0.0)  # the loss that takes its place
        scores = self._scores(w, view, spread)
        codes, best = self._viterbi(scores, view.bounds)
        for j in listed.tolist():
            value = partial(_augmented, float(each[j]))
            codes[view.bounds[j] : view.bounds[j + 1]], best[j] = self._counted(scores, view, j, value)
        return codes, best

    def offers(self, capability: type[Offered]) -> Offered | None:
        if capability is RescaledSearch and not (self.loss.counted and self._has_room()):
            return None
        return super().offers(capability)

    def rescaled_planes(self, w: Array, formulation: Formulation) -> Planes:
        """Search exactly: the loss is a function of counts, and the best score for each of them is known."""
        view = self.unrolled()
        scores = self._scores(w, view, np.zeros(len(self)))
        right, codes = scores.of(view.truth), np.empty(len(view.units), dtype=np.int32)
        for j, (a, b) in enumerate(zip(view.bounds[:-1], view.bounds[1:], strict=True)):
            codes[a:b], _ = self._counted(scores, view, j, partial(_violation, formulation, float(right[j])))
        return self._wrong(view, codes)

    def _has_room(self) -> bool:
        """Whether tables over counts are small enough for all sequences of the data."""
        lengths = np.diff(self.offsets)
        g = np.add.reduceat(self.ends.lengths > 0, self.offsets[:-1], dtype=np.int64)
        most = np.array([self.loss.most_counted(int(a), int(b)) for a, b in zip(g, lengths, strict=True)])  # type: ignore[union-attr]
        return bool(np.max((lengths + 1) * (self.task.n_types_ + 1) * (g + 1) * (most + 1)) <= COUNT_TABLE)

    def _true_segments(self, view: SegmentView) -> NDArray[np.int64]:
        return np.add.reduceat(view.truth.ends.lengths > 0, view.bounds[:-1], dtype=np.int64)

    def _counted(
        self, scores: SegmentScores, view: SegmentView, j: int, value: Callable[[Array, Array], Array]
    ) -> tuple[Codes, float]:
        """The codes of sequence j with the highest value(loss, score), and it, by the table over counts."""
        from maxmargin.structures.segments.compiled import segment_counts

        loss = self.loss
        assert isinstance(loss, SegmentLoss)
        here = slice(view.bounds[j], view.bounds[j + 1])
        o, S, (A, s, f) = scores.outside[here], scores.segments[here], scores.links
        lengths, labels = view.truth.ends.lengths[here], view.truth.ends.labels[here]
        g = int(np.count_nonzero(lengths))
        Q = loss.most_counted(g, len(o))
        v, u = np.empty((2, len(o) + 1, len(s), (g + 1) * (Q + 1)))
        best = np.empty((g + 1, Q + 1))
        segment_counts.best_per_counts(o, S, A, s, f, lengths, labels, g, Q, v, u, best)
        m, q = np.nonzero(best > -np.inf)
        values = value(loss.by_counts(g, m, q), best[m, q])
        top = int(np.argmax(values))
        codes = np.empty(len(o), dtype=np.int32)
        segment_counts.trace_counts(S, A, f, lengths, labels, Q, v, u, int(m[top]), int(q[top]), codes)
        return codes, float(values[top])

    def _viterbi(self, scores: SegmentScores, bounds: NDArray[np.int64]) -> tuple[Codes, Array]:
        from maxmargin.structures.segments.compiled import segments

        o, S, (A, s, f) = scores
        codes, best = np.empty(len(o), dtype=np.int32), np.empty(len(bounds) - 1)
        table = (self.longest + 1, len(s))
        v, u = np.empty((2, *table))
        length, before = np.zeros((2, *table), dtype=np.int64)
        segments.viterbi(o, S, A, s, f, bounds, v, u, length, before, codes, best)
        return codes, best

    def _scores(self, w: Array, view: SegmentView, augment: Array) -> SegmentScores:
        """Scores of tokens outside and of segments, with so many times the loss added."""
        from maxmargin.structures.segments.compiled import segments

        task, m, L = self.task, self.task.n_types_, self.task.max_length_
        scale = np.repeat(augment, np.diff(view.bounds)) if augment.any() else None
        e, S = self.atoms.scores(w, view.units), np.empty((len(view.units), L, m))
        if scale is not None:
            self.loss.add(scale, view.truth, e, None)
        parts = task.cut(w)
        args = (parts.lengths, parts.segments, *self.table, view.units, view.bounds, np.empty(m), S)
        segments.segment_scores(e, *args)
        if scale is not None:
            self.loss.add(scale, view.truth, e, S)
        o = np.ascontiguousarray(e[:, 0]) if task.outside_ else np.full(len(e), -np.inf)
        return SegmentScores(o, S, (parts.transitions, parts.start, parts.end))

    def _wrong(self, view: SegmentView, codes: Codes) -> Planes:
        """Planes of these codes."""
        from maxmargin.structures.segments.compiled import segments

        truth, found = view.truth, Segmented.of(codes, view.bounds)
        one, other = truth.ends.lengths, found.ends.lengths
        wrong = (one != other) | (truth.ends.labels != found.ends.labels)
        L, indptr = self.task.max_length_, self.table.indptr
        features = 0
        for lengths in (one, other):
            at = np.flatnonzero(wrong & (lengths > 0))
            rows = view.units[at] * L + lengths[at] - 1
            features += int(np.sum(indptr[rows + 1] - indptr[rows]))
        most = 12 * len(codes) + features  # of a token: three atoms, a length, a transition and an end, twice
        ends, indices, values = np.zeros(len(self) + 1, dtype=np.int32), np.empty(most, dtype=np.int32), np.empty(most)
        direct = self.atoms.arrays.direct
        segments.differences(
            direct, L, self.task.n_types_, tuple(self.table), view.units, view.bounds, truth.codes, one, codes, other,
            ends, indices, values,
        )  # fmt: skip
        rows_ = AtomRows(self.atoms, ends, indices[: ends[-1]].copy(), values[: ends[-1]].copy())
        return Planes(rows_, self.loss.of(truth, found))

    # --- sums

    def scored(self, w: Array) -> tuple[SegmentScores, NDArray[np.int64]]:
        """Scores of all pieces of these sequences, and where each sequence begins."""
        view = self.unrolled()
        return self._scores(w, view, np.zeros(len(self))), view.bounds

    def add_tangents(self, w: Array, weights: Array, softness: Softness, total: Array) -> Tangents:
        """By the sums of compiled/segment_sums.py, at b times the scores."""
        if softness.margin and isinstance(self.loss, F1Loss):
            raise ValueError("objective='softmax_margin' needs measure='tokens' or 'segments', sums that 'f1' is not")
        task, view, b = self.task, self.unrolled(), softness.sharpness
        truth, m, L = view.truth, self.task.n_types_, self.task.max_length_
        right = self._scores(w, view, np.zeros(len(self))).of(truth)
        scores = self._scores(w, view, np.full(len(self), softness.margin))
        A, s, f = scores.links
        raised = SegmentScores(b * scores.outside, b * scores.segments, (b * A, b * s, b * f))
        sums, pairs = SegmentSums(task, raised, view.bounds), np.zeros_like(A)
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
        self, view: SegmentView, weights: Array, outside: Array, P: Array, pairs: Array, total: Array
    ) -> None:
        """Add the truth, less what is expected: of links, lengths, features of segments and of tokens."""
        from maxmargin.structures.segments.compiled import segments

        truth, (first, last), m = view.truth, (view.bounds[:-1], view.bounds[1:] - 1), self.task.n_types_
        each, parts = np.repeat(weights, np.diff(view.bounds)), self.task.cut(total)
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


def _augmented(scale: float, loss: Array, score: Array) -> Array:
    return scale * loss + score


def _violation(formulation: Formulation, true: float, loss: Array, score: Array) -> Array:
    return formulation.value(loss, true - score)
