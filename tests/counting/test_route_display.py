"""RouteDisplay: what is drawn of a true and a predicted route."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from sklearn.exceptions import NotFittedError

from maxmargin import RoutePredictor
from maxmargin.counting.route_display import PREDICTED, TRUE
from maxmargin.plotting import RouteDisplay

PLACES = {"inn": (0.0, 0.0), "zoo": (1.0, 0.5), "bay": (2.0, 1.0), "hill": (0.0, 2.0)}


@pytest.fixture(autouse=True)
def no_windows():
    plt.switch_backend("agg")
    yield
    plt.close("all")


def arrows(display, colour):
    """(from, to) of the arrows of one colour."""
    drawn = [text for text in display.ax_.texts if getattr(text, "arrow_patch", None) is not None]
    return [
        (tuple(text.xyann), tuple(text.xy))
        for text in drawn
        if to_hex(text.arrow_patch.get_edgecolor()) == colour.lower()
    ]


def names(display):
    return {text.get_text(): to_hex(text.get_color()) for text in display.ax_.texts if text.get_text()}


def test_both_routes_as_arrows_in_two_colours():
    display = RouteDisplay(PLACES, ("inn", "zoo", "bay"), ["inn", "bay", "zoo"], popularity=[4, 1, 0, 2]).plot()
    assert arrows(display, PREDICTED) == [(PLACES["inn"], PLACES["zoo"]), (PLACES["zoo"], PLACES["bay"])]
    assert arrows(display, TRUE) == [(PLACES["inn"], PLACES["bay"]), (PLACES["bay"], PLACES["zoo"])]
    assert display.point_f1 == 1
    assert display.pair_f1 == pytest.approx(2 / 3)
    assert display.ax_.get_title() == "F1 of points 1.00, of ordered pairs 0.67"
    assert names(display) == {"inn": "#000000", "zoo": "#000000", "bay": "#000000", "hill": "#777777"}
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels == ["true: inn → bay → zoo", "predicted: inn → zoo → bay"]
    points = display.ax_.collections[0]
    np.testing.assert_allclose(points.get_offsets(), list(PLACES.values()))
    sizes = points.get_sizes()
    assert sizes[0] > sizes[3] > sizes[1] > sizes[2] > 0


def test_closed_tours_return():
    display = RouteDisplay(PLACES, ("inn", "zoo", "bay"), closed=True).plot(names=False)
    assert arrows(display, PREDICTED)[-1] == (PLACES["bay"], PLACES["inn"])
    assert len(arrows(display, PREDICTED)) == 3
    assert (display.point_f1, display.pair_f1, display.truth) == (None, None, None)
    assert names(display) == {}
    assert display.ax_.get_title() == ""
    assert RouteDisplay(PLACES, ["inn", "zoo", "bay"], ["zoo", "bay", "inn"], closed=True).plot().pair_f1 is None


def test_one_point_has_no_arrow_and_axes_may_be_given():
    ax = plt.figure().subplots()
    display = RouteDisplay(PLACES, ["zoo"], popularity={"zoo": 3}).plot(ax)
    assert display.ax_ is ax
    assert arrows(display, PREDICTED) == []
    assert display.popularity.tolist() == [0, 3, 0, 0]
    assert RouteDisplay(PLACES).plot().ax_.get_legend() is None


def test_long_routes_are_written_in_several_lines():
    places = {f"point {k}": (k, k % 3) for k in range(20)}
    display = RouteDisplay(places, list(places), list(places)[:2]).plot()
    long, short = sorted((text.get_text() for text in display.ax_.get_legend().get_texts()), key=len, reverse=True)
    assert max(map(len, long.splitlines())) <= 70
    assert " ".join(long.splitlines()).replace("\xa0", " ") == "predicted: " + " → ".join(places)
    ends = [line.split(" ")[-1] for line in long.splitlines()]
    assert all(end == "→" or "\xa0" in end for end in ends)  # no name is split
    assert short.replace("\xa0", " ") == "true: point 0 → point 1"


def test_degrees_of_longitude_are_narrower_in_the_north():
    north = {name: (x, 60 + y / 100) for name, (x, y) in PLACES.items()}
    assert RouteDisplay(north, geographic=True).plot().ax_.get_aspect() == pytest.approx(2, rel=0.02)
    assert RouteDisplay(north).plot().ax_.get_aspect() == 1


@pytest.mark.parametrize("shape", ["path", "cycle"])
def test_from_estimator(shape):
    X, routes = np.eye(2), [["inn", "zoo", "bay"], ["hill", "zoo", "inn"]]
    model = RoutePredictor(PLACES, shape=shape).fit(X, routes)
    display = RouteDisplay.from_estimator(model, X[1], routes[1], start="hill", length=3).plot()
    assert tuple(display.predicted) == model.predict(X[1:], start="hill", length=3)[0]
    assert display.closed == (shape == "cycle")
    assert display.places == PLACES
    assert display.popularity.tolist() == [2, 2, 1, 1]
    plain = RoutePredictor(PLACES, shape=shape).fit(None, routes)
    assert RouteDisplay.from_estimator(plain, start="inn").predicted[0] == "inn"


def test_bad_input():
    with pytest.raises(ValueError, match="the true route visits 'pub', which has no coordinates on the map"):
        RouteDisplay(PLACES, ["inn"], ["inn", "pub"])
    with pytest.raises(ValueError, match=r"popularity has the shape \(2,\); expected 4 numbers >= 0, one per point"):
        RouteDisplay(PLACES, popularity=[1, 2])
    with pytest.raises(ValueError, match=r"the popularity of 'zoo' is -1.0; expected a finite number >= 0"):
        RouteDisplay(PLACES, popularity={"inn": 2, "zoo": -1})
    with pytest.raises(ValueError, match="popularity names 'pub', which has no coordinates on the map"):
        RouteDisplay(PLACES, popularity={"inn": 2, "pub": 1})
    for place in ((0, np.nan), (1, 2, 3), "ab"):
        with pytest.raises(ValueError, match=r"point 'pub' is at .*; expected two finite coordinates"):
            RouteDisplay({"pub": place})
    with pytest.raises(ValueError, match="the predicted route is 'inn'; expected a sequence of points"):
        RouteDisplay(PLACES, "inn")
    with pytest.raises(NotFittedError):
        RouteDisplay.from_estimator(RoutePredictor(PLACES))
    with pytest.raises(ValueError, match="there are no points"):
        RouteDisplay({})
    with pytest.raises(ValueError, match=r"point 'a' is at \(0.0, 100.0\); expected degrees of longitude and latitude"):
        RouteDisplay({"a": (0, 100)}, geographic=True)
    with pytest.raises(ValueError, match="the model has no coordinates of points"):
        RouteDisplay.from_estimator(RoutePredictor().fit(None, [["inn"]]))
