"""Similarities against the definition: sums over all outputs, and one dense linear system."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin import CountingClassifier, CountingMultilabel, CountingPredictor
from maxmargin.counting.sets.assignments import Assignments
from maxmargin.counting.sets.classes import Classes, OrderedClasses
from maxmargin.counting.sets.cycles import CyclicPermutations
from maxmargin.counting.sets.orders import Permutations
from maxmargin.counting.sets.spanning_trees import SpanningTrees
from maxmargin.counting.sets.subsets import AllSubsets, Subsets

SETS = [
    Classes(3),
    OrderedClasses(4),
    AllSubsets(3),
    Permutations(3),
    CyclicPermutations(4),
    Assignments(3, 3),
    SpanningTrees(4, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]),  # no known spectrum
]


def drawn(outputs, n, p, most, seed):
    """Inputs, and up to `most` different outputs for each."""
    rng = np.random.default_rng(seed)
    members = list(outputs.outputs())
    counts = rng.integers(1, most + 1, n)
    return rng.normal(size=(n, p)), [[members[j] for j in rng.permutation(len(members))[:count]] for count in counts]


def defined(outputs, W, X, Y, lam):
    """J and its value at f = 0, by sums over all outputs z."""
    every = outputs.feature_rows(list(outputs.outputs()))
    every = every - every.mean(0)
    total, zero = lam * np.vdot(W, W), 0.0
    for x, right in zip(X, Y, strict=True):
        for c in outputs.feature_rows(right) - outputs.mean():
            total += 0.5 * np.mean((every @ c - every @ (x @ W)) ** 2)
            zero += 0.5 * np.mean((every @ c) ** 2)
    return total, zero


@pytest.mark.parametrize("outputs", SETS, ids=str)
@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 10**6), alpha=st.sampled_from([0.01, 1.0, 20.0]), most=st.integers(1, 3))
def test_the_model_is_the_minimum_of_the_definition(outputs, seed, alpha, most):
    X, Y = drawn(outputs, 6, 3, most, seed)
    S, lam = outputs.covariance(), alpha / outputs.repeats
    hessian, target = 2 * lam * np.eye(3 * outputs.dim), np.zeros(3 * outputs.dim)
    for x, right in zip(X, Y, strict=True):
        c = outputs.feature_rows(right) - outputs.mean()
        hessian += len(c) * np.kron(np.outer(x, x), S)
        target += np.kron(x, S @ c.sum(0))
    W = np.linalg.solve(hessian, target).reshape(3, -1)
    objective, zero = defined(outputs, W, X, Y, lam)
    for solver in ("auto", "cg"):
        model = CountingPredictor(outputs, alpha=alpha, target="similarity", solver=solver, tol=1e-12)
        model.fit(X, Y, several=True)
        np.testing.assert_allclose(model.coef_.T, W, rtol=1e-7, atol=1e-9)
        certificate = model.certificate_
        assert certificate.at_zero == pytest.approx(zero, rel=1e-9)
        assert certificate.at_zero + certificate.primal == pytest.approx(objective, rel=1e-8, abs=1e-9)
        rounded = 1e-13 * zero  # of the difference here
        assert certificate.dual - rounded <= objective - zero <= certificate.primal + rounded
        assert certificate.relative_gap < 1e-6


def test_sets_of_their_own():
    sets = [Subsets(4, 1), Subsets(4, 2), AllSubsets(4)] * 4
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(12, 2)), [each.sample(rng) for each in sets]
    model = CountingPredictor(AllSubsets(4), alpha=0.3, target="similarity", tol=1e-12).fit(X, Y, output_sets=sets)
    hessian, target, zero = 0.6 * np.eye(8), np.zeros(8), 0.0
    for x, each, y in zip(X, sets, Y, strict=True):
        S, c = each.covariance(), each.features(y) - each.mean()
        hessian += np.kron(np.outer(x, x), S)
        target += np.kron(x, S @ c)
        zero += 0.5 * c @ S @ c
    np.testing.assert_allclose(model.coef_.T.ravel(), np.linalg.solve(hessian, target), rtol=1e-8, atol=1e-10)
    assert model.certificate_.at_zero == pytest.approx(zero)


def test_orders_are_ridge_regressions_of_ranks():
    """The part of f that sums over pairs: what every label has over the others."""
    from sklearn.linear_model import Ridge

    n_labels, rng = 5, np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    orders = [tuple(row) for row in rng.permuted(np.tile(np.arange(n_labels), (40, 1)), axis=1)]
    model = CountingPredictor(Permutations(n_labels), alpha=4.0, target="similarity").fit(X, orders)
    f = np.zeros((40, n_labels, n_labels))
    f[:, *np.triu_indices(n_labels, 1)] = model.decision_function(X)
    lead = (f - f.transpose(0, 2, 1)).sum(2)  # how many labels come behind less how many before
    ranks = np.argsort(orders, axis=1)
    ridge = Ridge(alpha=4.0 / ((n_labels + 1) / 3), fit_intercept=False).fit(X, (n_labels - 1) - 2 * ranks)
    np.testing.assert_allclose(lead, ridge.predict(X), rtol=1e-9, atol=1e-9)


def test_classes_and_subsets_are_ridge_regressions():
    from sklearn.linear_model import Ridge

    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    Y = (X + rng.normal(size=(40, 3)) > 0).astype(int)
    model = CountingMultilabel(kernel="linear", fit_intercept=False, alpha=2.0, target="similarity").fit(X, Y)
    ridge = Ridge(alpha=4.0 / 0.25, fit_intercept=False).fit(X, Y - 0.5)
    np.testing.assert_allclose(model.decision_function(X), ridge.predict(X), rtol=1e-9, atol=1e-12)
    y = np.argmax(X, axis=1)
    flat = CountingClassifier(kernel="linear", fit_intercept=False, alpha=2.0, target="similarity").fit(X, y)
    ridge = Ridge(alpha=4.0 * 3, fit_intercept=False).fit(X, np.eye(3)[y] - 1 / 3)
    np.testing.assert_allclose(flat.decision_function(X), ridge.predict(X), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("target", ["ranks", None, 1])
def test_targets_have_names(target):
    with pytest.raises(ValueError, match="target must be one of 'margin', 'similarity', got"):
        CountingPredictor(Classes(2), target=target).fit([[1.0], [2.0]], [0, 1])
