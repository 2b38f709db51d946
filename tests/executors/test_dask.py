"""Dask: training on the processes of a cluster on this machine, which die, leave, join, stop and are late meanwhile."""

import copy
import pickle
import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import pytest
from executors.mortal import MortalHidden, MortalPlain, data, deaths

import maxmargin
from maxmargin import MulticlassSVC, SequenceLabeler, StructuredSVM, solvers
from maxmargin.base.progress_line import LiveLine
from maxmargin.errors import PartsLate, WorkersLost
from maxmargin.executors import Dask, Serial
from maxmargin.testing import check_executor
from maxmargin.testing.executor_checks import Hidden, Plain
from maxmargin.training.progress import Progress

pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.filterwarnings("ignore::maxmargin.errors.NothingLearnt"),  # random data teach nothing
]


@pytest.fixture(scope="module")
def client():
    """Two workers, each a process with one thread."""
    with local_client() as client:
        yield client


@contextmanager
def local_client(n_workers=2):
    """A cluster that replaces workers as those of real machines do.

    A LocalCluster closes a worker that was restarted some seconds after its death, unless it is told to wait for it.
    """
    import dask
    from distributed import LocalCluster

    place = {"dashboard_address": "127.0.0.1:0", "host": "127.0.0.1", "threads_per_worker": 1}
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1h"}),
        LocalCluster(n_workers=n_workers, **place) as cluster,
        cluster.get_client() as client,
    ):
        yield client


def test_check_executor(client):
    check_executor(Dask(client))


def test_as_many_parts_as_threads(client):
    assert Dask(client).workers == 2
    assert Dask(client, parts=5).workers == 5


def test_settings_that_make_no_sense(client):
    with pytest.raises(ValueError, match="positive number or -1"):
        Dask(client, parts=0)
    with pytest.raises(ValueError, match="deadline must be a positive number"):
        Dask(client, deadline=0)


def test_copies_and_pickles_are_of_the_same_cluster(client):
    executor = Dask(client, parts=3, deadline=99.0)
    for other in (copy.deepcopy(executor), pickle.loads(pickle.dumps(executor))):
        assert (other.workers, other.deadline) == (3, 99.0)
        assert list(other.map(divmod, other.place([7, 8]), [2, 3])) == [(3, 1), (2, 2)]
        other.close()
    assert client.status == "running"


def test_tasks_have_names_for_people(client):
    executor = Dask(client)
    keys = []
    submit = executor.submit
    executor.submit = lambda jobs: keys.extend(job.name for job in jobs) or submit(jobs)
    list(executor.map(sized, executor.place([np.zeros(3), np.zeros(4)]), [0, 1]))
    assert "sized-part 1, round 1" in keys


def sized(part, own):
    return len(part) + own


@pytest.mark.parametrize("parts", [1, 2, 3, 5, 8])
def test_sums_are_those_of_one_tree(client, parts):
    """Wherever neighbours are joined, and however w gets there: the last bits of a sum depend on its order."""
    rng = np.random.default_rng(parts)
    data = [rng.standard_normal(3) * 10.0**k for k in range(parts)]
    w = rng.standard_normal(5000)  # too long to be sent with many tasks
    executor, each = Dask(client, parts), list(range(parts))
    sums = [place.reduce(added, weighted, place.place(data), each, w) for place in (Serial(), executor)]
    assert np.array_equal(*sums)
    before = executor.sent
    executor.reduce(added, weighted, executor.place(data), each, w)
    assert w.nbytes < executor.sent - before < 2 * w.nbytes  # w is sent once


def weighted(part, own, w):
    return w * (part.sum() + own)


def multiplied(part, own, w):
    w *= part.sum()  # its own copy, which it may change
    return w


def added(one, other):
    return one + other


def test_what_workers_in_this_process_are_handed_is_theirs():
    """A message is not copied on its way to them: what they do with it, and what is done with answers, stays apart."""
    from distributed import LocalCluster

    place = {"dashboard_address": "127.0.0.1:0", "processes": False, "threads_per_worker": 1}
    w = np.ones(20_000)
    with LocalCluster(n_workers=2, **place) as cluster, cluster.get_client() as client:
        executor = Dask(client)
        placed = executor.place([np.full(1, 2.0), np.full(1, 3.0)])
        for _ in range(2):
            one, other = executor.map(multiplied, placed, [0, 0], w)
            assert (one == 2).all()
            one += other
            assert (other == 3).all()
            kept = list(executor.map(kept_in, placed, [0, 0]))
            kept[0] += 1
            assert np.array_equal(next(executor.map(kept_in, placed, [0, 0])), np.zeros(20_000))
    assert (w == 1).all()


KEPT = np.zeros(20_000)


def kept_in(part, own):
    return KEPT


