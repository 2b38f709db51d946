"""Charts: what is drawn lies in the frame, and ticks are round numbers of the axis."""

import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.report.charts import HEIGHT, MOST_POINTS, WIDTH, Axis, Series, bar, chart, fitted_axis, thinned

FLOATS = st.floats(-1e6, 1e6, allow_subnormal=False)
VALUES = st.lists(FLOATS | st.sampled_from([np.nan, np.inf, -np.inf]), min_size=1, max_size=20)


def places(element):
    """All points of lines and circles."""
    text = str(element)
    pairs = [pair.split(",") for found in re.findall(r'points="([^"]*)"', text) for pair in found.split()]
    circles = re.findall(r'cx="([^"]+)" cy="([^"]+)"', text)
    return np.array([*pairs, *circles], dtype=float).reshape(-1, 2)


@given(VALUES, st.sampled_from(["line", "steps", "points"]), st.booleans())
def test_everything_is_inside(values, kind, from_zero):
    y = np.array(values)
    x = np.arange(len(y), dtype=float)
    axes = fitted_axis("x", x), fitted_axis("y", y, from_zero=from_zero)
    drawn = chart([Series(x, y, "name", kind), Series(x, y, kind=kind, other=np.zeros(len(y)))], *axes, "title")
    at = places(drawn)
    assert np.isfinite(at).all()
    assert ((at >= -1) & (at <= [WIDTH + 1, HEIGHT + 1])).all()
    assert "nan" not in str(drawn)
    assert "inf" not in str(drawn)
    if kind == "points":
        assert str(drawn).count("<circle") == np.isfinite(y).sum()


@given(FLOATS, st.floats(1e-6, 1e6))
def test_ticks_are_few_and_on_the_axis(low, width):
    axis = Axis("", low, low + width)
    if axis.high > axis.low and width > 1e-9 * abs(low):
        ticks = axis.ticks()
        assert 1 <= len(ticks) <= 6
        assert all(axis.low - 1e-6 * width <= tick <= axis.high + 1e-6 * width for tick in ticks)


@given(st.lists(st.floats(1e-12, 1e12), min_size=1, max_size=9))
def test_ticks_of_logarithmic_axes(values):
    axis = fitted_axis("C", values, log=True)
    assert axis.low <= min(values) * (1 + 1e-9)
    assert axis.high >= max(values) * (1 - 1e-9)
    ticks = axis.ticks()
    assert 1 <= len(ticks) <= 7
    assert all(0 <= place <= 1 + 1e-9 for place in axis.place(ticks))


def test_percent_and_zero():
    assert Axis("", 0, 1, percent=True).text(0.25) == "25%"
    assert Axis("", -1, 1).text(1e-17) == "0"


def test_long_lines_are_thinned():
    x = np.arange(5000.0)
    (some,) = thinned(x)
    assert len(some) <= MOST_POINTS
    assert (some[0], some[-1]) == (0, 4999)
    assert len(str(chart([Series(x, x)], fitted_axis("x", x), fitted_axis("y", x), ""))) < 20_000


def test_bars_of_intervals():
    axis = Axis("", 0, 1)
    assert str(bar(0.2, 0.5, 0.8, axis)).count("<line") == 2
    assert str(bar(np.nan, 0.5, np.nan, axis)).count("<line") == 1
    assert "<circle" not in str(bar(np.nan, np.nan, np.nan, axis))
