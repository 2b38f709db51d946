"""Rows of the kernel matrix: right whatever the cache holds, computed once, within the budget."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import whole

from maxmargin.kernels import Function, Linear, Polynomial
from maxmargin.kernels.rows import KernelRows

KERNEL = Polynomial(2, gamma=1.0, coef0=1.0)


def row_mb(n, rows):
    return 8 * n * (rows + 0.5) / 2**20


@given(units=whole((7, 2)), capacity=st.integers(1, 7), data=st.data())
def test_products_are_those_of_the_whole_matrix(units, capacity, data):
    kernel = KERNEL.fit(units)
    gram = kernel.values(units, units)
    rows = KernelRows(kernel, units, row_mb(7, capacity))
    assert rows.capacity == capacity
    for _ in range(data.draw(st.integers(1, 6))):
        chosen = np.array(data.draw(st.lists(st.integers(0, 6), min_size=1, max_size=7, unique=True)))
        if data.draw(st.booleans()):
            rows.whole(chosen[:capacity])
            slots = rows.slot_of[chosen[:capacity]]
            assert rows.complete[slots].all()
            assert np.array_equal(rows.store[slots], gram[chosen[:capacity]])
        else:
            coefficients = data.draw(whole((7, 2)))
            assert np.array_equal(rows.products(coefficients, chosen), gram[chosen] @ coefficients)
        used = np.flatnonzero(rows.slot_of >= 0)
        assert len(used) <= capacity
        assert np.array_equal(rows.unit_of[rows.slot_of[used]], used)
        for u in used:
            row = rows.store[rows.slot_of[u]]
            assert rows.known[rows.slot_of[u]] == np.count_nonzero(~np.isnan(row))
            assert np.array_equal(row[~np.isnan(row)], gram[u][~np.isnan(row)])


def counting(units):
    """A linear kernel that counts its own evaluations."""
    counted = []

    def function(A, B):
        counted.append(len(A) * len(B))
        return A @ B.T

    return Function(function).fit(units), counted


def test_nothing_is_computed_twice_while_it_is_kept():
    units = np.arange(20.0).reshape(10, 2)
    kernel, counted = counting(units)
    rows = KernelRows(kernel, units)
    coefficients = np.zeros((10, 1))
    coefficients[[2, 5]] = 1.0
    rows.products(coefficients, np.arange(4))
    assert rows.evaluations == sum(counted) == 8
    rows.products(coefficients, np.arange(4))
    assert rows.evaluations == sum(counted) == 8
    rows.products(coefficients, np.arange(10))
    assert rows.evaluations == sum(counted) == 20
    rows.whole(np.array([2, 5]))
    assert rows.evaluations == sum(counted) == 20
    rows.whole(np.array([3]))  # two of its ten values are known from the rows of 2 and 5
    assert rows.evaluations == sum(counted) == 28


def test_the_row_used_longest_ago_makes_room():
    units = np.arange(10.0).reshape(5, 2)
    rows = KernelRows(Linear(), units, row_mb(5, 2))
    for u in (0, 1, 0, 3):
        rows.whole(np.array([u]))
    assert np.flatnonzero(rows.slot_of >= 0).tolist() == [0, 3]


def test_a_product_with_more_rows_than_fit_leaves_the_cache_alone():
    units = np.arange(10.0).reshape(5, 2)
    rows = KernelRows(Linear(), units, row_mb(5, 2))
    rows.whole(np.array([1, 4]))
    before = rows.evaluations
    assert rows.products(np.ones((5, 1)), np.arange(5)) == pytest.approx((units @ units.T).sum(axis=1, keepdims=True))
    assert np.flatnonzero(rows.slot_of >= 0).tolist() == [1, 4]
    assert rows.evaluations - before == 9  # rows 0, 2 and 3, whose values with 1 and 4 are known


def test_one_row_must_fit():
    with pytest.raises(
        ValueError, match=r"one row of the kernel matrix of 1000 units takes 0.00763 MB, but cache_mb = 0"
    ):
        KernelRows(Linear(cache_mb=0.001), np.ones((1000, 1)))


def test_values_that_are_not_finite_name_the_units():
    def broken(A, B):
        return np.where((A[:, :1] == 3) & (B[:, 0] == 1), np.nan, 1.0)

    units = np.arange(5.0)[:, None]
    rows = KernelRows(Function(broken), units)
    with pytest.raises(ValueError, match="the kernel of training units 3 and 1 is nan; it must be a finite number"):
        rows.whole(np.array([0, 3]))
    diagonal = KernelRows(Function(lambda A, B: np.full((len(A), len(B)), np.inf)), units)
    with pytest.raises(ValueError, match="units 0 and 0 is inf"):
        diagonal.diagonal  # noqa: B018


def test_pickles_without_the_cache():
    units = np.random.default_rng(0).normal(size=(400, 3))
    rows = KernelRows(Linear(), units)
    rows.whole(np.arange(400))
    data = pickle.dumps(rows)
    assert len(data) < 3 * units.nbytes
    again = pickle.loads(data)
    assert again.products(np.ones((400, 1)), np.arange(400)) == pytest.approx(
        rows.products(np.ones((400, 1)), np.arange(400))
    )
