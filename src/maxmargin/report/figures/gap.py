"""GapDisplay: a plot of how training approached the optimum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.base.arrays import Array
from maxmargin.report.figures.canvas import BLUE, GREEN, GREY, LINE, axes, in_house_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARK_UP_TO = 50  # the most points that are marked; more would hide the line


class GapDisplay:
    """A plot of the objective P(w), the lower bound D on every objective value, and the gap between them during a fit.

    Parameters
    ----------
    passes, seconds : arrays
        When each step ended: oracle calls divided by the number of examples, and wall-clock time.
    primal : array
        P(w) after each step; inf if it was not measured.
    dual : array
        The best lower bound so far; -inf if there is none.
    guess : array or None
        The solver's own estimate of P(w), which costs nothing and decides when P(w) is measured.

    Attributes
    ----------
    best : array
        The lowest measured P(w) so far (inf before the first measurement): the objective of the model that is kept.
    relative_gap : array
        (best - dual) / best.
    estimated_gap : array
        The same with `guess` instead of `best`.
    ax_, lines_ : matplotlib axes and lines
        Set by `plot`.

    Examples
    --------
    >>> from maxmargin.plotting import GapDisplay
    >>> GapDisplay([1, 2], [0.1, 0.2], primal=[4.0, 2.0], dual=[1.0, 1.5]).relative_gap
    array([0.75, 0.25])

    See Also
    --------
    RoundsDisplay : the same for latent training.
    """

    def __init__(self, passes: Any, seconds: Any, primal: Any, dual: Any, guess: Any = None):
        self.passes, self.seconds = np.asarray(passes, dtype=float), np.asarray(seconds, dtype=float)
        self.primal, self.dual = np.asarray(primal, dtype=float), np.asarray(dual, dtype=float)
        self.guess = self.primal if guess is None else np.asarray(guess, dtype=float)
        self.best = np.minimum.accumulate(self.primal)
        self.relative_gap = _relative_gap(self.best, self.dual)
        self.estimated_gap = _relative_gap(self.guess, self.dual)

    @classmethod
    def from_estimator(cls, estimator: Any, bound: float | None = None) -> GapDisplay:
        """Make the plot from the `history_` of a fitted estimator; the last point is its certificate.

        bound : a lower bound from elsewhere, such as the `certificate_.dual` of another model for the same problem. All
        gaps
            are then relative to it, which also serves solvers that have no bound of their own.
        """
        check_is_fitted(estimator, "history_")
        certificate = estimator.certificate_
        rows = [(r["passes"], r["seconds"], r["primal"], r["dual"], r["guess"]) for r in estimator.history_]
        if not rows or rows[-1][2] != certificate.primal:
            # The last weights are measured once more after the last step.
            c = certificate
            rows.append((c.passes, c.seconds, c.primal, c.dual, c.primal))
        passes, seconds, primal, dual, guess = np.array(rows).T
        return cls(passes, seconds, primal, dual if bound is None else np.full(len(rows), bound), guess)

    @in_house_style
    def plot(
        self,
        ax: Axes | None = None,
        *,
        x: Literal["passes", "seconds"] = "passes",
        kind: Literal["gap", "bounds"] = "gap",
        label: str | None = None,
    ) -> GapDisplay:
        """Draw the plot over x = "passes" or "seconds".

        Parameters
        ----------
        ax : matplotlib axes or None
            The axes to draw on; None creates new ones.
        x : str
            "passes" or "seconds".
        kind : str
            "gap" draws the relative gap on a logarithmic scale: the line joins the measured points, faint dots are.
        the
            solver's estimates in between. "bounds" draws P of the best model so far and D, and shades the band that
            contains the optimum.
        label : str or None
            The name of the curve, if several are drawn into the same axes.

        Returns
        -------
        GapDisplay, this object, with `ax_` set.
        """
        if x not in ("passes", "seconds"):
            raise ValueError(f"x must be 'passes' or 'seconds', got {x!r}")
        if kind not in ("gap", "bounds"):
            raise ValueError(f"kind must be 'gap' or 'bounds', got {kind!r}")
        if kind == "gap" and not np.isfinite(self.relative_gap).any():
            raise ValueError(
                "the gap is unknown because the solver has no lower bound: give from_estimator the bound of a "
                "certified model (bound=model.certificate_.dual), or draw kind='bounds'"
            )
        self.ax_ = axes(ax, (6, 3.6))
        time = getattr(self, x)
        self.lines_ = self._plot_gap(time, label) if kind == "gap" else self._plot_bounds(time, label)
        self.ax_.set_xlabel({"passes": "passes over the data", "seconds": "seconds"}[x])
        self.ax_.grid(color=LINE)
        self.ax_.spines[["top", "right"]].set_visible(False)
        if self.ax_.get_legend_handles_labels()[1]:
            self.ax_.legend(frameon=False)
        return self

    def _plot_gap(self, time: Array, label: str | None) -> list[Any]:
        ax = self.ax_
        measured = np.isfinite(self.primal) & (self.relative_gap > 0) & np.isfinite(self.relative_gap)
        marker = "o" if np.count_nonzero(measured) <= MARK_UP_TO else None
        line = ax.plot(time[measured], self.relative_gap[measured], marker=marker, markersize=3, label=label)
        guessed = ~np.isfinite(self.primal) & np.isfinite(self.estimated_gap) & (self.estimated_gap > 0)
        dots = ax.plot(
            time[guessed], self.estimated_gap[guessed], ".", markersize=3, alpha=0.4, color=line[0].get_color()
        )
        ax.set_yscale("log")
        ax.yaxis.set_major_formatter(lambda share, _: f"{100 * share:g}%")
        ax.set_ylabel("relative duality gap")
        return [*line, *dots]

    def _plot_bounds(self, time: Array, label: str | None) -> list[Any]:
        ax, prefix = self.ax_, "" if label is None else f"{label}: "
        known, measured, kept = np.isfinite(self.dual), np.isfinite(self.primal), np.isfinite(self.best)
        lines = ax.plot(
            time[kept], self.best[kept], color=BLUE, drawstyle="steps-post", label=f"{prefix}objective P(w)"
        )
        lines += ax.plot(time[measured], self.primal[measured], "o", markersize=3, color=BLUE)
        guessed = ~measured & np.isfinite(self.guess)
        estimate = f"{prefix}estimate of P(w)" if guessed.any() else None
        lines += ax.plot(time[guessed], self.guess[guessed], ".", markersize=4, alpha=0.4, color=BLUE, label=estimate)
        if known.any():
            bound = f"{prefix}lower bound D"
            lines += ax.plot(time[known], self.dual[known], color=GREEN, drawstyle="steps-post", label=bound)
            both = known & kept
            ax.fill_between(
                time[both], self.dual[both], self.best[both], step="post", color=GREY, alpha=0.15, linewidth=0
            )
            top = _readable_top(np.append(self.guess[guessed], self.primal[measured]), float(self.dual[known][-1]))
            ax.set_ylim(0, top)  # no objective is negative
        ax.set_ylabel("objective")
        return lines


def _relative_gap(primal: Array, dual: Array) -> Array:
    """Return (P - D) / P if both are known, otherwise inf: objective.relative_gap for arrays."""
    with np.errstate(invalid="ignore", divide="ignore"):
        gap = np.maximum(primal - dual, 0) / primal
    return np.where(np.isfinite(primal) & np.isfinite(dual) & (primal > 0), gap, np.inf)


def _readable_top(values: Array, final: float) -> float | None:
    """Return an upper limit for the axis that hides the first steps, which may be a hundred times above the optimum."""
    return 2.5 * final if final > 0 and np.max(values, initial=0) > 2.5 * final else None
