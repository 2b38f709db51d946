"""Parser's probabilities: those of a list of all trees, calibrated; and training for them."""

from functools import cache

import numpy as np
import pytest
from scipy.optimize import minimize
from structures.parsing.treebank import treebank

from maxmargin import Parser
from maxmargin.errors import Uncalibrated
from maxmargin.tasks import Grammar
from maxmargin.testing.problems import written_out

TREES, NEW = treebank(24), treebank(30, seed=1)
TAGS, NEW_TAGS = [tree.tags() for tree in TREES], [tree.tags() for tree in NEW]


@cache
def trained():
    return Parser(C=10.0, span_features=()).fit(TAGS, TREES).calibrate_on(NEW_TAGS, NEW)


def listed(model, x):
    """All trees with their probabilities."""
    found = model.predict_nbest([x], 10**4)[0]
    scores = np.array([score for _, score in found]) / model.temperature_
    p = np.exp(scores - scores.max())
    return [tree for tree, _ in found], p / p.sum()


def test_probabilities_are_those_of_all_trees():
    X, Y = TAGS[:8], [tree.with_words(tree.tags()) for tree in TREES[:8]]
    marginals, entropy, likely = trained().predict_marginals(X), trained().entropy(X), trained().log_probability(X, Y)
    spans, wholes, found = (
        trained().predict_confidence(X),
        trained().predict_confidence(X, of="tree"),
        trained().predict(X),
    )
    assert max(entropy) > 0.01
    for i, x in enumerate(X):
        trees, p = listed(trained(), x)
        assert entropy[i] == pytest.approx(-np.dot(p, np.log(p)), abs=1e-9)
        assert likely[i] == pytest.approx(np.log(p[trees.index(Y[i])]))
        assert wholes[i] == pytest.approx(p.max())
        assert [(label, begin, end) for begin, end, label, _ in spans[i]] == found[i].brackets()
        for begin, end, label, probability in spans[i]:
            expected = sum(q for z, q in zip(trees, p, strict=True) if (label, begin, end) in z.brackets())
            assert probability == pytest.approx(expected)
            assert probability == marginals[i].spans[label, begin, end]


def test_samples_are_repeatable():
    assert trained().sample(TAGS, 5, random_state=3) == trained().sample(TAGS, 5, random_state=3)
    drawn = trained().sample(TAGS[:1], 200, random_state=0)[0]
    trees, p = listed(trained(), TAGS[0])
    assert abs(drawn.count(trees[0]) / 200 - p[0]) < 0.2


def test_calibration_makes_new_trees_most_probable():
    model = Parser(C=10.0, span_features=()).fit(TAGS, TREES)

    def mean(temperature):
        model.temperature_ = temperature
        with pytest.warns(Uncalibrated):
            return model.log_probability(NEW_TAGS, NEW).mean()

    assert mean(trained().temperature_) >= max(mean(1.1 * trained().temperature_), mean(0.9 * trained().temperature_))
    within = Parser(C=10.0, span_features=(), calibrate=3).fit(TAGS, TREES)
    assert within.calibrated_
    assert within.temperature_ > 0


def test_trees_beyond_the_grammar_are_left_out_of_calibration():
    odd = ["(S (NP (N a)) (VP (V b)) (PP (P c)))"]
    with pytest.warns(Uncalibrated, match="1 of 31 trees for calibration use"):
        model = Parser(C=10.0, span_features=()).fit(TAGS, TREES).calibrate_on([*NEW_TAGS, ["N", "V", "P"]], NEW + odd)
    assert model.temperature_ == pytest.approx(trained().temperature_, rel=2e-3)


@pytest.mark.parametrize("solver", [None, "bundle"])
@pytest.mark.parametrize("objective", ["likelihood", "softmax_margin"])
def test_training_finds_the_optimum_over_all_trees(objective, solver):
    X, Y, C = TAGS[:8], TREES[:8], 5.0
    model = Parser(C=C, objective=objective, sharpness=2.0, solver=solver, tol=1e-6).fit(X, Y)
    assert model.certificate_.converged
    task = Grammar()
    task.setup(X, Y)
    written = [written_out(task, x, y, i, 1000) for i, (x, y) in enumerate(zip(X, Y, strict=True))]
    b, m = (1.0, 0.0) if objective == "likelihood" else (2.0, 1.0)

    def value(w):
        total, gradient = 0.5 * w @ w, w.copy()
        for each in written:
            u = b * (m * each.loss - each.margins(w))
            total += C / len(X) * np.logaddexp.reduce(u) / b
            gradient -= C / len(X) * (each.truth - np.exp(u - np.logaddexp.reduce(u)) @ each.psi)
        return total, gradient

    best = minimize(value, np.zeros(task.dim), jac=True, method="BFGS", options={"gtol": 1e-9}).fun
    assert model.certificate_.dual <= best * (1 + 1e-10)
    assert model.certificate_.primal >= best * (1 - 1e-10)
    assert value(model.w_)[0] == pytest.approx(best, rel=2e-6)


def test_what_is_refused():
    with pytest.raises(ValueError, match="must be a sum over brackets"):
        Parser(measure="f1", objective="softmax_margin").fit(TAGS, TREES)
    with pytest.raises(ValueError, match="needs a distribution of outputs for every example"):
        Parser(objective="likelihood", solver="exponentiated_gradient").fit(TAGS, TREES)
    with pytest.raises(ValueError, match="'span' or 'tree'"):
        trained().predict_confidence(TAGS, of="word")
    with pytest.warns(Uncalibrated):
        Parser(C=1.0).fit(TAGS, TREES).entropy(TAGS)
    Parser(C=1.0, objective="likelihood").fit(TAGS, TREES).entropy(TAGS)  # without a warning


def test_a_sentence_without_a_tree_has_a_flat_one_of_no_probability():
    model = Parser(on_failure="flat", objective="likelihood").fit(TAGS, TREES)
    assert model.predict_confidence([["P", "P"]], of="tree").tolist() == [0.0]
    assert [each.probability for each in model.predict_confidence([["P", "P"]])[0]] == [0.0]
