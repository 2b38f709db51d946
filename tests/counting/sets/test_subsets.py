from math import comb, log

import numpy as np
import pytest
from counting.dense_training import trained
from counting.sets.checks import check_best, check_large, check_samples, check_set, rejects, scores
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.counting.sets.subsets import AllSubsets, Subsets

SIZES = [(d, size) for d in (1, 2, 3, 4, 6, 8) for size in range(d + 1)] + [(30, 2), (30, 28), (17, 4)]


@pytest.mark.parametrize(("d", "size"), SIZES)
def test_subsets_keep_the_contract(d, size):
    check_set(Subsets(d, size))


@pytest.mark.parametrize("d", [1, 2, 5, 12])
def test_all_subsets_keep_the_contract(d):
    check_set(AllSubsets(d))


@pytest.mark.parametrize("outputs", [Subsets("abcde", 2), AllSubsets(["x", 1, None, (2, 3)])])
def test_items_have_names(outputs):
    check_set(outputs)
    check_samples(outputs, uniform=True)


@given(st.integers(1, 6).flatmap(scores), st.data())
def test_the_best_subset_is_found(f, data):
    assert check_best(AllSubsets(len(f)), f).exact
    assert check_best(Subsets(len(f), data.draw(st.integers(0, len(f)))), f).exact


@pytest.mark.parametrize("outputs", [AllSubsets(2000), Subsets(2000, 700), Subsets(5000, 4000)])
def test_sizes_beyond_doubles(outputs):
    check_large(outputs)


def test_sizes_are_accurate():
    for d, size in [(2000, 700), (400, 200), (10_000, 1)]:
        np.testing.assert_allclose(Subsets(d, size).log_size(), log(comb(d, size)), rtol=1e-13)


@pytest.mark.parametrize("form", [set, frozenset, list, tuple, np.array])
def test_outputs_are_read_in_any_form(form):
    np.testing.assert_array_equal(Subsets(4, 2).features(form([3, 1])), [0, 1, 0, 1])


def test_what_is_no_member_is_explained():
    rejects(Subsets(4, 2), {0, 1, 2}, "the subset has 3 items; expected 2")
    rejects(Subsets(4, 2), [1, 1], "item 1 is repeated; expected every item at most once")
    rejects(Subsets(4, 2), {1, 4}, "4 is not one of the items; expected 0 … 3")
    rejects(AllSubsets(3), "01", "the subset is '01'; expected a set, list or tuple of items")
    rejects(AllSubsets(3), 1, "the subset is 1")
    rejects(AllSubsets(3), np.array([True, False, True]), "the subset is")
    rejects(AllSubsets(2), [True, False], "True is not one of the items")
    rejects(AllSubsets(["a", "b"]), {"a", "c"}, "'c' is not one of the items; expected 'a', 'b'")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Subsets(3, 4), "size must be from 0 to 3, got 4"),
        (lambda: Subsets(3, -1), "size must be from 0 to 3, got -1"),
        (lambda: Subsets(3, 1.5), "size must be a whole number, got 1.5"),
        (lambda: Subsets(3, True), "size must be a whole number, got True"),
        (lambda: AllSubsets(0), "there must be at least 1 item, got 0"),
        (lambda: AllSubsets([]), "there must be at least 1 item, got 0"),
    ],
)
def test_bad_parameters_are_explained(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_training_of_label_sets():
    X, Y = np.array([[1.0, 0], [0, 1], [1, 1]]), [[{0}], [{1, 2}], [{0, 1}]]
    W, objective = trained(AllSubsets(3), X, Y, lam=1.0)
    expected = [[0.2768361582, -0.0395480226, -0.2768361582], [-0.0564971751, 0.2937853107, 0.0564971751]]
    np.testing.assert_allclose(W, expected, atol=1e-10)
    np.testing.assert_allclose(objective, -0.423728813559, atol=1e-12)


def test_training_with_several_label_sets_of_one_example():
    X, Y = np.array([[1.0, 0], [0, 1], [1, 1]]), [[{0}, {0, 1}], [{1, 2}], [{0, 1}]]
    W, objective = trained(AllSubsets(3), X, Y, lam=4 / 3)
    expected = [[0.2991250417, 0.0684538491, -0.2991250417], [-0.0579497385, 0.2226028785, 0.0579497385]]
    np.testing.assert_allclose(W, expected, atol=1e-10)
    np.testing.assert_allclose(objective, -0.577102464165, atol=1e-12)
