"""What several test files prove of a task on small examples, by listing all outputs."""

import numpy as np
import pytest
from scipy.optimize import minimize

from maxmargin.problem.contract.capabilities.rescaled_search import RescaledSearch
from maxmargin.problem.oracle.rescaling import search_rescaled
from maxmargin.problem.oracle.soft_oracle import SoftOracle
from maxmargin.solvers import BCFW, LBFGS, Bundle, OneSlack
from maxmargin.testing import brute_force, check_solver
from maxmargin.testing.problems import written_out


def prove_search_is_bounded(task, batch, X, Y, w, formulation):
    """The search on λ finds no more than the most violated output, and its bound is no less."""
    assert batch.offers(RescaledSearch) is None
    found = search_rescaled(batch, formulation, w, np.ones(len(X)))
    for g, (x, y) in enumerate(zip(X, Y, strict=True)):
        outputs = task.outputs(x)
        losses = np.array([task.loss(y, z) for z in outputs])
        margins = np.array([(task.psi(x, y) - task.psi(x, z)) @ w for z in outputs])
        best = max(formulation.value(losses, margins).max(), 0.0)
        assert found.cuts.values(w)[g] <= best + 1e-9
        assert best <= found.upper[g] + 1e-9


def prove_training_is_optimal(task, X, Y, C, formulation):
    """Two solvers end where a general-purpose QP solver on all constraints does."""
    optimum = brute_force(task, X, Y, C, formulation)
    for solver in (BCFW(tol=1e-5), OneSlack(tol=1e-5)):
        certificate = check_solver(solver, task, X, Y, C, formulation).certificate
        assert certificate.converged
        assert certificate.dual <= optimum.value * (1 + 1e-7) + 1e-9
        assert optimum.value <= certificate.primal * (1 + 1e-7) + 1e-9


def prove_smooth_training_is_optimal(task, X, Y, C, softness, outputs=None):
    """Two solvers end where a general-purpose optimiser does that lists all outputs."""
    batch = task.setup_and_pack(X, Y)
    listed = [written_out(task, x, y, i, 10_000, outputs) for i, (x, y) in enumerate(zip(X, Y, strict=True))]

    def value(w):
        total, gradient = 0.5 * w @ w, w.copy()
        for example in listed:
            u = softness.sharpness * (softness.margin * example.loss - example.margins(w))
            p = np.exp(u - np.logaddexp.reduce(u))
            total += C / len(listed) * np.logaddexp.reduce(u) / softness.sharpness
            gradient -= C / len(listed) * (example.truth - p @ example.psi)
        return total, gradient

    best = minimize(value, np.zeros(task.dim), jac=True, method="L-BFGS-B", options={"ftol": 1e-14, "gtol": 1e-9}).fun
    for solver in (LBFGS(tol=1e-6), Bundle(tol=1e-4)):
        solution = solver.solve(SoftOracle(batch, softness), C)
        assert solution.certificate.converged
        assert solution.certificate.dual <= best * (1 + 1e-9)
        assert solution.certificate.primal >= best * (1 - 1e-9)
        assert value(solution.w)[0] == pytest.approx(best, rel=2 * solver.tol)
        assert solution.certificate.primal == pytest.approx(value(solution.w)[0], rel=1e-8)


def prove_every_weight_has_a_name(model):
    """The arrays of weights_ are all of w, each number once, in the order of the names of their axes."""
    arrays = [weights.values for weights in model.weights_.values()]
    assert all(len(set(names)) == len(names) for weights in model.weights_.values() for names in weights.names)
    np.testing.assert_array_equal(np.sort(np.concatenate([array.ravel() for array in arrays])), np.sort(model.w_))
