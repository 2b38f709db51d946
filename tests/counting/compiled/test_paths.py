import numpy as np
import pytest
from counting.compiled import tours_twin as twin
from counting.tour_strategies import squares
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.counting.compiled.paths import best_subset, fill_subsets, trace_subset


def filled(W):
    """The table of all paths from node 0, which is the last column."""
    arcs = np.ascontiguousarray(np.roll(W[1:], -1, axis=1))
    table = np.full((2 ** len(arcs), len(arcs) + 1), np.nan)
    table[0] = np.append(W[0, 1:], 0.0)
    fill_subsets(arcs, table)
    return arcs, table


def members(subset):
    return [v for v in range(10) if (subset >> v) & 1]


@given(squares(2, 6))
def test_every_subset_has_its_best_path(W):
    arcs, table = filled(W)
    for subset in range(1, len(table)):
        for step in range(len(arcs) + 1):
            if step not in members(subset):
                assert table[subset, step] == twin.best_through(table[0], arcs, members(subset), step)


@given(squares(2, 6), st.data())
def test_the_best_subset_within_bounds_is_traced(W, data):
    arcs, table = filled(W)
    least = data.draw(st.integers(1, len(arcs)))
    most = data.draw(st.integers(least, len(arcs)))
    subset = best_subset(table, least, most)
    tour = np.full(len(arcs), -1)
    size = trace_subset(arcs, table, subset, tour)
    cycle = [0, *(1 + tour[:size]).tolist()]
    assert (tour[size:] == -1).all()
    assert sorted(tour[:size].tolist()) == members(subset)
    assert least <= size <= most
    best = max(twin.cycle_value(W, each) for each in twin.cycles(len(W), least + 1, most + 1, front=True))
    assert twin.cycle_value(W, cycle) == table[subset, -1] == best


@pytest.mark.parametrize(("least", "most"), [(5, 9), (2, 1)])
def test_no_subset_may_fit(least, most):
    assert best_subset(np.zeros((2**3, 4)), least, most) == -1
