"""RoundsDisplay: a plot of the rounds of latent training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.base.arrays import Array
from maxmargin.report.figures.canvas import BLUE, GREEN, GREY, LINE, axes, in_house_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class RoundsDisplay:
    """A plot of the objective J(w) after every round of latent training.

    It also shows the lower bound of the convex problem of each round.

    Parameters
    ----------
    objective : array
        J(w) of the best weights so far, one entry per round; the rounds of a restart are consecutive.
    bound : array
        A lower bound for the latent variables of that round. If the new weights change the latent variables, J may fall
        below it; training ends when the two meet.
    seconds : array
        The duration of each round.
    restart : array or None
        The number of the run that each round belongs to; None if there was only one.

    Attributes
    ----------
    best : int
        The number of the run that ended lowest, whose model is kept.
    ax_, lines_ : matplotlib axes and lines
        Set by `plot`.

    Examples
    --------
    >>> from maxmargin.plotting import RoundsDisplay
    >>> RoundsDisplay([3.0, 2.0], [1.0, 1.9], [0.1, 0.1]).objective
    array([3., 2.])

    See Also
    --------
    GapDisplay : the same for convex training.
    """

    def __init__(self, objective: Any, bound: Any, seconds: Any, restart: Any = None):
        self.objective, self.bound = np.asarray(objective, dtype=float), np.asarray(bound, dtype=float)
        self.seconds = np.asarray(seconds, dtype=float)
        self.restart = np.zeros(len(self.objective), dtype=int) if restart is None else np.asarray(restart, dtype=int)
        lengths = {len(each) for each in (self.objective, self.bound, self.seconds, self.restart)}
        if len(lengths) > 1:
            raise ValueError(
                f"objective, bound, seconds and restart have {sorted(lengths)} entries; expected equal numbers"
            )
        if lengths == {0}:
            raise ValueError("there are no rounds to draw")
        self.best = int(self.restart[np.argmin(self.objective)])

    @classmethod
    def from_estimator(cls, estimator: Any) -> RoundsDisplay:
        """Make the plot from the `rounds_` of an estimator with latent variables."""
        check_is_fitted(estimator)
        rounds = getattr(estimator, "rounds_", [])
        if not rounds:
            raise ValueError(
                f"{type(estimator).__name__} was trained in one round, because it has no latent "
                "variables; use GapDisplay"
            )
        columns = ([getattr(r, name) for r in rounds] for name in ("objective", "bound", "seconds", "restart"))
        return cls(*columns)

    @in_house_style
    def plot(
        self, ax: Axes | None = None, *, x: Literal["rounds", "seconds"] = "rounds", label: str | None = None
    ) -> RoundsDisplay:
        """Draw the plot over x = "rounds" or "seconds".

        The run that ended lowest is drawn with its bounds, the others as thin lines.

        Parameters
        ----------
        ax : matplotlib axes or None
            The axes to draw on; None creates new ones.
        x : str
            "rounds" or "seconds".
        label : str or None
            The name of the curve, if several models are drawn into the same axes.

        Returns
        -------
        RoundsDisplay, this object, with `ax_` set.
        """
        if x not in ("rounds", "seconds"):
            raise ValueError(f"x must be 'rounds' or 'seconds', got {x!r}")
        self.ax_ = axes(ax, (6, 3.6))
        self.lines_: list[Any] = []
        numbers, prefix = list(dict.fromkeys(self.restart.tolist())), "" if label is None else f"{label}: "
        others = [number for number in numbers if number != self.best]
        for number in others:
            name = f"{prefix}other runs" if number == others[0] else None
            self.lines_ += self._plot_run(number, x, color=GREY, linewidth=0.9, alpha=0.7, label=name)
        of_best, what = self.restart == self.best, f"{prefix}bound of the round"
        self.lines_ += self.ax_.plot(
            self._places(self.best, x), self.bound[of_best], "_", markersize=9, color=GREEN, label=what
        )
        name = f"{prefix}objective J(w)" + (f", best of {len(numbers)} runs" if others else "")
        self.lines_ += self._plot_run(self.best, x, color=BLUE, marker="o", markersize=3, label=name)
        self.ax_.set(xlabel={"rounds": "outer rounds", "seconds": "seconds"}[x], ylabel="objective")
        if x == "rounds":
            from matplotlib.ticker import MaxNLocator

            self.ax_.set_xlim(0.4, np.bincount(self.restart).max() + 0.6)
            self.ax_.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        self.ax_.grid(color=LINE)
        self.ax_.spines[["top", "right"]].set_visible(False)
        self.ax_.legend(frameon=False, loc="upper right")
        return self

    def _places(self, number: int, x: str) -> Array:
        of_run = self.restart == number
        return np.arange(1.0, of_run.sum() + 1) if x == "rounds" else np.cumsum(self.seconds[of_run])

    def _plot_run(self, number: int, x: str, **style: Any) -> list[Any]:
        return self.ax_.plot(self._places(number, x), self.objective[self.restart == number], **style)
