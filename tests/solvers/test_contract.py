"""What every solver promises: a true certificate, the same result for a seed, and a usable model whatever happens."""

import warnings
from itertools import pairwise
from math import inf, isfinite
from typing import ClassVar

import numpy as np
import pytest
from example_tasks import Interval, Pairs, Sloppy, Tags, every_labelling, interval_data, pair_data, tag_data

from maxmargin.errors import NotSeparable, TrainingInterrupted
from maxmargin.executors import Serial, Threads
from maxmargin.problem.contract.capabilities.own_dual import OwnDual
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.solvers import BCFW, SOLVERS, Bundle, NSlack, OneSlack, Perceptron, Solver, Step, Subgradient, as_solver
from maxmargin.structures.classes.multiclass import MulticlassBatch
from maxmargin.tasks import Chain, Multiclass
from maxmargin.testing import brute_force, check_solver

ALL = [Formulation(rescaling, slack) for rescaling in ("margin", "slack") for slack in ("l1", "l2")]
CERTIFIED = [BCFW(), NSlack(), NSlack(reoptimise="block"), OneSlack(), Bundle()]
EVERY = [*CERTIFIED, Subgradient(), Perceptron()]
every_solver = pytest.mark.parametrize("solver", EVERY, ids=repr)
certified = pytest.mark.parametrize("solver", CERTIFIED, ids=repr)
formulations = pytest.mark.parametrize("formulation", ALL, ids=str)
RNG = np.random.default_rng(0)
MULTICLASS = Multiclass(), RNG.integers(-2, 3, (30, 3)).astype(float), RNG.integers(0, 3, 30).tolist()
CHAIN = Chain(), [RNG.integers(-1, 2, (k, 2)).astype(float) for k in (1, 3, 2, 3)], [[0], [1, 2, 0], [2, 2], [1, 1, 0]]
SEPARABLE = Multiclass(), np.array([[2.0, 1], [1, 2], [-2, 1], [-1, 1], [0, -2], [1, -3]]), [0, 0, 1, 1, 2, 2]


def oracle_of(task, X, Y, formulation=None, executor=None):
    task.setup(X, Y)
    return Oracle(task.pack(X, Y), formulation, executor=executor)


# --- certificates and seeds


def test_no_solver_is_left_out():
    elsewhere = {"sampled_cuts", "cccp"}  # test_sampled_cuts.py and test_cccp.py
    forgotten = set(SOLVERS) - elsewhere - {solver.name for solver in EVERY}
    assert not forgotten, f"add the solver to CERTIFIED or EVERY: {forgotten}"


@pytest.mark.parametrize("problem", [MULTICLASS, CHAIN, (Tags(), *tag_data())], ids=["multiclass", "chain", "tags"])
@formulations
@every_solver
def test_keeps_the_contract(problem, formulation, solver):
    solution = check_solver(solver, *problem, 2.0, formulation)
    assert solution.certificate.converged == solver.certified


@formulations
@certified
def test_keeps_the_contract_where_the_search_is_not_exact(formulation, solver):
    """Then the reported objective is an upper bound, and a solver may have to give up; the bound stays true."""
    X, Y = pair_data()
    oracle = oracle_of(Pairs(), X, Y, formulation)
    certificate = type(solver)(**{**solver.get_params(), "max_passes": 100}).solve(oracle, 2.0).certificate
    optimum = brute_force(ListedPairs(), X, Y, 2.0, formulation)
    assert certificate.dual <= optimum.value * (1 + 1e-9) <= certificate.primal * (1 + 1e-6)


class ListedPairs(Pairs):
    def outputs(self, x):
        return every_labelling(x)


@every_solver
@pytest.mark.parametrize("formulation", [ALL[0], ALL[3]], ids=str)
@pytest.mark.parametrize("problem", [MULTICLASS, (Interval(), *interval_data(20))], ids=["multiclass", "interval"])
def test_number_of_threads_changes_no_bit(solver, formulation, problem):
    found = []
    for executor in (Serial(), Threads(1), Threads(2), Threads(3)):
        found.append(solver.solve(oracle_of(*problem, formulation, executor), 5.0, seed=7).w)
        executor.close()
    for w in found[1:]:
        assert np.array_equal(w, found[0])


