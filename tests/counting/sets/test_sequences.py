from itertools import product

import numpy as np
import pytest
from counting.sets.checks import check_best, check_large, check_samples, check_set, check_spectrum, rejects, scores
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.counting.sets.sequences import LabelSequences

FREE = [(K, L) for K in (1, 2, 3, 4, 5) for L in (1, 2, 3, 4, 5) if K**L <= 1200] + [(2, 12), (17, 2), (9, 3)]
TAGS = ["O", "B-X", "I-X", "B-Y"]
FORBIDDEN = {
    "a step": [("a", "b")],
    "all repetitions": [(label, label) for label in "abc"],
    "a start": [(None, "a")],
    "an end": [("c", None)],
    "almost all": [
        (x, y) for x, y in product("abc", repeat=2) if (x, y) not in (("a", "b"), ("b", "c"), ("c", "a"), ("a", "a"))
    ],
    "a label": [(None, "b"), ("a", "b"), ("c", "b")],
    "a trap": [("c", "a"), ("c", "b"), ("c", None)],
}


@pytest.mark.parametrize(("K", "L"), FREE)
def test_free_sequences_keep_the_contract(K, L):
    outputs = LabelSequences(K, L)
    check_set(outputs, telling=False, decodes=2)
    check_spectrum(outputs, expected=True)
    assert len(outputs.cov_spectrum()) <= 5


@pytest.mark.parametrize("length", [1, 2, 3, 6])
@pytest.mark.parametrize("forbidden", FORBIDDEN)
def test_constrained_sequences_keep_the_contract(forbidden, length):
    outputs = LabelSequences("abc", length, FORBIDDEN[forbidden])
    check_set(outputs, telling=False)
    check_spectrum(outputs, expected=False)
    assert all(not _breaks(y, FORBIDDEN[forbidden]) for y in outputs.outputs())


def test_sequences_of_tags():
    outputs = LabelSequences(TAGS, 4, "BIO")
    check_set(outputs, telling=False)
    check_samples(outputs, uniform=True, draws=8000)
    check_samples(LabelSequences("abc", 4), uniform=True, draws=8000)


@st.composite
def constraints(draw):
    K = draw(st.integers(1, 3))
    pairs = [pair for pair in product([None, *range(K)], repeat=2) if pair != (None, None)]
    return K, draw(st.integers(1, 5)), draw(st.lists(st.sampled_from(pairs), max_size=5, unique=True))


@given(constraints(), st.data())
def test_drawn_constraints(drawn, data):
    K, L, forbidden = drawn
    members = [y for y in product(range(K), repeat=L) if not _breaks(y, forbidden)]
    if not members:
        with pytest.raises(ValueError, match="no sequence of length"):
            LabelSequences(K, L, forbidden)
        return
    outputs = LabelSequences(K, L, forbidden)
    assert sorted(outputs.outputs()) == members
    check_set(outputs, telling=False, decodes=0)
    assert check_best(outputs, data.draw(scores(outputs.dim))).exact


@pytest.mark.parametrize("outputs", [LabelSequences(5, 600), LabelSequences(5, 600, [(0, 1), (3, 3), (None, 2)])])
def test_sizes_beyond_doubles(outputs):
    check_large(outputs)


def test_long_free_and_hardly_constrained_sequences_agree():
    K, L = 3, 700
    free, constrained = (
        LabelSequences(K + 1, L),
        LabelSequences(K + 1, L, [(None, 3), (0, 3), (1, 3), (2, 3)]),
    )  # 3 never comes
    three, F = LabelSequences(K, L), np.random.default_rng(0).normal(size=(3, constrained.dim))
    inside = np.concatenate([np.arange(3), 4 + np.arange(16).reshape(4, 4)[:3, :3].ravel()])
    np.testing.assert_allclose(constrained.log_size(), three.log_size(), rtol=1e-12)
    np.testing.assert_allclose(constrained.mean()[inside], three.mean(), rtol=1e-10)
    products = constrained.cov_apply(F)
    np.testing.assert_allclose(products[:, inside], three.cov_apply(F[:, inside]), rtol=1e-8, atol=1e-9)
    np.testing.assert_array_equal(np.delete(products, inside, axis=1), 0.0)
    assert free.dim == constrained.dim


def test_rows_are_worked_on_in_blocks():
    outputs = LabelSequences(2, 4, [(0, 0)])
    F = np.random.default_rng(0).normal(size=(600, outputs.dim))
    np.testing.assert_allclose(outputs.cov_apply(F), F @ outputs.covariance(), atol=1e-12)


def test_counts_of_one_sequence():
    np.testing.assert_array_equal(LabelSequences("ab", 4).features("abba"), [2, 2, 0, 1, 1, 1])
    np.testing.assert_array_equal(LabelSequences("ab", 4).features(["a", "b", "b", "a"]), [2, 2, 0, 1, 1, 1])


def test_what_is_no_member_is_explained():
    outputs = LabelSequences("ab", 3, [("a", "a"), (None, "b"), ("b", None)])
    rejects(outputs, "ab", "the sequence has 2 labels; expected 3")
    rejects(outputs, ("a", "b", "c"), "'c' is not one of the labels; expected 'a', 'b'")
    rejects(outputs, "aab", "label 'a' may not follow 'a'")
    rejects(outputs, "bba", "a sequence may not begin with 'b'")
    rejects(outputs, "abb", "a sequence may not end with 'b'")
    rejects(outputs, 7, "7 is not a sequence; expected 3 labels")
    rejects(outputs, {"a", "b"}, "is not a sequence; expected 3 labels")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LabelSequences(3, 0), "length must be at least 1, got 0"),
        (lambda: LabelSequences(3, 2.0), "length must be a whole number, got 2.0"),
        (lambda: LabelSequences(0, 2), "there must be at least 1 label, got 0"),
        (lambda: LabelSequences("ab", 2, [("a", "x")]), "forbidden names the label 'x'"),
        (
            lambda: LabelSequences("ab", 2, [(None, "a"), (None, "b")]),
            "no sequence of length 2 avoids all forbidden",
        ),
        (lambda: LabelSequences("ab", 2, 3), "forbidden must be one of 'BIO', 'BILOU', 'IOBES', or a list of"),
    ],
)
def test_bad_parameters_are_explained(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def _breaks(y, forbidden):
    return any(step in set(forbidden) for step in zip([None, *y], [*y, None], strict=True))
