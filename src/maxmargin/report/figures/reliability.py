"""ReliabilityDisplay: a reliability diagram, which compares confidence with accuracy."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.base.arrays import Array
from maxmargin.report.figures.canvas import BLUE, GREY, axes, in_house_style
from maxmargin.report.scoring.reliability import Reliability, reliability

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ReliabilityDisplay:
    """A reliability diagram: the accuracy of labels over their predicted probability.

    Calibrated models are on the diagonal.

    Parameters
    ----------
    confidence, accuracy, counts : arrays
        For every bin of confidence: its mean, the share of correct labels, and the number of labels.

    Attributes
    ----------
    error : float
        The expected calibration error.
    ax_ : matplotlib axes
        Set by `plot`.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.plotting import ReliabilityDisplay
    >>> p = np.array([[0.9, 0.1], [0.2, 0.8]])
    >>> round(ReliabilityDisplay.from_predictions(["a", "b"], p, ["a", "b"]).error, 3)
    0.15

    See Also
    --------
    maxmargin.metrics.reliability : the numbers behind it.
    """

    def __init__(self, confidence: Any, accuracy: Any, counts: Any):
        self.confidence, self.accuracy = np.asarray(confidence, dtype=float), np.asarray(accuracy, dtype=float)
        self.counts = np.asarray(counts)
        self.error = Reliability(self.confidence, self.accuracy, self.counts).error

    @classmethod
    def from_predictions(
        cls, Y: Any, probabilities: Any, classes: Sequence[Hashable], bins: int = 15
    ) -> ReliabilityDisplay:
        """Make the diagram from true labels and the result of `predict_proba`."""
        return cls(*reliability(Y, probabilities, classes, bins))

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, Y: Any, bins: int = 15) -> ReliabilityDisplay:
        """Make the diagram from a fitted estimator with `predict_proba` and held-out data."""
        check_is_fitted(estimator)
        return cls.from_predictions(Y, estimator.predict_proba(X), estimator.classes_, bins)

    @in_house_style
    def plot(self, ax: Axes | None = None) -> ReliabilityDisplay:
        """Draw points whose areas grow with the number of labels in their bins.

        Parameters
        ----------
        ax : matplotlib axes or None
            The axes to draw on; None creates new ones.

        Returns
        -------
        ReliabilityDisplay, this object, with `ax_` set.
        """
        self.ax_ = axes(ax, (4.5, 4.5))
        filled = self.counts > 0
        self.ax_.plot([0, 1], [0, 1], color=GREY, linewidth=1, zorder=1)
        area = self._areas(self.counts[filled])
        self.ax_.vlines(
            self.confidence[filled], self.confidence[filled], self.accuracy[filled], color=BLUE, linewidth=1, zorder=2
        )
        self.ax_.scatter(self.confidence[filled], self.accuracy[filled], s=area, color=BLUE, zorder=3)
        self.ax_.set(
            xlabel="how probable the model says a label is",
            ylabel="share of right labels",
            xlim=(-0.02, 1.02),
            ylim=(-0.02, 1.02),
            aspect="equal",
            title=f"expected calibration error {100 * self.error:.2g} points",
        )
        return self

    @staticmethod
    def _areas(counts: Array) -> Array:
        return 12 + 150 * np.sqrt(counts / counts.max()) if len(counts) else counts
