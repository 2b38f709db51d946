"""The relaxation against the list of all clusterings, and clusterings made of its solutions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from structures.clustering.pair_strategies import best_total, pair_gains
from thorough import examples

from maxmargin.structures.clustering.agglomeration import PairGains
from maxmargin.structures.clustering.triangles import Relaxation, relaxed, rounded


def all_triangles(gains):
    """The value of the relaxation with every triangle written out."""
    n = gains.n_items
    first, second = np.triu_indices(n, 1)
    place = {(i, j): e for e, (i, j) in enumerate(zip(first.tolist(), second.tolist(), strict=True))}
    rows = []
    for j in range(n):
        for i, k in place:
            if j not in (i, k):
                row = np.zeros(len(place))
                row[place[min(i, j), max(i, j)]] = row[place[min(j, k), max(j, k)]] = 1
                row[place[i, k]] = -1
                rows.append(row)
    if not rows:
        return float(np.maximum(gains.gains, 0).sum())
    found = linprog(-gains.matrix[first, second], A_ub=np.array(rows), b_ub=np.ones(len(rows)), bounds=(0, 1))
    return -found.fun


@examples(20, 60)
@given(pair_gains())
def test_solution_of_the_relaxation(gains):
    found = relaxed(gains)
    value = float(gains.gains @ found.listed)
    assert value == pytest.approx(all_triangles(gains), abs=1e-6)
    assert value <= found.bound + 1e-9
    assert found.bound == pytest.approx(value, abs=1e-6)
    assert best_total(gains) <= found.bound + 1e-9
    assert (found.shares == found.shares.T).all()
    assert found.shares.min() >= 0
    assert found.shares.max() <= 1
    for j in range(gains.n_items):
        assert (found.shares[:, [j]] + found.shares[[j]] - found.shares <= 1 + 1e-5).all()


@examples(20, 60)
@given(pair_gains())
def test_rounded_solutions(gains):
    found = relaxed(gains)
    labels = rounded(gains, found)
    assert gains.total(labels) <= best_total(gains)
    if found.whole:
        np.testing.assert_array_equal(gains.together(labels), found.listed)
        assert gains.total(labels) == best_total(gains) == pytest.approx(found.bound, abs=1e-6)


@examples(12, 30)
@given(pair_gains(), st.data())
def test_known_triangles_change_no_value(gains, data):
    values = np.array(data.draw(st.permutations(gains.gains)), dtype=float)
    known = relaxed(PairGains(gains.n_items, gains.first, gains.second, values)).triangles
    assert relaxed(gains, known).bound == pytest.approx(relaxed(gains).bound, abs=1e-6)


def star():
    """A middle that wants to be with three others, who want to be apart: the relaxation halves all its pairs."""
    first, second = (each.astype(np.int32) for each in np.triu_indices(4, 1))
    return PairGains(4, first, second, np.array([1.0, 1, 1, -1, -1, -1]))


def test_fractional_solution():
    found = relaxed(star())
    assert not found.whole
    assert found.bound == pytest.approx(1.5)
    assert best_total(star()) == 1
    assert star().total(rounded(star(), found)) == 1
    np.testing.assert_allclose(found.listed, [0.5, 0.5, 0.5, 0, 0, 0])
    assert len(found.triangles) == 3


def test_parts_are_solved_alone():
    """Two stars that repel each other."""
    values = np.full((8, 8), -1.0)
    values[:4, :4] = values[4:, 4:] = star().matrix
    first, second = (each.astype(np.int32) for each in np.triu_indices(8, 1))
    found = relaxed(PairGains(8, first, second, values[first, second]))
    assert found.bound == pytest.approx(3)
    assert (found.shares[:4, 4:] == 0).all()
    assert sorted(set((found.triangles // 4).ravel().tolist())) == [0, 1]
    assert all(len(set(each)) == 1 for each in (found.triangles // 4).tolist())


def test_rounding_of_a_point_that_says_nothing():
    gains = star()
    half = Relaxation(np.full((4, 4), 0.5), np.full(6, 0.5), 1.5, np.empty((0, 3), dtype=np.int64))
    assert gains.total(rounded(gains, half)) == 1


def test_larger_sets_than_can_be_listed():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 5, 30)
    first, second = (each.astype(np.int32) for each in np.triu_indices(30, 1))
    noise = rng.normal(size=len(first)) * 1.2
    gains = PairGains(30, first, second, np.where(labels[first] == labels[second], 1.0, -1.0) + noise)
    found = relaxed(gains)
    value = gains.total(rounded(gains, found))
    assert gains.total(labels) <= value <= found.bound + 1e-9 <= gains.bound() + 1e-6
    assert found.bound <= 1.01 * value


@pytest.mark.parametrize("scale", [1e-8, 1e-4, 1e6, 1e10])
def test_the_size_of_scores_does_not_matter(scale):
    """HiGHS has absolute tolerances; the programme it gets has scores of size 1."""
    rng = np.random.default_rng(0)
    for n in (5, 9, 14):
        first, second = (side.astype(np.int32) for side in np.triu_indices(n, 1))
        gains = rng.standard_normal(len(first))
        plain = relaxed(PairGains(n, first, second, gains))
        scaled = relaxed(PairGains(n, first, second, scale * gains))
        assert scaled.bound == pytest.approx(scale * plain.bound, rel=1e-9)
        assert scale * gains @ scaled.listed == pytest.approx(scaled.bound, rel=1e-9)