@pytest.mark.parametrize("solver", [BCFW(tol=1e-8), Subgradient(), Perceptron()], ids=repr)
def test_seeds_are_heeded(solver):
    found = [solver.solve(oracle_of(*MULTICLASS), 5.0, seed=seed).w for seed in (1, 2, 1)]
    assert np.array_equal(found[0], found[2])
    assert not np.array_equal(found[0], found[1])


@certified
def test_measured_gap_of_a_loose_tolerance(solver):
    for tol in (0.5, 1e-1, 1e-3):
        certificate = type(solver)(**{**solver.get_params(), "tol": tol}).solve(oracle_of(*MULTICLASS), 5.0).certificate
        assert certificate.converged
        assert certificate.relative_gap <= tol


# --- without a bound


@pytest.mark.parametrize("problem", [MULTICLASS, CHAIN], ids=["multiclass", "chain"])
@formulations
def test_subgradient_comes_close(problem, formulation):
    optimum = brute_force(*problem, 1.0, formulation).value
    certificate = Subgradient(max_passes=300).solve(oracle_of(*problem, formulation), 1.0).certificate
    assert optimum * (1 - 1e-9) <= certificate.primal <= 1.05 * optimum
    assert not certificate.converged
    assert certificate.dual == -inf


SEPARABLE_TAGS = Tags(), [[0], [0, 0], [1], [1, 1, 1], [2, 3], [2, 2]], ["a", "a", "b", "b", "c", "c"]
SEPARABLE_CHAIN = Chain(), [np.eye(3)[:2], np.eye(3)[1:], np.eye(3)[[2]]], [[0, 1], [1, 1], [1]]


@pytest.mark.parametrize("problem", [SEPARABLE, SEPARABLE_TAGS, SEPARABLE_CHAIN], ids=["multiclass", "tags", "chain"])
def test_perceptron_separates_what_can_be_separated(problem):
    task, X, Y = problem
    solver = Perceptron(max_passes=200)
    solution = solver.solve(oracle_of(*problem), 1.0)
    assert solution.certificate.stop_reason == "finished"
    assert not solution.certificate.converged
    current = solution.memory.w
    assert [task.argmax(current, x) for x in X] == list(Y)


@pytest.mark.parametrize("solver", [Subgradient(), Perceptron()], ids=repr)
def test_online_training_goes_on(solver):
    oracle = oracle_of(*MULTICLASS)
    once = type(solver)(max_passes=1)
    first = once.solve(oracle, 2.0)
    second = once.solve(oracle, 2.0, start=first)
    assert second.memory.t > first.memory.t
    assert not np.array_equal(second.w, first.w)


# --- a hard margin


@pytest.mark.parametrize("solver", [Bundle(), Subgradient()], ids=repr)
def test_solvers_that_cannot_do_a_hard_margin_say_so(solver):
    with pytest.raises(ValueError, match=r"C = inf|finite C"):
        solver.solve(oracle_of(*SEPARABLE), inf)


def test_hard_margin_out_of_passes_keeps_the_latest_weights():
    seen = []
    solution = BCFW(tol=1e-9, max_passes=8).solve(
        oracle_of(*SEPARABLE), inf, callback=lambda record: seen.append(record.w.copy())
    )
    assert solution.certificate.primal == inf
    assert not solution.certificate.converged
    assert len(seen) > 1
    assert np.allclose(solution.w, seen[-1], rtol=1e-6)


def test_contradiction_after_some_steps_leaves_the_error():
    X = np.array([[1.0], [2.0], [3.0], [4.0]])
    for solver in (BCFW(), OneSlack()):
        try:
            solution = solver.solve(oracle_of(Multiclass(), X, [0, 1, 0, 1]), inf)
        except NotSeparable:
            continue
        assert isinstance(solution.error, NotSeparable)
        assert solution.certificate.stop_reason == "stopped by NotSeparable"


