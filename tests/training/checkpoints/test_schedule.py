"""When checkpoints are written: every so many seconds or passes, and large ones less often."""

import pytest
from estimators.problems import sequences
from training.checkpoints.sessions import Killed, killed_after

import maxmargin as mm
from maxmargin import solvers
from maxmargin.training.checkpoints import schedule
from maxmargin.training.checkpoints.checkpoint import Checkpoint
from maxmargin.training.checkpoints.schedule import SHARE, SPEED, Schedule


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until it is set."""

    class Clock:
        now = 1000.0

        def perf_counter(self):
            return self.now

    made = Clock()
    monkeypatch.setattr(schedule, "time", made)
    return made


def test_small_files_are_written_as_often_as_told(clock):
    every = Schedule(60)
    for start in (1000.0, 1060.0):
        clock.now = start + 59
        assert not every.due(1.0)
        clock.now = start + 60
        assert every.due(2.0)
        assert every.affords(1000)
        every.wrote(1000, 0.01)


def test_a_large_file_waits_until_it_is_a_small_share_of_the_time_even_the_first(clock):
    every, size = Schedule(60), int(6 * SPEED)
    clock.now += 60
    assert every.due(1.0)
    assert not every.affords(size)
    assert not every.due(2.0)  # nothing is collected in vain at every step
    clock.now = 1000 + 6 / SHARE - 1
    assert not every.due(3.0)
    clock.now = 1000 + 6 / SHARE
    assert every.due(4.0)
    assert every.affords(size)
    every.wrote(size, 3.0)  # the disk is faster than was thought
    clock.now += 3 / SHARE
    assert every.due(5.0)
    assert every.affords(size)
    assert not every.affords(int(size + SPEED))


def test_slow_small_files_tell_nothing_of_large_ones(clock):
    """What a disk takes for any file is not taken for a speed."""
    every = Schedule(1)
    every.wrote(100, 0.01)
    clock.now += 60
    assert every.affords(int(0.9 * 60 * SHARE * SPEED))


def test_passes_are_counted_whatever_the_size(clock):
    every = Schedule("10 passes")
    assert not every.due(9.0)
    assert every.due(10.0)
    assert every.affords(10**15)
    every.wrote(10**15, 1e9)
    assert not every.due(19.0)
    every.begin()  # another training
    assert not every.due(0.5)
    assert every.due(1.0)


def test_short_trainings_and_rounds_are_written_together(tmp_path, monkeypatch):
    """Folds, values of C and rounds of latent training of few passes each: their passes add up."""
    written = []
    original = Checkpoint.write
    monkeypatch.setattr(
        Checkpoint, "write", lambda self, *args, **more: (written.append(more), original(self, *args, **more))
    )
    X, Y = sequences(14)
    path = mm.SequenceLabeler(C=1.0, tol=0.05, checkpoint=tmp_path / "path", checkpoint_every="8 passes")
    found = path.fit_path(X, Y, [0.1, 0.2, 0.4, 0.8, 1.6])
    passes = [model.certificate_.passes for model in found]
    assert max(passes) < 8 < sum(passes)
    assert len(written) > 1
    X, Y = sequences(30)
    hidden = [[y if (i + t) % 4 == 0 else None for t, y in enumerate(labels)] for i, labels in enumerate(Y)]
    written.clear()
    options = {"solver": solvers.CCCP(tol=1e-2), "checkpoint": tmp_path / "latent", "checkpoint_every": "40 passes"}
    passes = [each.passes for each in mm.SequenceLabeler(C=100.0, **options).fit(X, hidden).rounds_]
    assert max(passes) < 40 < sum(passes)
    assert len(written) > 1


def test_a_file_that_has_to_wait_is_not_written_before_a_stop(tmp_path, monkeypatch):
    monkeypatch.setattr(schedule, "SPEED", 1e-9)
    model = mm.SequenceLabeler(C=10.0, tol=1e-3, checkpoint=tmp_path / "file", checkpoint_every=1e-6)
    with pytest.raises(Killed):
        model.set_params(callback=killed_after(3)).fit(*sequences(20))
    assert not (tmp_path / "file").exists()
    model.set_params(callback=None).fit(*sequences(20))  # which has ended, and says so in any case
    assert (tmp_path / "file").exists()
