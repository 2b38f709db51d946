import numpy as np
import pytest
from counting.compiled import linear_order_twin as twin
from counting.tour_strategies import squares
from hypothesis import given

from maxmargin.counting.decoders.linear_order import (
    best_order,
    exact_order,
    local_order,
    programmed_order,
)


@given(squares(1, 6))
def test_all_prefixes_give_the_best_order(W):
    assert twin.order_value(W, exact_order(W)) == twin.best_value(W, range(len(W)))


@given(squares(2, 6))
def test_the_program_gives_the_best_order(W):
    found = programmed_order(W)
    assert sorted(found) == list(range(len(W)))
    assert twin.order_value(W, found) == twin.best_value(W, range(len(W)))


@given(squares(1, 9))
def test_local_search_ends_where_no_item_has_a_better_place(W):
    found = local_order(W)
    assert sorted(found) == list(range(len(W)))
    value = twin.order_value(W, found)
    assert all(twin.order_value(W, other) <= value for other in twin.insertions(found))
    assert local_order(W) == found


@pytest.mark.parametrize("n", [14, 17])
def test_searches_agree_beyond_enumeration(n):
    W = np.random.default_rng(n).integers(-9, 10, (n, n)) * (1.0 - np.eye(n))
    best = twin.order_value(W, exact_order(W))
    assert twin.order_value(W, programmed_order(W)) == best
    assert best - twin.order_value(W, local_order(W)) <= 0.01 * best


def test_the_choice_of_the_search():
    W = np.random.default_rng(0).normal(size=(16, 16))
    np.fill_diagonal(W, np.nan)  # is not read
    assert best_order(W[:15, :15])[1]
    assert not best_order(W)[1]
    assert best_order(W, "exact")[1]
    assert best_order(W[:9, :9], "milp")[1]
    assert not best_order(W[:9, :9], "local")[1]
    W[0, 1] = np.nan
    with pytest.raises(ValueError, match=r"the score of 0 before 1 is nan; expected finite numbers"):
        best_order(W)
