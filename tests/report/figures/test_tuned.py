"""TunedDisplay: the numbers of results_, and where they are drawn."""

import numpy as np
import pytest
from digest_groups.data import table
from sklearn.exceptions import NotFittedError

import maxmargin as mm
from maxmargin.plotting import TunedDisplay

plt = pytest.importorskip("matplotlib.pyplot")

A, B = table(n=60, n_classes=3)


@pytest.fixture(scope="module")
def tuned():
    return mm.Tuned(mm.MulticlassSVC(), Cs=(0.1, 1.0, 10.0), cv=3, scoring="accuracy").fit(A, B)


def test_shows_the_results(tuned):
    figure, ax = plt.subplots()
    display = TunedDisplay.from_estimator(tuned)
    assert display.plot(ax) is display
    loss, score, chosen = display.lines_
    np.testing.assert_array_equal(score.get_xdata(), tuned.results_["C"])
    np.testing.assert_array_equal(score.get_ydata(), tuned.results_["mean_score"])
    np.testing.assert_array_equal(loss.get_ydata(), tuned.results_["training_loss"])
    assert chosen.get_xdata()[0] == tuned.best_C_
    assert ax.get_xscale() == "log"
    assert ax.get_ylabel() == "mean accuracy"
    assert display.loss_ax_.get_ylabel() == "training loss"
    plt.close(figure)


def test_one_fold_has_no_band():
    figure, ax = plt.subplots()
    TunedDisplay([1.0, 3.0], [0.5, 0.6], [np.nan, np.nan], [1.0, 0.5], chosen=3.0).plot(ax)
    assert not ax.collections
    plt.close(figure)


def test_bad_input():
    with pytest.raises(ValueError, match="expected equal numbers"):
        TunedDisplay([1.0], [0.5, 0.6], [0.1], [1.0], chosen=1.0)
    with pytest.raises(NotFittedError):
        TunedDisplay.from_estimator(mm.Tuned(mm.MulticlassSVC()))
