"""Likelihood and softmax-margin: every solver that takes them against an independent optimiser over all outputs."""

import numpy as np
import pytest
from estimators.problems import sequences
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from thorough import examples

from maxmargin import SequenceLabeler
from maxmargin.executors import Threads
from maxmargin.problem.contract.tangents import Softness
from maxmargin.problem.oracle.soft_oracle import SoftOracle
from maxmargin.solvers import LBFGS, Bundle, ExponentiatedGradient, OneSlack
from maxmargin.tasks import Chain
from maxmargin.testing.problems import written_out

SOLVERS = [ExponentiatedGradient, LBFGS, Bundle, OneSlack]
X, Y = sequences()


def written(softness, C, weights, seed=0, n=4, scale=1.0, forbidden=()):
    """A small problem with all of its outputs, and its objective with gradient."""
    rng = np.random.default_rng(seed)
    X = [scale * rng.standard_normal((length, 2)) for length in rng.integers(1, 5, n)]
    Y = [[int(k) for k in rng.integers(0, 3, len(x))] for x in X]
    if forbidden:
        Y = [[0] * len(y) for y in Y]
    task = Chain(classes=[0, 1, 2], costs={0: 1.0, 1: 2.0, 2: 0.5}, forbidden=forbidden)
    batch = task.setup_and_pack(X, Y)
    listed = [written_out(task, x, y, i, 1000) for i, (x, y) in enumerate(zip(X, Y, strict=True))]
    v = np.ones(n) if weights is None else weights * n / weights.sum()

    def value(w):
        total, gradient = 0.5 * w @ w, w.copy()
        for example, share in zip(listed, v, strict=True):
            u = softness.sharpness * (softness.margin * example.loss - example.margins(w))
            p = np.exp(u - np.logaddexp.reduce(u))
            total += C * share / n * np.logaddexp.reduce(u) / softness.sharpness
            gradient -= C * share / n * (example.truth - p @ example.psi)
        return total, gradient

    return batch, task.dim, value


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("softness", [Softness(), Softness(1.0, 1.0), Softness(4.0, 1.0)])
@pytest.mark.parametrize("forbidden", [(), [(0, 1), (1, 2)]])
def test_solvers_find_the_optimum_over_all_outputs(solver, softness, forbidden):
    weights = np.array([1.0, 0.0, 3.0, 0.5])
    batch, dim, value = written(softness, 5.0, weights, forbidden=forbidden)
    best = minimize(value, np.zeros(dim), jac=True, method="BFGS", options={"gtol": 1e-9}).fun
    solution = solver(tol=1e-7).solve(SoftOracle(batch, softness, weights), 5.0)
    assert solution.certificate.converged
    assert solution.certificate.dual <= best * (1 + 1e-10)
    assert solution.certificate.primal >= best * (1 - 1e-10)
    assert value(solution.w)[0] == pytest.approx(best, rel=2e-7)
    assert solution.certificate.primal == pytest.approx(value(solution.w)[0], rel=1e-9)


@examples(10, 25)
@given(
    seed=st.integers(0, 10**6), log_scale=st.floats(-8, 8), log_C=st.floats(-6, 6), solver=st.sampled_from(SOLVERS[:2])
)
def test_bounds_hold_at_all_scales(seed, log_scale, log_C, solver):
    softness = Softness(1.0, float(seed % 2))
    C, scale = 10.0**log_C, 10.0**log_scale
    batch, _, value = written(softness, C, None, seed, n=3, scale=scale)
    solution = solver(tol=1e-3, max_passes=30).solve(SoftOracle(batch, softness), C)
    certificate = solution.certificate
    assert certificate.dual <= certificate.primal
    measured, gradient = value(solution.w)
    assert certificate.primal >= measured * (1 - 1e-9)
    lower = np.inf  # of any weights that are tried, none is below the bound
    for w in (
        solution.w,
        np.zeros_like(solution.w),
        0.5 * solution.w,
        solution.w - gradient / (1 + C * scale**2 * 100),
    ):
        lower = min(lower, value(w)[0])
    assert certificate.dual <= lower * (1 + 1e-9)


def test_the_hinge_is_the_limit_of_sharp_softmax_margins():
    hinge = SequenceLabeler(C=5.0, tol=1e-5).fit(X, Y).certificate_.primal
    values = [
        SequenceLabeler(C=5.0, objective="softmax_margin", sharpness=b, tol=1e-5).fit(X, Y).certificate_.primal
        for b in (1.0, 10.0, 100.0)
    ]
    assert values[0] > values[1] > values[2] > hinge * (1 - 1e-5)
    assert values[2] <= hinge + 5.0 * max(len(y) for y in Y) * np.log(3) / 100  # C log |Y| / b


def test_threads_and_warm_starts_change_nothing_but_time():
    alone = SequenceLabeler(C=5.0, objective="likelihood", solver="lbfgs", tol=1e-6).fit(X, Y)
    several = SequenceLabeler(C=5.0, objective="likelihood", solver="lbfgs", tol=1e-6, executor=Threads(2)).fit(X, Y)
    assert several.certificate_.primal == pytest.approx(alone.certificate_.primal, rel=1e-6)
    for solver in ("lbfgs", "exponentiated_gradient"):
        model = SequenceLabeler(objective="likelihood", solver=solver, tol=1e-6)
        for each, C in zip(model.fit_path(X, Y, [1.0, 5.0]), (1.0, 5.0), strict=True):
            cold = SequenceLabeler(C=C, objective="likelihood", tol=1e-6).fit(X, Y)
            assert each.certificate_.converged
            assert each.certificate_.primal == pytest.approx(cold.certificate_.primal, rel=3e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"objective": "huber"}, "objective must be one of 'hinge', 'likelihood', 'softmax_margin'"),
        ({"objective": "softmax_margin", "sharpness": 0}, "sharpness must be a positive number"),
        (
            {"objective": "likelihood", "solver": "bcfw"},
            "use solver='bundle', 'exponentiated_gradient', 'lbfgs' or 'one_slack'",
        ),
        ({"objective": "likelihood", "solver": "n_slack"}, "smooth objective does not have"),
        ({"objective": "likelihood", "slack": "l2"}, "neither rescaling='slack' nor slack='l2'"),
        ({"objective": "likelihood", "kernel": "rbf"}, "does not take a kernel"),
        (
            {"objective": "likelihood", "bounds": (0, None)},
            "needs weights without bounds and without a prior; use solver='bundle' or 'one_slack'",
        ),
        ({"objective": "likelihood", "C": np.inf}, "finite C"),
        ({"solver": "lbfgs"}, "solver 'lbfgs' needs a smooth objective"),
        ({"solver": "exponentiated_gradient"}, "solver 'exponentiated_gradient' needs a smooth objective"),
    ],
)
def test_what_does_not_go_together_is_said(options, message):
    with pytest.raises(ValueError, match=message):
        SequenceLabeler(**options).fit(X, Y)


def test_hidden_labels_are_for_the_hinge():
    with pytest.raises(ValueError, match="needs complete labels"):
        SequenceLabeler(objective="likelihood").fit(X, [[None, *y[1:]] for y in Y])


def test_bounds_of_weights_hold_under_smooth_objectives():
    model = SequenceLabeler(C=5.0, objective="likelihood", solver="bundle", bounds=(0, None), tol=1e-4).fit(X, Y)
    assert model.certificate_.converged
    assert model.w_.min() >= 0
