"""ParallelBCFW: the same on every executor, a dual that never falls, and parts that are lost on the way."""

import numpy as np
import pytest
from executors.mortal import MortalPlain, data, deaths
from hypothesis import given
from hypothesis import strategies as st
from strategies import chain_data, multiclass_data
from thorough import examples

from maxmargin import MulticlassSVC, SequenceLabeler, StructuredSVM
from maxmargin.base.progress_line import LiveLine
from maxmargin.executors import Processes, Serial, Threads
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.solvers.parallel_bcfw import ParallelBCFW
from maxmargin.solvers.part_duals import PartDual, WholeProblem
from maxmargin.tasks import Chain, Multiclass
from maxmargin.testing import brute_force
from maxmargin.testing.executor_checks import Plain
from maxmargin.training.progress import Progress

pytestmark = pytest.mark.filterwarnings("ignore::maxmargin.errors.NothingLearnt")


def oracle_of(task, X, Y, **options):
    task.setup(X, Y)
    return Oracle(task.pack(X, Y), **options)


@examples(8, 30)
@given(
    problem=st.one_of(multiclass_data(), chain_data()),
    C=st.sampled_from([0.01, 1.0, 30.0]),
    scale=st.sampled_from([1e-3, 1.0, 1e4]),
    parts=st.integers(1, 6),
    formulation=st.sampled_from([Formulation("margin", slack) for slack in ("l1", "l2")]),
)
def test_the_dual_rises_and_stays_below_the_optimum(problem, C, scale, parts, formulation):
    task, X, Y = problem
    X = scale * X if isinstance(X, np.ndarray) else [scale * x for x in X]
    optimum = brute_force(task, X, Y, C, formulation)
    oracle = oracle_of(task, X, Y, formulation=formulation)
    solver, dual = ParallelBCFW(parts=parts, tol=1e-6, max_passes=60), -np.inf
    for k, step in enumerate(solver.steps(oracle, C, 0, None)):
        slightly = 1e-9 * max(abs(optimum.value), abs(dual) if k else 0.0)
        assert step.hoped >= dual - slightly
        assert step.memory.bound() <= optimum.value * (1 + 1e-7) + 1e-9
        assert np.isclose(step.memory.bound(), step.hoped, rtol=1e-6, atol=slightly)
        dual = step.hoped
        if k == 20:
            break


@pytest.mark.parametrize("parts", [1, 2, 5])
def test_the_same_on_every_executor(pool, parts):
    X, Y = data()
    models = [
        StructuredSVM(Plain(), C=3.0, solver=ParallelBCFW(parts=parts), random_state=0, executor=place).fit(X, Y)
        for place in (Serial(), Threads(3), pool)
    ]
    for each in models[1:]:
        assert np.array_equal(models[0].w_, each.w_)
        assert models[0].certificate_.dual == each.certificate_.dual


@pytest.mark.parametrize("kind", ["chains", "classes"])
def test_compiled_tasks_on_every_executor(pool, kind):
    rng = np.random.default_rng(0)
    if kind == "chains":
        X = [rng.standard_normal((length, 3)) for length in rng.integers(2, 6, 14)]
        Y = [[int(row[0] > 0) + (t % 2) for t, row in enumerate(x)] for x in X]
        make = SequenceLabeler
    else:
        X = rng.standard_normal((30, 4))
        Y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
        make = MulticlassSVC
    weights = [
        make(C=3.0, solver=ParallelBCFW(parts=3), random_state=0, executor=place).fit(X, Y).w_
        for place in (Serial(), Threads(2), pool)
    ]
    assert np.array_equal(weights[0], weights[1])
    assert np.array_equal(weights[0], weights[2])


def test_bounds_and_a_prior():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)
    options = {"C": 5.0, "tol": 1e-5, "bounds": (-0.4, 0.6), "random_state": 0}
    one = MulticlassSVC(solver="bcfw", **options).fit(X, y)
    two = MulticlassSVC(solver=ParallelBCFW(parts=3, tol=1e-5, max_passes=10_000), **options).fit(X, y)
    assert two.certificate_.converged
    assert np.isclose(one.certificate_.primal, two.certificate_.primal, rtol=1e-4)
    assert two.w_.min() >= -0.4
    assert two.w_.max() <= 0.6


