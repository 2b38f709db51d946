"""PairGains: what the search finds lies between its start and its bound, and no single step improves it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from structures.clustering.compiled import agglomeration_twin as twin
from structures.clustering.pair_strategies import best_total, pair_gains

from maxmargin.structures.clustering.agglomeration import PairGains, partitions


@pytest.mark.parametrize(("n", "bell"), [(1, 1), (2, 2), (3, 5), (4, 15), (5, 52), (6, 203)])
def test_partitions_are_all_clusterings_once(n, bell):
    found = [tuple(labels.tolist()) for labels in partitions(n)]
    assert len(found) == len(set(found)) == bell
    for labels in found:
        assert list(dict.fromkeys(labels)) == list(range(max(labels) + 1))


@given(pair_gains())
def test_total(gains):
    for labels in partitions(gains.n_items):
        assert gains.total(labels) == twin.value_of(gains.matrix, labels.tolist())
        assert gains.plus(np.ones(len(gains.gains))).total(labels) == gains.total(labels) + gains.together(labels).sum()


@given(pair_gains(), st.data())
def test_search_is_between_start_and_bound(gains, data):
    start = np.array(data.draw(st.permutations(range(gains.n_items)))) // 2
    before = start.copy()
    labels = gains.climbed(start)
    assert (start == before).all()
    assert gains.total(start) <= gains.total(labels) <= best_total(gains) <= gains.bound()
    value = gains.total(labels)
    for a in set(labels.tolist()):
        for b in set(labels.tolist()):
            assert gains.total(np.where(labels == b, a, labels)) <= value
    for item in range(gains.n_items):
        for other in [*set(labels.tolist()), gains.n_items]:
            moved = labels.copy()
            moved[item] = other
            assert gains.total(moved) <= value


def test_moves_repair_early_merges():
    """1 and 2 are merged first, although 2 belongs to 3 and 4."""
    matrix = np.full((5, 5), -5.0)
    for i, j, gain in [(0, 1, 4), (1, 2, 5), (0, 2, -4), (2, 3, 4), (2, 4, 4), (3, 4, 1), (1, 3, -1), (1, 4, -1)]:
        matrix[i, j] = gain
    first, second = (each.astype(np.int32) for each in np.triu_indices(5, 1))
    gains = PairGains(5, first, second, matrix[first, second])
    merged, _ = twin.merge_clusters(gains.matrix, range(5))
    assert gains.total(np.array(merged)) < gains.total(gains.climbed(np.arange(5))) == best_total(gains)


def test_bound_is_below_that_of_single_pairs():
    """Of a square of gaining pairs with losing diagonals."""
    first, second = (each.astype(np.int32) for each in np.triu_indices(4, 1))
    gains = PairGains(4, first, second, np.array([2.0, -3, 2, 2, -3, 2]))
    assert best_total(gains) == 4
    assert 4 <= gains.bound() < 8
