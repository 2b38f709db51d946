"""DependencyParser's probabilities: those of a list of all trees, and training for them."""

import pickle
from functools import cache

import numpy as np
import pytest
from proofs import prove_smooth_training_is_optimal
from sklearn.base import clone
from structures.dependencies.test_task import outputs
from structures.dependencies.tree_lists import sentences

from maxmargin import DependencyParser
from maxmargin.errors import Uncalibrated
from maxmargin.problem.contract.tangents import Softness
from maxmargin.tasks import Dependencies

X, Y = sentences(12, labelled=True, longest=3)
LABELS = sorted({label for y in Y for _, label in y})


@cache
def trained():
    return DependencyParser(C=10.0, objective="likelihood").fit(X, Y)


def listed(model, x, projective=False):
    """All trees with their probabilities."""
    task = model.task_
    trees = list(outputs(True, projective, model.classes_)(x))
    scores = []
    for z in trees:
        places, values = task.psi(x, z)
        scores.append(np.dot(model.w_[places], values) / model.temperature_)
    p = np.exp(np.array(scores) - np.max(scores))
    return trees, p / p.sum()


@pytest.mark.slow
def test_probabilities_are_those_of_all_trees():
    marginals, entropy = trained().predict_marginals(X[:5]), trained().entropy(X[:5])
    of_heads, of_arcs, of_trees = (trained().predict_confidence(X[:5], of) for of in ("head", "arc", "tree"))
    for i, x in enumerate(X[:5]):
        trees, p = listed(trained(), x)
        expected = np.zeros((len(x), len(x) + 1, len(LABELS)))
        for z, share in zip(trees, p, strict=True):
            for m, (head, label) in enumerate(z):
                expected[m, head, trained().classes_.index(label)] += share
        np.testing.assert_allclose(marginals[i].labels, expected, atol=1e-10)
        np.testing.assert_allclose(marginals[i].heads, expected.sum(axis=2), atol=1e-10)
        assert entropy[i] == pytest.approx(-np.dot(p, np.log(p)), abs=1e-9)
        assert trained().log_probability([x], [Y[i]])[0] == pytest.approx(np.log(p[trees.index(list(Y[i]))]))
        found = trained().predict([x])[0]
        assert of_trees[i] == pytest.approx(p[trees.index(found)])
        for m, (head, label) in enumerate(found):
            assert of_heads[i][m] == pytest.approx(expected[m, head].sum())
            assert of_arcs[i][m] == pytest.approx(expected[m, head, trained().classes_.index(label)])


def test_what_is_left_open_and_what_cannot_be():
    x, y = next((x, y) for x, y in zip(X, Y, strict=True) if len(x) >= 3)
    trees, p = listed(trained(), x)
    heads = [head for head, _ in y]
    same = sum(share for z, share in zip(trees, p, strict=True) if [head for head, _ in z] == heads)
    assert np.exp(trained().log_probability([x], [heads])[0]) == pytest.approx(same)
    assert trained().log_probability([x], [[(head, "never seen") for head in heads]])[0] == -np.inf
    assert trained().log_probability([x], [[0] * len(x)])[0] == -np.inf  # more than one root
    with pytest.raises(ValueError, match="sentence 0 is not a tree"):
        trained().log_probability([x], [[0, 3, 2] + [1] * (len(x) - 3)])
    with pytest.raises(ValueError, match="1 sentences but 2 trees"):
        trained().log_probability([x], [y, y])
    with pytest.raises(ValueError, match="'head', 'arc' or 'tree'"):
        trained().predict_confidence([x], of="label")


def test_samples_are_trees_and_a_seed_repeats_them():
    first, second = (trained().sample(X[:3], 20, random_state=3) for _ in range(2))
    assert first == second
    for x, drawn in zip(X, first, strict=False):
        assert len(drawn) == 20
        assert all(z in list(outputs(True, False, LABELS)(x)) for z in drawn)


def test_calibration_and_models_that_are_kept():
    plain = [[head for head, _ in y] for y in Y]
    model = DependencyParser(C=10.0, projective=True).fit(X, plain)
    with pytest.warns(Uncalibrated):
        model.entropy(X[:1])
    model.calibrate_on(*(each[:6] for each in (X, plain)))
    assert model.temperature_ > 0
    kept = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(kept.log_probability(X, plain), model.log_probability(X, plain))
    again = clone(trained()).fit(X, Y)  # by L-BFGS, since no solver is named
    np.testing.assert_array_equal(
        again.w_, DependencyParser(C=10.0, objective="likelihood", solver="lbfgs").fit(X, Y).w_
    )
    crossed = DependencyParser(C=10.0, calibrate=3).fit(X, Y)  # labels may be missing in a part
    assert crossed.calibrated_


@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("softness", [Softness(), Softness(2.0, 1.0)])
def test_training_finds_the_optimum_over_all_trees(softness, projective):
    some, trees = sentences(4, longest=3)
    task = Dependencies(projective)
    prove_smooth_training_is_optimal(task, some, trees, 3.0, softness, outputs(True, projective))
