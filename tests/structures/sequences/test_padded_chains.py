"""Padded batches of label sequences: against the same sequences in a row, for all masks, lengths, sizes and threads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from thorough import examples

from maxmargin.problem.contract.scored import inner
from maxmargin.structures.sequences.chain_space import ChainScores
from maxmargin.structures.sequences.padded_chains import MOST_BLOCKS, PaddedChains


def batch(rng, B=5, T=6, K=3, dtype=np.float64, scale=1.0, **options):
    """Return a random space with truths, and random scores."""
    mask = rng.random((B, T)) < 0.7
    truth = np.where(mask, rng.integers(0, K, (B, T)), -100)
    cost = rng.integers(0, 3, (K, K)) * (1 - np.eye(K))
    space = PaddedChains(mask, K, truth=truth, cost=cost, factors=rng.integers(1, 3, (B, T)), **options)
    unary, *links = (scale * np.rint(2 * rng.standard_normal(shape)) for shape in ((B, T, K), (K, K), K, K))
    return space, ChainScores(unary.astype(dtype), *links)


def in_a_row(space, scores):
    """Return the same sequences as a ChainSpace, without empty ones, with their scores, and the rows of the batch."""
    rows = np.flatnonzero(space.mask)
    unary = scores.unary.reshape(-1, space.n_labels)[rows].astype(float)
    return space.packed(), scores._replace(unary=unary), rows


@examples(30, 200)
@given(st.integers(0, 10**6), st.integers(0, 7), st.integers(0, 6), st.integers(1, 4), st.integers(-8, 8))
def test_losses_are_those_of_the_same_sequences_in_a_row(seed, B, T, K, power):
    rng = np.random.default_rng(seed)
    space, scores = batch(rng, B, T, K, scale=10.0**power)
    row, own, rows = in_a_row(space, scores)
    weights = rng.integers(0, 3, B).astype(float)
    filled, size = space.mask.any(axis=1), 1e-12 * (1 + 20 * 10.0**power)
    truth = row.totals(own, row.truth)
    hinge = space.hinge(scores, 1.0, weights)
    best = row.best(own, 1.0)
    np.testing.assert_allclose(hinge.values[filled], best.values - truth, rtol=1e-12, atol=size)
    assert (hinge.values[~filled] == 0).all()
    expected = row.indicator(best.found, weights[filled])
    right = row.indicator(row.truth, weights[filled])
    unary = hinge.gradient.unary.reshape(-1, K)
    np.testing.assert_array_equal(unary[rows], expected.unary - right.unary)
    assert not np.delete(unary, rows, axis=0).any()
    for found, one, other in zip(hinge.gradient[1:], expected[1:], right[1:], strict=True):
        np.testing.assert_allclose(found, one - other, atol=1e-12)
    for sharpness, augment in ((1.0, 0.0), (2.0, 1.0)):
        soft, sums = (
            space.soft_hinge(scores, augment, sharpness, weights),
            row.soft_best(own, augment, sharpness, weights[filled]),
        )
        np.testing.assert_allclose(soft.values[filled], sums.values - truth, rtol=1e-9, atol=1e3 * size)
        for found, one, other in zip(soft.gradient[1:], sums.indicator[1:], right[1:], strict=True):
            np.testing.assert_allclose(found, one - other, atol=1e-9)
        np.testing.assert_allclose(
            soft.gradient.unary.reshape(-1, K)[rows], sums.indicator.unary - right.unary, atol=1e-9
        )


@examples(20, 100)
@given(st.integers(0, 10**6), st.booleans())
def test_steps_of_their_own_that_are_all_equal_are_shared_ones(seed, augmented):
    rng = np.random.default_rng(seed)
    space, scores = batch(rng)
    steps = np.broadcast_to(scores.transitions, (*space.mask.shape, 3, 3))
    own, augment = scores._replace(transitions=steps), float(augmented)
    np.testing.assert_array_equal(space.best(own).values, space.best(scores).values)
    for one, other in (
        (space.hinge(own, augment), space.hinge(scores, augment)),
        (space.soft_hinge(own, augment, 1.5), space.soft_hinge(scores, augment, 1.5)),
    ):
        np.testing.assert_allclose(one.values, other.values, atol=1e-11)
        np.testing.assert_allclose(one.gradient.transitions.sum(axis=(0, 1)), other.gradient.transitions, atol=1e-11)
        np.testing.assert_allclose(one.gradient.unary, other.gradient.unary, atol=1e-11)


def test_gradients_of_steps_of_their_own_are_those_of_differences():
    rng = np.random.default_rng(3)
    space, scores = batch(rng, B=2, T=4)
    scores = ChainScores(rng.standard_normal((2, 4, 3)), rng.standard_normal((2, 4, 3, 3)), *scores[2:])
    for loss in (space.hinge, space.soft_hinge):
        slopes = loss(scores).gradient.transitions
        for at in np.ndindex(slopes.shape):
            high, low = scores.transitions.copy(), scores.transitions.copy()
            high[at] += 1e-6
            low[at] -= 1e-6
            up, down = (loss(scores._replace(transitions=each)).values.sum() for each in (high, low))
            assert (up - down) / 2e-6 == pytest.approx(slopes[at], abs=1e-6)


@pytest.mark.parametrize("n_jobs", [2, 3, 40])
def test_results_do_not_depend_on_threads(n_jobs):
    for seed in range(3):
        alone, scores = batch(np.random.default_rng(seed), B=50, T=9)
        several, _ = batch(np.random.default_rng(seed), B=50, T=9, n_jobs=n_jobs)
        assert len(alone.blocks.borders) <= MOST_BLOCKS + 1
        scores = scores._replace(unary=scores.unary + np.random.default_rng(seed).standard_normal(scores.unary.shape))
        for one, other in (
            (alone.hinge(scores), several.hinge(scores)),
            (alone.soft_hinge(scores), several.soft_hinge(scores)),
        ):
            np.testing.assert_array_equal(one.values, other.values)
            for a, b in zip(one.gradient, other.gradient, strict=True):
                np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(alone.best(scores).found, several.best(scores).found)


def test_single_precision_in_and_out():
    space, scores = batch(np.random.default_rng(1), dtype=np.float32)
    found, exact = space.soft_hinge(scores), space.soft_hinge(scores._replace(unary=scores.unary.astype(float)))
    assert found.gradient.unary.dtype == np.float32
    np.testing.assert_array_equal(found.values, exact.values)
    np.testing.assert_allclose(found.gradient.unary, exact.gradient.unary, atol=1e-6)


def test_the_score_space():
    """Found outputs have the values that their indicators and losses say, for one augment and for one per sequence."""
    rng = np.random.default_rng(0)
    space, scores = batch(rng)
    for augment in (0.0, 1.0, rng.choice([0.0, 1.0, 2.0], len(space))):
        best = space.best(scores, augment)
        assert (best.found[~space.mask] == -100).all()
        for j, each in enumerate(np.eye(len(space))):
            value = inner(space.indicator(best.found, each), scores)
            assert space.totals(scores, best.found)[j] == pytest.approx(value)
            value += np.broadcast_to(augment, len(space))[j] * space.losses(best.found)[j]
            assert best.values[j] == pytest.approx(value)
    np.testing.assert_array_equal(space.losses(space.truth), 0)
    assert len(space.sums(scores).log_partitions) == len(space)
    assert [len(each) for each in space.best_lists(scores, 1)] == [1] * len(space)


def test_lengths_zero_and_one():
    space = PaddedChains.of_lengths([0, 1, 2], 2, 2, truth=[[-100, -100], [1, -100], [0, 1]])
    scores = ChainScores(np.zeros((3, 2, 2)), *space.no_links)
    np.testing.assert_allclose(space.soft_hinge(scores, 0.0).values, [0, np.log(2), 2 * np.log(2)])
    np.testing.assert_array_equal(space.hinge(scores).values, [0, 1, 2])
    nothing = PaddedChains.of_lengths([0, 0], 2, 2, truth=np.zeros((2, 2), dtype=int))
    assert not nothing.hinge(scores._replace(unary=np.zeros((2, 2, 2)))).gradient.unary.any()


def test_errors():
    space = PaddedChains.of_lengths([2], 3, 2, truth=[[0, 1, 5]])
    scores = ChainScores(np.zeros((1, 3, 2)), *space.no_links)
    with pytest.raises(ValueError, match=r"sequence 0, position 1: the label is 2; expected 0 … 1"):
        PaddedChains.of_lengths([2], 3, 2, truth=[[0, 2, 0]])
    with pytest.raises(ValueError, match=r"lengths are \[4\]; expected whole numbers from 0 to 3"):
        PaddedChains.of_lengths([4], 3, 2)
    with pytest.raises(ValueError, match=r"the mask has shape \(3,\)"):
        PaddedChains([True] * 3, 2)
    with pytest.raises(ValueError, match=r"true labels have shape \(1, 2\); expected that of the mask, \(1, 3\)"):
        PaddedChains.of_lengths([2], 3, 2, truth=[[0, 1]])
    with pytest.raises(ValueError, match=r"cost has shape \(3, 3\); expected \(2, 2\)"):
        PaddedChains.of_lengths([2], 3, 2, truth=[[0, 1, 0]], cost=np.zeros((3, 3)))
    with pytest.raises(ValueError, match=r"scores `unary` have shape \(1, 2, 2\); expected \(1, 3, 2\)"):
        space.hinge(scores._replace(unary=np.zeros((1, 2, 2))))
    closed = np.array([[0.0, -np.inf], [0.0, 0.0]])
    with pytest.raises(ValueError, match="sequence 0: its loss is inf; expected finite scores of its true labels"):
        space.hinge(scores._replace(transitions=closed))
    with pytest.raises(ValueError, match="transitions of the shape"):
        space.sums(scores._replace(transitions=np.zeros((1, 3, 2, 2))))
    with pytest.raises(ValueError, match="sharpness is 0; expected a positive number"):
        space.soft_hinge(scores, sharpness=0)
    with pytest.raises(ValueError, match="soft_hinge"):
        space.soft_best(scores, 1.0)
