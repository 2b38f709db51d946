"""Latent training against enumeration: the objective of every round, and the bound of the last one."""

from itertools import pairwise
from math import inf

import numpy as np
import pytest
from example_tasks import Bags, Tags, bag_data, partial_sequences, tag_data
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from strategies import whole
from thorough import examples

from maxmargin import StructuredSVM, Task
from maxmargin.base.search import Search
from maxmargin.errors import TaskError
from maxmargin.problem.contract.examples import Examples
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.oracle.completions import guessed
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.solvers import BCFW, CCCP, Bundle, NSlack, OneSlack, Solver, Step
from maxmargin.tasks import Chain, Multiclass
from maxmargin.testing import brute_force, check_solver, objective

TOL = 1e-3
INNER = ["bundle", "one_slack", "n_slack", "bcfw"]
ALL = [Formulation(rescaling, slack) for rescaling in ("margin", "slack") for slack in ("l1", "l2")]
PROBLEMS = {
    "bags": (Bags(), *bag_data()),
    "listed bags": (Bags(listed=True), *bag_data(seed=1)),
    "chain": (Chain(classes=[0, 1, 2]), *partial_sequences()),
}
UNEQUAL = np.array([1.0, 2.0, 0.0, 0.5, 1.0, 3.0])
formulations = pytest.mark.parametrize("formulation", ALL, ids=str)
inner_solvers = pytest.mark.parametrize("inner", INNER)
problems = pytest.mark.parametrize("name", PROBLEMS)


def oracle_of(task, X, Y, formulation=None, sample_weight=None, executor=None):
    task.setup(X, Y)
    return Oracle(task.pack(X, Y), formulation, sample_weight, executor)


def solved(problem, solver, C=5.0, formulation=None, sample_weight=None, seed=0, start=None):
    solution = solver.solve(oracle_of(*problem, formulation, sample_weight), C, start, seed=seed)
    if solution.error is not None:
        raise solution.error
    return solution


def assert_true(problem, solution, C=5.0, formulation=None, sample_weight=None, tol=TOL):
    """The certificate's objective is J(w), and its bound one of the convex problem completed at w."""
    certificate = solution.certificate
    assert certificate.primal == pytest.approx(objective(*problem, C, solution.w, formulation, sample_weight))
    if certificate.dual > -inf:
        best = brute_force(*problem, C, formulation, sample_weight, completed_at=solution.w).value
        assert certificate.dual <= best * (1 + 1e-7) + 1e-9
        assert best <= certificate.primal * (1 + 1e-7) + 1e-9
    assert certificate.converged == (certificate.stop_reason == "converged")
    if certificate.converged:
        assert certificate.primal - certificate.dual <= tol * certificate.primal
    assert certificate.rounds == len(solution.rounds)


@pytest.mark.parametrize("sample_weight", [None, UNEQUAL], ids=["equal", "unequal"])
@inner_solvers
@formulations
@problems
def test_certificate_is_true(name, formulation, inner, sample_weight):
    problem = PROBLEMS[name]
    for seed in (0, 1):
        solution = solved(problem, CCCP(inner=inner, tol=TOL), 5.0, formulation, sample_weight, seed)
        assert solution.certificate.converged
        assert_true(problem, solution, 5.0, formulation, sample_weight)


@inner_solvers
@formulations
@problems
def test_every_round_is_true_and_none_is_worse(name, formulation, inner):
    """Training that may do k rounds only ends where a longer one is after k rounds: so each can be looked at."""
    problem = PROBLEMS[name]
    whole_run = solved(problem, CCCP(inner=inner, tol=1e-4), 5.0, formulation, UNEQUAL, seed=3)
    values = [each.objective for each in whole_run.rounds]
    assert all(after <= before for before, after in pairwise(values))
    for k in range(1, len(values) + 1):
        part = solved(problem, CCCP(inner=inner, tol=1e-4, rounds=k), 5.0, formulation, UNEQUAL, seed=3)
        assert [each._replace(seconds=0) for each in part.rounds] == [
            each._replace(seconds=0) for each in whole_run.rounds[:k]
        ]
        assert part.certificate.primal == part.rounds[-1].objective
        assert_true(problem, part, 5.0, formulation, UNEQUAL, tol=1e-4)
        assert part.certificate.stop_reason == ("rounds reached" if k < len(values) else "converged")
    assert np.array_equal(part.w, whole_run.w)