# --- tasks that misbehave


@formulations
@every_solver
def test_approximate_decoder(formulation, solver):
    """Its planes are true ones, so that the bound holds; its objective is an estimate, and the certificate says so."""
    X, Y = interval_data(10)
    solution = solver.solve(oracle_of(Sloppy(), X, Y, formulation), 2.0)
    assert solution.error is None
    assert np.isfinite(solution.w).all()
    assert not solution.certificate.exact
    if solver.certified:
        assert solution.certificate.dual <= brute_force(Interval(), X, Y, 2.0, formulation).value * (1 + 1e-9)


class Failing(Multiclass):
    """Raises at a given call, and as many times more as `again` says."""

    calls = 0
    again = inf
    error: ClassVar[type[BaseException]] = RuntimeError

    def pack(self, X, Y):
        batch = super().pack(X, Y)
        return FailingBatch(self, batch.atoms, batch.labels)


class FailingBatch(MulticlassBatch):
    def offers(self, capability):
        return None if capability is OwnDual else super().offers(capability)  # so that the decoder is asked

    def planes(self, w, augment=1.0):
        kind = type(self.task)
        kind.calls -= 1
        if -1 - kind.again <= kind.calls < 0:
            raise kind.error("the decoder broke")
        return super().planes(w, augment)


class Interrupted(Failing):
    error: ClassVar[type[BaseException]] = KeyboardInterrupt
    again = 0


@every_solver
def test_decoder_that_fails_at_any_moment(solver):
    """The error comes up, unless something was learnt before it: then it stays in the solution, beside the model."""
    _, X, Y = SEPARABLE
    optimum = brute_force(*SEPARABLE, 5.0).value
    kept = 0
    for calls in range(60):
        oracle = oracle_of(Failing(), X, Y)
        Failing.calls = calls
        try:
            solution = solver.solve(oracle, 5.0)
        except RuntimeError:
            assert kept == 0, "an earlier failure left a model, a later one none"
            continue
        if solution.error is None:
            break
        kept += 1
        assert isinstance(solution.error, RuntimeError)
        assert solution.certificate.stop_reason == "stopped by RuntimeError"
        assert solution.w.shape == (oracle.dim,)
        assert np.isfinite(solution.w).all()
        assert solution.certificate.dual <= optimum * (1 + 1e-9)
        assert solution.certificate.primal >= optimum * (1 - 1e-9)
    assert kept > 0


@every_solver
def test_interrupt_at_any_moment(solver):
    """Ctrl-C always leaves a model, be it the one that knows nothing yet, and a warning."""
    _, X, Y = SEPARABLE
    optimum = brute_force(*SEPARABLE, 5.0).value
    for calls in range(60):
        oracle = oracle_of(Interrupted(), X, Y)
        Interrupted.calls = calls
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            solution = solver.solve(oracle, 5.0)
        interrupted = solution.certificate.stop_reason == "interrupted"
        assert [warning.category for warning in caught] == [TrainingInterrupted] * interrupted
        assert interrupted or calls >= 4
        assert solution.error is None
        assert solution.w.shape == (oracle.dim,)
        assert np.isfinite(solution.w).all()
        assert solution.certificate.dual <= optimum * (1 + 1e-9)
        assert solution.certificate.primal >= optimum * (1 - 1e-9)


# --- the loop


@every_solver
def test_callback_sees_every_step_and_can_stop(solver):
    seen = []
    solution = solver.solve(oracle_of(*MULTICLASS), 5.0, callback=seen.append)
    assert len(seen) == len(solution.history) > 0
    assert all(a.passes < b.passes and a.dual <= b.dual for a, b in pairwise(seen))
    assert solution.certificate.stop_reason != "stopped by the callback"
    stopped = solver.solve(oracle_of(*MULTICLASS), 5.0, callback=lambda record: record.passes >= 1)
    assert stopped.certificate.stop_reason == "stopped by the callback"
    assert len(stopped.history) == 1
    assert isfinite(stopped.certificate.primal)


