"""Sums over label sequences: against enumeration, at all scales, with and without forbidden transitions."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from structures.sequences.compiled import chain_twin
from thorough import examples

from maxmargin.structures.sequences.chain_sums import ChainSums, steps_to_all
from maxmargin.tasks import Chain, Weighted
from maxmargin.testing import check_sums


def problem(seed, n_labels=3, lengths=(1, 2, 4)):
    rng = np.random.default_rng(seed)
    X = [rng.standard_normal((length, 2)) for length in lengths]
    return X, [[int(k) for k in rng.integers(0, n_labels, length)] for length in lengths]


@pytest.mark.parametrize("scale", [1.0, 30.0, 1e3, 1e8])
@pytest.mark.parametrize("forbidden", [(), [(0, 1), (1, 1)], [(0, 0), (0, 1), (1, 2), (2, 0), (2, 1), (2, 2)]])
def test_sums_are_those_over_all_label_sequences(forbidden, scale):
    X, Y = problem(3)
    Y = [[2, 2, 2, 2][: len(y)] if (2, 2) not in forbidden else [1, 0, 2, 1][: len(y)] for y in Y]
    task = Chain(classes=[0, 1, 2], forbidden=forbidden)
    if (2, 2) in forbidden:  # 0 -> 2 is the only way on from 0, and 2 leads nowhere
        X, Y = [x[:2] for x in X], [[1, 0][: len(y)] for y in Y]
    check_sums(task, X, Y, scale=scale, trials=1)


def test_costs_and_weights_of_positions_are_in_the_margin():
    X, Y = problem(1)
    rng = np.random.default_rng(0)
    Y = [Weighted(y, rng.uniform(0, 2, len(y)).tolist()) for y in Y]
    cost = [[0, 1, 2.5], [0.5, 0, 1], [1, 3, 0]]
    check_sums(Chain(costs=cost, classes=[0, 1, 2]), X, Y, samples=0)


@examples(24, 60)
@given(
    seed=st.integers(0, 10**6),
    n_labels=st.integers(1, 4),
    length=st.integers(1, 5),
    log_scale=st.floats(-8, 8),
    whole=st.booleans(),
    share=st.sampled_from([0.0, 0.2, 0.6]),
)
def test_marginals_of_labels_and_neighbours(seed, n_labels, length, log_scale, whole, share):
    rng = np.random.default_rng(seed)
    scale = 10.0**log_scale
    draw = (
        (lambda *shape: np.rint(scale * rng.standard_normal(shape)))
        if whole
        else (lambda *shape: scale * rng.standard_normal(shape))
    )
    e, T, s, f = draw(length, n_labels), draw(n_labels, n_labels), draw(n_labels), draw(n_labels)
    T[rng.random(T.shape) < share] = -np.inf
    paths = [np.array(path) for path in product(range(n_labels), repeat=length)]
    scores = np.array([chain_twin.score(e, T, s, f, path) for path in paths])
    sums = ChainSums(None, e, (T, s, f), np.array([0, length]))
    weights, pairs = np.array([1.7]), np.zeros((n_labels, n_labels))
    log_z, labels = sums.summed(weights, pairs)
    if not np.isfinite(scores).any():
        assert np.isneginf(log_z[0])
        return
    high = scores.max()
    p = np.exp(scores - high)
    near = 1e-12 + 1e-14 * max(abs(high), 1) * length
    np.testing.assert_allclose(log_z[0], high + np.log(p.sum()), atol=near * max(abs(high), 1), rtol=0)
    p /= p.sum()
    expected = np.zeros((length, n_labels))
    neighbours = np.zeros((max(length - 1, 0), n_labels, n_labels))
    for path, share_of_all in zip(paths, p, strict=True):
        expected[np.arange(length), path] += share_of_all
        neighbours[np.arange(length - 1), path[:-1], path[1:]] += share_of_all
    atol = 1e-11 + 8 * near
    np.testing.assert_allclose(labels, expected, atol=atol, rtol=0)
    np.testing.assert_allclose(sums.transitions(0), neighbours, atol=atol, rtol=0)
    np.testing.assert_allclose(pairs, 1.7 * neighbours.sum(axis=0), atol=10 * atol, rtol=0)
    assert sums.entropies[0] == pytest.approx(-np.dot(p[p > 0], np.log(p[p > 0])), abs=100 * atol)


def test_long_sequences_of_small_masses():
    """Z of a thousand positions is no number any more, and its logarithm is: labels and links are independent here."""
    rng = np.random.default_rng(0)
    e = 20 * rng.standard_normal((1000, 5))
    sums = ChainSums(None, e, (np.zeros((5, 5)), np.zeros(5), np.zeros(5)), np.array([0, 0, 1000, 1000]))
    each = np.logaddexp.reduce(e, axis=1)
    np.testing.assert_allclose(sums.log_partitions, [0, each.sum(), 0], rtol=1e-13)
    np.testing.assert_allclose(sums.labels, np.exp(e - each[:, None]), rtol=1e-12)
    np.testing.assert_allclose(sums.entropies[1], -np.sum(np.exp(e - each[:, None]) * (e - each[:, None])), rtol=1e-9)


def test_steps_in_which_all_labels_are_reached():
    ring = np.full((4, 4), -np.inf)
    ring[np.arange(4), (np.arange(4) + 1) % 4] = 0
    assert steps_to_all(np.zeros((3, 3))) == 1
    assert steps_to_all(ring) == np.inf
    ring[0, 0] = 0  # the worst there is: n² - 2n + 2 steps, but for the loop instead of a chord
    steps = steps_to_all(ring)
    power = np.linalg.matrix_power(np.isfinite(ring).astype(int), int(steps))
    assert power.all()
    assert not np.linalg.matrix_power(np.isfinite(ring).astype(int), int(steps) - 1).all()
