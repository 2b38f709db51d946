"""Ctrl-C once keeps the model; twice it ends everything."""

import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from estimators.problems import Threshold, choices, sequences
from example_tasks import Bags, bag_data
from sklearn.model_selection import GridSearchCV

from maxmargin import SequenceLabeler, solvers
from maxmargin.base import interruptions
from maxmargin.errors import TrainingInterrupted
from maxmargin.executors import Serial, Threads
from maxmargin.problem.oracle.oracle import Oracle

X, Y = sequences()
BAGS = bag_data(10, seed=4, largest=4)


@pytest.fixture(autouse=True)
def _an_hour(monkeypatch):
    monkeypatch.setattr(interruptions, "AGAIN", 3600.0)  # a busy machine takes more than the usual two seconds
    monkeypatch.setattr(interruptions, "_last", -np.inf)


def always(record):
    raise KeyboardInterrupt


def test_the_second_of_two_fits_is_ended():
    model = SequenceLabeler(callback=always)
    with pytest.warns(TrainingInterrupted, match="press Ctrl-C twice to end the program"):
        model.fit(X, Y)
    assert model.certificate_.stop_reason == "interrupted"
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert model.predict(X)  # of the first


def test_two_that_are_far_apart_are_two_first_ones(monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(interruptions, "AGAIN", 2.0)
    monkeypatch.setattr(interruptions.time, "monotonic", lambda: clock[0])
    model = SequenceLabeler(callback=always)
    for _ in range(3):
        with pytest.warns(TrainingInterrupted):
            model.fit(X, Y)
        clock[0] += 2.5
    clock[0] -= 1.0
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)


def test_a_search_over_fits_can_be_stopped():
    search = GridSearchCV(SequenceLabeler(callback=always), {"C": [1.0, 2.0, 3.0]}, cv=2)
    with pytest.warns(TrainingInterrupted), pytest.raises(KeyboardInterrupt):
        search.fit(X, Y)


class Pressed(Threshold):
    """Ctrl-C at these calls of the decoder."""

    def __init__(self, scale=1.0, at=()):
        super().__init__(scale)
        self.at = at

    def setup(self, X, Y):
        super().setup(X, Y)
        self.calls_ = 0

    def argmax(self, w, x, y=None):
        self.calls_ += 1
        if self.calls_ in self.at:
            raise KeyboardInterrupt
        return super().argmax(w, x, y)


@pytest.mark.parametrize("solver", solvers.named.CONVEX)
def test_the_second_may_come_while_the_last_weights_are_measured(solver, monkeypatch):
    monkeypatch.setattr(interruptions, "AGAIN", 0.0)  # however long after the first
    inputs, outputs = choices()
    fits = {}
    for at in [(150,), (150, 151), (150, 155)]:
        task = Pressed(at=at)
        task.setup(inputs, outputs)
        oracle = Oracle(task.pack(inputs, outputs))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TrainingInterrupted)
            try:
                reason = solvers.as_solver(solver).set_params(tol=1e-9).solve(oracle, 10.0).certificate.stop_reason
            except KeyboardInterrupt:
                reason = "ended"
        fits[at] = reason, task.calls_
    assert fits[150,][0] == "interrupted"
    for second in (151, 155):
        came = fits[150,][1] >= second  # after the first one the decoder was called once more
        assert fits[150, second][0] == ("ended" if came else "interrupted")


class PressedBags(Bags):
    """Ctrl-C at these calls of `complete`, `later` seconds after the last one."""

    calls, at, later = 0, (), 0.0

    def complete(self, w, x, y):
        kind = type(self)
        kind.calls += 1
        if kind.calls in kind.at:
            interruptions._last -= kind.later
            raise KeyboardInterrupt
        return super().complete(w, x, y)


@pytest.mark.parametrize("executor", [Serial(), Threads(2)], ids=["serial", "threads"])
@pytest.mark.parametrize("restarts", [1, 3])
def test_latent_training_ends_at_the_second(executor, restarts, monkeypatch):
    inputs, outputs = BAGS
    task = PressedBags()
    task.setup(inputs, outputs)
    oracle = Oracle(task.pack(inputs, outputs), executor=executor)
    monkeypatch.setattr(PressedBags, "at", (1,))
    monkeypatch.setattr(PressedBags, "calls", 0)
    solver = solvers.CCCP(restarts=restarts)
    with pytest.warns(TrainingInterrupted):
        assert solver.solve(oracle, 1.0).certificate.stop_reason == "interrupted"
    PressedBags.calls = 0
    with pytest.raises(KeyboardInterrupt):
        solver.solve(oracle, 1.0)
    executor.close()


def test_latent_training_ends_while_the_last_completion_is_measured(monkeypatch):
    inputs, outputs = BAGS
    task = PressedBags()
    task.setup(inputs, outputs)
    oracle = Oracle(task.pack(inputs, outputs))

    def twice(record):
        monkeypatch.setattr(PressedBags, "at", (PressedBags.calls + 1,))
        monkeypatch.setattr(PressedBags, "later", 7200.0)
        raise KeyboardInterrupt

    with pytest.warns(TrainingInterrupted), pytest.raises(KeyboardInterrupt):
        solvers.CCCP(rounds=3).solve(oracle, 1.0, callback=twice)


SEARCH = """
import sys, time
from sklearn.model_selection import GridSearchCV
from maxmargin import SequenceLabeler
from estimators.problems import sequences

def slow(record):
    print("step", flush=True)
    time.sleep(0.2)

X, Y = sequences()
try:
    GridSearchCV(SequenceLabeler(callback=slow, tol=1e-9), {"C": [1.0, 10.0, 100.0]}, cv=3).fit(X, Y)
except KeyboardInterrupt:
    print("ended", flush=True)
else:
    print("searched", flush=True)
"""


@pytest.mark.slow
def test_two_signals_end_a_search():
    paths = [str(Path(__file__).parents[1]), *sys.path]
    child = subprocess.Popen(
        [sys.executable, "-c", "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n" + SEARCH],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "step\n"
    child.send_signal(signal.SIGINT)
    time.sleep(0.7)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert out.endswith("ended\n"), (out, err)
    assert err.count("TrainingInterrupted") == 1
