from itertools import permutations

import numpy as np
from counting.compiled import tours_twin as twin
from counting.tour_strategies import squares
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.counting.compiled.bounded_paths import count_visits, fill_bounds, search_paths


def bounded(W, k):
    bounds = np.full((k + 1, len(W)), np.nan)
    fill_bounds(W, bounds)
    return bounds


@given(squares(3, 5), st.integers(1, 4))
def test_bounds_are_the_best_walks_back(W, k):
    bounds = bounded(W, k)
    for v in range(1, len(W)):
        assert bounds[0, v] == W[v, 0]
    for t in range(1, k + 1):
        for v in range(len(W)):
            assert bounds[t, v] == max(twin.walk_back(W, v, walk) for walk in twin.walks(len(W), v, t))


@given(squares(3, 5), st.integers(1, 4))
def test_visits_are_those_of_a_best_walk(W, k):
    bounds = bounded(W, k)
    visits = np.full(len(W), -1)
    count_visits(W, bounds, visits)
    best = [walk for walk in twin.walks(len(W), 0, k) if twin.walk_back(W, 0, walk) == bounds[k, 0]]
    assert visits.tolist() in [[walk.count(v) for v in range(len(W))] for walk in best]


@given(squares(2, 6), st.data())
def test_the_search_finds_the_best_cycle_above_the_target(W, data):
    n = len(W)
    k = data.draw(st.integers(1, n - 1))
    prices = np.array([0, *data.draw(st.lists(st.integers(0, 3), min_size=n - 1, max_size=n - 1))], dtype=float)
    target = float(data.draw(st.integers(-12, 12)))
    budget = data.draw(st.sampled_from([1, 3, 10**6]))
    priced = W - prices
    bounds = bounded(priced, k) if n > 2 else np.array([[0.0, priced[1, 0]], [priced[0, 1] + priced[1, 0], -1e308]])
    ahead = np.zeros((k + 1, n, n))
    ahead[1:, :, 1:] = priced[:, 1:] + bounds[:k, None, 1:]
    order = np.argsort(-ahead, axis=2, kind="stable").astype(np.int32)
    path, tried, found = np.full((3, k + 1), 77)
    used, values = np.full(n, 1, dtype=np.uint8), np.empty((2, k + 1))
    value, left = search_paths(W, priced, prices.sum(), bounds, order, target, budget, path, tried, used, values, found)
    best = max(twin.cycle_value(W, [0, *nodes]) for nodes in permutations(range(1, n), k))
    assert 0 <= left <= budget
    if left > 0:
        assert value == max(best, target)
    assert target <= value <= max(best, target)
    if value > target:
        assert len({0, *found[:k].tolist()}) == k + 1
        assert twin.cycle_value(W, [0, *found[:k].tolist()]) == value