@pytest.mark.parametrize("solver", ["one_slack", "bundle", "n_slack"])
@pytest.mark.parametrize("parts", [1, 3])
def test_solvers_come_to_the_same_weights(client, solver, parts):
    X, Y = data()
    here, there = (
        StructuredSVM(Plain(), C=3.0, solver=solver, max_passes=8, executor=place).fit(X, Y).w_
        for place in (Serial(), Dask(client, parts))
    )
    assert np.allclose(here, there, rtol=1e-9, atol=1e-12)  # mean planes are summed up by parts


@pytest.mark.slow
def test_results_do_not_depend_on_who_works(client):
    """Of one number of parts they are the same to the last bit, on one worker and on two."""
    X, Y = data(1500)
    with local_client(1) as other:
        first, second = (
            StructuredSVM(Plain(), C=3.0, solver="one_slack", max_passes=8, executor=Dask(each, parts=3)).fit(X, Y).w_
            for each in (client, other)
        )
    assert np.array_equal(first, second)


def sentences(n=60):
    rng = np.random.default_rng(0)
    words = [[int(k) for k in rng.integers(0, 30, int(size))] for size in rng.integers(2, 7, n)]
    return [[[f"word={k}", "bias"] for k in each] for each in words], [[str(k % 3) for k in each] for each in words]


def test_packed_folders_are_read_by_the_workers(tmp_path, client):
    """What is sent of the data are the folder and which examples: as much for few as for many."""
    sent = []
    for n in (60, 600):
        X, Y = sentences(n)
        packed = maxmargin.pack(zip(X, Y, strict=True), tmp_path / str(n), "sequences")
        executor = Dask(client, parts=2)
        options = {"C": 3.0, "solver": "one_slack", "random_state": 0, "max_passes": 6}
        there = SequenceLabeler(**options, executor=executor).fit(packed)
        here = SequenceLabeler(**options).fit(X, Y)
        assert np.allclose(here.w_, there.w_, rtol=1e-9, atol=1e-12)
        executor.sent = 0
        executor.place([packed])
        sent.append(executor.sent)
    assert sent[1] < 1.2 * sent[0]


def test_progress_says_rounds_and_parts(client):
    """Where passes are summed up at the workers, the live line says in how many parts."""
    X, Y = sentences()
    for executor, expected in ((Dask(client, parts=2), True), (None, False)):
        lines = []

        def note(record, lines=lines):
            lines.append(Progress(LiveLine(0, ""), solvers.OneSlack()).text(record))

        SequenceLabeler(C=3.0, solver="one_slack", max_passes=4, executor=executor, callback=note).fit(X, Y)
        assert lines
        assert all(("over 2 parts" in line) == expected for line in lines)


def test_parts_of_lists_have_their_own_examples_alone(client):
    """Cut into more parts, data are no more bytes, but for where sequences begin."""
    X, Y = sentences(2000)
    sent = []
    for parts in (1, 4):
        executor = Dask(client, parts)
        SequenceLabeler(C=3.0, solver="one_slack", random_state=0, max_passes=1, executor=executor).fit(X, Y)
        sent.append(executor.sent)
    assert sent[1] - 3 * 8 * 2000 < 1.5 * sent[0]


@pytest.mark.slow
def test_bags_and_arrays(tmp_path, client):
    import dask.array
    import dask.bag

    X, Y = sentences()
    executor = Dask(client, parts=2)
    options = {"C": 3.0, "random_state": 0}
    here = SequenceLabeler(**options).fit(X, Y)
    bags = [dask.bag.from_sequence(each, npartitions=3) for each in (X, Y)]
    there = SequenceLabeler(**options, executor=executor).fit(*bags)
    assert np.array_equal(here.w_, there.w_)
    pairs = dask.bag.from_sequence(list(zip(X, Y, strict=True)), npartitions=4)
    packed = maxmargin.pack(executor.items(pairs), tmp_path / "packed", "sequences")
    assert np.array_equal(here.w_, SequenceLabeler(**options).fit(packed).w_)
    rng = np.random.default_rng(0)
    rows, classes = rng.standard_normal((40, 3)), np.arange(40) % 3
    alone = MulticlassSVC(**options).fit(rows, classes)
    arrays = dask.array.from_array(rows, chunks=(10, 3)), dask.array.from_array(classes, chunks=10)
    assert np.array_equal(alone.w_, MulticlassSVC(**options, executor=executor).fit(*arrays).w_)


@pytest.mark.slow
def test_a_worker_that_is_killed_costs_nothing_but_time(tmp_path, client):
    killed_in(tmp_path, client, [30], solvers.CCCP())


