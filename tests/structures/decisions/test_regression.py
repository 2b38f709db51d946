"""Least squares as the prior of costs: against normal equations, other implementations and training itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LinearRegression
from structures.decisions.listed import Together, subsets
from thorough import examples

from maxmargin import CostLearner
from maxmargin.structures.decisions.regression import STRENGTHS, least_squares

TWO_OF_FIVE = Together(subsets(5, 2))


def rows_of(n, n_features, n_targets, seed, constant):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, n_features)) + 3
    Y = A @ rng.standard_normal((n_features, n_targets)) + 5 + rng.standard_normal((n, n_targets))
    return (np.hstack([A, np.ones((n, 1))]) if constant else A), Y, rng.uniform(0.2, 2, n)


@examples(16, 40)
@given(st.integers(2, 12), st.integers(1, 6), st.booleans(), st.integers(0, 10**6), st.sampled_from([1e-8, 1.0, 1e8]))
def test_minimises_what_it_says(n, f, constant, seed, unit):
    """Every strength by normal equations over all weights, the constant's without a penalty; ties by their values."""
    A, Y, weights = rows_of(n, f, 2, seed, constant)
    A[:, :f] *= unit
    found, shares = least_squares(A, Y, weights, constant), weights / weights.mean()
    centred = A[:, :f] - (weights @ A[:, :f] / weights.sum() if constant else 0)
    largest = np.linalg.norm(np.sqrt(shares)[:, None] * centred, 2)
    scaled = A / np.where(np.arange(A.shape[1]) < f, largest, 1.0)  # so that normal equations are well scaled
    penalised = np.diag((np.arange(A.shape[1]) < f).astype(float))
    judged = []
    for strength in STRENGTHS[STRENGTHS >= 1e-6]:  # weaker ones are equal to it, or not to be had by these equations
        inverse = np.linalg.inv(scaled.T @ (shares[:, None] * scaled) + strength * penalised)
        hat = scaled @ inverse @ (scaled * shares[:, None]).T
        residual = np.sum(shares[:, None] * (Y - hat @ Y) ** 2)
        judged.append((residual / (n - np.trace(hat)) ** 2, np.abs(hat @ Y - A @ found).max() / np.abs(Y).max()))
    least = min(value for value, _ in judged)
    best = min(distance for value, distance in judged if value <= least * (1 + 1e-4))
    assert best < 1e-4 or least == pytest.approx(judged[0][0], rel=1e-3)  # weaker penalties may be better still


def test_many_examples_are_plain_least_squares():
    A, Y, weights = rows_of(3000, 5, 4, 0, True)
    found = least_squares(A, Y, weights, True)
    plain = LinearRegression().fit(A[:, :-1], Y, weights)
    np.testing.assert_allclose(found[:-1].T, plain.coef_, atol=2e-3)
    np.testing.assert_allclose(found[-1], plain.intercept_, atol=1e-2)
    np.testing.assert_allclose(least_squares(sparse.csr_array(A), Y, weights, True), found)


def test_weights_count_examples():
    A, Y, _ = rows_of(40, 3, 2, 1, True)
    weights = np.r_[np.ones(20), np.zeros(20)]
    np.testing.assert_allclose(
        least_squares(A, Y, weights, True), least_squares(A[:20], Y[:20], np.ones(20), True), rtol=1e-9
    )


def test_fewer_examples_than_features():
    """The level of costs is never penalised away, and features that say nothing get next to no weight."""
    rng = np.random.default_rng(0)
    A = np.hstack([rng.standard_normal((6, 30)), np.ones((6, 1))])
    Y = 100 + rng.standard_normal((6, 2))
    found = least_squares(A, Y, np.ones(6), True)
    new = np.hstack([rng.standard_normal((200, 30)), np.ones((200, 1))]) @ found
    np.testing.assert_allclose(new, 100, atol=6)
    np.testing.assert_array_equal(least_squares(A[:1], Y[:1], np.ones(1), True)[:-1], 0)
    np.testing.assert_allclose(least_squares(A[:1], Y[:1], np.ones(1), True)[-1], Y[0])
    np.testing.assert_array_equal(least_squares(np.zeros((3, 2)), Y[:3], np.ones(3), False), 0)


# --- as the prior


