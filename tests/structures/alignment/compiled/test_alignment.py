"""The compiled functions of alignments on any scores that hypothesis likes, small integers that make ties."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import whole
from structures.alignment.compiled import alignment_twin as twin

from maxmargin.structures.alignment.compiled import alignment as compiled
from maxmargin.structures.alignment.compiled.alignment_arrays import AlignmentScratch, ScoredPair

MODES = ["global", "overlap", "local"]


class Drawn(NamedTuple):
    """Pair scores, gap scores of both sequences, and which pairs are right."""

    S: np.ndarray
    of_a: np.ndarray
    of_b: np.ndarray
    mode: str
    low: np.ndarray
    high: np.ndarray

    @property
    def scored(self):
        """What the compiled functions take, the scores once as they are and once as different rows."""
        rows, row_of = np.unique(self.S, axis=0, return_inverse=True)
        return np.ascontiguousarray(rows), np.ascontiguousarray(row_of.ravel(), dtype=np.int64)

    @property
    def tables(self):
        return [with_sums(table) for table in (self.of_a, self.of_b)]


def with_sums(table):
    total = np.concatenate([[0.0], np.cumsum(table[1])[:-1]])
    return np.vstack([table, total])


@st.composite
def problems(draw, longest=(4, 4)):
    n, m = (draw(st.integers(1, most)) for most in longest)
    S = draw(whole((n, m), -3, 4))
    of_a, of_b = draw(whole((4, n + 1), -3, 1)), draw(whole((4, m + 1), -3, 1))
    low = draw(st.lists(st.integers(0, m), min_size=n, max_size=n))
    high = [min(m, k + draw(st.integers(0, 2))) for k in low]
    mode = draw(st.sampled_from(MODES))
    return Drawn(S, of_a, of_b, mode, np.array(low, dtype=np.int64), np.array(high, dtype=np.int64))


def best_alignment(drawn, price):
    n, m = drawn.S.shape
    pairs = np.full((min(n, m), 2), -1, dtype=np.int64)
    trace, rows = np.empty((n, m), dtype=np.uint8), np.empty((compiled.ROWS, m + 1))
    scratch = AlignmentScratch(trace, rows, np.empty(m), np.empty(m, dtype=np.int64))
    pair = ScoredPair(*drawn.scored, drawn.low, drawn.high, price, *drawn.tables)
    score, count = compiled.best_alignment(pair, MODES.index(drawn.mode), scratch, pairs)
    return score, [(int(i), int(j)) for i, j in pairs[len(pairs) - count :]]


@given(problems())
def test_twin_agrees_with_enumeration(drawn):
    values = [
        twin.score(drawn.S, drawn.of_a, drawn.of_b, drawn.mode, pairs) for pairs in twin.alignments(*drawn.S.shape)
    ]
    assert twin.best(drawn.S, drawn.of_a, drawn.of_b, drawn.mode) == max(values)


@given(
    drawn=problems(longest=(6, 6)) | problems(longest=(3, 40)) | problems(longest=(40, 3)),
    price=st.sampled_from([0, 2, -7]),
)
def test_best_alignment(drawn, price):
    score, pairs = best_alignment(drawn, float(price))
    S = twin.augmented(drawn.S, drawn.low, drawn.high, price)
    assert score == twin.best(S, drawn.of_a, drawn.of_b, drawn.mode)
    assert twin.score(S, drawn.of_a, drawn.of_b, drawn.mode, pairs) == score
    assert all(i < k and j < h for (i, j), (k, h) in pairwise(pairs))


@given(problems())
def test_best_of_every_number_of_right_pairs(drawn):
    n, m = drawn.S.shape
    expected = twin.best_per_right(drawn.S, drawn.of_a, drawn.of_b, drawn.mode, drawn.low, drawn.high)
    most = int(np.count_nonzero(drawn.high > drawn.low))
    table, best = np.empty((3, n, m, most + 1)), np.empty(most + 1)
    mode = MODES.index(drawn.mode)
    compiled.best_per_right(*drawn.scored, drawn.low, drawn.high, *drawn.tables, mode, table, best)
    assert {c: value for c, value in enumerate(best) if value > -np.inf} == expected
    for c, value in expected.items():
        pairs = np.full((min(n, m), 2), -1, dtype=np.int64)
        count = compiled.trace_right(drawn.low, drawn.high, *drawn.tables, mode, table, c, pairs)
        found = [(int(i), int(j)) for i, j in pairs[len(pairs) - count :]]
        assert twin.right(found, drawn.low, drawn.high) == c
        assert twin.score(drawn.S, drawn.of_a, drawn.of_b, drawn.mode, found) == value


@pytest.mark.parametrize("mode", MODES)
@given(n=st.integers(1, 4), m=st.integers(1, 4), data=st.data())
def test_residues_that_are_paid_for(mode, n, m, data):
    pairs = data.draw(st.sampled_from(list(twin.alignments(n, m))))
    paid = np.full((n + m, 4), -1, dtype=np.int64)
    count = compiled.paid_gaps(np.array(pairs, dtype=np.int64).reshape(-1, 2), n, m, MODES.index(mode), paid)
    expected = [
        (sequence, residue, place, int(t > 0))
        for sequence, residues, place in twin.gaps(n, m, mode, pairs)
        for t, residue in enumerate(residues)
    ]
    assert sorted(map(tuple, paid[:count].tolist())) == sorted(expected)
