"""Runs of latent training: restarts, limits, callbacks, interruptions, errors and options."""

import threading
import warnings
from itertools import pairwise
from math import inf

import numpy as np
import pytest
from example_tasks import Bags, bag_data, partial_sequences
from sklearn.base import clone

from maxmargin.errors import TrainingInterrupted
from maxmargin.executors import Serial, Threads
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.solvers import BCFW, CCCP, Bundle, Perceptron, Subgradient, as_solver
from maxmargin.tasks import Chain
from maxmargin.testing import brute_force, objective

INNER = ["bundle", "one_slack", "n_slack", "bcfw"]
BAGS = Bags(), *bag_data(10, seed=4, largest=4)
CHAIN = Chain(classes=[0, 1, 2]), *partial_sequences(8, seed=2)
C = 5.0
inner_solvers = pytest.mark.parametrize("inner", INNER)


def oracle_of(task, X, Y, executor=None):
    task.setup(X, Y)
    return Oracle(task.pack(X, Y), executor=executor)


def without_seconds(rounds):
    return [each._replace(seconds=0) for each in rounds]


# --- restarts


@pytest.mark.parametrize("problem", [BAGS, CHAIN], ids=["bags", "chain"])
@inner_solvers
def test_the_best_of_several_runs_is_kept(problem, inner):
    solution = CCCP(inner=inner, restarts=5).solve(oracle_of(*problem), C)
    ends = [[each.objective for each in solution.rounds if each.restart == r][-1] for r in range(5)]
    assert len(set(ends)) > 1, "restarts that all end at the same place would prove nothing"
    assert solution.certificate.primal == min(ends)
    assert solution.certificate.primal == pytest.approx(objective(*problem, C, solution.w))
    best = brute_force(*problem, C, completed_at=solution.w).value
    assert solution.certificate.dual <= best * (1 + 1e-7)
    assert solution.certificate.rounds == sum(each.restart == int(np.argmin(ends)) for each in solution.rounds)
    assert [each.restart for each in solution.rounds] == sorted(each.restart for each in solution.rounds)


@pytest.mark.parametrize("problem", [BAGS, CHAIN], ids=["bags", "chain"])
@inner_solvers
@pytest.mark.parametrize("restarts", [1, 4])
def test_number_of_threads_changes_no_bit(problem, inner, restarts):
    found = []
    for executor in (Serial(), Threads(1), Threads(2), Threads(3)):
        oracle = oracle_of(*problem, executor)
        found.append(CCCP(inner=inner, restarts=restarts).solve(oracle, C, seed=7))
        assert found[-1].certificate.passes == found[0].certificate.passes == oracle.calls / oracle.n
        executor.close()
    for solution in found[1:]:
        assert np.array_equal(solution.w, found[0].w)
        assert without_seconds(solution.rounds) == without_seconds(found[0].rounds)


@inner_solvers
def test_the_first_of_several_runs_is_the_only_one_of_one(inner):
    alone = CCCP(inner=inner).solve(oracle_of(*BAGS), C, seed=3)
    several = CCCP(inner=inner, restarts=3).solve(oracle_of(*BAGS), C, seed=3)
    first = [each for each in several.rounds if each.restart == 0]
    assert without_seconds(first) == without_seconds(alone.rounds)
    assert several.certificate.primal <= alone.certificate.primal
    assert several.certificate.passes > alone.certificate.passes


def test_only_the_first_run_begins_at_start():
    start = np.random.default_rng(0).standard_normal(6)
    given = CCCP(start=start, restarts=3).solve(oracle_of(*BAGS), C)
    free = CCCP(restarts=3).solve(oracle_of(*BAGS), C)
    first = [[each for each in solution.rounds if each.restart == 0] for solution in (given, free)]
    others = [[each for each in solution.rounds if each.restart > 0] for solution in (given, free)]
    assert without_seconds(first[0]) != without_seconds(first[1])
    assert without_seconds(others[0]) == without_seconds(others[1])


def test_seeds_are_heeded():
    found = [CCCP(tol=1e-3).solve(oracle_of(*BAGS), C, seed=seed).w for seed in (0, 1, 0)]
    assert np.array_equal(found[0], found[2])
    assert not np.array_equal(found[0], found[1])


def test_runs_side_by_side_do_not_call_back_at_once():
    inside, most = [0], [0]
    lock = threading.Lock()

    def callback(record):
        with lock:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
        threading.Event().wait(0.001)
        with lock:
            inside[0] -= 1

    executor = Threads(3)
    CCCP(restarts=3).solve(oracle_of(*BAGS, executor), C, callback=callback)
    executor.close()
    assert most[0] == 1


# --- limits and callbacks


@inner_solvers
def test_limit_on_passes(inner):
    """Of one run; a step that has begun is finished, and what it found is completed and measured."""
    for most in (1, 3, 8):
        certificate = CCCP(inner=inner, tol=1e-9, max_passes=most).solve(oracle_of(*BAGS), 100.0).certificate
        assert certificate.stop_reason == "max_passes reached"
        assert not certificate.converged
        assert most <= certificate.passes <= most + 8


