"""ClusterDisplay: a picture of a clustering as points and the links that hold its clusters together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.report.figures.canvas import CYCLE, GREY, LINE, axes, in_house_style
from maxmargin.structures.clustering.labels import cluster_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PALETTE = CYCLE[:-1]  # without the grey of the links; further clusters reuse the colours with another marker
SHAPES = "osD^vP*X"
BLACK = "#000000"  # not a colour of the palette


class ClusterDisplay:
    """Drawing of a clustering: items as points in the colours of their clusters, and links between them.

    Parameters
    ----------
    labels : sequence
        The predicted clustering, one label per item.
    links : iterable
        Pairs (i, j) of items, or triples (i, j, score) such as Clusterer.links returns.
    truth : sequence, optional
        The true clustering; the points then have its colours, and links between two true clusters are black.
    points : array of shape (n, 2), optional
        Positions of the items; by default they are on a circle, sorted by predicted cluster.

    Attributes
    ----------
    labels, truth : array of shape (n,)
        Cluster numbers 0, 1, … in order of appearance (truth may be None).
    links : array of shape (m, 2)
        The linked items.
    scores : array of shape (m,) or None
        The scores of the links.
    wrong : array of shape (m,) or None
        Whether each link joins two true clusters; None without a truth.
    points : array of shape (n, 2)
        The positions drawn.
    ax_ : matplotlib Axes
        Set by `plot`.

    See Also
    --------
    maxmargin.Clusterer.links : Returns the links of predictions.

    Examples
    --------
    >>> from maxmargin import plotting
    >>> plotting.ClusterDisplay([0, 0, 0], links=[(0, 1), (1, 2)], truth=["a", "a", "b"]).wrong.tolist()
    [False, True]
    """

    def __init__(self, labels: Any, links: Iterable[Any] = (), truth: Any = None, points: Any = None):
        self.labels = cluster_numbers(labels, len(labels), "labels")
        n = len(self.labels)
        given = [tuple(link) for link in links]
        self.links = np.array([link[:2] for link in given], dtype=np.int64).reshape(-1, 2)
        if len(self.links) and not (self.links.min() >= 0 and self.links.max() < n):
            raise ValueError(f"links join items {self.links.min()} to {self.links.max()}; expected 0 to {n - 1}")
        scored = bool(given) and all(len(link) > 2 for link in given)
        self.scores = np.array([link[2] for link in given], dtype=float) if scored else None
        self.truth = None if truth is None else cluster_numbers(truth, n, "truth")
        self.wrong: NDArray[np.bool_] | None = None
        if self.truth is not None:
            self.wrong = np.asarray(self.truth[self.links[:, 0]] != self.truth[self.links[:, 1]])
        self.points = _round_a_circle(self.labels) if points is None else np.asarray(points, dtype=float)
        if self.points.shape != (n, 2):
            raise ValueError(
                f"points have shape {self.points.shape}; expected ({n}, 2), two coordinates for every item"
            )

    @classmethod
    def from_estimator(cls, clusterer: Any, x: Any, y: Any = None, *, points: Any = None) -> ClusterDisplay:
        """Cluster the items of x with a fitted `Clusterer`, and compare with the true clustering y if there is one."""
        return cls(clusterer.predict([x])[0], clusterer.links([x])[0], y, points)

    @in_house_style
    def plot(self, ax: Axes | None = None) -> ClusterDisplay:
        """Draw right links below the points and wrong ones above; stronger links are thicker where scores are known."""
        self.ax_ = ax = axes(ax, (5.0, 5.0))
        from matplotlib.collections import LineCollection
        from matplotlib.lines import Line2D

        wrong = np.zeros(len(self.links), dtype=bool) if self.wrong is None else self.wrong
        widths = np.full(len(self.links), 1.5)
        if self.scores is not None and self.scores.max(initial=0.0) > 0:
            widths = 1.0 + 2.5 * np.maximum(self.scores, 0) / self.scores.max()
        for some, colour, height in ((~wrong, GREY, 1), (wrong, BLACK, 3)):
            ends = list(self.points[self.links[some]])
            ax.add_collection(LineCollection(ends, colors=colour, linewidths=widths[some], zorder=height))
        shown = self.labels if self.truth is None else self.truth
        for k in range(shown.max(initial=-1) + 1):
            own = self.points[shown == k]
            shape = SHAPES[k // len(PALETTE) % len(SHAPES)]
            ax.scatter(own[:, 0], own[:, 1], s=36, color=PALETTE[k % len(PALETTE)], marker=shape, zorder=2)
        n_found = self.labels.max(initial=-1) + 1
        title = f"{n_found} clusters"
        if self.truth is not None:
            title += f", {self.truth.max(initial=-1) + 1} true; {np.count_nonzero(wrong)} of {len(wrong)} links wrong"
        ax.set_title(title)
        dot = Line2D([], [], marker="o", linestyle="", color=PALETTE[0])
        grey, black = (Line2D([], [], color=colour, linewidth=2.5) for colour in (GREY, BLACK))
        legend = {"colour: predicted cluster": dot, "link": grey}
        if self.truth is not None:
            legend = {"colour: true cluster": dot, "link": grey, "wrong link": black}
        ax.legend(
            list(legend.values()),
            list(legend),
            loc="upper center",
            bbox_to_anchor=(0.5, 0.0),
            ncols=len(legend),
            frameon=False,
            fontsize="small",
        )
        ax.set_xticks([])
        ax.set_yticks([])
        ax.spines[:].set(visible=True, color=LINE)
        ax.set_aspect("equal", adjustable="datalim")
        ax.autoscale_view()
        return self


def _round_a_circle(labels: NDArray[np.int64]) -> NDArray[np.float64]:
    order = np.argsort(labels, kind="stable")
    gaps = np.append(0, np.diff(labels[order]) != 0)  # leave the space of one item between two clusters
    steps = np.arange(len(labels)) + np.cumsum(gaps)
    angles = np.empty(len(labels))
    angles[order] = 2 * np.pi * steps / (steps.max(initial=0) + 2)
    return np.column_stack([np.cos(angles), np.sin(angles)])
