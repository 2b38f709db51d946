"""What several test files prove of a task on small examples, by listing all outputs."""

import numpy as np

from maxmargin.rescaling import search_rescaled
from maxmargin.solvers import BCFW, OneSlack
from maxmargin.testing import brute_force, check_solver


def prove_search_is_bounded(task, batch, X, Y, w, formulation):
    """The search on λ finds no more than the most violated output, and its bound is no less."""
    assert batch.rescaled_planes(w, formulation) is None
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


def prove_every_weight_has_a_name(model):
    """The arrays of weights_ are all of w, each number once, in the order of the names of their axes."""
    arrays = [weights.values for weights in model.weights_.values()]
    assert all(len(set(names)) == len(names) for weights in model.weights_.values() for names in weights.names)
    np.testing.assert_array_equal(np.sort(np.concatenate([array.ravel() for array in arrays])), np.sort(model.w_))
