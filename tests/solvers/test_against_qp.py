"""Every certified solver against a general-purpose QP solver on all constraints of all outputs of tiny problems."""

from functools import cache
from math import inf

import numpy as np
import pytest
from example_tasks import Interval, Tags, interval_data, tag_data
from hypothesis import given
from hypothesis import strategies as st
from strategies import chain_data, multiclass_data, whole
from thorough import examples

from maxmargin.errors import NotSeparable
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.solvers import BCFW, Bundle, NSlack, OneSlack
from maxmargin.tasks import Chain, Multiclass, Weighted
from maxmargin.testing import brute_force, check_solver

TOL = 1e-5
ALL = [Formulation(rescaling, slack) for rescaling in ("margin", "slack") for slack in ("l1", "l2")]
SOLVERS = {
    "bcfw": BCFW(tol=TOL),
    "n_slack": NSlack(tol=TOL),
    "n_slack in blocks": NSlack(tol=TOL, reoptimise="block"),
    "one_slack": OneSlack(tol=TOL),
    "bundle": Bundle(tol=TOL),
}
RNG = np.random.default_rng(0)
SEQUENCES = [RNG.integers(-1, 2, (k, 2)).astype(float) for k in (1, 3, 2, 3)]
LABELS = [[0], [1, 2, 0], [2, 2], [1, 1, 0]]
PROBLEMS = {
    "multiclass": (Multiclass(), RNG.integers(-2, 3, (10, 3)).astype(float), RNG.integers(0, 3, 10).tolist()),
    "costs": (
        Multiclass(costs=[[0, 1, 2], [3, 0, 1], [0, 1, 0]]),
        RNG.integers(-2, 3, (8, 2)).astype(float),
        RNG.integers(0, 3, 8).tolist(),
    ),
    "chain": (Chain(), SEQUENCES, LABELS),
    "weighted chain": (Chain(), SEQUENCES, [Weighted(y, [2, 0, 1][: len(y)]) for y in LABELS]),
    "interval": (Interval(), *interval_data()),
    "tags": (Tags(), *tag_data()),
}
solvers = pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
formulations = pytest.mark.parametrize("formulation", ALL, ids=str)


def oracle_of(task, X, Y, formulation=None, sample_weight=None):
    task.setup(X, Y)
    return Oracle(task.pack(X, Y), formulation, sample_weight)


@cache
def optimum_of(name, C, formulation):
    """What all solvers have to find: the QP is solved once."""
    return brute_force(*PROBLEMS[name], C, formulation)


def assert_optimal(solution, optimum, tol=TOL):
    certificate = solution.certificate
    assert certificate.converged, certificate
    assert certificate.dual <= optimum.value * (1 + 1e-7) + 1e-9
    assert optimum.value <= certificate.primal * (1 + 1e-7) + 1e-9
    assert certificate.primal - certificate.dual <= tol * certificate.primal
    # P is 1-strongly convex, so that a small gap keeps w close to the one solution
    distance = np.linalg.norm(solution.w - optimum.w)
    assert distance <= np.sqrt(2 * (tol + 1e-6) * max(certificate.primal, 1e-6)) + 1e-4


@pytest.mark.parametrize("name", PROBLEMS)
@formulations
@solvers
def test_equals_the_qp(name, formulation, solver):
    task, X, Y = PROBLEMS[name]
    for C in (0.3, 10.0):
        solution = check_solver(solver, task, X, Y, C, formulation)
        assert_optimal(solution, optimum_of(name, C, formulation))


@pytest.mark.parametrize("name", ["multiclass", "chain"])
@formulations
@solvers
def test_equals_the_qp_with_sample_weights(name, formulation, solver):
    task, X, Y = PROBLEMS[name]
    weights = np.arange(len(Y)) % 4 + 0.5
    weights[1] = 0.0
    solution = check_solver(solver, task, X, Y, 5.0, formulation, sample_weight=weights)
    assert_optimal(solution, brute_force(task, X, Y, 5.0, formulation, sample_weight=weights))


