"""Axes to draw on, and colours. Matplotlib is imported only when something is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Colours that colour-blind readers can distinguish (Okabe and Ito 2008).
BLUE, ORANGE, GREEN, RED, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#777777"


def axes(ax: Axes | None, figsize: tuple[float, float]) -> Axes:
    """Return the given axes, or the axes of a new figure."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plotting needs matplotlib, which is not installed: pip install maxmargin[plot]") from error
    return plt.subplots(figsize=figsize, layout="constrained")[1]
