"""Measures of routes, by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin import metrics
from maxmargin.counting.routes import pair_f1, point_f1

ROUTES = st.lists(st.permutations(range(5)).flatmap(lambda p: st.integers(1, 5).map(lambda k: p[:k])), min_size=1)


@pytest.mark.parametrize(
    ("true", "found", "points", "pairs"),
    [
        ("abc", "abc", 1, 1),
        ("abc", "acb", 1, 2 / 3),  # ab, ac, bc against ac, ab, cb
        ("abc", "cba", 1, 0),
        ("abcd", "abxd", 3 / 4, 3 / 6),  # of six pairs each ab, ad, bd
        ("abcd", "ab", 2 / 3, 2 / 7),  # 2·2/(4 + 2); 2·1/(6 + 1)
        ("ab", "xy", 0, 0),
        ("a", "a", 1, 1),  # no pair, none wrong
        ("abc", "a", 1 / 2, 0),
    ],
)
def test_hand_worked(true, found, points, pairs):
    assert point_f1([list(true)], [list(found)]) == pytest.approx(points)
    assert pair_f1([list(true)], [tuple(found)]) == pytest.approx(pairs)


def test_means_over_routes():
    truth, found = [[1, 2, 3], [1, 2]], [[1, 3, 2], [3, 4]]
    assert point_f1(truth, found) == pytest.approx(1 / 2)
    assert pair_f1(truth, found) == pytest.approx(1 / 3)


@given(ROUTES)
def test_true_routes_are_right_and_reversed_ones_have_the_right_points(routes):
    assert point_f1(routes, routes) == pair_f1(routes, routes) == 1
    backwards = [route[::-1] for route in routes]
    assert point_f1(routes, backwards) == 1
    assert pair_f1(routes, backwards) == pytest.approx(np.mean([len(route) == 1 for route in routes]))


def test_numbers_of_numpy_are_the_same_points():
    assert point_f1([np.array([1, 2])], [(2, 1)]) == 1


def test_metrics_has_them():
    assert (metrics.point_f1, metrics.pair_f1) == (point_f1, pair_f1)


@pytest.mark.parametrize("measure", [point_f1, pair_f1])
@pytest.mark.parametrize(
    ("truth", "found", "message"),
    [
        ([[1]], [], "there are 1 true but 0 predicted routes"),
        ([], [], "there are no routes to compare"),
        ([[1], [1, 2, 1]], [[1], [1]], "the true route 1 visits 1 twice; expected different points"),
        ([[1]], [{1}], r"the predicted route 0 is \{1\}; expected a sequence of points"),
        (["abc"], [["a"]], "the true route 0 is 'abc'; expected a sequence of points"),
    ],
)
def test_bad_input(measure, truth, found, message):
    with pytest.raises(ValueError, match=message):
        measure(truth, found)
