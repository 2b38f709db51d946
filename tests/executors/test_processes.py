"""Processes: training in other processes, and what crosses their border."""

import os
import threading

import numpy as np
import pytest
from executors.mortal import MortalHidden, MortalPlain, data, deaths

from maxmargin import SequenceLabeler, StructuredSVM, Task, solvers
from maxmargin.errors import PartsLate
from maxmargin.executors import Processes, Serial
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.testing import check_executor
from maxmargin.testing.executor_checks import Hidden, Plain

pytestmark = pytest.mark.filterwarnings("ignore::maxmargin.errors.NothingLearnt")  # random data teach nothing


def test_check_executor():
    check_executor(Processes(2))


def test_more_parts_than_examples(pool):
    X, Y = data(1)
    here, there = (StructuredSVM(Plain(), executor=place).fit(X, Y) for place in (Serial(), pool))
    assert np.array_equal(here.w_, there.w_)


@pytest.mark.parametrize("solver", ["bcfw", "n_slack", "one_slack", "bundle", "subgradient", "perceptron"])
@pytest.mark.parametrize("formulation", [("margin", "l1"), ("slack", "l2")])
def test_every_solver_comes_to_the_same_weights(pool, solver, formulation):
    X, Y = data()
    rescaling, slack = formulation
    here, there = (
        StructuredSVM(Plain(), C=3.0, solver=solver, rescaling=rescaling, slack=slack, max_passes=8, executor=place)
        .fit(X, Y)
        .w_
        for place in (Serial(), pool)
    )
    assert np.array_equal(here, there)


@pytest.mark.parametrize("solver", ["bcfw", "one_slack"])
def test_every_process_has_its_share_of_every_chunk(pool, monkeypatch, solver):
    monkeypatch.setattr("maxmargin.problem.oracle.placement.CHUNK", 5)
    X, Y = data(13)
    options = {"solver": solver, "rescaling": "slack", "max_passes": 8}
    here, there = (StructuredSVM(Plain(), C=3.0, executor=place, **options).fit(X, Y).w_ for place in (Serial(), pool))
    assert np.array_equal(here, there)
    task = Plain()
    task.setup(X, Y)
    parts = Oracle(task.pack(X, Y), executor=pool).placement.indices
    assert [part.tolist() for part in parts] == [[0, 1, 2, 5, 6, 7, 10, 11], [3, 4, 8, 9, 12]]


@pytest.mark.parametrize("restarts", [1, 3])
def test_a_path_of_hidden_parts(pool, restarts):
    """Each training starts from the memory of the one before, which is elsewhere or came back."""
    X, Y = data()
    paths = [
        StructuredSVM(Hidden(), solver=solvers.CCCP(restarts=restarts), executor=place).fit_path(X, Y, [0.5, 3.0])
        for place in (Serial(), pool)
    ]
    for here, there in zip(*paths, strict=True):
        assert np.array_equal(here.w_, there.w_)
        assert here.certificate_.dual == there.certificate_.dual
        assert len(here.rounds_) == len(there.rounds_)


def test_compiled_tasks_work_as_well(pool):
    rng = np.random.default_rng(0)
    X = [rng.standard_normal((length, 3)) for length in rng.integers(2, 6, 12)]
    Y = [[int(row[0] > 0) + (t % 2) for t, row in enumerate(x)] for x in X]
    some = [[label if rng.random() < 0.6 else None for label in y] for y in Y]
    for labels in (Y, some):
        here, there = (SequenceLabeler(C=3.0, executor=place).fit(X, labels) for place in (Serial(), pool))
        assert np.array_equal(here.w_, there.w_)


def test_restarts_return_no_data(pool):
    """A run elsewhere returns the completion that it ended with: what it has of the data comes back as references."""
    X, Y = data(ballast=20_000)
    with_data = sum(x.nbytes for x in X)
    sent, received = pool.sent, pool.received
    StructuredSVM(Hidden(), solver=solvers.CCCP(restarts=2), executor=pool).fit(X, Y)
    assert pool.received - received < with_data / 10
    assert pool.sent - sent < 2.2 * with_data  # once to each of the two


def test_what_is_forgotten_is_freed(pool):
    before = len(pool.place([np.zeros(3)])[0].worker.ledger.contents)
    handles = pool.place([np.zeros(1000), np.zeros(1000)])
    worker = handles[0].worker
    assert len(worker.ledger.contents) > before - 1
    del handles
    assert list(pool.map(divmod, pool.place([7]), [2])) == [(3, 1)]
    assert len(worker.ledger.contents) <= before


