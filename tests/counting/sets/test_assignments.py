import re
from fractions import Fraction
from math import log, perm

import numpy as np
import pytest
from counting.sets.checks import check_best, check_large, check_samples, check_set, check_spectrum, rejects, scores
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.counting.sets.assignments import Assignments

SIZES = [(a, b) for a in range(1, 8) for b in range(a, 12) if perm(b, a) <= 5000]


@pytest.mark.parametrize("sizes", SIZES)
def test_assignments_keep_the_contract(sizes):
    check_set(Assignments(*sizes))
    check_spectrum(Assignments(*sizes), expected=True)


def test_items_and_places_have_names():
    shifts = Assignments(["ann", "bob"], ["early", "late", "night"])
    check_set(shifts)
    check_samples(shifts, uniform=True)
    y = ("late", "early")
    on = [pair for pair, value in zip(shifts.coordinates, shifts.features(y), strict=True) if value]
    assert on == [("ann", "late"), ("bob", "early")]
    assert shifts.decode(shifts.features(y)).y == y


def test_as_many_places_as_items_if_not_said():
    check_set(Assignments("abc"))
    assert Assignments("abc").decode(np.arange(9.0) ** 2).y == ("a", "b", "c")


@pytest.mark.parametrize("n", [2, 5, 9])
def test_square_ones_have_one_eigenvalue(n):
    np.testing.assert_allclose([space.value for space in Assignments(n).cov_spectrum()], [1 / (n - 1), 0])


def test_eigenvalues_of_others():
    values = [Fraction(1, 6), Fraction(7 - 3, 7 * 6), 0]
    np.testing.assert_allclose([space.value for space in Assignments(3, 7).cov_spectrum()], [float(v) for v in values])


@given(st.sampled_from([(a, b) for a, b in SIZES if perm(b, a) <= 200]), st.data())
def test_the_best_assignment_is_found(sizes, data):
    assert check_best(Assignments(*sizes), data.draw(scores(sizes[0] * sizes[1]))).exact


@pytest.mark.parametrize("outputs", [Assignments(200), Assignments(150, 300)])
def test_sizes_beyond_doubles(outputs):
    check_large(outputs)


def test_sizes_are_accurate():
    np.testing.assert_allclose(Assignments(150, 300).log_size(), log(perm(300, 150)), rtol=1e-13)


def test_what_is_no_assignment_is_explained():
    outputs = Assignments(2, ["x", "y", "z"])
    rejects(outputs, ("x",), "1 places were found; expected 2, one for every item")
    rejects(outputs, ("x", "x"), "place 'x' is repeated")
    rejects(outputs, ("x", "w"), "'w' is not one of the places; expected 'x', 'y', 'z'")
    rejects(outputs, {"x", "y"}, "a set has no order")
    rejects(outputs, None, "the assignment is None")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3, 2), "there is no assignment of 3 items to 2 places; expected at least as many places"),
        ((0,), "there must be at least 1 item, got 0"),
        ((2, 2.5), "the places are given as 2.5"),
        ((["a", "a"],), "item 'a' is named twice"),
    ],
)
def test_what_are_no_sizes_is_explained(arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        Assignments(*arguments)


def test_what_are_no_scores_is_explained():
    with pytest.raises(ValueError, match="score 2 is inf; expected finite numbers"):
        Assignments(2).decode(np.array([0, 0, np.inf, 0]))
