"""CoverageDisplay: curves of the subtopics that the first documents of several orders cover."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.report.figures.canvas import BLUE, GREEN, GREY, ORANGE, RED, axes, in_house_style
from maxmargin.structures.diversity.measures import coverage_curves, random_coverage
from maxmargin.structures.diversity.subtopics import SubtopicWeights

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STYLES = ((RED, "-"), (BLUE, "-"), (GREEN, "-"), (ORANGE, "-"), (BLUE, ":"), (GREEN, ":"), (ORANGE, ":"))
RANDOM = "random"


class CoverageDisplay:
    """Curves of the mean share of subtopics that the first K documents cover, one for each order of documents.

    Parameters
    ----------
    curves : dict
        For each name, the shares covered by the first 0, 1, 2, … documents. The first curve is drawn on top.
    k : int or None
        The number of documents shown to a user, marked by a line; None for no mark.

    Attributes
    ----------
    curves : dict of arrays
        The curves by name.
    k : int or None
        As given.
    ax_ : matplotlib Axes
        Set by `plot`.

    See Also
    --------
    maxmargin.metrics.subtopic_recall : The numbers of a single K.

    Examples
    --------
    >>> from maxmargin import plotting
    >>> display = plotting.CoverageDisplay.from_orders([[{"a"}, {"a"}, {"b"}]], {"given": [[0, 1, 2]]})
    >>> display.curves["given"].tolist()
    [0.0, 0.5, 0.5, 1.0]
    """

    def __init__(self, curves: Mapping[str, Any], k: int | None = None):
        self.curves: dict[str, NDArray[np.float64]] = {}
        for name, given in curves.items():
            curve = np.asarray(given, dtype=float)
            if curve.ndim != 1 or len(curve) < 2 or not np.isfinite(curve).all():
                raise ValueError(f"the curve of {name!r} is {given!r}; expected shares after 0, 1, … documents")
            self.curves[name] = curve
        if not self.curves:
            raise ValueError("there are no curves to draw; expected at least one")
        self.k = k

    @classmethod
    def from_orders(
        cls,
        Y: Any,
        orders: Mapping[str, Any],
        k: int | None = None,
        n: int | None = None,
        weights: SubtopicWeights = "equal",
    ) -> CoverageDisplay:
        """Average over queries with the subtopics Y, for each of several orders ({name: an order per query}).

        n : the largest number of documents; None for the shortest order. weights : see metrics.subtopic_recall.
        """
        found = {name: coverage_curves(Y, each, weights) for name, each in orders.items()}
        shortest = min((len(curve) - 1 for curves in found.values() for curve in curves), default=0)
        n = shortest if n is None else n
        if n > shortest:
            raise ValueError(f"n is {n}, but the shortest order has {shortest} documents; use n <= {shortest}")
        means = {name: np.mean([curve[: n + 1] for curve in curves], axis=0) for name, curves in found.items()}
        means[RANDOM] = np.mean(random_coverage(Y, n, weights), axis=0)
        return cls(means, k)

    @classmethod
    def from_estimator(
        cls,
        diversifier: Any,
        X: Any,
        Y: Any,
        *,
        orders: Mapping[str, Any] | None = None,
        n: int | None = None,
        weights: SubtopicWeights = "equal",
    ) -> CoverageDisplay:
        """Compare a fitted `Diversifier` with other orders ({name: an order per query}) and with random documents.

        By default `orders` are the functions of maxmargin.baselines that need no query.
        """
        from maxmargin.structures.diversity.orders import essential_pages, unweighted_words

        if orders is None:
            vectorizer = diversifier.vectorizer
            orders = {
                "Essential Pages": [essential_pages(x, vectorizer=vectorizer) for x in X],
                "unweighted words": [unweighted_words(x, vectorizer=vectorizer) for x in X],
            }
        own = {type(diversifier).__name__: diversifier.rank(X)}
        return cls.from_orders(Y, {**own, **orders}, diversifier.k, n, weights)

    @in_house_style
    def plot(self, ax: Axes | None = None) -> CoverageDisplay:
        """Draw the curves over K, and a line at k."""
        self.ax_ = ax = axes(ax, (6.0, 4.5))
        for i, (name, curve) in enumerate(self.curves.items()):
            colour, line = (GREY, "--") if name == RANDOM else STYLES[i % len(STYLES)]
            ax.plot(np.arange(len(curve)), curve, color=colour, linestyle=line, label=name, zorder=3 - i / 100)
        if self.k is not None:
            ax.axvline(self.k, color=GREY, linewidth=0.8, zorder=1)
        ax.set_xlabel("documents shown")
        ax.set_ylabel("share of subtopics covered")
        ax.set_ylim(0, 1)
        ax.set_xlim(0, max(map(len, self.curves.values())) - 1)
        ax.legend(frameon=False)
        return self
