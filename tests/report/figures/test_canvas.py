"""The house style: who gets it, whom it leaves alone, and whether its colours can be distinguished."""

from __future__ import annotations

from itertools import combinations

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from maxmargin.plotting import STYLE, GapDisplay, TransitionDisplay
from maxmargin.report.figures.canvas import CYCLE, PAPER

# What dichromats see, from linear RGB (Viénot, Brettel, Mollon 1999).
DICHROMATS = {
    "protan": np.array([[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]]),
    "deutan": np.array([[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]]),
    "everybody": np.eye(3),
}


@pytest.fixture(autouse=True)
def own_settings():
    with mpl.rc_context():
        plt.switch_backend("agg")
        yield
    plt.close("all")


def gap():
    return GapDisplay([1, 2], [0.1, 0.2], primal=[4.0, 2.0], dual=[1.0, 1.5])


def test_figures_of_displays_have_the_house_style_and_settings_stay_as_they_were():
    before = dict(mpl.rcParams)
    line = gap().plot().lines_[0]
    assert dict(mpl.rcParams) == before
    assert to_rgb(line.get_color()) == to_rgb(CYCLE[0]) != to_rgb("C0")
    assert line.get_linewidth() == STYLE["lines.linewidth"]


@pytest.mark.parametrize("give", [lambda ax: ((ax,), {}), lambda ax: ((), {"ax": ax})])
def test_axes_of_users_keep_their_style(give):
    plt.style.use({"axes.prop_cycle": "cycler(color=['#123456'])", "lines.linewidth": 7})
    args, named = give(plt.figure().subplots())
    line = gap().plot(*args, **named).lines_[0]
    assert (line.get_color(), line.get_linewidth()) == ("#123456", 7)


def test_the_style_is_one_that_matplotlib_knows_in_full():
    plt.style.use(STYLE)  # a warning, which is an error here, would name unknown settings
    assert plt.rcParams["axes.prop_cycle"].by_key()["color"] == list(CYCLE)


def test_heat_maps_have_no_grid_over_their_cells():
    ax = TransitionDisplay(np.eye(2), np.zeros(2), np.zeros(2), ["a", "b"]).plot().ax_
    assert not any(line.get_visible() for axis in (ax.xaxis, ax.yaxis) for line in axis.get_gridlines())


def lab(rgb):
    """CIE L*a*b* of linear RGB, D65."""
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ rgb
    x, y, z = np.cbrt(np.maximum(xyz / [0.9505, 1.0, 1.089], 1e-6))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("eyes", DICHROMATS)
def test_colours_differ_for_colour_blind_readers_and_from_the_paper(eyes):
    def seen(colour):
        rgb = np.array(to_rgb(colour))
        return lab(DICHROMATS[eyes] @ np.where(rgb > 0.04045, ((rgb + 0.055) / 1.055) ** 2.4, rgb / 12.92))

    for a, b in combinations((*CYCLE[:6], PAPER), 2):
        assert np.linalg.norm(seen(a) - seen(b)) > 10, (a, b)  # 2.3 is a difference that can just be noticed
