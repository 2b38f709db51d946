"""SoftLabels: the closed form against a search of every label, and training against an independent minimiser."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.svm import LinearSVC
from structures.ranking.group_problems import (
    X,
    Y,
    prove_whole_weights_are_repeated_rows,
    set_up,
    weighted_groups,
    with_weights,
)
from thorough import examples

from maxmargin import StructuredSVM
from maxmargin.structures.ranking.row_labels import WeightedRows
from maxmargin.structures.ranking.soft_labels import SoftLabels

LAMBDAS = st.sampled_from([0.0, 0.3, 1.0, 5.0])
SCALES = st.sampled_from([1e-8, 0.3, 1.0, 1e8])


def modified_huber(margins):
    return np.where(margins >= -1, np.maximum(0, 1 - margins) ** 2, -4 * margins)


def squares(scores, truth, weights):
    """The risk of one sample, written down anew."""
    return weights @ modified_huber(np.where(truth > 0, 1, -1) * scores) / (weights @ truth)


@examples(12, 30)
@given(problem=weighted_groups(), lam=LAMBDAS, scale=SCALES)
def test_no_labels_are_worse(problem, lam, scale):
    """Rows are searched one by one, each over a fine grid of labels, through psi and loss alone."""
    rows, labels, weights, w = problem
    w = scale * w
    labels = with_weights(labels, weights)
    if not any(np.sum(y.labels) > 0 for y in labels) or all(np.all(y.labels == 1) for y in labels):
        return
    task, batch = set_up(SoftLabels(), rows, labels)
    planes = batch.planes(w, lam)
    heights = lam * planes.loss - np.asarray(planes.dpsi @ w).ravel()
    for g, (x, y) in enumerate(zip(rows, labels, strict=True)):
        height = 0.0
        for i in range(len(y.labels)):
            own = slice(i, i + 1)
            truth = WeightedRows(y.labels[own], y.weights[own])
            tried = [WeightedRows(np.array([z]), y.weights[own]) for z in np.linspace(0, 1, 201)]
            psi = task.psi(x[own], truth) @ w
            height += max(lam * task.loss(truth, z) - psi + task.psi(x[own], z) @ w for z in tried)
        size = lam * planes.loss[g] + np.abs(np.asarray(x) @ w).sum() * 4 * task.unit_ * y.weights.max()
        assert heights[g] >= height - 1e-9 * (1 + size)
        assert heights[g] <= height + 4 * task.unit_ * lam * y.weights.sum() / 200**2 + 1e-9 * (1 + size)


@examples(8, 20)
@given(problem=weighted_groups(), scale=SCALES)
def test_the_slack_is_the_modified_huber_loss(problem, scale):
    rows, labels, weights, w = problem
    for x, y, v in zip(rows, labels, weights, strict=True):
        if 0 < y.sum() < len(y):
            _, batch = set_up(SoftLabels(), [x], [WeightedRows(y, v)])
            planes = batch.planes(scale * w)
            slack = planes.loss[0] - (planes.dpsi @ (scale * w))[0]
            assert slack == pytest.approx(squares(scale * (x @ w), y, v), rel=1e-7)


@examples(6, 15)
@given(problem=weighted_groups(), lam=LAMBDAS, scale=st.sampled_from([1.0, 0.2]))
def test_whole_weights_are_repeated_rows(problem, lam, scale):
    if any(y.sum() > 0 for y in problem[1]) and not all(y.all() for y in problem[1]):
        prove_whole_weights_are_repeated_rows(SoftLabels, problem, lam, scale)


@pytest.mark.parametrize("C", [0.1, 3.0, 100.0])
def test_training_against_an_independent_minimiser(C):
    rng = np.random.default_rng(0)
    truth = (rng.random(80) < 0.2).astype(float)
    rows, weights = rng.standard_normal((80, 3)) + truth[:, None], rng.uniform(0.5, 2, 80)
    model = StructuredSVM(SoftLabels(), C=C, solver="one_slack", tol=1e-6).fit([rows], [WeightedRows(truth, weights)])
    found = minimize(lambda w: 0.5 * w @ w + C * squares(rows @ w, truth, weights), np.zeros(3), tol=1e-12)
    certificate = model.certificate_
    assert certificate.converged
    assert certificate.dual <= found.fun * (1 + 1e-9)
    assert certificate.primal == pytest.approx(found.fun, rel=1e-5)
    np.testing.assert_allclose(model.w_, found.x, atol=1e-2 * np.linalg.norm(found.x))
    assert certificate.method == "soft labels"


def test_within_the_margins_it_is_liblinear():
    rng = np.random.default_rng(1)
    truth = (rng.random(60) < 0.3).astype(float)
    rows = np.hstack([rng.standard_normal((60, 3)) + 0.5 * truth[:, None], np.ones((60, 1))])
    C = 0.5
    model = StructuredSVM(SoftLabels(), C=C, solver="one_slack", tol=1e-7).fit([rows], [truth])
    assert np.abs(rows @ model.w_).max() < 1
    peer = LinearSVC(C=C / truth.sum(), fit_intercept=False, tol=1e-9, max_iter=100_000).fit(rows, truth)
    np.testing.assert_allclose(model.w_, peer.coef_[0], atol=1e-3)


def test_decode():
    task, _ = set_up(SoftLabels())
    assert [z.tolist() for z in task.decode(np.array([1.0, 0.0]), X)] == [[1, 1, 0, 1], [0, 1, 1]]
    assert task.loss(Y[0], np.array([0.5, 1, 0, 1])) == task.unit_


def test_both_classes_are_wanted():
    for labels in ([np.ones(4), np.ones(3)], [np.zeros(4), np.zeros(3)]):
        with pytest.raises(ValueError, match="all labels belong to one class"):
            SoftLabels().setup(X, labels)