def data(form, n=60, seed=0):
    rng = np.random.default_rng(seed)
    if form == "whole":
        X = rng.standard_normal((n, 3))
        return X, X @ np.random.default_rng(9).standard_normal((3, 5)) + 2 + 0.3 * rng.standard_normal((n, 5))
    X = rng.standard_normal((n, 5, 4))
    return X, X @ [1.0, -2.0, 0.5, 0.0] + 7 + 0.3 * rng.standard_normal((n, 5))


@pytest.mark.parametrize("sense", ["min", "max"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("form", ["whole", "parts", "sparse", "list"])
def test_a_small_C_ends_at_regression(form, intercept, sense):  # noqa: N802 - the parameter's name
    X, costs = data("whole" if form == "sparse" else "parts" if form == "list" else form)
    given = sparse.csr_array(X) if form == "sparse" else list(X) if form == "list" else X
    y = list(costs) if form == "list" else costs
    optimiser = Together(subsets(5, 2), sense)
    weights = np.random.default_rng(3).uniform(0.5, 2, len(X))
    model = CostLearner(optimiser, prior="least_squares", C=1e-9, fit_intercept=intercept).fit(given, y, weights)
    whole = X.ndim == 2
    rows, targets = (X, costs) if whole else (X.reshape(-1, 4), costs.reshape(-1, 1))
    each = weights if whole else np.repeat(weights, 5)
    if intercept:
        rows = np.hstack([rows, np.ones((len(rows), 1))])
    expected = rows @ least_squares(rows, targets, each / each.mean(), intercept)
    np.testing.assert_allclose(np.concatenate(list(model.predict_costs(given))), expected.ravel(), atol=1e-6)
    assert model.certificate_.converged
    assert np.abs(expected - targets).mean() < (0.4 if intercept else 9)


def test_the_problem_is_the_one_with_these_weights_given():
    """The same optimum as with an array of weights; certify speaks of the prior of training, on other data too."""
    X, costs = data("whole")
    named = CostLearner(TWO_OF_FIVE, prior="least_squares", C=3.0, tol=1e-6).fit(X, costs)
    given = CostLearner(TWO_OF_FIVE, prior=named.task_.prior_, C=3.0, tol=1e-6).fit(X, costs)
    np.testing.assert_array_equal(named.w_, given.w_)
    assert named.certificate_.primal == given.certificate_.primal
    assert named.certify(X, costs).primal == pytest.approx(named.certificate_.primal, rel=1e-6)
    others = data("whole", seed=5)
    assert named.certify(*others).primal == pytest.approx(given.certify(*others).primal)
    again = named.fit(*others)
    assert not np.array_equal(again.task_.prior_, given.prior)  # of the new data


def test_paths_begin_at_regression():
    X, costs = data("whole")
    path = CostLearner(TWO_OF_FIVE, prior="least_squares").fit_path(X, costs, [1e-9, 1.0, 100.0])
    away = [np.linalg.norm(model.w_ - model.task_.prior_) for model in path]
    assert away[0] < 1e-6 < away[1] <= away[2] * (1 + 1e-6)


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_units_of_costs(scale):
    X, costs = data("whole")
    plain = CostLearner(TWO_OF_FIVE, prior="least_squares", C=1.0, tol=1e-4).fit(X, costs)
    scaled = CostLearner(TWO_OF_FIVE, prior="least_squares", C=scale, tol=1e-4).fit(X, costs * scale)
    assert scaled.certificate_.primal == pytest.approx(plain.certificate_.primal * scale**2, rel=1e-3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": "rbf"}, "with a kernel does not have"),
        ({"kernel": "linear"}, "with a kernel does not have"),
        ({"measure": "parts"}, 'measure="parts" Y has no costs'),
        ({"prior": "squares"}, "got 'squares'"),
    ],
)
def test_refusals(options, message):
    X, costs = data("whole")
    y = TWO_OF_FIVE.solve_many(costs) if "measure" in options else costs
    with pytest.raises(ValueError, match=message):
        CostLearner(TWO_OF_FIVE, **{"prior": "least_squares", **options}).fit(X, y)


def test_too_large_to_write_out():
    with pytest.raises(ValueError, match="too many for that"):
        least_squares(sparse.csr_array((2**14, 2**14)), np.zeros((2**14, 1)), np.ones(2**14), True)
