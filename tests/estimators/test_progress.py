"""The live line, and silence without it."""

import logging
import re
from math import inf

import numpy as np
import pytest
from estimators.problems import Threshold, choices, sequences
from sklearn.model_selection import GridSearchCV

from maxmargin import MulticlassSVC, SequenceLabeler, StructuredSVM, solvers
from maxmargin.progress import Progress
from maxmargin.solvers import Record

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
    with Progress(1, solvers.BCFW(tol=0.01)) as progress:
        progress.update(record(1, 1.0, 100.0, 20.0))
        progress.update(record(3, 2.0, 50.0, 40.0))
    out, err = capfd.readouterr()
    assert out == ""
    assert "\x1b[" in err  # drawn over itself
    assert "pass 3  objective 50  bound 40  gap 20%  2.0 s  about 2 s left" in re.sub(r"\x1b\[[0-9;?]*[a-z]", "", err)


def test_the_line_says_pass_objective_bound_gap_and_time_left():
    progress = Progress(0, solvers.BCFW(tol=0.01))
    assert progress.line(record(1, 1.0, 100.0, 20.0)) == "pass 1  objective 100  bound 20  gap 80%  1.0 s"
    # in one second the gap fell to an eighth; to a tenth of that it takes log(10)/log(8) seconds more
    assert progress.line(record(5, 2.0, 100.0, 90.0)) == (
        "pass 5  objective 100  bound 90  gap 10%  2.0 s  about 1 s left"
    )
    assert progress.seconds_left(record(5, 2.0, 100.0, 90.0)) == pytest.approx(np.log(10) / np.log(8))
    assert progress.line(record(9, 3.0, 100.0, 99.5)).endswith("gap 0.5%  3.0 s  about 0 s left")


def test_a_gap_that_does_not_shrink_gives_no_time():
    progress = Progress(0, solvers.BCFW(tol=0.01))
    progress.line(record(1, 1.0, 100.0, 20.0))
    assert progress.seconds_left(record(2, 2.0, 100.0, 10.0)) is None


def test_without_a_bound_the_line_counts_passes():
    progress = Progress(0, solvers.Subgradient(max_passes=30))
    assert progress.line(record(10, 2.0, 100.0, -inf)) == "pass 10  objective 100  2.0 s  about 4 s left"
    progress = Progress(0, solvers.Subgradient(max_passes=inf))
    assert progress.line(record(10, 2.0, 100.0, -inf)) == "pass 10  objective 100  2.0 s"


def test_the_line_ends_with_an_error(capfd):
    def fail(line):
        raise RuntimeError("stop")

    model = SequenceLabeler(verbose=1, callback=fail)
    for _ in range(2):  # the second fit can show its line because the first one has been closed
        with pytest.raises(RuntimeError, match="stop"):
            model.fit(X, Y)
    assert "RuntimeError" in capfd.readouterr().err
