"""CoverageDisplay: curves of subtopics covered."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex

from maxmargin import Diversifier
from maxmargin.baselines import essential_pages
from maxmargin.plotting import CoverageDisplay
from maxmargin.report.figures.canvas import GREY, RED
from maxmargin.structures.diversity.measures import coverage_curves, random_coverage

X = [["apple pie", "apple tree", "green tea", "tea pot"], ["wild cat", "fast car", "cat cat", "car park"]]
Y = [[{"a"}, {"a"}, {"t"}, {"t"}], [{"cat"}, {"car"}, set(), {"car"}]]


@pytest.fixture(autouse=True)
def no_windows():
    plt.switch_backend("agg")
    yield
    plt.close("all")


def test_from_estimator_shows_the_model_and_other_orders():
    model = Diversifier(k=2, C=10.0).fit(X, Y)
    display = CoverageDisplay.from_estimator(model, X, Y)
    assert list(display.curves) == ["Diversifier", "Essential Pages", "unweighted words", "random"]
    assert display.k == 2
    np.testing.assert_allclose(display.curves["Diversifier"], np.mean(coverage_curves(Y, model.rank(X)), axis=0))
    pages = coverage_curves(Y, [essential_pages(x) for x in X])
    np.testing.assert_allclose(display.curves["Essential Pages"], np.mean(pages, axis=0))
    np.testing.assert_allclose(display.curves["random"], np.mean(random_coverage(Y, 4), axis=0))
    own = CoverageDisplay.from_estimator(model, X, Y, orders={"as given": [range(4)] * 2}, n=3, weights="documents")
    assert list(own.curves) == ["Diversifier", "as given", "random"]
    expected = np.mean(coverage_curves(Y, [range(3)] * 2, "documents"), axis=0)
    np.testing.assert_allclose(own.curves["as given"], expected)


def test_lines_are_the_curves():
    display = CoverageDisplay({"mine": [0, 0.5, 1], "random": [0, 0.3, 0.6]}, k=1)
    assert display.plot() is display
    mine, other, mark = display.ax_.lines
    np.testing.assert_array_equal(mine.get_xdata(), [0, 1, 2])
    np.testing.assert_array_equal(mine.get_ydata(), [0, 0.5, 1])
    assert (to_hex(mine.get_color()), to_hex(other.get_color())) == (RED.lower(), GREY.lower())
    assert mark.get_xdata()[0] == 1
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["mine", "random"]
    ax = plt.subplots()[1]
    assert CoverageDisplay({"mine": [0, 1]}).plot(ax).ax_ is ax
    assert len(ax.lines) == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: CoverageDisplay({}), "there are no curves to draw"),
        (lambda: CoverageDisplay({"mine": [0]}), r"the curve of 'mine' is \[0\]; expected shares after 0, 1, …"),
        (lambda: CoverageDisplay({"mine": [0, np.nan]}), "the curve of 'mine' is"),
        (
            lambda: CoverageDisplay.from_orders(Y, {"mine": [[0, 1], [0]]}, n=2),
            "n is 2, but the shortest order has 1 documents",
        ),
    ],
    ids=range(4),
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