@inner_solvers
@formulations
def test_rounds_say_what_happened(formulation, inner):
    solution = solved(PROBLEMS["bags"], CCCP(inner=inner, tol=TOL), 5.0, formulation)
    assert all(each.restart == 0 and each.passes > 0 and each.seconds >= 0 for each in solution.rounds)
    assert all(0 <= each.changed <= len(PROBLEMS["bags"][2]) for each in solution.rounds)
    assert sum(each.passes for each in solution.rounds) <= solution.certificate.passes
    assert {line["round"] for line in solution.history} == set(range(len(solution.rounds)))
    passes = [line["passes"] for line in solution.history]
    assert passes == sorted(passes)
    assert passes[-1] <= solution.certificate.passes


@pytest.mark.parametrize("inner", ["bundle", "bcfw"])
@pytest.mark.parametrize("kind", ["bags", "chain"])
def test_a_last_round_that_explains_otherwise_proves_its_first_weights(kind, inner):
    """A loose tolerance often ends so: the bound is not one for the last weights, and they are not kept."""
    changed = 0
    for seed in range(8):
        data = bag_data(8, seed, largest=4) if kind == "bags" else partial_sequences(8, seed)
        problem = Bags() if kind == "bags" else Chain(classes=[0, 1, 2]), *data
        solution = solved(problem, CCCP(inner=inner, tol=0.1), 1.0)
        assert solution.certificate.converged
        assert_true(problem, solution, 1.0, tol=0.1)
        changed += len(solution.rounds) > 1 and solution.rounds[-1].changed > 0
    assert changed > 0


@formulations
@examples(5, 10)
@given(data=st.data(), C=st.sampled_from([0.01, 1.0, 30.0]))
def test_certificate_is_true_on_anything(formulation, data, C):
    n, width = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 2))
    X = [data.draw(whole((data.draw(st.integers(1, 3)), width), -2, 2)) for _ in range(n)]
    Y = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    weights = data.draw(whole(n, 0, 3))
    weights[0] = max(weights[0], 1)
    for inner in INNER:
        problem = Bags(listed=data.draw(st.booleans())), X, Y
        solution = solved(problem, CCCP(inner=inner, tol=TOL), C, formulation, weights)
        assert solution.certificate.converged
        assert_true(problem, solution, C, formulation, weights)


@formulations
@examples(5, 10)
@given(data=st.data(), C=st.sampled_from([0.01, 1.0, 30.0]))
def test_certificate_is_true_on_any_partial_labels(formulation, data, C):
    n = data.draw(st.integers(1, 3))
    X = [data.draw(whole((data.draw(st.integers(1, 3)), 2), -2, 2)) for _ in range(n)]
    known = st.one_of(st.none(), st.integers(0, 2), st.sets(st.integers(0, 2), min_size=1))
    Y = [data.draw(st.lists(known, min_size=len(x), max_size=len(x))) for x in X]
    problem = Chain(classes=[0, 1, 2]), [*X, np.ones((2, 2))], [*Y, [0, None]]
    for inner in INNER:
        solution = solved(problem, CCCP(inner=inner, tol=TOL), C, formulation)
        assert solution.certificate.converged
        assert_true(problem, solution, C, formulation)


# --- where nothing is hidden


