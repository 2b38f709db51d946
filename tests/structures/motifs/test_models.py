import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import whole

from maxmargin.structures.motifs.letters import Alphabet, Strings
from maxmargin.structures.motifs.models import MarkovChain, apart, consensus, information, pattern_weights, reading

DNA, RNA, ABC = Alphabet("ACGT"), Alphabet("ACGU"), Alphabet("ABC")


def strings(X, alphabet=DNA):
    return Strings([alphabet.codes(x, "x", "skip") for x in X])


@pytest.mark.parametrize("order", [0, 1, 2])
def test_a_chain_counts_letters_after_their_contexts(order):
    X = ["ACGTTNACAC", "CCA"]
    chain = MarkovChain(strings(X), 4, order)
    for depth, table in enumerate(chain.chances):
        assert table.shape == (4**depth, 4)
        chances = np.diff(table, axis=1, prepend=0)
        for context in range(4**depth):
            before = "".join("ACGT"[context // 4 ** (depth - 1 - k) % 4] for k in range(depth))
            seen = [sum(x[i : i + depth + 1] == before + a for x in X for i in range(len(x))) for a in "ACGT"]
            assert chances[context] == pytest.approx((np.array(seen) + 0.25) / (sum(seen) + 1))


def test_drawn_strings_look_like_those_of_the_chain():
    source = ["ACACACGTGTGT" * 40]
    chain = MarkovChain(strings(source), 4, 2)
    drawn = chain.draw([2000, 0, 3], np.random.default_rng(0))
    assert [len(each) for each in drawn] == [2000, 0, 3]
    again = MarkovChain(Strings(drawn), 4, 2)
    seen = np.bincount(strings(source).contexts(4, 2), minlength=85)[20:84].reshape(16, 4).sum(axis=1) > 30
    assert seen.sum() > 4
    assert np.abs(chain.chances[2] - again.chances[2])[seen].max() < 0.1
    assert chain.draw([], np.random.default_rng(0)) == []


def test_chains_of_order_0_know_frequencies_only():
    drawn = MarkovChain(strings(["A" * 30 + "C" * 10]), 4, 0).draw([4000], np.random.default_rng(1))
    assert np.bincount(drawn[0], minlength=4) / 4000 == pytest.approx([0.75, 0.25, 0, 0], abs=0.03)


@pytest.mark.parametrize(
    ("pattern", "alphabet", "length", "rows"),
    [
        ("AW", DNA, 2, ["A", "AT"]),
        ("aN.", DNA, 3, ["A", "ACGT", "ACGT"]),
        ("C", DNA, 4, ["", "C", "", ""]),
        ("UYB", RNA, 3, ["U", "CU", "CGU"]),
        ("B.", ABC, 3, ["B", "ABC", ""]),
    ],
)
def test_patterns(pattern, alphabet, length, rows):
    weights = pattern_weights(pattern, length, alphabet)
    assert weights.shape == (length, len(alphabet))
    assert weights.sum(axis=1) == pytest.approx(np.zeros(length))
    for row, letters in zip(weights, rows, strict=True):
        best = {alphabet.letters[k] for k in np.flatnonzero(row == row.max())} if np.ptp(row) else set()
        assert best == (set(letters) if len(letters) < len(alphabet) else set())


def test_matrices_are_patterns():
    matrix = np.array([[1.0, 2, 3, 6], [0, 0, 0, 0]])
    assert pattern_weights(matrix, 2, DNA).tolist() == [[-2, -1, 0, 3], [0, 0, 0, 0]]


@pytest.mark.parametrize(
    ("row", "alphabet", "code"),
    [
        ([0.6, 0.2, 0.1, 0.1], DNA, "A"),
        ([0.5, 0.2, 0.2, 0.1], DNA, "N"),
        ([0.6, 0.0, 0.0, 0.4], DNA, "W"),
        ([0.0, 0.4, 0.0, 0.4], DNA, "Y"),
        ([0.25] * 4, DNA, "N"),
        ([0.0, 0.0, 0.1, 0.9], RNA, "U"),
        ([0.1, 0.45, 0.0, 0.45], RNA, "Y"),
        ([0.6, 0.4, 0.0], ABC, "."),
        ([0.7, 0.3, 0.0], ABC, "A"),
    ],
)
def test_consensus(row, alphabet, code):
    assert consensus(np.array([row]), alphabet) == code
    assert consensus(np.ones((1, 1)), Alphabet("A")) == "A"


def test_information():
    assert information([[0.25] * 4, [1, 0, 0, 0], [0.5, 0.5, 0, 0]]).tolist() == [0, 2, 1]


def test_readings():
    assert reading("acgg", 1, DNA) == "ACGG"
    assert reading("acgg", -1, DNA) == "CCGT"
    assert reading("acgu", -1, RNA) == "ACGU"


@given(st.integers(1, 4), whole((2, 9)), st.integers(-2, 2))
def test_windows_apart(length, gains, threshold):
    """By the rule itself: again and again the best of what is left."""
    left, expected = gains.copy(), []
    while left.max() > threshold:
        strand, start = np.unravel_index(np.argmax(left), left.shape)
        expected.append(left[strand, start])
        left[:, max(0, start - length + 1) : start + length] = -99
    found = apart(gains, length, threshold)
    assert sorted(gains[s, h] for h, s in found) == sorted(expected)
    starts = [h for h, _ in found]
    assert starts == sorted(starts)
    assert all(b - a >= length for a, b in itertools.pairwise(starts))
