"""Landmarks: leverage scores by their definition, and what each way of choosing promises."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from thorough import examples

from maxmargin.kernels import RBF, Linear, Precomputed
from maxmargin.kernels.landmarks import KINDS, chosen_landmarks, distinct_rows, leverage_scores


def clusters(n=200, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(6, 3))[np.arange(n) % 6] * 4 + rng.normal(size=(n, 3)) * 0.3


@given(st.integers(0, 10**6), st.integers(1, 30), st.integers(1, 3))
@examples(16, 40)
def test_distinct_rows_are_all_of_them_and_once_each(seed, n, width):
    rows = np.random.default_rng(seed).integers(0, 2, (n, width)).astype(float)
    expected = sorted({tuple(row): i for i, row in reversed(list(enumerate(rows.tolist())))}.values())
    assert distinct_rows(rows).tolist() == expected
    assert distinct_rows(sparse.csr_array(rows)).tolist() == expected


@pytest.mark.parametrize("ridge", [0.01, 1.0, 30.0])
def test_leverage_of_a_pilot_of_all_rows_is_that_of_the_definition(ridge):
    rows = clusters(40)
    kernel = RBF(0.2).fit(rows)
    gram = kernel.values(rows, rows)
    everyone = np.arange(40)
    expected = np.diag(gram @ np.linalg.inv(gram + ridge * np.eye(40)))
    assert leverage_scores(kernel, rows, everyone, everyone, ridge) == pytest.approx(expected, abs=1e-9)


def test_leverage_of_fewer_candidates_and_a_small_pilot_follows_its_formula():
    rows = clusters(60)
    kernel = RBF(0.2).fit(rows)
    gram = kernel.values(rows, rows)
    candidates, pilot = np.arange(0, 60, 2), np.arange(0, 60, 6)
    inner = np.linalg.inv(gram[np.ix_(pilot, pilot)] + 0.5 * len(pilot) / len(candidates) * np.eye(len(pilot)))
    across = gram[np.ix_(candidates, pilot)]
    expected = np.clip((1 - np.einsum("ij,jk,ik->i", across, inner, across)) / 0.5, 0, 1)
    assert leverage_scores(kernel, rows, candidates, pilot, 0.5) == pytest.approx(expected, abs=1e-9)


def test_without_a_ridge_it_is_the_mean_of_the_tail():
    rows = clusters(40)
    kernel = RBF(0.2).fit(rows)
    everyone, pilot = np.arange(40), np.arange(0, 40, 2)
    values = np.linalg.eigvalsh(kernel.values(rows[pilot], rows[pilot]))[::-1] * 2  # n/s = 2
    expected = leverage_scores(kernel, rows, everyone, pilot, values[5:].sum() / 5)
    assert leverage_scores(kernel, rows, everyone, pilot) == pytest.approx(expected)


@pytest.mark.parametrize("shape", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("kind", KINDS)
def test_landmarks_are_as_many_as_asked_for_and_different(kind, shape):
    rows = clusters()
    found = chosen_landmarks(kind, RBF().fit(rows), shape(rows), np.arange(200), 12, np.random.RandomState(0))
    assert sparse.issparse(found.rows) == (shape is not np.asarray)
    landmarks = found.rows.toarray() if sparse.issparse(found.rows) else found.rows
    assert len(np.unique(landmarks, axis=0)) == len(landmarks) == 12
    if found.numbers is not None:
        assert np.array_equal(landmarks, rows[found.numbers])


def test_centres_are_found_in_every_cluster():
    rows = clusters()
    found = chosen_landmarks("k-means", RBF().fit(rows), rows, np.arange(200), 6, np.random.RandomState(0))
    distance = np.linalg.norm(rows[:, None] - found.rows, axis=2)
    assert found.numbers is None
    assert distance.min(axis=1).max() < 2.0
    nearest = chosen_landmarks("k-means", RBF(), sparse.csr_array(rows), np.arange(200), 6, np.random.RandomState(0))
    assert nearest.numbers.tolist() == np.sort(distance.argmin(axis=0)).tolist()


def test_a_lonely_row_has_leverage():
    rows = np.vstack([np.zeros((300, 2)) + 0.01 * np.random.default_rng(0).normal(size=(300, 2)), [[50.0, 50.0]]])
    kernel, everyone = RBF(1.0).fit(rows), np.arange(301)
    drawn = [
        chosen_landmarks("leverage", kernel, rows, everyone, 8, np.random.RandomState(s)).numbers for s in range(20)
    ]
    assert sum(300 in numbers for numbers in drawn) >= 15  # uniformly it would be 8 of 301 each time


def test_only_candidates_are_drawn():
    gram = clusters() @ clusters().T
    candidates = np.arange(3, 200, 4)
    for kind in ("leverage", "uniform"):
        found = chosen_landmarks(kind, Precomputed().fit(gram), gram, candidates, 5, np.random.RandomState(1))
        assert set(found.numbers) <= set(candidates)
        assert np.array_equal(found.kept, found.numbers)


def test_what_clusters_cannot_be_made_of():
    gram = clusters() @ clusters().T
    with pytest.raises(ValueError, match="k-means' needs rows of features, and a precomputed kernel has none"):
        chosen_landmarks("k-means", Precomputed().fit(gram), gram, np.arange(200), 5, np.random.RandomState(1))
    wide = sparse.csr_array((np.ones(20), (np.arange(20), np.arange(20))), shape=(20, 10**6))
    with pytest.raises(ValueError, match="10 cluster centres of 1000000 features take 76 MB, but cache_mb = 1;"):
        chosen_landmarks("k-means", Linear(cache_mb=1), wide, np.arange(20), 10, np.random.RandomState(1))
