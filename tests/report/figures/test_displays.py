"""What the displays compute and draw; how it looks was judged by eye."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from matplotlib.figure import Figure

import maxmargin as mm
from maxmargin.plotting import GapDisplay, ImageSequenceDisplay, TransitionDisplay


@pytest.fixture(scope="module")
def data():
    return mm.datasets.digit_strings(n_train=15, n_test=4)


@pytest.fixture(scope="module")
def model(data):
    X, Y, _, _ = data
    return mm.SequenceLabeler(C=3, tol=1e-3).fit(X, Y)


@pytest.fixture
def ax():
    return Figure().subplots()


def test_gap_display_ends_at_the_certificate(model, ax):
    display = GapDisplay.from_estimator(model)
    assert display.best[-1] == model.certificate_.primal
    assert display.dual[-1] == pytest.approx(model.certificate_.dual, rel=1e-9)
    assert display.relative_gap[-1] == pytest.approx(model.certificate_.relative_gap)
    assert display.plot(ax) is display
    assert display.ax_ is ax
    assert ax.get_yscale() == "log"
    drawn = display.lines_[0].get_ydata()
    assert drawn[-1] == display.relative_gap[-1]


@pytest.mark.parametrize("kind", ["gap", "bounds"])
def test_gap_display_draws_no_infinite_values(model, ax, kind):
    display = GapDisplay.from_estimator(model)
    assert np.isinf(display.primal).any()  # not every step is measured
    for line in display.plot(ax, kind=kind, x="seconds", label="one").lines_:
        assert np.isfinite(line.get_xydata()).all()


def test_gap_display_adds_the_last_measurement_when_training_stopped_early(data):
    X, Y, _, _ = data
    stopped = mm.SequenceLabeler(C=3, max_passes=3).fit(X, Y)
    display = GapDisplay.from_estimator(stopped)
    assert display.best[-1] == stopped.certificate_.primal
    assert len(display.primal) == len(stopped.history_) + 1


def test_gap_display_of_a_solver_without_bound_needs_one_from_elsewhere(data, model, ax):
    X, Y, _, _ = data
    walker = mm.SequenceLabeler(C=3, solver="subgradient", max_passes=5).fit(X, Y)
    with pytest.raises(ValueError, match=r"bound=model\.certificate_\.dual"):
        GapDisplay.from_estimator(walker).plot(ax)
    GapDisplay.from_estimator(walker).plot(Figure().subplots(), kind="bounds")
    display = GapDisplay.from_estimator(walker, bound=model.certificate_.dual)
    assert (np.diff(display.relative_gap) <= 0).all()
    display.plot(ax)


@pytest.mark.parametrize(("option", "value"), [("x", "days"), ("kind", "pie")])
def test_gap_display_names_a_wrong_option(model, ax, option, value):
    with pytest.raises(ValueError, match=f"{option} must be .* got '{value}'"):
        GapDisplay.from_estimator(model).plot(ax, **{option: value})


def test_transition_display_shows_every_weight_in_its_place(model, ax):
    display = TransitionDisplay.from_estimator(model).plot(ax)
    weights = model.weights_
    assert np.array_equal(display.table[1:, :-1], weights["transitions"])
    assert np.array_equal(display.table[0, :-1], weights["start"])
    assert np.array_equal(display.table[1:, -1], weights["end"])
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["start", *map(str, range(10))]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == [*map(str, range(10)), "end"]
    low, high = display.image_.get_clim()
    assert low == -high  # 0 has the neutral colour
    assert len(ax.texts) == 10 * 10 + 2 * 10


def test_transition_display_leaves_forbidden_transitions_blank(ax):
    X = [[["a"], ["b"], ["c"]], [["a"], ["c"], ["b"]]]
    Y = [["B-x", "I-x", "O"], ["B-x", "O", "B-x"]]
    model = mm.SequenceLabeler(forbidden=[("O", "I-x"), (None, "I-x"), ("B-x", None)], classes=["B-x", "I-x", "O"])
    Y[1][2] = "O"
    display = TransitionDisplay.from_estimator(model.fit(X, Y)).plot(ax)
    blank = np.isnan(display.table)
    assert blank[0, 3]  # from start to end
    assert blank[3, 1]  # O before I-x
    assert blank[0, 1]  # I-x at the start
    assert blank[1, 3]  # B-x at the end
    assert blank.sum() == 4


def test_image_display_marks_exactly_the_wrong_labels(ax):
    X, Y = [np.zeros((3, 6)), np.ones((2, 6))], [[1, 2, 3], [4, 5]]
    predictions = {"good": Y, "bad": [[1, 9, 3], [8, 5]]}
    ImageSequenceDisplay.from_predictions(X, Y, predictions, image_shape=(2, 3)).plot(ax)
    assert len(ax.images) == 5
    marked = [text.get_text() for text in ax.texts if text.get_bbox_patch() is not None]
    assert marked == ["9", "8"]


def test_image_display_reads_with_an_estimator(data, model, ax):
    _, _, X_test, Y_test = data
    display = ImageSequenceDisplay.from_estimator(model, X_test, Y_test, image_shape=(8, 8)).plot(ax)
    assert display.predictions == {"predicted": model.predict(X_test)}
    assert display.images[0].shape[1:] == (8, 8)


def test_image_display_refuses_labels_that_do_not_fit():
    with pytest.raises(ValueError, match="second does not have one label for every image"):
        ImageSequenceDisplay([np.zeros((2, 2, 2))], [[1, 2]], {"first": [[1, 2]], "second": [[1]]})


def test_drawing_without_matplotlib_names_the_extra(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install maxmargin\[plot\]"):
        TransitionDisplay.from_estimator(model).plot()