@inner_solvers
def test_callback_sees_every_step_and_can_stop(inner):
    seen = []
    solution = CCCP(inner=inner, tol=1e-3).solve(oracle_of(*BAGS), C, callback=seen.append)
    assert len(seen) == len(solution.history)
    assert all(a.passes < b.passes for a, b in pairwise(seen))
    assert list(dict.fromkeys(record.where for record in seen)) == [
        f"round {k}" for k in range(1, len(solution.rounds) + 1)
    ]
    for steps in range(1, len(seen) + 1):
        left = iter(range(steps - 1, -1, -1))
        stopped = CCCP(inner=inner, tol=1e-3).solve(
            oracle_of(*BAGS), C, callback=lambda record, left=left: next(left) == 0
        )
        assert stopped.certificate.stop_reason == "stopped by the callback"
        assert len(stopped.history) == steps
        assert stopped.certificate.primal == pytest.approx(objective(*BAGS, C, stopped.w))
        if stopped.certificate.dual > -inf:
            assert stopped.certificate.dual <= brute_force(*BAGS, C, completed_at=stopped.w).value * (1 + 1e-7)


@pytest.mark.parametrize("executor", [Serial(), Threads(2)], ids=["serial", "threads"])
def test_callback_stops_all_runs(executor):
    seen = []
    solution = CCCP(restarts=4).solve(
        oracle_of(*BAGS, executor), C, callback=lambda record: seen.append(record.where) or True
    )
    executor.close()
    assert len(seen) <= executor.workers
    assert solution.certificate.stop_reason == "stopped by the callback"
    assert solution.certificate.primal == pytest.approx(objective(*BAGS, C, solution.w))


def test_where_training_is():
    seen = []
    CCCP(restarts=2, rounds=1).solve(oracle_of(*BAGS), C, callback=lambda record: seen.append(record.where))
    assert set(seen) == {"run 1 of 2, round 1", "run 2 of 2, round 1"}


# --- errors and interruptions


class Failing(Bags):
    """Raises at a given call of what is named, and (an error) for ever after."""

    places = ("argmax", "complete")
    calls = 0
    error: type[BaseException] = RuntimeError

    def _count(self, place):
        kind = type(self)
        if place in kind.places:
            kind.calls -= 1
            if kind.calls < 0 and (kind.error is RuntimeError or kind.calls == -1):
                raise kind.error("out of order")

    def argmax(self, w, x, y=None):
        self._count("argmax")
        return super().argmax(w, x, y)

    def complete(self, w, x, y):
        self._count("complete")
        return super().complete(w, x, y)


class Interrupted(Failing):
    error = KeyboardInterrupt


DATA = BAGS[1:]


@inner_solvers
@pytest.mark.parametrize("place", ["argmax", "complete"])
@pytest.mark.parametrize("restarts", [1, 2])
def test_decoder_that_fails_at_any_moment(inner, place, restarts):
    """The error comes up, unless something was learnt before it: then it stays in the solution, beside the model."""
    Failing.places, kept = (place,), 0
    for calls in range(0, 2000, 7 if place == "complete" else 31):
        oracle = oracle_of(Failing(), *DATA)
        Failing.calls = calls
        try:
            solution = CCCP(inner=inner, restarts=restarts).solve(oracle, C)
        except RuntimeError:
            assert kept == 0, "an earlier failure left a model, a later one none"
            continue
        if solution.error is None:
            break
        kept += 1
        assert isinstance(solution.error, RuntimeError)
        assert_usable(solution)
        if restarts == 1:
            assert solution.certificate.stop_reason == "stopped by RuntimeError"
    assert solution.error is None
    assert solution.certificate.converged
    assert kept > 0


@inner_solvers
@pytest.mark.parametrize("place", ["argmax", "complete"])
@pytest.mark.parametrize("executor", [Serial(), Threads(2)], ids=["serial", "threads"])
@pytest.mark.parametrize("restarts", [1, 3])
def test_interrupt_at_any_moment(inner, place, executor, restarts):
    """Ctrl-C ends all runs, leaves a warning and a model, be it the one that knows nothing yet."""
    Interrupted.places, interruptions = (place,), 0
    for calls in range(0, 300, 7 if place == "complete" else 31):
        oracle = oracle_of(Interrupted(), *DATA, executor)
        Interrupted.calls = calls
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            solution = CCCP(inner=inner, restarts=restarts).solve(oracle, C)
        interrupted = solution.certificate.stop_reason == "interrupted"
        interruptions += interrupted
        assert [warning.category for warning in caught] == [TrainingInterrupted] * interrupted
        assert solution.error is None
        assert_usable(solution)
        assert interrupted == (Interrupted.calls < 0)
        if restarts > 1 and isinstance(executor, Serial) and interrupted:
            runs = {each.restart for each in solution.rounds}
            assert Interrupted.calls > -60, f"training went on after Ctrl-C: {runs}"
    executor.close()
    assert interruptions > 3


def assert_usable(solution):
    assert np.isfinite(solution.w).all()
    certificate = solution.certificate
    assert objective(Bags(), *DATA, C, solution.w) <= certificate.primal * (1 + 1e-9)
    if certificate.dual > -inf:
        assert certificate.dual <= brute_force(Bags(), *DATA, C, completed_at=solution.w).value * (1 + 1e-7)


