"""TransitionDisplay: the learnt weights of neighbouring labels."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.report.figures.canvas import DIVERGING, axes, in_house_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ANNOTATE_UP_TO = 12  # labels; with more, numbers in the cells would not be readable


class TransitionDisplay:
    """A heat map of the transition weights T[before, after], with the weights of starting and ending around them.

    Parameters
    ----------
    transitions : (K, K) array
        Row: the label before, column: the label after. NaN where a transition is not allowed.
    start, end : (K,) arrays
        Weights of the first and of the last label.
    labels : sequence
        Names of the K labels.

    Attributes
    ----------
    table : array of shape (K + 1, K + 1)
        The table as drawn: the first row is start, the last column is end, their corner is NaN.
    ax_, image_ : matplotlib axes and image
        Set by `plot`.
    """

    def __init__(self, transitions: Any, start: Any, end: Any, labels: Sequence[Hashable]):
        self.transitions = np.asarray(transitions, dtype=float)
        self.start, self.end = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
        self.labels = list(labels)
        self.table = np.block([[self.start[None, :], np.array([[np.nan]])], [self.transitions, self.end[:, None]]])

    @classmethod
    def from_estimator(cls, estimator: Any) -> TransitionDisplay:
        """Read the weights of a fitted SequenceLabeler; forbidden transitions are left blank."""
        check_is_fitted(estimator, "w_")
        transitions, start, end = (
            np.where(np.isinf(part), np.nan, part) for part in estimator.task_.links(estimator.w_)
        )
        return cls(transitions, start, end, estimator.classes_)

    @in_house_style
    def plot(self, ax: Axes | None = None, *, annotate: bool | None = None, cmap: str = DIVERGING) -> TransitionDisplay:
        """Draw the table, with colours symmetric around 0.

        annotate=None writes numbers into the cells of small tables only.
        """
        n = len(self.labels)
        side = 1.5 + 0.42 * (n + 1)
        self.ax_ = ax = axes(ax, (side + 0.9, side))
        limit = float(np.nanmax(np.abs(self.table))) or 1.0
        self.image_ = ax.imshow(self.table, cmap=cmap, vmin=-limit, vmax=limit)
        ax.set_facecolor("#dddddd")  # visible where a transition is not allowed
        # Draw thin lines between cells, and a thick one around start and end.
        ax.set_xticks(np.arange(n + 1), [*map(str, self.labels), "end"])
        ax.set_yticks(np.arange(n + 1), ["start", *map(str, self.labels)])
        ax.set_xticks(np.arange(-0.5, n + 1), minor=True)
        ax.set_yticks(np.arange(-0.5, n + 1), minor=True)
        ax.grid(False)
        ax.grid(which="minor", color="white", linewidth=1)
        ax.tick_params(which="both", length=0)
        ax.axhline(0.5, color="white", linewidth=5)
        ax.axvline(n - 0.5, color="white", linewidth=5)
        ax.fill_between([n - 0.5, n + 0.5], -0.5, 0.5, color="white")  # there is no transition from start to end
        ax.spines[:].set_visible(False)
        if max(len(str(label)) for label in self.labels) > 3:
            ax.tick_params(axis="x", labelrotation=90)
        ax.set_xlabel("label after")
        ax.set_ylabel("label before")
        if n <= ANNOTATE_UP_TO if annotate is None else annotate:
            self._annotate(limit)
        ax.figure.colorbar(self.image_, ax=ax, label="weight", shrink=0.8)
        return self

    def _annotate(self, limit: float) -> None:
        digits = 2 if limit < 1 else 1
        for (row, column), weight in np.ndenumerate(self.table):
            if np.isfinite(weight):
                colour = "white" if abs(weight) > 0.6 * limit else "black"
                text = f"{weight:z.{digits}f}"
                self.ax_.text(column, row, text, ha="center", va="center", color=colour, fontsize=7)