@inner_solvers
@formulations
def test_one_explanation_for_every_label_is_ordinary_training(formulation, inner):
    """Bags of one instance are Multiclass with costs |y - z|."""
    X, Y = bag_data(8, largest=1)
    costs = np.abs(np.arange(3)[:, None] - np.arange(3)).astype(float)
    best = brute_force(Multiclass(costs=costs), np.concatenate(X), Y, 5.0, formulation).value
    solution = solved((Bags(), X, Y), CCCP(inner=inner, tol=1e-5), 5.0, formulation)
    assert solution.certificate.converged
    assert solution.certificate.dual <= best * (1 + 1e-7)
    assert best * (1 - 1e-7) <= solution.certificate.primal <= best * (1 + 1e-5)
    assert all(each.changed == 0 for each in solution.rounds)


@inner_solvers
@formulations
@pytest.mark.parametrize(
    "problem", [(Tags(), *tag_data()), (Chain(), *bag_data(6)[:1], [["a"] * len(x) for x in bag_data(6)[0]])]
)
def test_a_task_without_hidden_parts_is_trained_by_the_inner_solver(problem, formulation, inner):
    task, X, Y = problem
    if isinstance(task, Chain):
        Y = [*Y[:-1], ["b"] * len(Y[-1])]
    found = check_solver(CCCP(inner=inner), task, X, Y, 5.0, formulation)
    kinds = {"bundle": Bundle, "one_slack": OneSlack, "n_slack": NSlack, "bcfw": BCFW}
    direct = solved((task, X, Y), kinds[inner](max_passes=CCCP.max_passes), 5.0, formulation)
    assert np.array_equal(found.w, direct.w)
    assert found.certificate.rounds is None
    assert found.rounds == []


# --- where training begins


@formulations
@problems
def test_two_inner_solvers_agree_at_a_tight_tolerance(name, formulation):
    """From the same start, where the way there is the same: both solve each convex problem as well as they can."""
    problem = PROBLEMS[name]
    start = solved(problem, CCCP(inner="bundle", tol=1e-2), 5.0, formulation).w
    found = [solved(problem, CCCP(inner=inner, tol=1e-6, start=start), 5.0, formulation) for inner in INNER]
    values = [solution.certificate.primal for solution in found]
    assert all(solution.certificate.converged for solution in found)
    assert values == pytest.approx([values[0]] * len(INNER), rel=3e-6)


@inner_solvers
@formulations
@problems
def test_start(name, formulation, inner):
    """The labels are completed at `start` first, and the result is no worse than it."""
    problem = PROBLEMS[name]
    dim = oracle_of(*problem).dim
    for seed in range(3):
        start = np.random.default_rng(seed).standard_normal(dim)
        one = solved(problem, CCCP(inner=inner, tol=1e-4, start=start.tolist(), rounds=1), 5.0, formulation)
        best = brute_force(*problem, 5.0, formulation, completed_at=start).value
        value = objective(*problem, 5.0, start, formulation)
        assert one.rounds[0].bound <= best * (1 + 1e-7)
        assert best * 0.85 <= one.rounds[0].bound, "the first round is loose, but not looser than its tolerance"
        assert one.certificate.primal <= value * (1 + 1e-9)
        assert_true(problem, one, 5.0, formulation, tol=1e-4)


@inner_solvers
def test_a_local_optimum_is_recognised(inner):
    """Begun at its own result, training proves it and goes nowhere."""
    problem = PROBLEMS["bags"]
    first = solved(problem, CCCP(inner="one_slack", tol=1e-6))
    again = solved(problem, CCCP(inner=inner, tol=1e-3, start=first.w))
    assert again.certificate.converged
    assert again.certificate.primal <= first.certificate.primal
    assert again.certificate.primal == pytest.approx(first.certificate.primal, rel=1e-3)
    assert_true(problem, again)


@inner_solvers
@formulations
def test_warm_start(formulation, inner):
    """Up and down in C: every solution is certified for its own, from the state of the one before."""
    for problem in PROBLEMS.values():
        solution = None
        for C in (0.1, 5.0, 5.0, 40.0, 0.5):
            solution = solved(problem, CCCP(inner=inner, tol=TOL), C, formulation, UNEQUAL, start=solution)
            assert solution.certificate.converged
            assert_true(problem, solution, C, formulation, UNEQUAL)


