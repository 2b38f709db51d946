"""The live line, and silence without it."""

import logging
import re
from math import inf
from queue import SimpleQueue
from threading import Semaphore

import numpy as np
import pytest
from estimators.problems import Threshold, choices, sequences
from sklearn.model_selection import GridSearchCV

from maxmargin import (
    CountingClassifier,
    CountingPredictor,
    MulticlassSVC,
    SequenceLabeler,
    StructuredSVM,
    solvers,
)
from maxmargin.base import progress_line
from maxmargin.base.progress_line import LiveLine
from maxmargin.base.time_left import TimeLeft
from maxmargin.counting import Classes
from maxmargin.solvers import Record
from maxmargin.training.progress import Progress

X, Y = sequences()


def record(passes, seconds, guess, dual):
    return Record(passes, seconds, inf, dual, guess, np.zeros(1))


def test_nothing_is_written_unless_asked(capfd, caplog):
    caplog.set_level(logging.DEBUG)
    for solver in solvers.SOLVERS:
        model = SequenceLabeler(solver=solver).fit(X, Y)
        model.predict(X)
        model.score(X, Y)
        model.certify(X, Y)
    SequenceLabeler(n_jobs=2).fit_path(X, Y, [1.0, 2.0])
    SequenceLabeler(solver="perceptron").partial_fit(X, Y)
    StructuredSVM(Threshold()).fit(*choices())
    MulticlassSVC().fit(np.eye(3), [0, 1, 2])
    GridSearchCV(SequenceLabeler(), {"C": [1.0, 2.0]}, cv=2).fit(X, Y)
    assert capfd.readouterr() == ("", "")
    assert [entry for entry in caplog.records if entry.name.startswith("maxmargin")] == []


@pytest.mark.parametrize("solver", solvers.SOLVERS)
def test_the_outcome_stays_on_standard_error(capfd, solver):
    model = SequenceLabeler(solver=solver, verbose=1).fit(X, Y)
    out, err = capfd.readouterr()
    assert out == ""
    assert " ".join(err.split()) == str(model.certificate_)


def test_the_model_is_the_same_with_the_line(capfd):
    shown = SequenceLabeler(verbose=1).fit(X, Y)
    np.testing.assert_array_equal(shown.w_, SequenceLabeler().fit(X, Y).w_)


