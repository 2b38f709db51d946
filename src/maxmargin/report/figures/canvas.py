"""The house style of all figures: its colours, its matplotlib settings, and axes to draw on.

Matplotlib is imported only when something is drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from matplotlib.axes import Axes

P = ParamSpec("P")
T = TypeVar("T")

# Colours that colour-blind readers can distinguish (Okabe and Ito 2008), with a dark violet and a dark grey.
BLUE, ORANGE, GREEN, RED, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#777777"
PINK, SKY, VIOLET, INK, LINE, PAPER = "#CC79A7", "#56B4E9", "#5B3A8C", "#22262B", "#E4E7EB", "#FFFFFF"
CYCLE = (BLUE, RED, GREEN, ORANGE, PINK, SKY, VIOLET, GREY)  # in the order in which curves and classes take them
DIVERGING = "RdBu_r"  # the colour map of signed tables: white at 0, blue below, red above

#: The house style of the displays, as settings for matplotlib: ``plt.style.use(STYLE)`` for a session, or
#: ``plt.style.context(STYLE)`` for one figure; importing it changes nothing. Colour-blind readers can distinguish the
#: colours "C0" to "C7", and the background is white on any page.
STYLE: dict[str, Any] = {
    "figure.figsize": (7.0, 4.0),
    "figure.constrained_layout.use": True,
    "figure.constrained_layout.w_pad": 0.1,
    "figure.constrained_layout.h_pad": 0.1,
    "figure.facecolor": PAPER,
    "savefig.facecolor": PAPER,
    "axes.facecolor": PAPER,
    "axes.prop_cycle": f"cycler(color={list(CYCLE)})",
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 11.5,
    "axes.titleweight": "bold",
    "axes.titlepad": 8,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": LINE,
    "grid.linewidth": 0.8,
    "font.size": 11,
    "text.color": INK,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 10,
    "ytick.labelsize": 10,
    "legend.frameon": False,
    "legend.fontsize": 10,
    "lines.linewidth": 2,
    "lines.markersize": 5,
    "image.cmap": "Blues",
}


def axes(ax: Axes | None, figsize: tuple[float, float]) -> Axes:
    """Return the given axes, or the axes of a new figure."""
    return _pyplot().subplots(figsize=figsize, layout="constrained")[1] if ax is None else ax


def in_house_style(plot: Callable[P, T]) -> Callable[P, T]:
    """Decorate `plot` of a display: figures that it makes are in the house style, and axes of users keep their own."""

    @wraps(plot)
    def styled(*args: P.args, **kwargs: P.kwargs) -> T:
        given = kwargs.get("ax", args[1] if len(args) > 1 else None)
        if given is not None:
            return plot(*args, **kwargs)
        with _pyplot().style.context(STYLE):
            return plot(*args, **kwargs)

    return styled


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plotting needs matplotlib, which is not installed: pip install maxmargin[plot]") from error
    return plt
