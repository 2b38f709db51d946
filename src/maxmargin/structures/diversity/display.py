"""CoverageDisplay: how many subtopics the first documents of an order cover, against other orders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.report.figures.canvas import BLUE, GREEN, GREY, ORANGE, RED, axes
from maxmargin.structures.diversity.measures import coverage_curves, random_coverage

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STYLES = ((RED, "-"), (BLUE, "-"), (GREEN, "-"), (ORANGE, "-"), (BLUE, ":"), (GREEN, ":"), (ORANGE, ":"))
RANDOM = "random"


class CoverageDisplay:
    """The mean share of subtopics that the first K documents cover, for every K, one curve for each way to order them.

    Parameters
    ----------
    curves : {name: share of subtopics covered by the first 0, 1, 2, … documents}, the first one drawn on top.
    k : how many documents are shown to a user, marked by a line; None for no mark.

    Attributes
    ----------
    curves : {name: array}.   k.   ax_ : set by `plot`.
    """

    def __init__(self, curves: Mapping[str, Any], k: int | None = None):
        self.curves: dict[str, NDArray[np.float64]] = {}
        for name, given in curves.items():
            curve = np.asarray(given, dtype=float)
            if curve.ndim != 1 or len(curve) < 2 or not np.isfinite(curve).all():
                raise ValueError(f"the curve of {name!r} is {given!r}; expected shares after 0, 1, … documents")
            self.curves[name] = curve
        if not self.curves:
            raise ValueError("there are no curves to draw")
        self.k = k

    @classmethod
    def from_orders(
        cls, Y: Any, orders: Mapping[str, Any], k: int | None = None, n: int | None = None, weights: str = "equal"
    ) -> CoverageDisplay:
        """The means over queries with the subtopics Y, each ordered as `orders` says ({name: an order per query}).

        n : up to how many documents; None for the shortest order. weights : of subtopics, see metrics.subtopic_recall.
        """
        found = {name: coverage_curves(Y, each, weights) for name, each in orders.items()}
        shortest = min((len(curve) - 1 for curves in found.values() for curve in curves), default=0)
        n = shortest if n is None else n
        if n > shortest:
            raise ValueError(f"n is {n}, but the shortest order has {shortest} documents")
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
        weights: str = "equal",
    ) -> CoverageDisplay:
        """A fitted `Diversifier` beside other orders ({name: an order per query}) and documents drawn by lot.

        Without `orders` these are the ones of maxmargin.baselines that need no query.
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

    def plot(self, ax: Axes | None = None) -> CoverageDisplay:
        """Draw the curves over K, and a line at k."""
        self.ax_ = ax = axes(ax, (6.0, 4.5))
        for place, (name, curve) in enumerate(self.curves.items()):
            colour, line = (GREY, "--") if name == RANDOM else STYLES[place % len(STYLES)]
            ax.plot(np.arange(len(curve)), curve, color=colour, linestyle=line, label=name, zorder=3 - place / 100)
        if self.k is not None:
            ax.axvline(self.k, color=GREY, linewidth=0.8, zorder=1)
        ax.set_xlabel("documents shown")
        ax.set_ylabel("share of subtopics covered")
        ax.set_ylim(0, 1)
        ax.set_xlim(0, max(map(len, self.curves.values())) - 1)
        ax.legend(frameon=False)
        return self
