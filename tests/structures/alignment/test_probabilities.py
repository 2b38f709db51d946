"""Aligner's probabilities: those of a list of all alignments, calibrated; and training for them."""

from functools import cache

import numpy as np
import pytest
from scipy.optimize import minimize
from structures.alignment.test_task import MODES, X, Y

from maxmargin import Aligner
from maxmargin.datasets import mutated_pairs
from maxmargin.errors import Uncalibrated
from maxmargin.tasks import Alignment
from maxmargin.testing.problems import written_out

PAIRS, TRUTHS = mutated_pairs(30, length=12, seed=0)
NEW, NEW_TRUTHS = mutated_pairs(30, length=12, seed=1)


@cache
def trained():
    return Aligner("global", C=10.0).fit(PAIRS, TRUTHS).calibrate_on(NEW, NEW_TRUTHS)


def test_probabilities_are_those_of_all_alignments():
    some = [("ACG", "AG"), ("AC", "CCA")]
    marginals, entropy, found = trained().predict_marginals(some), trained().entropy(some), trained().predict(some)
    each, wholes = trained().predict_confidence(some), trained().predict_confidence(some, of="alignment")
    for i, x in enumerate(some):
        listed = list(trained().task_.outputs(x))
        p = np.exp(trained().log_probability([x] * len(listed), listed))
        assert p.sum() == pytest.approx(1.0)
        assert entropy[i] == pytest.approx(-np.dot(p, np.log(p)))
        assert wholes[i] == pytest.approx(p.max())
        assert wholes[i] == pytest.approx(p[listed.index(found[i])])
        for (a, b), probability in zip(found[i].pairs, each[i], strict=True):
            expected = sum(q for z, q in zip(listed, p, strict=True) if [a, b] in z.pairs.tolist())
            assert probability == pytest.approx(expected)
            assert probability == marginals[i][a, b]
    with pytest.raises(ValueError, match="'pair' or 'alignment'"):
        trained().predict_confidence(some, of="gap")


def test_samples_are_repeatable():
    assert trained().sample(NEW, 3, random_state=3) == trained().sample(NEW, 3, random_state=3)
    assert trained().sample(NEW, 3, random_state=3) != trained().sample(NEW, 3, random_state=4)


def test_calibration_makes_new_alignments_most_probable():
    model = Aligner("global", C=10.0).fit(PAIRS, TRUTHS)

    def mean(temperature):
        model.temperature_ = temperature
        with pytest.warns(Uncalibrated):
            return model.log_probability(NEW, NEW_TRUTHS).mean()

    assert mean(trained().temperature_) >= max(mean(1.1 * trained().temperature_), mean(0.9 * trained().temperature_))
    within = Aligner("global", C=10.0, calibrate=2).fit(PAIRS, TRUTHS)
    assert within.calibrated_
    assert abs(np.log(within.temperature_ / trained().temperature_)) < 1.0


def test_a_known_matrix_can_be_calibrated():
    scores = {(a, b): 1.0 if a == b else -1.0 for a in "ACGT" for b in "ACGT"}
    model = Aligner.from_matrix(scores, 2.0, 0.5, mode="global").calibrate_on(NEW, NEW_TRUTHS)
    assert model.calibrated_
    assert (model.log_probability(NEW, NEW_TRUTHS) < 0).all()


@pytest.mark.parametrize("solver", [None, "bundle"])
@pytest.mark.parametrize("objective", ["likelihood", "softmax_margin"])
@pytest.mark.parametrize("mode", MODES)
def test_training_finds_the_optimum_over_all_alignments(mode, objective, solver):
    C = 5.0
    model = Aligner(mode, C=C, objective=objective, sharpness=2.0, solver=solver, tol=1e-6).fit(X, Y)
    assert model.certificate_.converged
    task = Alignment(mode)
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


def test_bounds_of_gaps_hold_in_smooth_objectives():
    model = Aligner("global", C=10.0, objective="likelihood", solver="bundle", nonnegative_gaps=True).fit(PAIRS, TRUTHS)
    assert (model.weights_["gaps"].values <= 0).all()
