"""Merges, moves and packed triangles: the compiled functions against their twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import whole
from structures.clustering.compiled import agglomeration_twin as twin

from maxmargin.structures.clustering.agglomeration import ClimbScratch, partitions
from maxmargin.structures.clustering.compiled import agglomeration as compiled
from maxmargin.structures.clustering.measures import mitre_loss


def symmetric(matrix):
    upper = np.triu(matrix, 1)
    return upper + upper.T


@st.composite
def gains(draw, most_items=7):
    n = draw(st.integers(1, most_items))
    return symmetric(draw(whole((n, n))))


@st.composite
def starts(draw, n):
    return np.array(draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n)), dtype=np.int64)


@st.composite
def with_truths(draw, most_items=6):
    """Gains without ties, a start, a true clustering and how much the MITRE loss counts."""
    n, seed = draw(st.integers(1, most_items)), draw(st.integers(0, 2**32 - 1))
    truth = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    numbers = np.array([list(dict.fromkeys(truth)).index(label) for label in truth], dtype=np.int64)
    matrix = symmetric(np.random.default_rng(seed).normal(size=(n, n)))
    return matrix, draw(starts(n)), numbers, draw(st.sampled_from([0.01, 1.0, 4.0, 30.0]))


def run(function, matrix, labels, truth=None, rate=0.0, least=1e-9):
    """(labels, what the function returns); scratch arrays are filled with nonsense."""
    n, labels = len(matrix), labels.copy()
    truth = np.zeros(1, dtype=np.int64) if truth is None else truth
    n_true = int(truth.max()) + 1
    scratch = ClimbScratch.of(n, n_true, counting=rate > 0)
    for each in scratch:
        each.fill(7)
    found = function(matrix, labels, truth, n_true, rate, least, scratch)
    return labels.tolist(), found


@given(gains(), st.data())
def test_merges(matrix, data):
    start = data.draw(starts(len(matrix)))
    for labels in (np.arange(len(matrix)), start):
        assert run(compiled.merge_clusters, matrix, labels) == twin.merge_clusters(matrix, labels)


@given(gains(), st.data())
def test_moves(matrix, data):
    labels = data.draw(starts(len(matrix)))
    assert run(compiled.move_items, matrix, labels) == twin.move_items(matrix, labels)


@given(gains(), st.data())
def test_climbs(matrix, data):
    labels = data.draw(starts(len(matrix)))
    assert run(compiled.climb, matrix, labels)[0] == twin.climb(matrix, labels)


@given(with_truths())
def test_merges_with_the_mitre_loss(drawn):
    matrix, labels, truth, rate = drawn
    found = run(compiled.merge_clusters, matrix, labels, truth, rate)
    assert found == twin.merge_clusters(matrix, labels, truth, rate, 1e-9)


@given(with_truths())
def test_moves_with_the_mitre_loss(drawn):
    matrix, labels, truth, rate = drawn
    found = run(compiled.move_items, matrix, labels, truth, rate)
    assert found == twin.move_items(matrix, labels, truth, rate, 1e-9)


@given(with_truths())
def test_climbs_with_the_mitre_loss(drawn):
    matrix, labels, truth, rate = drawn
    assert run(compiled.climb, matrix, labels, truth, rate)[0] == twin.climb(matrix, labels, truth, rate, 1e-9)


@pytest.mark.slow
def test_merges_of_many_items():
    """Best partners that are remembered stay right over hundreds of merges."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(60, 2))
    distance = np.linalg.norm(points[:, None] - points[None, :], axis=2)
    matrix = symmetric(np.round(8 * (0.6 - distance)))
    found, merges = run(compiled.merge_clusters, matrix, np.arange(60))
    assert (found, merges) == twin.merge_clusters(matrix, np.arange(60))
    assert merges > 30


@given(st.integers(1, 6), st.data())
def test_loss_from_counts(n, data):
    truth, labels = data.draw(starts(n)), data.draw(starts(n))
    cells, sizes = np.full((n, n), 7, dtype=np.int32), np.full(n, 7, dtype=np.int64)
    clusters, parts = compiled.count_sizes(labels, sizes), compiled.count_cells(labels, truth, cells)
    assert sizes.tolist() == np.bincount(labels, minlength=n).tolist()
    assert compiled.mitre(n, parts, clusters, len(set(truth))) == pytest.approx(mitre_loss([truth], [labels]))


@given(gains(most_items=6))
def test_triangles_forbid_no_less_than_packed(matrix):
    residual = matrix.copy()
    packed = compiled.pack_triangles(residual, 10**6)
    assert packed == twin.pack_triangles(matrix)
    free = np.maximum(np.triu(matrix, 1), 0).sum()
    assert free - packed >= max(twin.value_of(matrix, labels) for labels in partitions(len(matrix)))
    # what is left of every pair has its sign and is no more than before
    assert (np.abs(residual) <= np.abs(matrix)).all()
    assert (residual * matrix >= 0).all()


def test_one_bad_triangle():
    matrix = symmetric(np.array([[0, 3.0, -2.0], [0, 0, 1.0], [0, 0, 0]]))
    assert compiled.pack_triangles(matrix.copy(), 100) == 1.0
    assert compiled.pack_triangles(matrix.copy(), 2) == 0.0  # no time to look