@every_solver
def test_limit_on_passes(solver):
    tight = type(solver)(**{**solver.get_params(), "tol": 1e-12, "max_passes": 3})
    certificate = tight.solve(oracle_of(*MULTICLASS), 1000.0).certificate
    assert certificate.stop_reason in ("max_passes reached", "finished")
    assert certificate.passes < 10
    assert not certificate.converged


@every_solver
def test_starting_point_of_another_solver_is_ignored_or_used(solver):
    oracle = oracle_of(*MULTICLASS)
    for other in EVERY:
        check = solver.solve(oracle, 2.0, start=other.solve(oracle, 2.0)).certificate
        assert check.converged == solver.certified


@every_solver
def test_options(solver):
    kind = type(solver)
    with pytest.raises(TypeError, match=f"{kind.__name__} has no option 'tolerance'; it has .*tol"):
        kind(tolerance=1)
    assert kind(tol=0.5).tol == 0.5
    assert kind.tol != 0.5
    assert "certified" not in kind.options()
    assert repr(kind(max_passes=7)) == f"{kind.__name__}(max_passes=7)"
    assert repr(kind()) == f"{kind.__name__}()"


def test_options_of_a_solver_from_elsewhere():
    """Written in a file without postponed annotations, as a reader's first solver would be."""
    namespace = {"Solver": Solver, "ClassVar": ClassVar, "Step": Step, "np": np}
    exec(
        "class Zero(Solver):\n"
        "    speed: float = 1.0\n"
        "    certified: ClassVar[bool] = False\n"
        "    def steps(self, oracle, C, seed, start):\n"
        "        yield Step(np.zeros(oracle.dim))\n",
        namespace,
    )
    zero = namespace["Zero"]
    assert set(zero.options()) == {"speed", "tol", "max_passes"}
    solution = check_solver(zero(speed=2.0), *MULTICLASS)
    assert solution.certificate.primal == pytest.approx(1.0)


def test_block_variants_are_checked():
    with pytest.raises(ValueError, match="reoptimise must be 'joint' or 'block'"):
        NSlack(reoptimise="both").solve(oracle_of(*MULTICLASS), 1.0)


def test_names_of_solvers():
    assert {name: type(as_solver(name)) for name in SOLVERS} == SOLVERS
    bcfw = BCFW(tol=0.1)
    assert as_solver(bcfw) is bcfw
    with pytest.raises(ValueError, match="unknown solver 'sgd'; expected one of bcfw"):
        as_solver("sgd")


# --- the plane cache


@pytest.mark.parametrize("planes", [2, 3, 5, 8])
def test_few_planes_per_example_are_enough(planes):
    """Folding keeps the dual, whatever the number; only 1 leaves nothing to fold."""
    squared = Formulation(slack="l2")  # plain slacks of classes need no planes
    solution = check_solver(BCFW(tol=1e-4, planes_per_example=planes), *MULTICLASS, 20.0, squared)
    assert solution.certificate.converged
    assert solution.certificate.primal == pytest.approx(brute_force(*MULTICLASS, 20.0, squared).value, rel=1e-4)
    assert max(solution.memory._tables.filled) <= planes
    with pytest.raises(ValueError, match="a whole number >= 2"):
        BCFW(planes_per_example=1).solve(oracle_of(*MULTICLASS), 1.0)


@pytest.mark.parametrize("solver", [BCFW(cache_mb=0.0), NSlack(cache_mb=0.0), NSlack(cache_mb=0.0, reoptimise="block")])
def test_cache_that_may_keep_nothing(solver):
    """One plane per example always stays, and the certificate is as true as with any other cache."""
    solution = check_solver(solver, *MULTICLASS, 5.0)
    assert solution.certificate.converged
    assert max(solution.memory._tables.filled) <= 1