def test_a_process_that_is_killed_costs_a_round(tmp_path):
    """Its part is made anew, gets the state before the last search back, and makes the passes since then again."""
    X, Y = data()
    here = StructuredSVM(Plain(), C=3.0, solver=ParallelBCFW(parts=2), random_state=0).fit(X, Y)
    executor = Processes(2)
    task = MortalPlain(str(tmp_path), (60, 110))
    there = StructuredSVM(task, C=3.0, solver=ParallelBCFW(parts=2), random_state=0, executor=executor).fit(X, Y)
    executor.close()
    assert deaths(tmp_path) == 2
    assert np.array_equal(here.w_, there.w_)


@pytest.mark.parametrize("kind", ["planes", "chains", "classes"])
def test_going_back_is_on_the_way(kind):
    """α after going back by t is the mean of both ends, by what follows from it: Σ α a and Σ α b."""
    rng = np.random.default_rng(0)
    if kind == "planes":
        task, (X, Y) = Plain(), data()
    elif kind == "chains":
        X = [rng.standard_normal((length, 3)) for length in rng.integers(2, 6, 14)]
        Y = [[int(row[0] > 0) + (t % 2) for t, row in enumerate(x)] for x in X]
        task = Chain()
    else:
        X, task = rng.standard_normal((30, 4)), Multiclass()
        Y = ((X[:, 0] > 0).astype(int) + (X[:, 1] > 0)).tolist()
    task.setup(X, Y)
    batch = task.pack(X, Y)
    n = len(Y)
    problem = WholeProblem("", Formulation(), 2.0, n, None, {"slots": 4, "cache_mb": 10.0}, 0, True)
    part = PartDual(batch, problem, np.ones(n), 2.0)
    dual, oracle = part.dual, part.oracle
    for k in range(6):
        before, mark = dual.proof(), dual.mark()
        dual.stand_at(0.3 * rng.standard_normal(batch.dim))
        dual.search(oracle, rng.permutation(n), 4)
        dual.revisit(oracle, rng)
        after = dual.proof()
        slope, _ = dual.rise(mark)
        assert np.isclose(slope, after.linear - before.linear, rtol=1e-9, atol=1e-12)
        share = [0.0, 0.3, 1.0][k % 3]
        dual.go_back(mark, share)
        between = dual.proof()
        assert np.allclose(between.s, before.s + share * (after.s - before.s), atol=1e-10)
        assert np.isclose(between.linear, before.linear + share * (after.linear - before.linear), rtol=1e-9, atol=1e-12)
        assert between.excess < 1e-9
        dual.stretch(1.5, 6.0)
        dual.stretch(1 / 1.5, 4.0)


def test_what_it_does_not_do():
    X, Y = data()
    with pytest.raises(ValueError, match="finite C"):
        StructuredSVM(Plain(), C=np.inf, solver="parallel_bcfw").fit(X, Y)
    with pytest.raises(ValueError, match="positive number"):
        StructuredSVM(Plain(), solver=ParallelBCFW(parts=0)).fit(X, Y)
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="cannot be trained in parts"):
        MulticlassSVC(kernel="rbf", solver="parallel_bcfw").fit(rng.standard_normal((20, 3)), np.arange(20) % 3)


def test_progress_says_rounds_and_parts():
    X, Y = data()
    lines = []

    def note(record):
        lines.append(Progress(LiveLine(0, ""), ParallelBCFW()).text(record))

    StructuredSVM(Plain(), C=3.0, solver=ParallelBCFW(parts=3), callback=note).fit(X, Y)
    assert all("over 3 parts" in line for line in lines)
    lines.clear()
    StructuredSVM(Plain(), C=3.0, callback=note).fit(X, Y)
    assert not any("parts" in line for line in lines)
