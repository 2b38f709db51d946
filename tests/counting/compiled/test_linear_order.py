import numpy as np
from counting.compiled import linear_order_twin as twin
from counting.tour_strategies import squares
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.counting.compiled.linear_order import climb_order, fill_prefixes


@given(squares(1, 5))
def test_every_set_of_first_items_has_its_best_order(W):
    n = len(W)
    table, last = np.full(2**n, np.nan), np.full(2**n, -1, dtype=np.int8)
    fill_prefixes(W, table, last, np.empty(n))
    for subset in range(1, 2**n):
        items = [v for v in range(n) if (subset >> v) & 1]
        assert table[subset] == twin.best_value(W, items)
        order, rest = [], subset
        while rest:
            order.append(int(last[rest]))
            rest ^= 1 << order[-1]
        assert sorted(order) == items
        assert twin.order_value(W, order[::-1]) == table[subset]


@given(squares(1, 8), st.randoms(use_true_random=False))
def test_no_single_item_has_a_better_place_in_the_end(W, random):
    start = random.sample(range(len(W)), len(W))
    order = np.array(start, dtype=np.int64)
    climb_order(W, order, 1e-9)
    found = order.tolist()
    assert sorted(found) == sorted(start)
    assert twin.order_value(W, found) >= twin.order_value(W, start)
    assert all(twin.order_value(W, other) <= twin.order_value(W, found) for other in twin.insertions(found))


def test_gains_within_the_tolerance_are_left():
    W = np.array([[0.0, 0.0], [0.5, 0.0]])
    order = np.array([0, 1])
    climb_order(W, order, 0.5)
    assert order.tolist() == [0, 1]
    climb_order(W, order, 0.4)
    assert order.tolist() == [1, 0]
