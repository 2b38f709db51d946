"""Losses of scores and their gradients: every structure against all of its outputs, written out."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from enumerated_spaces import SEARCHED_ONLY, SPACES
from hypothesis import given
from hypothesis import strategies as st
from thorough import examples

from maxmargin import neural, tasks
from maxmargin.neural.score_trees import leaves, mapped
from maxmargin.problem.contract.scored import arrays_of, inner

SUMMED = [name for name in SPACES if name not in SEARCHED_ONLY]
EXACT_SLACKS = ("classes", "chains", "padded chains", "parse trees")


def written_out(listed, scores):
    """Return the scores, losses and indicators of all outputs, the score of the truth, and its indicator."""
    counts = [listed.space.indicator(z) for z in listed.outputs]
    each = np.array([inner(own, scores) for own in counts])
    losses = np.array([float(listed.space.losses(z)[0]) for z in listed.outputs])
    truth = listed.space.indicator(listed.space.truth)
    return each, losses, counts, inner(truth, scores), truth


def expected_gradient(p, counts, truth):
    """Return Σ p(z) indicator(z) - indicator(truth), as a list of arrays."""
    rows = [[q * each for each in arrays_of(own)] for q, own in zip(p, counts, strict=True)]
    sums = [sum(each) for each in zip(*rows, strict=True)]
    return [own - right for own, right in zip(sums, arrays_of(truth), strict=True)]


def same(found, expected, tol=1e-9):
    for one, other in zip(leaves(found), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=tol, atol=tol)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", SPACES)
def test_hinge_is_the_maximum_over_all_outputs(name, seed):
    listed = SPACES[name](np.random.default_rng(seed))
    scores, losses, counts, right, truth = written_out(listed, listed.scores)
    found = neural.loss(listed.space, listed.scores, "hinge")
    best = int(np.argmax(scores + losses))
    assert found.values[0] == pytest.approx(scores[best] + losses[best] - right, abs=1e-9)
    same(found.gradient, expected_gradient(np.eye(len(scores))[best], counts, truth))


@pytest.mark.parametrize("name", SPACES)
def test_spo_plus_is_the_maximum_over_all_outputs_at_twice_the_scores(name):
    listed = SPACES[name](np.random.default_rng(5))
    scores, losses, counts, right, truth = written_out(listed, listed.scores)
    found = neural.loss(listed.space, listed.scores, "spo_plus")
    best = int(np.argmax(2 * scores + losses))
    assert found.values[0] == pytest.approx(2 * scores[best] + losses[best] - 2 * right, abs=1e-9)
    same(found.gradient, [2 * each for each in expected_gradient(np.eye(len(scores))[best], counts, truth)])


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("sharpness", [None, 1.0, 3.0, 0.2])
@pytest.mark.parametrize("name", SUMMED)
def test_smooth_objectives_are_sums_over_all_outputs(name, sharpness, seed):
    listed = SPACES[name](np.random.default_rng(seed))
    scores, losses, counts, right, truth = written_out(listed, listed.scores)
    b, objective = (1.0, neural.Likelihood()) if sharpness is None else (sharpness, neural.SoftmaxMargin(sharpness))
    raised = b * (scores + (0.0 if sharpness is None else losses))
    log_z = np.logaddexp.reduce(raised)
    found = neural.loss(listed.space, listed.scores, objective)
    assert found.values[0] == pytest.approx(log_z / b - right, abs=1e-9)
    same(found.gradient, expected_gradient(np.exp(raised - log_z), counts, truth), 1e-8)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", SPACES)
def test_slack_rescaling_finds_the_maximum_or_a_lower_bound(name, seed):
    listed = SPACES[name](np.random.default_rng(seed))
    scores, losses, counts, right, truth = written_out(listed, listed.scores)
    found = neural.loss(listed.space, listed.scores, neural.Hinge(rescaling="slack"))
    violations = losses * (1 + scores - right)
    highest = max(0.0, violations.max())
    assert found.values[0] <= highest + 1e-9
    if name in EXACT_SLACKS:
        assert found.values[0] == pytest.approx(highest, abs=1e-9)
        best = int(np.argmax(violations))
        if highest > 0:
            slopes = expected_gradient(np.eye(len(scores))[best], counts, truth)
            same(found.gradient, [losses[best] * each for each in slopes])
    value = float(found.values[0])
    assert any(abs(value - max(0.0, each)) < 1e-9 for each in violations)


@pytest.mark.parametrize("name", SPACES)
def test_perturbed_is_the_mean_of_maxima_at_perturbed_scores(name):
    listed = SPACES[name](np.random.default_rng(7))
    rng, values, slopes = np.random.default_rng(3), [], []
    for _ in range(5):
        moved = mapped(lambda each: each + 0.7 * rng.standard_normal(np.shape(each)), listed.scores)
        scores, _, counts, right, truth = written_out(listed, moved)
        values.append(scores.max() - right)
        slopes.append(expected_gradient(np.eye(len(scores))[np.argmax(scores)], counts, truth))
    found = neural.loss(listed.space, listed.scores, neural.Perturbed(0.7, 5, random_state=3))
    assert found.values[0] == pytest.approx(np.mean(values), abs=1e-9)
    same(found.gradient, [np.mean(each, axis=0) for each in zip(*slopes, strict=True)])


OBJECTIVES = [
    neural.Hinge(),
    neural.Hinge("slack"),
    neural.SoftmaxMargin(2.0),
    neural.Likelihood(),
    neural.Perturbed(0.5, 3),
    neural.SPOPlus(),
]


@pytest.mark.parametrize("objective", OBJECTIVES, ids=str)
@pytest.mark.parametrize("name", SPACES)
def test_gradients_are_those_of_finite_differences(name, objective):
    if name in SEARCHED_ONLY and isinstance(objective, neural.SoftmaxMargin | neural.Likelihood):
        pytest.skip("these structures do not sum over outputs")
    listed = SPACES[name](np.random.default_rng(11))
    found, weights = neural.loss(listed.space, listed.scores, objective, np.array([2.5])), np.array([2.5])
    for k, slopes in enumerate(leaves(found.gradient)):
        for at in list(np.ndindex(np.shape(slopes)))[:12]:

            def moved(step, k=k, at=at):
                numbers = iter(range(100))

                def change(each):
                    own = np.array(each, dtype=float)
                    if next(numbers) == k:
                        own[at] += step
                    return own

                value = neural.loss(listed.space, mapped(change, listed.scores), objective, weights).values
                return float(weights @ value)

            slope = (moved(1e-6) - moved(-1e-6)) / 2e-6
            assert slope == pytest.approx(slopes[at], abs=2e-5)


@pytest.mark.parametrize("name", SEARCHED_ONLY)
def test_structures_without_sums_say_so(name):
    listed = SPACES[name](np.random.default_rng(0))
    with pytest.raises(ValueError, match="cannot sum over all outputs, as smooth objectives need; use Hinge"):
        neural.loss(listed.space, listed.scores, "likelihood")
    with pytest.raises(ValueError, match="has no probabilities"):
        neural.marginals(listed.space, listed.scores)
    with pytest.raises(ValueError, match="cannot list its best outputs"):
        neural.n_best(listed.space, listed.scores, 2)


@pytest.mark.parametrize("name", SUMMED)
def test_marginals_and_entropies_are_those_of_all_outputs(name):
    listed = SPACES[name](np.random.default_rng(2))
    scores, _, counts, _, truth = written_out(listed, listed.scores)
    p = np.exp(scores - np.logaddexp.reduce(scores))
    none = mapped(np.zeros_like, truth)
    same(neural.marginals(listed.space, listed.scores), expected_gradient(p, counts, none), 1e-8)
    if name != "label sets":
        entropy = -float(p @ np.log(p))
        assert neural.entropies(listed.space, listed.scores)[0] == pytest.approx(entropy, abs=1e-8)
        assert len(neural.sample(listed.space, listed.scores, 4)[0]) == 4


@pytest.mark.parametrize("name", ["classes", "chains", "padded chains", "segments", "parse trees"])
def test_lists_have_the_best_outputs(name):
    listed = SPACES[name](np.random.default_rng(4))
    scores, *_ = written_out(listed, listed.scores)
    found = neural.n_best(listed.space, listed.scores, 5)[0]
    np.testing.assert_allclose([value for _, value in found], np.sort(scores)[::-1][:5], atol=1e-9)


def test_weights_multiply_the_gradient_of_each_input_and_not_the_values():
    space = tasks.ClassSpace.of_labels([0, 1], 3)
    scores = np.random.default_rng(0).standard_normal((2, 3))
    plain, weighted = (neural.loss(space, scores, "likelihood", w) for w in (None, np.array([2.0, 0.0])))
    np.testing.assert_array_equal(plain.values, weighted.values)
    np.testing.assert_allclose(weighted.gradient, plain.gradient * [[2.0], [0.0]])


@examples(30, 200)
@given(st.integers(-8, 8), st.sampled_from(sorted(SPACES)), st.integers(0, 3))
def test_losses_hold_at_all_scales_and_with_ties(power, name, seed):
    """Scores are small whole numbers times a power of ten, so that outputs with equal scores are common."""
    listed, scale = SPACES[name](np.random.default_rng(seed)), 10.0**power
    scores = mapped(lambda each: scale * np.rint(each), listed.scores)
    each, losses, _, right, _ = written_out(listed, scores)
    size = 1 + scale * 20
    found = neural.loss(listed.space, scores, "hinge")
    assert found.values[0] == pytest.approx(np.max(each + losses) - right, abs=1e-12 * size)
    assert inner(found.gradient, scores) == pytest.approx(
        found.values[0] - losses[np.argmax(each + losses)], abs=losses.max() + 1e-9 * size
    )
    if name not in SEARCHED_ONLY:
        log_z = np.logaddexp.reduce(each)
        assert neural.loss(listed.space, scores, "likelihood").values[0] == pytest.approx(
            log_z - right, abs=1e-9 * size
        )


def test_unknown_objectives_and_parameters_are_named():
    space = tasks.ClassSpace.of_labels([0], 2)
    with pytest.raises(ValueError, match="objective is 'svm'; expected one of 'hinge', 'softmax_margin'"):
        neural.loss(space, np.zeros((1, 2)), "svm")
    with pytest.raises(ValueError, match="rescaling is 'loss'"):
        neural.Hinge("loss")
    with pytest.raises(ValueError, match="sharpness is 0"):
        neural.SoftmaxMargin(0)
    with pytest.raises(ValueError, match="scale is -1"):
        neural.Perturbed(-1)
    with pytest.raises(ValueError, match="n_samples must be a whole number >= 1"):
        neural.Perturbed(n_samples=0)
    with pytest.raises(FrozenInstanceError):
        neural.Hinge().rescaling = "slack"


def test_a_forbidden_truth_is_named():
    space = tasks.ClassSpace.of_labels([0, 1], 2)
    with pytest.raises(ValueError, match="input 1: its loss is inf; expected finite scores of its true output"):
        neural.loss(space, np.array([[0.0, 0.0], [0.0, -np.inf]]))


def test_losses_need_truths():
    for objective in OBJECTIVES:
        with pytest.raises(ValueError, match="losses need true outputs"):
            neural.loss(tasks.ClassSpace(1, 2), np.zeros((1, 2)), objective)