@inner_solvers
@formulations
def test_warm_start_of_training_that_was_cut_short(formulation, inner):
    """Its weights explain some hidden parts otherwise than its cuts do: these are moved before they are used."""
    for problem in PROBLEMS.values():
        for seed in range(3):
            first = solved(problem, CCCP(inner=inner, tol=TOL, rounds=1), 20.0, formulation, seed=seed)
            again = solved(problem, CCCP(inner=inner, tol=TOL, rounds=1), 20.0, formulation, start=first)
            best = brute_force(*problem, 20.0, formulation, completed_at=first.w).value
            assert again.rounds[0].bound <= best * (1 + 1e-7) + 1e-9
            assert_true(problem, again, 20.0, formulation)


@inner_solvers
@pytest.mark.parametrize("name", ["bags", "chain"])
def test_path_of_an_estimator(name, inner):
    problem = PROBLEMS[name]
    task, X, Y = problem
    path = (0.5, 5.0, 50.0)
    for C, model in zip(path, StructuredSVM(clone(task), solver=inner, tol=TOL).fit_path(X, Y, path), strict=True):
        assert model.certificate_.converged
        assert model.certificate_.primal == pytest.approx(objective(*problem, C, model.w_))
        assert_true(problem, model.solution_, C)


# --- away from w = 0


class Hidden(Task):
    """A signal has a pattern somewhere, or has none: z is the place where it begins, or None."""

    latent = True

    def setup(self, X, Y):
        self.dim = 6

    def psi(self, x, z):
        return np.zeros(6) if z is None else np.append(x[z : z + 5], 1.0)

    def loss(self, y, z):
        return float(y != (z is not None))

    def outputs(self, x):
        return [None, *range(len(x) - 4)]


def hidden_patterns(n=40, seed=0):
    rng = np.random.default_rng(seed)
    X, Y = rng.standard_normal((n, 30)), [i % 2 == 0 for i in range(n)]
    for i in range(0, n, 2):
        place = rng.integers(26)
        X[i, place : place + 5] += [2.5, -2.5, 2.5, 2.5, -2.5]
    return X, Y


def test_places_drawn_by_lot_have_nothing_in_common():
    oracle = oracle_of(Hidden(), *hidden_patterns())
    start = guessed(oracle, np.random.default_rng(np.random.SeedSequence([0, 0])))
    assert OneSlack(tol=1e-6).solve(start, 100.0).certificate.dual > 99.99, "w = 0 is the best for them"


@pytest.mark.every(2)
@inner_solvers
def test_a_guess_that_is_no_good_is_left(inner):
    """The first convex problem has nothing better than w = 0, which explains all places equally well."""
    problem = (Hidden(), *hidden_patterns())
    solution = solved(problem, CCCP(inner=inner), 100.0)
    assert solution.certificate.primal < 50
    assert_true(problem, solution, 100.0, tol=1e-2)
    objectives = [each.objective for each in solution.rounds]
    assert objectives == sorted(objectives, reverse=True)


@pytest.mark.parametrize("inner", ["bundle", "one_slack"])
def test_a_path_leaves_zero(inner):
    """Where the first C is too small for anything but w = 0, the next ones do not stay there."""
    X, Y = hidden_patterns()
    first, last = StructuredSVM(Hidden(), solver=CCCP(inner=inner)).fit_path(X, Y, [1e-3, 100.0])
    assert first.certificate_.primal == pytest.approx(1e-3, rel=0.02)
    assert last.certificate_.primal < 50