@formulations
@examples(5, 12)
@given(problem=st.one_of(multiclass_data(), chain_data()), C=st.sampled_from([0.01, 1.0, 30.0]), data=st.data())
def test_equals_the_qp_on_anything(formulation, problem, C, data):
    task, X, Y = problem
    weights = data.draw(whole(len(Y), 0, 3))
    weights[0] = max(weights[0], 1)
    optimum = brute_force(task, X, Y, C, formulation, weights)
    for solver in SOLVERS.values():
        assert_optimal(check_solver(solver, task, X, Y, C, formulation, weights), optimum)


@formulations
def test_an_integer_weight_is_a_repeated_example(formulation):
    task, X, Y = PROBLEMS["multiclass"]
    weights = np.arange(len(Y)) % 3 + 1
    repeated = brute_force(task, np.repeat(X, weights, axis=0), np.repeat(Y, weights).tolist(), 5.0, formulation)
    for solver in SOLVERS.values():
        solution = solver.solve(oracle_of(task, X, Y, formulation, weights), 5.0)
        assert_optimal(solution, repeated)


# --- C at its limits


@formulations
@solvers
def test_tiny_c_gives_no_weights(formulation, solver):
    task, X, Y = PROBLEMS["multiclass"]
    solution = check_solver(solver, task, X, Y, 1e-12, formulation)
    assert solution.certificate.converged
    assert solution.certificate.primal == pytest.approx(0.5e-12 if formulation.slack == "l2" else 1e-12, rel=1e-4)
    assert np.abs(solution.w).max() < 1e-10


SEPARABLE = Multiclass(), np.array([[2.0, 1], [1, 2], [-2, 1], [-1, 1], [0, -2], [1, -3]]), [0, 0, 1, 1, 2, 2]
SEPARABLE_CHAIN = Chain(), [np.eye(3)[:2], np.eye(3)[1:], np.eye(3)[[2]]], [[0, 1], [1, 1], [1]]


@pytest.mark.parametrize("problem", [SEPARABLE, SEPARABLE_CHAIN], ids=["multiclass", "chain"])
@pytest.mark.parametrize("rescaling", ["margin", "slack"])
@solvers
def test_huge_c_is_a_hard_margin(problem, rescaling, solver):
    hard = brute_force(*problem, inf, Formulation(rescaling))
    solution = check_solver(solver, *problem, 1e12, Formulation(rescaling))
    assert solution.certificate.dual <= hard.value * (1 + 1e-9)
    if solution.certificate.converged:  # rounding of 1e12 times a slack may forbid it
        assert solution.certificate.primal == pytest.approx(hard.value, rel=1e-4)


@pytest.mark.parametrize("problem", [SEPARABLE, SEPARABLE_CHAIN], ids=["multiclass", "chain"])
@formulations
@pytest.mark.parametrize("solver", [BCFW(tol=1e-4), NSlack(tol=1e-4), OneSlack(tol=1e-4)], ids=repr)
def test_hard_margin_equals_the_qp(problem, formulation, solver):
    hard = brute_force(*problem, inf, formulation)
    solution = check_solver(solver, *problem, inf, formulation)
    assert_optimal(solution, hard, tol=1e-4)
    risk = oracle_of(*problem, formulation).risk(solution.w)
    assert risk <= 1e-9


@pytest.mark.parametrize(
    ("X", "Y"),
    [
        ([[1.0, 2.0], [1.0, 2.0], [0.0, 1.0]], [0, 1, 2]),  # the same x with two labels
        ([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1]),
        ([[0.0, 0.0], [0.0, 0.0]], [0, 1]),  # no features at all
    ],
)
@pytest.mark.parametrize("slack", ["l1", "l2"])
@pytest.mark.parametrize("solver", [BCFW(), NSlack(), OneSlack()], ids=repr)
def test_hard_margin_of_data_that_cannot_be_separated(X, Y, slack, solver):
    problem = Multiclass(), np.array(X), Y
    with pytest.raises(NotSeparable):
        brute_force(*problem, inf)
    try:
        solution = solver.solve(oracle_of(*problem, Formulation(slack=slack)), inf)
    except NotSeparable:
        return
    assert isinstance(solution.error, NotSeparable)
    assert not solution.certificate.converged


