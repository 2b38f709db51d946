"""With a kernel every trainer reaches the optimum over the kernel's features, and with the linear one its own."""

from math import inf

import numpy as np
import pytest
from kernel_problems import ALL, TASKS, exact_map, oracle_of, units_of, with_units

from maxmargin.errors import NotSeparable
from maxmargin.executors import Serial, Threads
from maxmargin.kernels import RBF, Linear, Polynomial
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.solvers import BCFW, Bundle, NSlack, OneSlack, Perceptron, SampledCuts, Subgradient
from maxmargin.tasks import Multiclass
from maxmargin.testing import brute_force

CERTIFIED = [BCFW, NSlack, OneSlack, Bundle]
certified = pytest.mark.parametrize("solver", CERTIFIED, ids=lambda kind: kind.__name__)
formulations = pytest.mark.parametrize("formulation", ALL, ids=str)


@pytest.mark.parametrize("name", sorted(TASKS))
@pytest.mark.parametrize("kernel", [RBF(0.4), Polynomial(2, gamma=1.0, coef0=1.0), Linear()], ids=repr)
@formulations
def test_optimum_is_that_of_all_constraints(name, kernel, formulation):
    make, data = TASKS[name]
    X, Y = data()
    units = units_of(X)
    features = exact_map(kernel.fit(units).values(units, units))
    C = 20.0
    optimum = brute_force(make(None), with_units(X, features), Y, C, formulation).value
    oracle = oracle_of(make(kernel), X, Y, formulation)
    certificate = BCFW(tol=1e-6).solve(oracle, C).certificate
    assert certificate.converged
    assert optimum < 0.9 * C * oracle.risk(np.zeros(oracle.dim)), "there is something to learn"
    assert certificate.dual * (1 - 1e-9) <= optimum <= certificate.primal * (1 + 1e-7)
    assert certificate.primal == pytest.approx(optimum, rel=2e-6)


@pytest.mark.parametrize("name", ["multiclass", "taxonomy", "chain"])
@formulations
@certified
def test_linear_kernel_is_the_linear_model(name, formulation, solver):
    make, data = TASKS[name]
    X, Y = data()
    weights = np.arange(1.0, len(Y) + 1)
    linear, lifted = (
        solver(tol=1e-4, max_passes=2000).solve(oracle_of(make(kernel), X, Y, formulation, weights), 10.0)
        for kernel in (None, Linear())
    )
    assert linear.certificate.converged
    assert lifted.certificate.converged
    assert lifted.certificate.primal == pytest.approx(linear.certificate.primal, rel=2e-4)
    assert lifted.certificate.dual <= linear.certificate.primal * (1 + 1e-12)
    assert linear.certificate.dual <= lifted.certificate.primal * (1 + 1e-12)


@pytest.mark.parametrize("solver", [Subgradient(max_passes=100), Perceptron()], ids=repr)
@pytest.mark.parametrize("name", ["multiclass", "chain"])
@pytest.mark.parametrize("formulation", [ALL[0], ALL[3]], ids=str)
def test_trainers_without_a_bound_take_the_same_steps(solver, name, formulation):
    make, data = TASKS[name]
    X, Y = data(ties=False)
    linear, lifted = (solver.solve(oracle_of(make(kernel), X, Y, formulation), 2.0) for kernel in (None, Linear()))
    assert lifted.certificate.primal == pytest.approx(linear.certificate.primal, rel=1e-6)


@pytest.mark.parametrize("solver", [BCFW, NSlack, OneSlack], ids=lambda kind: kind.__name__)
def test_hard_margin(solver):
    X, Y = np.array([[-1.0], [0.0], [0.5], [2.0]]), [0, 1, 1, 0]  # no line separates them, but a parabola does
    with pytest.raises(NotSeparable):
        solve_hard(solver, Linear(), X, Y)
    kernel = Polynomial(2, gamma=1.0, coef0=1.0)
    features = exact_map(kernel.fit(X).values(X, X))
    optimum = brute_force(Multiclass(), features, Y, inf).value
    certificate = solve_hard(solver, kernel, X, Y).certificate
    assert certificate.dual * (1 - 1e-6) <= optimum <= certificate.primal * (1 + 1e-6)
    assert certificate.primal == pytest.approx(optimum, rel=1e-2)


def solve_hard(solver, kernel, X, Y):
    solution = solver(tol=1e-3).solve(oracle_of(Multiclass(kernel=kernel), X, Y), inf)
    if solution.error is not None:
        raise solution.error
    return solution


@pytest.mark.parametrize("solver", [BCFW(), OneSlack(), Bundle(), NSlack(), SampledCuts(sample=5)], ids=repr)
def test_number_of_threads_changes_no_bit(solver):
    make, data = TASKS["multiclass"]
    X, Y = data(n=40)
    task = make(RBF(0.5))
    task.setup(X, Y)
    found = []
    for executor in (Serial(), Threads(2)):
        found.append(solver.solve(Oracle(task.pack(X, Y), executor=executor), 5.0, seed=3).w)
        executor.close()
    assert np.array_equal(*found)


@certified
def test_duplicates_and_a_singular_matrix(solver):
    X = np.repeat([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], 4, axis=0)
    Y = [0, 1, 2, 0] * 3
    optimum = brute_force(Multiclass(), exact_map(RBF(1.0).fit(X).values(X, X)), Y, 4.0).value
    certificate = solver(tol=1e-5).solve(oracle_of(Multiclass(kernel=RBF(1.0)), X, Y), 4.0).certificate
    assert certificate.primal == pytest.approx(optimum, rel=1e-4)
    assert certificate.dual <= optimum * (1 + 1e-9)


@certified
def test_a_tiny_cache_changes_no_bit(solver):
    make, data = TASKS["multiclass"]
    X, Y = data()
    found = [
        solver().solve(oracle_of(make(Polynomial(2, gamma=1.0, coef0=1.0, cache_mb=mb)), X, Y), 5.0)
        for mb in (1024.0, 8 * 14 * 2.5 / 2**20)
    ]
    assert np.array_equal(found[0].w, found[1].w)
    assert found[0].certificate.dual == found[1].certificate.dual


@certified
def test_goes_on_from_an_earlier_solution(solver):
    make, data = TASKS["chain"]
    X, Y = data()
    oracle = oracle_of(make(RBF(0.5)), X, Y)
    first = solver().solve(oracle, 1.0)
    cold = solver(tol=1e-4, max_passes=1000).solve(oracle, 5.0).certificate
    warm = solver(tol=1e-4, max_passes=1000).solve(oracle, 5.0, start=first).certificate
    assert warm.converged
    assert warm.primal == pytest.approx(cold.primal, rel=2e-4)
    assert warm.dual <= cold.primal