@inner_solvers
def test_zero_is_kept_where_nothing_is_better(inner):
    """Signals without any pattern, each of them once with either label."""
    X = np.repeat(np.random.default_rng(0).standard_normal((4, 7)), 2, axis=0)
    problem = (Hidden(), X, [True, False] * 4)
    solution = solved(problem, CCCP(inner=inner), 10.0)
    assert solution.certificate.converged
    assert solution.certificate.primal == pytest.approx(10.0, rel=1e-2)
    assert_true(problem, solution, 10.0, tol=1e-2)


class Returns(Solver):
    """Goes far in one direction and comes back to w = 0, all in one working array."""

    direction = None

    def steps(self, oracle, C, seed, start):
        w = np.array(self.direction)
        yield Step(w, 0.0)
        w[:] = 0.0
        yield Step(w, 0.0)


def test_the_way_from_zero_is_remembered_when_the_trainer_overwrites_it():
    problem = (Hidden(), *hidden_patterns())
    Returns.direction = 5 * solved(problem, CCCP(inner="bcfw"), 100.0).w
    solution = solved(problem, CCCP(inner=Returns(), rounds=1), 100.0)
    assert solution.w.any()
    assert solution.certificate.primal < 100


# --- a completion that is none


class WorstCompletion(Bags):
    def complete(self, w, x, y):
        return min(((y, h) for h in range(len(x))), key=lambda z: self.psi(x, z) @ w)


class NoShifts(Bags):
    def pack(self, X, Y):
        return Still(self, X, Y, listed=True)


class Still(Examples):
    def shifts_to(self, after):
        return np.zeros_like(super().shifts_to(after))


class Backwards(NoShifts):
    """Completes badly, and hides it from the check of single examples."""

    complete = WorstCompletion.complete


class Blind(Bags):
    """A decoder that finds nothing wrong at weights that are not small."""

    def argmax(self, w, x, y=None):
        if y is not None and np.linalg.norm(w) > 0.5:
            return self.complete(w, x, y)
        return super().argmax(w, x, y)


@inner_solvers
def test_a_completion_that_is_not_the_best_is_an_error(inner):
    X, Y = bag_data(seed=2)
    with pytest.raises(
        TaskError, match=r"WorstCompletion broke its promise on example \d: complete\(w, x, y\) .* lower .* by \d"
    ):
        solved((WorstCompletion(), X, Y), CCCP(inner=inner))


@inner_solvers
def test_an_objective_that_rises_is_an_error(inner):
    with pytest.raises(
        TaskError, match=r"completing the labels raised the objective from [\d.]+ to [\d.]+; Backwards.complete"
    ):
        solved((Backwards(), *bag_data(seed=2)), CCCP(inner=inner))


@inner_solvers
def test_a_bound_that_exceeds_the_objective_is_an_error(inner):
    problem = Blind(), *bag_data()
    with pytest.raises(TaskError, match=r"Blind broke its promise on example \d+: argmax.*earlier"):
        solved(problem, CCCP(inner=inner, start=np.full(6, 0.3)), 50.0)


def test_an_approximate_decoder_is_not_held_to_it():
    class Approximate(WorstCompletion):
        search = Search.UNDERGENERATING

    certificate = solved((Approximate(), *bag_data(seed=2)), CCCP()).certificate
    assert not certificate.exact


@pytest.mark.parametrize("formulation", ALL[1:], ids=str)
@pytest.mark.parametrize("inner", ["bundle", "bcfw"])
def test_a_search_that_is_not_exact_is_no_fault_of_the_completion(formulation, inner):
    """Losses that are no whole numbers: upper bounds of the search may be worse for a better truth."""
    for seed in range(4):
        X, Y = partial_sequences(12, seed)
        problem = Chain(classes=[0, 1, 2], costs=[[0, 0.3, 1.7], [0.45, 0, 0.9], [2.2, 0.7, 0]]), X, Y
        solution = solved(problem, CCCP(inner=inner, tol=0.05, max_passes=100), 30.0, formulation)
        value = objective(*problem, 30.0, solution.w, formulation)
        assert value <= solution.certificate.primal * (1 + 1e-9)