@inner_solvers
@pytest.mark.parametrize("executor", [Serial(), Threads(2)], ids=["serial", "threads"])
def test_ctrl_c_in_a_callback_ends_all_runs(inner, executor):
    seen = []

    def callback(record):
        seen.append(record.where)
        if len(seen) == 2:
            raise KeyboardInterrupt

    with pytest.warns(TrainingInterrupted, match="the best one so far"):
        solution = CCCP(inner=inner, tol=1e-6, restarts=5).solve(oracle_of(*BAGS, executor), C, callback=callback)
    executor.close()
    assert solution.certificate.stop_reason == "interrupted"
    assert len(seen) <= 1 + executor.workers
    assert solution.certificate.primal == pytest.approx(objective(*BAGS, C, solution.w))


def test_an_error_in_one_run_keeps_the_others():
    seen = []

    def callback(record):
        seen.append(record.where)
        if record.where.startswith("run 2"):
            raise ZeroDivisionError

    solution = CCCP(restarts=3).solve(oracle_of(*BAGS), C, callback=callback)
    assert isinstance(solution.error, ZeroDivisionError)
    assert solution.certificate.converged
    assert any(where.startswith("run 3") for where in seen)


def test_training_can_go_on_after_ctrl_c():
    oracle = oracle_of(*BAGS)

    def interrupt(record):
        if record.where == "round 2":
            raise KeyboardInterrupt

    for inner in INNER:
        with pytest.warns(TrainingInterrupted):
            first = CCCP(inner=inner, tol=1e-4).solve(oracle, C, callback=interrupt)
        again = CCCP(inner=inner, tol=1e-4).solve(oracle, C, start=first)
        assert again.certificate.converged
        assert again.certificate.dual <= brute_force(*BAGS, C, completed_at=again.w).value * (1 + 1e-7)


# --- options


@pytest.mark.parametrize(
    ("options", "penalty", "message"),
    [
        ({}, inf, "needs a finite C"),
        ({"inner": "perceptron"}, C, r"latent training needs an inner solver with a certificate, not Perceptron\(\)"),
        ({"inner": Subgradient()}, C, "with a certificate"),
        ({"inner": "cccp"}, C, "unknown solver 'cccp'; expected one of bcfw"),
        ({"inner": CCCP(inner=BCFW())}, C, "with a certificate"),
        ({"inner": "sgd"}, C, "unknown solver 'sgd'"),
        ({"restarts": 0}, C, "restarts must be a whole number >= 1, got 0"),
        ({"restarts": 1.5}, C, "restarts must be a whole number >= 1, got 1.5"),
        ({"restarts": True}, C, "restarts must be a whole number >= 1, got True"),
        ({"rounds": 0}, C, "rounds must be a whole number >= 1, got 0"),
        ({"start": np.zeros(3)}, C, r"start must be 6 finite weights, got an array of shape \(3,\)"),
        ({"start": 0.0}, C, r"start must be 6 finite weights, got an array of shape \(\)"),
        ({"start": np.full(6, np.nan)}, C, r"start must be 6 finite weights, got .* shape \(6,\) with NaN or infinity"),
        ({"start": "pairs"}, C, "start must be 6 finite weights, got 'pairs'"),
    ],
    ids=str,
)
def test_bad_options_are_named(options, penalty, message):
    with pytest.raises(ValueError, match=message):
        CCCP(**options).solve(oracle_of(*BAGS), penalty)


@pytest.mark.parametrize("solver", [Perceptron(), Subgradient()], ids=repr)
def test_an_uncertified_inner_solver_is_an_error_without_hidden_parts_too(solver):
    with pytest.raises(ValueError, match="with a certificate"):
        CCCP(inner=solver).solve(oracle_of(Chain(), [np.eye(2), np.eye(2)], [["a", "b"], ["b", "a"]]), C)


def test_options_can_be_arrays():
    start = np.arange(6.0)
    solver = CCCP(inner=Bundle(patience=7), start=start, restarts=2)
    assert solver.get_params()["start"] is start
    copied = clone(solver)
    assert copied.start is not start
    assert np.array_equal(copied.start, start)
    assert copied.inner.patience == 7
    assert repr(solver) == f"CCCP(inner=Bundle(patience=7), restarts=2, start={start!r})"
    assert repr(CCCP()) == "CCCP()"
    assert type(as_solver("cccp")) is CCCP
    with pytest.raises(
        TypeError, match="CCCP has no option 'restart'; it has inner, max_passes, restarts, rounds, sta"
    ):
        CCCP(restart=1)


def test_the_users_solver_is_left_alone():
    inner, start = BCFW(tol=0.3, max_passes=7), np.ones(6)
    solver = CCCP(inner=inner, start=start)
    before = dict(vars(inner)), dict(vars(solver))
    CCCP.solve(solver, oracle_of(*BAGS), C)
    assert (vars(inner), vars(solver)) == before
    assert np.array_equal(start, np.ones(6))
