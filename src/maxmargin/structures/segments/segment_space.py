"""SegmentSpace: the score space of segmentations, with scores of tokens, lengths, features of segments and labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.checks import check_memory
from maxmargin.problem.contract.score_capabilities import SoftOutputs
from maxmargin.problem.contract.scored import BestOutputs, checked_scores, need_truth
from maxmargin.structures.segments.losses import MOST_TRUE, F1Loss, Segmented, SegmentLoss, TokenLoss, make_loss
from maxmargin.structures.segments.segment_features import FeatureTable
from maxmargin.structures.segments.segment_names import SegmentNames
from maxmargin.structures.segments.segment_sums import PieceScores, SegmentSums
from maxmargin.structures.segments.spans import Codes, read_segmentations

Value = Callable[[Array, Array], Array]  # a function of losses and scores
AT_ONCE = 4_000_000  # scores of segments that a search keeps in memory at a time


class SegmentScores(NamedTuple):
    """Scores of segmentations with m types of segments of at most L tokens; label 0 is outside, label k + 1 type k.

    A segment of type k has the score  Σ_t tokens[t, 1 + 3k] + tokens[first, 2 + 3k] + tokens[last, 3 + 3k] +
    lengths[its length - 1, k] + Σ value · features[c, k] over its features c. A token outside has tokens[t, 0].

    Attributes
    ----------
    tokens : array of shape (tokens, 1 + 3m)
        Scores of tokens outside; then, for every type, as any, as the first and as the last token of a segment.
    lengths : array of shape (L, m)
        Scores of lengths of segments.
    features : array of shape (features of segments, m)
        Scores of features of segments.
    transitions : array of shape (m + 1, m + 1)
        Scores of labels of neighbouring pieces, at [before, after].
    start, end : array of shape (m + 1,)
        Scores of the first and of the last label.

    See Also
    --------
    SegmentSpace : The space that they score.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import tasks
    >>> scores = tasks.SegmentScores(
    ...     np.zeros((5, 4)), np.zeros((2, 1)), np.zeros((0, 1)), np.zeros((2, 2)), np.zeros(2), np.zeros(2)
    ... )
    >>> len(scores.tokens)
    5
    """

    tokens: Array
    lengths: Array
    features: Array
    transitions: Array
    start: Array
    end: Array

    @property
    def links(self) -> tuple[Array, Array, Array]:
        """The scores of neighbouring, first and last labels."""
        return self.transitions, self.start, self.end


class NBestTables(NamedTuple):
    """Scratch arrays of the search for the n best segmentations of one sequence, see compiled/segments.py.

    Entry [t, k, r] belongs to the r-th best way to cut the first t tokens.
    """

    v: Array  # scores of ways whose last piece has label k; -inf at first
    u: Array  # scores of ways that a piece of label k follows; -inf at first
    from_length: NDArray[np.int32]  # the length of the last piece of v, less one
    from_label: NDArray[np.int32]  # the label of the last piece of u
    rank_v: NDArray[np.int32]  # the rank of the way that v extends
    rank_u: NDArray[np.int32]  # the rank of the way that u extends
    pointer: NDArray[np.int64]  # the next rank of each length or label

    @classmethod
    def of(cls, length: int, n_labels: int, max_length: int, n: int) -> NBestTables:
        """Allocate the tables of a sequence."""
        table = (length + 1, n_labels, n)
        v, u = np.full((2, *table), -np.inf)
        from_length, from_label, rank_v, rank_u = np.zeros((4, *table), dtype=np.int32)
        pointer = np.zeros(max(n_labels, max_length), dtype=np.int64)
        return cls(v, u, from_length, from_label, rank_v, rank_u, pointer)


class TrueSegments(NamedTuple):
    """True segmentations of concatenated sequences, and the loss."""

    segmented: Segmented  # the true segmentations
    loss: TokenLoss | SegmentLoss


class SegmentSpace:
    """Score space of the segmentations of n sequences (problem/contract/scored.py).

    Scores are SegmentScores. Found outputs are an int32 array with a code for every token of all sequences: 0 outside,
    2k + 1 for the first token of a segment of type k, 2k + 2 for its other tokens. The search is exact.

    Parameters
    ----------
    bounds : array of shape (n + 1,)
        The first token of every sequence, and the number of tokens.
    names : SegmentNames
        Types, form and limits of segmentations.
    table : FeatureTable
        The features of segments.
    units : array of shape (tokens,)
        The unit of every token in the table.
    truths : TrueSegments or None
        The true segmentations, if known; no sequence may be empty then.

    See Also
    --------
    SegmentScores : Its scores.
    SemiMarkov : The task.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import tasks
    >>> space = tasks.SegmentSpace.of_lengths([3], n_types=1, max_length=2)
    >>> tokens = np.array([[0.0, 1, 0, 0], [0, 1, 0, 0], [0, -1, 0, 0]])  # outside, any, first and last
    >>> links = np.zeros((2, 2)), np.zeros(2), np.zeros(2)
    >>> scores = tasks.SegmentScores(tokens, np.array([[0.0], [0.5]]), np.zeros((0, 1)), *links)
    >>> space.best(scores).found.tolist()
    [1, 2, 0]
    """

    def __init__(
        self,
        bounds: NDArray[np.int64],
        names: SegmentNames,
        table: FeatureTable,
        units: NDArray[np.int64],
        truths: TrueSegments | None = None,
    ):
        self.bounds, self.names, self.table, self.units, self.truths = bounds, names, table, units, truths
        self.n_types, self.max_length = len(names.classes), names.max_length

    @classmethod
    def of_lengths(
        cls, lengths: Any, n_types: int, max_length: int, truth: Any = None, measure: str = "tokens", costs: Any = None
    ) -> SegmentSpace:
        """Make the space of sequences of these lengths, whose segments have types 0 … n_types - 1 and no features.

        truth : None, or for every sequence its list of true spans (begin, end, type); no sequence may be empty then
        measure, costs : the loss, as in SegmentLabeler
        """
        bounds = np.concatenate([[0], np.cumsum(np.asarray(lengths, dtype=np.int64))])
        names = SegmentNames(range(n_types), {k: k for k in range(n_types)}, max_length, True)
        none = np.zeros(0, dtype=np.int32)
        table = FeatureTable(np.zeros(int(bounds[-1]) * max_length + 1, dtype=np.int64), none, np.zeros(0))
        units = np.arange(bounds[-1])
        if truth is None:
            return cls(bounds, names, table, units)
        if (np.diff(bounds) == 0).any():
            raise ValueError("a sequence without tokens has no true segmentation; leave it out")
        segmented = Segmented.of(names.codes(read_segmentations(truth, bounds), bounds), bounds)
        return cls(bounds, names, table, units, TrueSegments(segmented, make_loss(measure, costs, names.classes)))

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @property
    def truth(self) -> Codes | None:
        """The true codes of all tokens."""
        return None if self.truths is None else self.truths.segmented.codes

    def best(self, scores: Any, augment: float | Array = 0.0) -> BestOutputs:
        """Return the segmentation with the highest score + augment · loss of every sequence."""
        scores, each = self._checked(scores), np.full(len(self), augment, dtype=float)
        codes, values = np.empty(int(self.bounds[-1]), dtype=np.int32), np.zeros(len(self))
        if each.any():
            need_truth(self.truths)
        for a, b in self._blocks():
            block, tokens = self._between(a, b), slice(self.bounds[a], self.bounds[b])
            filled = np.flatnonzero(np.diff(self.bounds[a : b + 1])) + a
            own = scores._replace(tokens=scores.tokens[tokens])
            codes[tokens], values[filled] = block._searched(own, each[filled])
        return BestOutputs(codes, values)

    def losses(self, found: Codes) -> Array:
        """Return the loss of every segmentation."""
        need_truth(self.truths)
        assert self.truths is not None
        truth, loss = self.truths
        return loss.of(truth, Segmented.of(found, self.bounds))

    def indicator(self, found: Codes, weights: Array | None = None) -> SegmentScores:
        """Return how often each score occurs; sequence j counts weights[j] times."""
        m, filled = self.n_types, np.diff(self.bounds) > 0
        each = np.repeat(np.ones(len(self)) if weights is None else weights, np.diff(self.bounds))
        ends, at = Segmented.of(found, self.bounds).ends, np.arange(len(found))
        tokens, lengths, features = (np.zeros(shape) for shape in self._shapes(self.n_features))
        counts = SegmentScores(tokens, lengths, features, np.zeros((m + 1, m + 1)), np.zeros(m + 1), np.zeros(m + 1))
        inside, begins, last = found > 0, found % 2 == 1, ends.lengths > 0
        counts.tokens[~inside, 0] = each[~inside]
        for role, some in enumerate((inside, begins, last)):
            counts.tokens[at[some], 1 + role + 3 * ends.labels[some]] = each[some]
        np.add.at(counts.lengths, (ends.lengths[last] - 1, ends.labels[last]), each[last])
        first, end = self.bounds[:-1][filled], self.bounds[1:][filled] - 1
        np.add.at(counts.start, ends.labels[first] + 1, each[first])
        np.add.at(counts.end, ends.labels[end] + 1, each[end])
        pieces = begins | ~inside
        pieces[first] = False
        t = np.flatnonzero(pieces)
        np.add.at(counts.transitions, (ends.labels[t - 1] + 1, ends.labels[t] + 1), each[t])
        for x in np.flatnonzero(last).tolist() if self.n_features else ():
            row = int(self.units[x]) * self.max_length + int(ends.lengths[x]) - 1
            entries = slice(self.table.indptr[row], self.table.indptr[row + 1])
            numbers = self.table.values[entries] if len(self.table.values) else 1.0
            np.add.at(counts.features[:, ends.labels[x]], self.table.columns[entries], each[x] * numbers)
        return counts

    def sums(self, scores: Any) -> SegmentSums:
        """Return the distributions of the segmentations; an empty sequence has one (empty) segmentation."""
        n_bytes = 16.0 * int(self.bounds[-1]) * self.max_length * self.n_types
        check_memory("the probabilities of all segments", n_bytes, "ask for fewer sequences at a time")
        return SegmentSums(self.names, self.pieces(self._checked(scores)), self.bounds)

    def n_best(self, scores: Any, n: int) -> tuple[Codes, Array]:
        """Return the codes (n, tokens) of the n best segmentations of a space of one, best first, and their scores.

        There may be fewer than n.
        """
        from maxmargin.structures.segments.compiled import segments

        length, K = int(self.bounds[-1]), self.n_types + 1
        check_memory(f"a list of the {n:,} best segmentations", 40.0 * (length + 1) * K * n, "ask for a smaller n")
        tables = NBestTables.of(length, K, self.max_length, n)
        codes, best = np.zeros((n, length), np.int32), np.zeros(n)
        found = segments.n_best(self.pieces(self._checked(scores)), n, tables, codes, best)
        return codes[:found], best[:found]

    def best_lists(self, scores: Any, n: int) -> list[list[tuple[Codes, float]]]:
        """Return the n best segmentations of every sequence with their scores, best first."""
        scores, lists = self._checked(scores), []
        for j, (a, b) in enumerate(pairwise(self.bounds.tolist())):
            if a == b:
                lists.append([(np.zeros(0, dtype=np.int32), 0.0)])
                continue
            codes, values = self._between(j, j + 1).n_best(scores._replace(tokens=scores.tokens[a:b]), n)
            lists.append(list(zip(codes, values.tolist(), strict=True)))
        return lists

    def totals(self, scores: Any, found: Codes) -> Array:
        """Return the score of every segmentation."""
        filled, totals = np.diff(self.bounds) > 0, np.zeros(len(self))
        if filled.any():
            totals[filled] = self.pieces(self._checked(scores)).of(Segmented.of(found, np.unique(self.bounds)))
        return totals

    def soft_best(
        self, scores: Any, augment: float | Array = 0.0, sharpness: float = 1.0, weights: Array | None = None
    ) -> SoftOutputs:
        """Return the smooth maxima over segmentations, and the expected number of uses of every score."""
        scores, b = self._checked(scores), sharpness
        lam = np.full(len(self), augment, dtype=float)
        if lam.any():
            need_truth(self.truths)
        if lam.any() and self.truths is not None and isinstance(self.truths.loss, F1Loss):
            raise ValueError("a smooth maximum with a loss needs measure='tokens' or 'segments', not 'f1'")
        pieces, m = self.pieces(scores, lam), self.n_types
        A, s, f = pieces.links
        raised = PieceScores(b * pieces.outside, b * pieces.segments, (b * A, b * s, b * f))
        each = np.ones(len(self)) if weights is None else np.asarray(weights, dtype=float)
        transitions = np.zeros((m + 1, m + 1))
        log_z, outside, P = SegmentSums(self.names, raised, self.bounds).summed(each, transitions)
        values = log_z / b
        if lam.any() and self.truths is not None:
            values = values + lam * self.truths.loss.constants(self.truths.segmented)
        return SoftOutputs(values, self._expected(each, outside, P, transitions))

    def _expected(self, weights: Array, outside: Array, P: Array, transitions: Array) -> SegmentScores:
        """Return the expected uses of scores, from the probabilities of tokens outside and of segments."""
        from maxmargin.structures.segments.compiled import segments

        each, filled = np.repeat(weights, np.diff(self.bounds)), np.diff(self.bounds) > 0
        P = P * each[:, None, None]
        first, last = self.bounds[:-1][filled], self.bounds[1:][filled] - 1
        tokens, _, features = (np.zeros(shape) for shape in self._shapes(self.n_features))
        segments.token_shares(P, self.bounds, tokens)
        tokens[:, 0] = outside * each
        if len(self.table.columns):
            segments.add_features(P, *self.table, self.units, features)
        start = np.append(tokens[first, 0].sum(), tokens[first, 2::3].sum(axis=0))
        end = np.append(tokens[last, 0].sum(), tokens[last, 3::3].sum(axis=0))
        return SegmentScores(tokens, P.sum(axis=0), features, transitions, start, end)

    # --- scores of whole pieces

    def pieces(self, scores: SegmentScores, augment: Array | None = None) -> PieceScores:
        """Return the scores of tokens outside and of segments, with augment[j] times the loss added to sequence j.

        The constant part of the loss of a sequence (see `constants` of the losses) is left out.
        """
        from maxmargin.structures.segments.compiled import segments

        e, S = scores.tokens, np.empty((len(scores.tokens), self.max_length, self.n_types))
        scale = np.repeat(augment, np.diff(self.bounds)) if augment is not None and augment.any() else None
        if scale is not None:
            assert self.truths is not None
            truth, loss = self.truths
            e = e.copy()
            loss.add(scale, truth, e, None)
        segments.segment_scores(
            e, scores.lengths, scores.features, *self.table, self.units, self.bounds, np.empty(self.n_types), S
        )
        if scale is not None:
            loss.add(scale, truth, e, S)
        o = np.ascontiguousarray(e[:, 0]) if self.names.outside else np.full(len(e), -np.inf)
        return PieceScores(o, S, scores.links)

    def best_by_counts(self, scores: PieceScores, j: int, value: Value) -> tuple[Codes, float]:
        """Return the codes of sequence j with the highest value(loss, score), and that value, by a table of counts."""
        from maxmargin.structures.segments.compiled import segment_counts

        assert self.truths is not None
        truth, loss = self.truths
        assert isinstance(loss, SegmentLoss)
        own = slice(self.bounds[j], self.bounds[j + 1])
        o, S, (A, s, f) = scores.outside[own], scores.segments[own], scores.links
        lengths, labels = truth.ends.lengths[own], truth.ends.labels[own]
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

    # --- inside

    @property
    def n_features(self) -> int:
        """The number of features of segments."""
        return int(self.table.columns.max(initial=-1)) + 1

    def _checked(self, scores: Any) -> Any:
        m = self.n_types
        features = max(self.n_features, len(scores.features))  # some features may not occur in these sequences
        return checked_scores(scores, (*self._shapes(features), (m + 1, m + 1), (m + 1,), (m + 1,)))

    def _shapes(self, n_features: int) -> list[tuple[int, int]]:
        """Return the shapes of the scores of tokens, lengths and features."""
        return [
            (int(self.bounds[-1]), 1 + 3 * self.n_types),
            (self.max_length, self.n_types),
            (n_features, self.n_types),
        ]

    def _blocks(self) -> Iterator[tuple[int, int]]:
        """Yield ranges of sequences that have about AT_ONCE scores of segments."""
        sizes = np.cumsum(np.diff(self.bounds) * self.max_length * self.n_types) // AT_ONCE
        borders = np.flatnonzero(np.diff(sizes)) + 1
        yield from pairwise([0, *borders.tolist(), len(self)] if len(self) else [])

    def _between(self, a: int, b: int) -> SegmentSpace:
        """Return the sequences a:b that are not empty, as a space of their own."""
        bounds = np.unique(self.bounds[a : b + 1])
        if len(bounds) == len(self.bounds):
            return self
        here, truths = slice(bounds[0], bounds[-1]), None
        if self.truths is not None:
            truth, loss = self.truths
            truths = TrueSegments(Segmented.of(truth.codes[here], bounds - bounds[0]), loss)
        return SegmentSpace(bounds - bounds[0], self.names, self.table, self.units[here], truths)

    def _searched(self, scores: SegmentScores, each: Array) -> tuple[Codes, Array]:
        """Return the best codes with each[j] times the loss added, and their values; no sequence is empty."""
        if not each.any() or self.truths is None:
            return self._viterbi(self.pieces(scores))
        truth, loss = self.truths
        if not isinstance(loss, F1Loss):
            codes, best = self._viterbi(self.pieces(scores, each))
            return codes, best + each * loss.constants(truth)
        g = np.add.reduceat(truth.ends.lengths > 0, self.bounds[:-1], dtype=np.int64)
        listed = np.flatnonzero((g <= MOST_TRUE) & (each > 0))
        spread = np.where(g > MOST_TRUE, each / np.maximum(2 * g, 1), 0.0)  # factor of the loss that replaces 1 - F1
        pieces = self.pieces(scores, spread)
        codes, best = self._viterbi(pieces)
        best += spread * loss.constants(truth)
        for j in listed.tolist():
            value = partial(_augmented, float(each[j]))
            codes[self.bounds[j] : self.bounds[j + 1]], best[j] = self.best_by_counts(pieces, j, value)
        return codes, best

    def _viterbi(self, scores: PieceScores) -> tuple[Codes, Array]:
        from maxmargin.structures.segments.compiled import segments

        codes, best = np.empty(len(scores.outside), dtype=np.int32), np.empty(len(self))
        table = (int(np.max(np.diff(self.bounds), initial=1)) + 1, self.n_types + 1)
        v, u = np.empty((2, *table))
        length, before = np.zeros((2, *table), dtype=np.int64)
        segments.viterbi(scores, self.bounds, v, u, length, before, codes, best)
        return codes, best


def _augmented(scale: float, loss: Array, score: Array) -> Array:
    return scale * loss + score
