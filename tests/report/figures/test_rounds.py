"""What the display of outer rounds computes and draws; how it looks was judged by eye."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.exceptions import NotFittedError

import maxmargin as mm
from maxmargin.plotting import RoundsDisplay
from maxmargin.solvers import CCCP
from maxmargin.tasks import TopK


@pytest.fixture
def ax():
    return Figure().subplots()


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    X = [rng.standard_normal((12, 4)) for _ in range(15)]
    Y = [(x @ [2.0, -1.0, 0.5, 0.0] + rng.standard_normal(12) > 0).astype(int) for x in X]
    return mm.StructuredSVM(TopK(2), C=30.0, solver=CCCP(restarts=3, tol=1e-3)).fit(X, Y)


def test_all_rounds_of_all_runs(model, ax):
    display = RoundsDisplay.from_estimator(model)
    assert len(display.objective) == len(model.rounds_)
    assert sorted(set(display.restart)) == [0, 1, 2]
    assert display.objective.min() == model.certificate_.primal
    assert display.plot(ax) is display
    assert display.ax_ is ax
    assert display.best == model.rounds_[np.argmin(display.objective)].restart
    *others, bounds, best = display.lines_
    assert len(others) == 2
    for line in (bounds, best):
        assert list(line.get_xdata()) == list(range(1, model.certificate_.rounds + 1))
    assert best.get_ydata()[-1] == model.certificate_.primal
    assert bounds.get_ydata()[-1] == model.certificate_.dual
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["other runs", "bound of the round", "objective J(w), best of 3 runs"]


@pytest.mark.parametrize("n", [1, 2, 5])
def test_rounds_are_whole_numbers(ax, n):
    RoundsDisplay(np.arange(n), np.arange(n), np.ones(n)).plot(ax)
    low, high = ax.get_xlim()
    assert low < 1
    assert high > n
    assert [tick for tick in ax.get_xticks() if low <= tick <= high] == list(range(1, n + 1))
    assert ax.figure.axes == [ax]  # a second scale would only confuse


def test_over_seconds(ax):
    display = RoundsDisplay([5, 4, 3], [4, 4, 3], [1.0, 2.0, 3.0]).plot(ax, x="seconds", label="one")
    bounds, objective = display.lines_
    for line, values in ((bounds, [4, 4, 3]), (objective, [5, 4, 3])):
        assert list(line.get_xdata()) == [1.0, 3.0, 6.0]
        assert list(line.get_ydata()) == values
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "one: bound of the round",
        "one: objective J(w)",
    ]


def test_bad_input(model, ax):
    with pytest.raises(ValueError, match="x must be 'rounds' or 'seconds', got 'days'"):
        RoundsDisplay.from_estimator(model).plot(ax, x="days")
    with pytest.raises(ValueError, match=r"objective, bound, seconds and restart have \[1, 2\] entries"):
        RoundsDisplay([1.0], [1.0, 2.0], [1.0])
    with pytest.raises(ValueError, match="there are no rounds to draw"):
        RoundsDisplay([], [], [])
    with pytest.raises(NotFittedError):
        RoundsDisplay.from_estimator(mm.Ranker())
    plain = mm.MulticlassSVC().fit(np.eye(4), [0, 1, 0, 1])
    with pytest.raises(
        ValueError, match="MulticlassSVC was trained in one round, because it has no latent variables; use"
    ):
        RoundsDisplay.from_estimator(plain)