def test_hard_margin_ignores_examples_of_weight_zero():
    task, X, Y = SEPARABLE
    X, Y = np.vstack([X, X[:1]]), [*Y, 1]  # the last one contradicts the first
    weights = [1] * (len(Y) - 1) + [0]
    hard = brute_force(task, X, Y, inf, sample_weight=weights)
    for solver in (BCFW(tol=1e-4), NSlack(tol=1e-4), OneSlack(tol=1e-4)):
        assert_optimal(solver.solve(oracle_of(task, X, Y, None, weights), inf), hard, tol=1e-4)


# --- degenerate problems


@formulations
@solvers
def test_loss_that_is_always_zero(formulation, solver):
    task = Multiclass(costs=np.zeros((3, 3)))
    _, X, Y = PROBLEMS["multiclass"]
    for C in (1.0,) if isinstance(solver, Bundle) else (1.0, inf):
        solution = check_solver(solver, task, X, Y, C, formulation)
        assert solution.certificate.primal == solution.certificate.dual == 0
        assert solution.certificate.converged
        assert not solution.w.any()


@formulations
@solvers
def test_features_that_are_all_zero(formulation, solver):
    task, X, Y = Multiclass(), np.zeros((4, 2)), [0, 1, 2, 0]
    solution = check_solver(solver, task, X, Y, 3.0, formulation)
    assert_optimal(solution, brute_force(task, X, Y, 3.0, formulation))
    assert not solution.w.any()


@formulations
@solvers
def test_one_example(formulation, solver):
    task, X, Y = Multiclass(classes=[0, 1]), np.array([[1.0, -2.0]]), [1]
    solution = check_solver(solver, task, X, Y, 3.0, formulation)
    assert_optimal(solution, brute_force(task, X, Y, 3.0, formulation))


# --- one run after another


@formulations
@solvers
def test_path_of_c(formulation, solver):
    """Up, down and the same again: every solution on the path is the optimum of its own C."""
    task, X, Y = PROBLEMS["chain"]
    oracle, solution = oracle_of(task, X, Y, formulation), None
    for C in (0.1, 1.0, 20.0, 20.0, 0.5, 1e-3):
        solution = solver.solve(oracle, C, start=solution)
        assert_optimal(solution, optimum_of("chain", C, formulation))


@pytest.mark.parametrize(
    "problem", [(Multiclass(), np.zeros((3, 2)), [0, 1, 2]), PROBLEMS["costs"]], ids=["zero", "costs"]
)
@formulations
@solvers
def test_path_downwards(problem, formulation, solver):
    """A dual point of a larger C must be made feasible first; with w = 0 nothing but its limits tells how."""
    oracle, solution = oracle_of(*problem, formulation), None
    for C in (100.0, 1.0, 0.01):
        solution = solver.solve(oracle, C, start=solution)
        assert_optimal(solution, brute_force(*problem, C, formulation))


@solvers
def test_start_saves_passes(solver):
    task, X, Y = PROBLEMS["multiclass"]
    first = solver.solve(oracle_of(task, X, Y), 10.0)
    again = solver.solve(oracle_of(task, X, Y), 10.0, start=first)
    assert again.certificate.converged
    assert again.certificate.passes <= first.certificate.passes


@pytest.mark.parametrize("solver", [BCFW(tol=1e-4), NSlack(tol=1e-4), OneSlack(tol=1e-4)], ids=repr)
def test_from_a_finite_c_to_a_hard_margin(solver):
    oracle = oracle_of(*SEPARABLE)
    solution = solver.solve(oracle, np.inf, start=solver.solve(oracle, 0.1))
    assert_optimal(solution, brute_force(*SEPARABLE, inf), tol=1e-4)


@pytest.mark.parametrize("solver", [BCFW(), NSlack(), OneSlack()], ids=repr)
def test_from_a_finite_c_to_a_hard_margin_that_does_not_exist(solver):
    oracle = oracle_of(Multiclass(), np.array([[1.0], [2.0], [3.0], [4.0]]), [0, 1, 0, 1])
    start = solver.solve(oracle, 1000.0)
    try:
        solution = solver.solve(oracle, inf, start=start)
    except NotSeparable:
        return
    assert isinstance(solution.error, NotSeparable)
