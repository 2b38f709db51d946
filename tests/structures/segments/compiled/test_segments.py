"""Kernels of segments against lists of all segmentations, with scores that are whole numbers of any scale."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import whole
from structures.segments.compiled import segments_twin as twin

from maxmargin.structures.segments.compiled import segment_counts, segments
from maxmargin.structures.segments.losses import Segmented
from maxmargin.structures.segments.segment_space import NBestTables
from maxmargin.structures.segments.segment_sums import PieceScores, SegmentSums

SCALES = st.sampled_from([2.0**-27, 1.0, 2.0**27])  # about 1e-8 and 1e8, with sums that are exact


class Drawn(NamedTuple):
    o: np.ndarray
    S: np.ndarray
    A: np.ndarray
    s: np.ndarray
    f: np.ndarray

    @property
    def listed(self):
        return twin.segmentations(*self.S.shape)

    @property
    def values(self):
        return [twin.score(*self, pieces) for pieces in self.listed]

    @property
    def scores(self):
        return PieceScores(self.o, self.S, (self.A, self.s, self.f))

    def sums(self):
        return SegmentSums(None, self.scores, np.array([0, len(self.o)]))


@st.composite
def problems(draw, longest=4, scales=SCALES):
    T, L, m = draw(st.integers(1, longest)), draw(st.integers(1, 3)), draw(st.integers(1, 2))
    scale = draw(scales)
    S = scale * draw(whole((T, L, m)))
    for d in range(1, L):
        S[:d, d] = -np.inf
    arrays = [scale * draw(whole(shape)) for shape in (T, (m + 1, m + 1), m + 1, m + 1)]
    if draw(st.booleans()):
        arrays[0][:] = -np.inf  # no token may be outside
    return Drawn(arrays[0], S, *arrays[1:])


def searched(p):
    T, _, m = p.S.shape
    codes, best, table = np.empty(T, dtype=np.int32), np.empty(1), (T + 1, m + 1)
    scratch = (*np.empty((2, *table)), *np.zeros((2, *table), dtype=np.int64))
    segments.viterbi(p.scores, np.array([0, T]), *scratch, codes, best)
    return codes, best[0]


@given(problems())
def test_best_segmentation(p):
    codes, best = searched(p)
    assert best == max(p.values)
    assert twin.score(*p, twin.pieces_of(codes)) == best


@given(problems(), st.integers(1, 12))
def test_n_best(p, n):
    T, L, K = p.S.shape[0], p.S.shape[1], p.S.shape[2] + 1
    codes, best = np.zeros((n, T), dtype=np.int32), np.zeros(n)
    found = segments.n_best(p.scores, n, NBestTables.of(T, K, L, n), codes, best)
    possible = sorted((value for value in p.values if np.isfinite(value)), reverse=True)
    assert found == min(n, len(possible))
    np.testing.assert_array_equal(best[:found], possible[:found])
    assert len({tuple(row) for row in codes[:found].tolist()}) == found
    assert [twin.score(*p, twin.pieces_of(row)) for row in codes[:found].tolist()] == best[:found].tolist()


@given(problems(), st.data())
def test_best_per_counts(p, data):
    (T, _, m), listed = p.S.shape, p.listed
    truth = data.draw(st.sampled_from(listed))
    true = Segmented.of(np.array(twin.codes(truth), dtype=np.int32), np.array([0, T]))
    g, Q = len(twin.segments(truth)), data.draw(st.integers(1, T))
    best, (v, u) = np.empty((g + 1, Q + 1)), np.empty((2, T + 1, m + 1, (g + 1) * (Q + 1)))
    segment_counts.best_per_counts(*p, *true.ends, g, Q, v, u, best)
    expected = np.full((g + 1, Q + 1), -np.inf)
    for pieces, value in zip(listed, p.values, strict=True):
        right, found = len(twin.segments(pieces) & twin.segments(truth)), len(twin.segments(pieces))
        expected[right, min(found, Q)] = max(expected[right, min(found, Q)], value)
    np.testing.assert_array_equal(best, expected)
    for right, found in zip(*np.nonzero(np.isfinite(best)), strict=True):
        codes = np.empty(T, dtype=np.int32)
        segment_counts.trace_counts(p.S, p.A, p.f, *true.ends, Q, v, u, right, found, codes)
        pieces = twin.pieces_of(codes)
        assert twin.score(*p, pieces) == best[right, found]
        assert len(twin.segments(pieces) & twin.segments(truth)) == right
        assert min(len(twin.segments(pieces)), Q) == found


@given(problems(scales=st.sampled_from([2.0**-27, 0.1, 1.0, 2.0**27])), st.floats(0.1, 3.0))
def test_sums(p, weight):
    listed, values = p.listed, p.values
    chances, log_z = twin.distribution(values)
    near = 1e-9 + 1e-14 * max(abs(value) for value in values if np.isfinite(value))
    sums, pairs = p.sums(), np.zeros_like(p.A)
    found, outside, P = sums.summed(np.array([weight]), pairs)
    assert found[0] == pytest.approx(log_z, rel=1e-12, abs=1e-9)
    expected = np.zeros_like(p.o), np.zeros_like(p.S), np.zeros_like(p.A)
    for pieces, chance in zip(listed, chances, strict=True):
        for begin, end, label in pieces:
            if label:
                expected[1][end - 1, end - begin - 1, label - 1] += chance
            else:
                expected[0][begin] += chance
        for before, after in pairwise(pieces):
            expected[2][before[2], after[2]] += weight * chance
    for one, other in zip((outside, P, pairs), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=near * 10)
    positive = chances[chances > 0]
    assert sums.entropies[0] == pytest.approx(-np.sum(positive * np.log(positive)), abs=1e-7 if near > 1e-7 else 1e-9)


@given(problems())
def test_marginals_of_tokens_add_up(p):
    T, L, _ = p.S.shape
    marginals = p.sums().marginals()[0]
    near = 1e-6 if max(np.abs(each[np.isfinite(each)]).max(initial=0.0) for each in p) > 1e7 else 1e-9
    np.testing.assert_allclose(marginals.outside + marginals.labels.sum(axis=1), 1.0, rtol=0, atol=near)
    for t in range(T):
        covering = sum(marginals.segments[b, d] for b in range(t + 1) for d in range(L) if b + d >= t and b + d < T)
        np.testing.assert_allclose(marginals.labels[t], np.minimum(covering, 1.0), rtol=0, atol=near)
