"""TunedDisplay: a plot of the scores of all values of C, and the chosen one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.report.figures.canvas import BLUE, GREY, LINE, RED, axes, in_house_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class TunedDisplay:
    """A plot of the mean score over the folds and of the training loss, over C.

    Parameters
    ----------
    Cs, mean_score, standard_error, training_loss : array-like
        Arrays with one entry per C.
    chosen : float
        The chosen C.
    score_name : str
        The name of the score on its axis.

    Attributes
    ----------
    ax_, loss_ax_ (the axis of the training loss, on the right), lines_ : matplotlib axes
        Set by `plot`.

    Examples
    --------
    >>> from maxmargin.plotting import TunedDisplay
    >>> TunedDisplay([1.0, 10.0], [0.8, 0.9], [0.01, 0.01], [0.5, 0.2], chosen=10.0).chosen
    10.0

    See Also
    --------
    maxmargin.Tuned : the estimator whose results this shows.
    """

    def __init__(
        self,
        Cs: Any,
        mean_score: Any,
        standard_error: Any,
        training_loss: Any,
        chosen: float,
        score_name: str = "mean score",
    ):
        self.Cs, self.mean_score = np.asarray(Cs, dtype=float), np.asarray(mean_score, dtype=float)
        self.standard_error = np.asarray(standard_error, dtype=float)
        self.training_loss = np.asarray(training_loss, dtype=float)
        self.chosen, self.score_name = float(chosen), score_name
        lengths = {len(each) for each in (self.Cs, self.mean_score, self.standard_error, self.training_loss)}
        if len(lengths) > 1 or lengths == {0}:
            raise ValueError(
                f"Cs, mean_score, standard_error and training_loss have {sorted(lengths)} entries; "
                "expected equal numbers, and at least one"
            )

    @classmethod
    def from_estimator(cls, estimator: Any) -> TunedDisplay:
        """Make the plot from a fitted Tuned."""
        check_is_fitted(estimator, "results_")
        table = estimator.results_
        name = f"mean {estimator.scoring}" if isinstance(estimator.scoring, str) else "mean score"
        return cls(
            table["C"], table["mean_score"], table["standard_error"], table["training_loss"], estimator.best_C_, name
        )

    @in_house_style
    def plot(self, ax: Axes | None = None) -> TunedDisplay:
        """Draw the plot over C, on a logarithmic scale.

        It shows the mean score with a band of one standard error, the training loss (the mean slack on all data) in
        grey on a separate axis, and a line at the chosen C.

        Parameters
        ----------
        ax : matplotlib axes or None
            The axes to draw on; None creates new ones.

        Returns
        -------
        TunedDisplay, this object, with `ax_` set.
        """
        self.ax_ = ax = axes(ax, (6, 3.6))
        self.loss_ax_ = right = ax.twinx()
        lines = right.plot(self.Cs, self.training_loss, color=GREY, linewidth=1, linestyle="--", label="training loss")
        lines += ax.plot(self.Cs, self.mean_score, color=BLUE, marker="o", markersize=3, label=self.score_name)
        if np.isfinite(self.standard_error).any():
            low, high = self.mean_score - self.standard_error, self.mean_score + self.standard_error
            ax.fill_between(self.Cs, low, high, color=BLUE, alpha=0.15, linewidth=0)
        lines.append(ax.axvline(self.chosen, color=RED, linewidth=1, label=f"chosen: C = {self.chosen:.3g}"))
        ax.set_xscale("log")
        ax.set(xlabel="C", ylabel=self.score_name)
        right.set_ylabel("training loss", color=GREY)
        right.set_ylim(bottom=0)
        right.tick_params(axis="y", colors=GREY)
        ax.set_zorder(right.get_zorder() + 1)  # the score is above the loss
        ax.patch.set_visible(False)
        ax.grid(color=LINE)
        right.grid(False)
        for each in (ax, right):
            each.spines["top"].set_visible(False)
        ax.legend(
            handles=lines, frameon=False, fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3
        )
        self.lines_ = lines
        return self