def test_a_terminal_sees_a_live_line(capfd, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    with LiveLine(1, "training") as line:
        progress = Progress(line, solvers.BCFW(tol=0.01))
        progress.update(record(1, 1.0, 100.0, 20.0))
        progress.update(record(3, 2.0, 50.0, 40.0))
        line._live.refresh()
        line.say("the [red] outcome")
    out, err = capfd.readouterr()
    assert out == ""
    assert "\x1b[" in err  # drawn over itself
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", err)
    assert "pass 3  objective 50  bound 40  gap 20%  2.0 s  about 2 s left" in plain
    assert "the [red] outcome" in plain


class Waits:
    """An event for which a thread waits as long as the test likes, and not by the clock."""

    def __init__(self):
        self.seconds = []
        self._answers, self._waiting = SimpleQueue(), Semaphore(0)

    def wait(self, seconds):
        self.seconds.append(seconds)
        self._waiting.release()
        return self._answers.get()

    def set(self):
        self._answers.put(True)

    def elapse(self):
        """Let the wait end, and return when the thread waits again."""
        self._waiting.acquire()
        self._answers.put(False)
        self._waiting.acquire()
        self._waiting.release()


@pytest.fixture
def waits(monkeypatch):
    """All waits of lines that begin from now on."""
    waits = Waits()
    monkeypatch.setattr(progress_line, "Event", lambda: waits)
    return waits


def test_a_pipe_sees_lines_now_and_then(capfd, waits):
    with LiveLine(True, "reading the data") as line:
        waits.elapse()
        line.show("pass 1")
        for _ in range(9):
            waits.elapse()
        line.say("outcome")
    out, err = capfd.readouterr()
    first, *lines = err.splitlines()
    assert out == ""
    assert re.fullmatch(r"reading the data …  \d+\.\d s", first)
    assert lines == ["pass 1"] * 9 + ["outcome"]
    assert waits.seconds == [2, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]


def test_what_takes_no_time_is_not_heard_of(capfd, waits):
    with LiveLine(True, "nothing that takes long"):
        pass
    assert capfd.readouterr() == ("", "")


def test_a_notebook_without_widgets_sees_plain_lines(capfd, monkeypatch, waits):
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    monkeypatch.setattr(progress_line, "find_spec", lambda name: None)
    with LiveLine(True, "training"):
        waits.elapse()
    assert "training …" in capfd.readouterr().err


def test_a_fit_whose_steps_take_long_is_heard_of(capfd, waits):
    SequenceLabeler(verbose=True, callback=lambda line: waits.elapse() or True).fit(X, Y)
    assert "pass 1  objective" in capfd.readouterr().err


def test_a_prediction_that_takes_long_is_heard_of(capfd, monkeypatch, waits):
    model = StructuredSVM(Threshold()).fit(*choices()).set_params(verbose=True)
    monkeypatch.setattr(Threshold, "decode", lambda self, w, X: waits.elapse() or [])
    model.predict(choices()[0])
    assert "searching the best outputs …" in capfd.readouterr().err


def test_a_path_and_certify_show_progress(capfd):
    model = SequenceLabeler(verbose=True)
    path = model.fit_path(X, Y, [1.0, 2.0])
    assert capfd.readouterr().err.splitlines() == [str(step.certificate_) for step in path]
    certificate = model.certify(X, Y)
    assert capfd.readouterr().err.splitlines() == [str(certificate)]


@pytest.mark.parametrize("solver", ["closed", "cg"])
def test_training_by_counting_shows_progress(capfd, solver):
    inputs, labels = np.random.default_rng(0).normal(size=(30, 4)), np.arange(30) % 3
    model = CountingClassifier(solver=solver, verbose=True).fit(inputs, labels)
    how = "chosen by leaving out each of 30 examples"
    assert capfd.readouterr().err.splitlines() == [f"λ = {model.alpha_:g}, {how}: {model.certificate_}"]
    path = model.fit_path(inputs, labels, [0.5, 2.0])
    assert capfd.readouterr().err.splitlines() == [f"λ = {step.alpha:g}: {step.certificate_}" for step in path]
    CountingClassifier(solver=solver).fit(inputs, labels)
    assert capfd.readouterr() == ("", "")


def test_the_steps_of_counting_are_shown(monkeypatch):
    shown = []
    monkeypatch.setattr(LiveLine, "show", lambda self, text: shown.append(text))
    monkeypatch.setattr(LiveLine, "doing", lambda self, text: shown.append(text))
    monkeypatch.setattr(LiveLine, "say", lambda self, text: None)
    inputs, labels = np.random.default_rng(0).normal(size=(30, 4)), np.arange(30) % 3
    CountingClassifier(solver="cg", verbose=True).fit(inputs, labels)
    assert shown[:5] == [
        "reading the outputs",
        "computing the kernel matrix of 30 examples",
        "decomposing the kernel matrix of 30 examples",
        "choosing λ on 30 examples",
        "solving the linear system",
    ]
    assert re.fullmatch(r"iteration 1  residual \S+  \S+ s  about \d+ s left", shown[6])
    model = CountingPredictor(Classes([0, 1, 2]), verbose=True).fit(inputs, labels.tolist())
    shown.clear()
    model.predict(inputs[:3])
    assert shown == ["searching 3 outputs", "1 of 3 outputs are found", "2 of 3 outputs are found"]


@pytest.mark.parametrize("verbose", ["yes", 2, -1, None, 1.0, [1]])
@pytest.mark.parametrize("estimator", [MulticlassSVC, CountingClassifier])
def test_verbose_is_true_or_false(estimator, verbose):
    message = "verbose must be True or 1 (progress on standard error), or False or 0 (silence), got "
    with pytest.raises(ValueError, match=re.escape(message + repr(verbose))):
        estimator(verbose=verbose).fit(np.eye(3), [0, 1, 2])


def progress_of(solver):
    return Progress(LiveLine(0, "training"), solver)


def test_the_line_says_pass_objective_bound_gap_and_time_left():
    progress = progress_of(solvers.BCFW(tol=0.01))
    # at first only the limit of passes says something
    assert progress.text(record(1, 1.0, 100.0, 20.0)) == (
        "pass 1  objective 100  bound 20  gap 80%  1.0 s  about 999 s left"
    )
    # in one second the gap fell to an eighth; to a tenth of that it takes log(10)/log(8) seconds more
    assert progress.text(record(5, 2.0, 100.0, 90.0)) == (
        "pass 5  objective 100  bound 90  gap 10%  2.0 s  about 1 s left"
    )
    assert progress.left.seconds(0.1, 5, 2.0) == pytest.approx(np.log(10) / np.log(8))
    assert progress.text(record(9, 3.0, 100.0, 99.5)).endswith("gap 0.5%  3.0 s  about 0 s left")


def test_the_time_left_is_that_of_the_end_which_comes_first():
    left = TimeLeft(goal=1e-4, limit=12)
    assert left.seconds(0.8, 1, 1.0) == pytest.approx(11.0)
    assert left.seconds(0.4, 10, 10.0) == pytest.approx(2.0)  # the gap alone would take more than a minute
    assert left.seconds(0.4, 12.5, 12.5) == 0.0
    assert TimeLeft(goal=1e-4, limit=inf).seconds(0.8, 1, 1.0) is None


def test_a_gap_that_does_not_shrink_gives_no_time():
    progress = progress_of(solvers.BCFW(tol=0.01, max_passes=inf))
    progress.text(record(1, 1.0, 100.0, 20.0))
    assert progress.text(record(2, 2.0, 100.0, 10.0)).endswith("gap 90%  2.0 s")


def test_without_a_bound_the_line_counts_passes():
    progress = progress_of(solvers.Subgradient(max_passes=30))
    assert progress.text(record(10, 2.0, 100.0, -inf)) == "pass 10  objective 100  2.0 s  about 4 s left"
    progress = progress_of(solvers.Subgradient(max_passes=inf))
    assert progress.text(record(10, 2.0, 100.0, -inf)) == "pass 10  objective 100  2.0 s"


def test_the_line_ends_with_an_error(capfd):
    def fail(line):
        raise RuntimeError("stop")

    model = SequenceLabeler(verbose=1, callback=fail)
    for _ in range(2):  # the second fit can show its line because the first one has been closed
        with pytest.raises(RuntimeError, match="stop"):
            model.fit(X, Y)
    assert "RuntimeError" in capfd.readouterr().err
