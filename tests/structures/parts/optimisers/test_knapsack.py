"""Knapsack against all sets of things that fit."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from structures.parts.optimisers.proofs_of_solvers import cost_rows, prove

from maxmargin.optimisers import Knapsack
from maxmargin.structures.parts.optimisers import knapsack


def fitting(weights, capacities):
    every = np.array(list(product((0, 1), repeat=weights.shape[1])))
    return every[(every @ weights.T <= capacities).all(axis=1)]


# What is at most so large: TABLE, LARGEST, LOOKS. Searches that are given up go to the table or to the programme.
WAYS = {"table": (2**40, 0, 0), "search": (0, 0, 10**9), "given up": (-1, 2**40, 0), "programme": (0, 0, 0)}


@pytest.mark.parametrize("way", WAYS)
@given(data=st.data(), kinds=st.integers(1, 3), n_items=st.integers(1, 6))
def test_all_ways(way, data, kinds, n_items):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    weights, capacities = rng.integers(0, 7, (kinds, n_items)), rng.integers(0, 13, kinds)
    costs = data.draw(cost_rows(n_items))
    with pytest.MonkeyPatch.context() as patched:
        for name, value in zip(("TABLE", "LARGEST", "LOOKS"), WAYS[way], strict=True):
            patched.setattr(knapsack, name, value)
        if way == "given up":
            patched.setattr(Knapsack, "_cells", 0 if kinds <= 2 else np.inf)  # no looks are allowed
        one = kinds == 1
        solver = Knapsack(weights[0] if one else weights, int(capacities[0]) if one else capacities.tolist())
        assert solver.method == ("table" if way == "table" and kinds <= 2 else "search")
        prove(solver, fitting(weights, capacities), costs, within=1e-6 if way == "programme" else 1e-12)


def test_the_way_follows_from_the_sizes():
    rng = np.random.default_rng(0)
    assert Knapsack(rng.integers(1, 9, 32), 100).method == "table"
    assert Knapsack(rng.integers(300, 800, (2, 32)), [2000, 2000]).method == "search"
    assert Knapsack(rng.integers(1, 9, (3, 5)), [9, 9, 9]).method == "search"


def test_things_without_value_or_weight():
    np.testing.assert_array_equal(Knapsack([0, 0, 1, 9], 1)([2, -1, 0, 5]), [1, 0, 0, 0])
    np.testing.assert_array_equal(Knapsack([0, 0, 1], 0)([2, 1, 3]), [1, 1, 0])


@pytest.mark.parametrize(
    ("weights", "capacity", "message"),
    [
        ([1, 2.5], 3, r"weights must be whole numbers >= 0, but there is 2.5 \(weights and capacities with decimals"),
        ([1, -2], 3, "weights must be whole numbers >= 0, but there is -2.0"),
        ([1, np.nan], 3, "weights must be whole numbers >= 0, but there is nan"),
        (["a", "b"], 3, "weights must be whole numbers >= 0, got"),
        ([1, 2], -1, "capacity must be whole numbers >= 0, but there is -1.0"),
        ([1, 2], [3, 4], r"capacity has shape \(2,\), but weights have shape \(2,\); expected a number"),
        ([[1, 2], [3, 4]], 3, r"capacity has shape \(\), but weights .*; expected 2 numbers, one for every row"),
        ([], 3, r"weights have shape \(0,\); expected one weight per item"),
    ],
)
def test_what_is_refused(weights, capacity, message):
    with pytest.raises(ValueError, match=message):
        Knapsack(weights, capacity)


def test_what_does_not_fit_is_named():
    with pytest.raises(ValueError, match="z weighs 3, which is over the capacity of 2"):
        Knapsack([1, 2], 2).check([1, 1])
    with pytest.raises(ValueError, match="z weighs 5, which is over the capacity 1 of 4"):
        Knapsack([[1, 2], [2, 3]], [3, 4]).check([1, 1])