def test_parts_that_go_while_a_call_is_on_its_way(pool, monkeypatch):
    """Garbage is collected at any time, also by the thread that holds the pool's locks."""
    kept = pool.place([7, 8])
    gone = pool.place([np.zeros(1000), np.zeros(1000)])
    queues = [worker.pool._work_ids for worker in pool._workers]
    for queue in queues:
        monkeypatch.setattr(queue, "put", lambda item, put=queue.put: (gone.clear(), put(item)))
    found: list[list[int]] = []
    asking = threading.Thread(target=lambda: found.append(list(pool.map(max, kept, [3, 9]))), daemon=True)
    asking.start()
    asking.join(timeout=60)
    assert found == [[7, 9]]
    monkeypatch.undo()
    assert list(pool.map(max, kept, [3, 9])) == [7, 9]
    assert not any(worker.gone for worker in pool._workers)


class Crashing(Plain):
    """Ends any process but the one that it was set up in."""

    def setup(self, X, Y):
        super().setup(X, Y)
        self.home = os.getpid()

    def argmax(self, w, x, y=None):
        if os.getpid() != self.home:
            os._exit(1)
        return super().argmax(w, x, y)


@pytest.mark.slow
def test_a_process_that_dies_is_an_error_with_advice():
    X, Y = data()
    executor = Processes(2)
    with pytest.raises(RuntimeError, match="a process of the executor ended before its answer came"):
        StructuredSVM(Crashing(), executor=executor).fit(X, Y)
    executor.close()
    model = StructuredSVM(Plain(), executor=executor).fit(X, Y)  # new processes
    assert model.certificate_.converged
    executor.close()


class OddError(Exception):
    """An error that cannot be made again from its arguments."""

    def __init__(self, one, two):
        super().__init__(one)


class Failing(Plain):
    def argmax(self, w, x, y=None):
        if np.any(w):
            raise OddError(1, 2)
        return super().argmax(w, x, y)


def test_errors_that_cannot_travel_are_told(pool):
    X, Y = data()
    with pytest.raises(Exception, match="1") as caught:
        Oracle(ready(Failing(), X, Y).pack(X, Y), executor=pool).risk(np.ones(12))
    notes = " ".join(getattr(caught.value, "__notes__", []))
    assert "OddError" in f"{type(caught.value)} {caught.value} {notes}"


def ready(task, X, Y):
    task.setup(X, Y)
    return task


def test_a_task_that_is_defined_here(pool):
    """Its class goes along by value: other processes cannot import this function's locals."""

    class Local(Task):
        def setup(self, X, Y):
            self.dim = 12

        def psi(self, x, z):
            return 4 * z + np.arange(4), x[:4]

        def loss(self, y, z):
            return float(y != z)

        def outputs(self, x):
            return range(3)

    X, Y = data()
    here, there = (StructuredSVM(Local(), executor=place).fit(X, Y) for place in (Serial(), pool))
    assert np.array_equal(here.w_, there.w_)


@pytest.mark.parametrize(
    ("restarts", "moments"),
    [
        pytest.param(None, (3, 40, 90), marks=pytest.mark.slow),
        pytest.param(1, (3, 40, 90), marks=pytest.mark.slow),
        pytest.param(3, (3, 40, 90), marks=pytest.mark.slow),
        (3, (40,)),
    ],
    ids=["plain", "hidden", "restarts", "once"],
)
def test_processes_that_are_killed_are_replaced(tmp_path, restarts, moments):
    """Their parts are placed again, completions made again, whole runs begun again: the weights are the same."""
    X, Y = data()
    plain = restarts is None
    solver = "bcfw" if plain else solvers.CCCP(restarts=restarts)
    here = StructuredSVM(Plain() if plain else Hidden(), C=3.0, solver=solver, random_state=0).fit(X, Y)
    task = (MortalPlain if plain else MortalHidden)(str(tmp_path), moments)
    executor = Processes(2)
    there = StructuredSVM(task, C=3.0, solver=solver, random_state=0, executor=executor).fit(X, Y)
    executor.close()
    assert deaths(tmp_path) == len(moments)
    assert np.array_equal(here.w_, there.w_)


@pytest.mark.slow
def test_a_part_that_is_late_is_named(tmp_path):
    X, Y = data()
    executor = Processes(2)
    StructuredSVM(Plain(), executor=executor, max_passes=2).fit(X, Y)  # processes have imported all they need
    executor.deadline = 5.0
    task = MortalPlain(str(tmp_path), (60,), "stuck")
    with pytest.raises(PartsLate, match=r"of \d parts, part \d(, part \d)? did not answer within the deadline of 5 s"):
        StructuredSVM(task, executor=executor, max_passes=8).fit(X, Y)
    executor.close()