def killed_in(folder, client, moments, solver):
    X, Y = data()
    hidden = isinstance(solver, solvers.CCCP)
    place = Dask(client, parts=2, deadline=240.0)
    here = StructuredSVM(Hidden() if hidden else Plain(), C=3.0, solver=solver, random_state=0, executor=place).fit(
        X, Y
    )
    task = (MortalHidden if hidden else MortalPlain)(str(folder), tuple(moments))
    there = StructuredSVM(task, C=3.0, solver=solver, random_state=0, executor=place).fit(X, Y)
    assert deaths(folder) == len(moments)
    assert np.array_equal(here.w_, there.w_)


@pytest.mark.slow
def test_twenty_workers_are_killed_in_twenty_runs(tmp_path):
    """At another moment of training each time, with solvers of all kinds; nothing hangs, and w is the same."""
    kinds = ["one_slack", "bundle", "bcfw", solvers.CCCP(restarts=2)]
    rng = np.random.default_rng(0)
    with local_client() as client:
        for k in range(20):
            folder = tmp_path / str(k)
            folder.mkdir()
            killed_in(folder, client, [int(rng.integers(1, 60))], kinds[k % len(kinds)])


@pytest.mark.slow
def test_a_part_that_every_worker_dies_of_is_named(tmp_path):
    X, Y = data()
    with local_client() as client:
        executor = Dask(client, deadline=900.0)  # four workers are started one after the other, on a busy machine
        task = MortalPlain(str(tmp_path), range(30, 10_000))
        model = StructuredSVM(task, C=3.0, solver="one_slack", executor=executor)
        with pytest.raises(WorkersLost, match=r"every worker that began part [01] has died"):
            model.fit(X, Y)
        assert len(model.w_) == 12  # the best until then


@pytest.mark.slow
def test_a_part_that_is_late_is_named(tmp_path):
    X, Y = data()
    with local_client() as client:
        executor = Dask(client, deadline=120.0)
        StructuredSVM(Plain(), solver="one_slack", executor=executor).fit(X, Y)  # workers have imported all they need
        executor.deadline = 4.0
        task = MortalPlain(str(tmp_path), (60,), "stuck")
        with pytest.raises(
            PartsLate, match=r"of 2 parts, part [01] did not answer within the deadline of 4 s.* 2 workers"
        ):
            StructuredSVM(task, C=3.0, solver="one_slack", executor=executor).fit(X, Y)


@pytest.mark.slow
def test_slow_workers_and_new_ones_change_nothing(tmp_path, client):
    X, Y = data()
    here = StructuredSVM(Plain(), C=3.0, solver="one_slack", executor=Dask(client, parts=2)).fit(X, Y)
    task = MortalPlain(str(tmp_path), (30, 70), "slow")

    def scale(record):
        if record.passes == 2:
            client.cluster.scale(3)
        if record.passes == 4:
            client.cluster.scale(2)

    there = StructuredSVM(task, C=3.0, solver="one_slack", executor=Dask(client, parts=2), callback=scale).fit(X, Y)
    assert np.array_equal(here.w_, there.w_)


@pytest.mark.slow
def test_a_restart_of_the_whole_cluster_is_survived(client):
    """It forgets all tasks and data; they are sent again."""
    X, Y = data()
    here = StructuredSVM(Plain(), C=3.0, solver="one_slack", executor=Dask(client, parts=2)).fit(X, Y)

    def restart(record):
        if record.passes == 3:
            client.restart()

    there = StructuredSVM(Plain(), C=3.0, solver="one_slack", executor=Dask(client, parts=2), callback=restart).fit(
        X, Y
    )
    assert np.array_equal(here.w_, there.w_)


CLUSTER = """
import sys
from distributed import LocalCluster

if __name__ == "__main__":
    cluster = LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0", host="127.0.0.1")
    print(cluster.scheduler_address, flush=True)
    sys.stdin.read()  # until whoever started this ends, or says so
"""


@pytest.mark.slow
def test_a_scheduler_that_dies_leaves_the_best_model(tmp_path):
    import dask
    from distributed import Client

    X, Y = data()
    script = tmp_path / "cluster.py"
    script.write_text(CLUSTER)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with (
        subprocess.Popen([sys.executable, str(script)], **pipes) as process,
        dask.config.set({"distributed.comm.timeouts.connect": "2s"}),
    ):
        try:
            with Client(process.stdout.readline().strip(), set_as_default=False) as client:
                model = StructuredSVM(
                    Plain(),
                    C=3.0,
                    solver="one_slack",
                    executor=Dask(client),
                    callback=lambda record: process.kill() if record.passes == 3 else None,
                )
                with pytest.raises(WorkersLost, match="the connection to Dask's scheduler is closed"):
                    model.fit(X, Y)
        finally:
            process.kill()
    assert model.certificate_.stop_reason == "stopped by WorkersLost"
    assert np.isfinite(model.certificate_.primal)
    assert len(model.predict(X)) == len(X)
