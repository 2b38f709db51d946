"""RouteDisplay: a true and a predicted route on a map of the points of interest."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import pairwise
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.counting.routes import checked_place, pair_f1, point_f1
from maxmargin.report.figures.canvas import BLUE, GREY, LINE, ORANGE, axes, in_house_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TRUE, PREDICTED = ORANGE, BLUE
# Curvature of arrows, to opposite sides, so that a step shared by both routes shows both.
BENDS = {TRUE: -0.14, PREDICTED: 0.14}
LARGEST = 260.0  # area of the most popular point
GEOGRAPHIC = (180.0, 90.0)
WIDEST = 70  # characters per line of the legend, which is as wide as the map


class RouteDisplay:
    """A map of points of interest, with areas by popularity, and a true and a predicted route as arrows.

    Parameters
    ----------
    places : mapping
        {name: (x, y)}, the coordinates of the points.
    predicted : sequence or None
        The points of the predicted route.
    truth : sequence or None
        The points of the true route.
    popularity : mapping or sequence of numbers, one for every point, or None
        The area of a point is proportional to it.
    closed : bool
        Whether routes return to their first points.
    geographic : bool
        Whether coordinates are degrees of longitude and latitude; degrees of longitude are then drawn to scale.

    Attributes
    ----------
    places : dict
        The coordinates of the points, by name.
    predicted, truth : list or None
        The points of the routes.
    popularity : array or None
        The popularity of every point.
    point_f1, pair_f1 : float or None
        The agreement of the two routes; None if there is only one route. pair_f1 is also None for closed routes.
    ax_ : matplotlib axes
        Set by `plot`.

    Examples
    --------
    >>> from maxmargin.plotting import RouteDisplay
    >>> map_of_town = {"inn": (0.0, 0.0), "zoo": (1.0, 0.0), "bay": (1.0, 2.0)}
    >>> RouteDisplay(map_of_town, predicted=["inn", "zoo"], truth=["inn", "bay"]).point_f1
    0.5

    See Also
    --------
    maxmargin.RoutePredictor : the model whose predictions this shows.
    """

    def __init__(
        self,
        places: Mapping[Hashable, tuple[float, float]],
        predicted: Sequence[Hashable] | None = None,
        truth: Sequence[Hashable] | None = None,
        *,
        popularity: Any = None,
        closed: bool = False,
        geographic: bool = False,
    ):
        self.places = {name: checked_place(name, place) for name, place in places.items()}
        if not self.places:
            raise ValueError("there are no points; expected at least one point on the map")
        self.closed, self.geographic = closed, geographic
        if geographic:
            for name, place in self.places.items():
                if any(abs(degrees) > most for degrees, most in zip(place, GEOGRAPHIC, strict=True)):
                    raise ValueError(f"point {name!r} is at {place}; expected degrees of longitude and latitude")
        self.predicted = self._known(predicted, "predicted")
        self.truth = self._known(truth, "true")
        self.popularity = self._sizes(popularity)
        self.point_f1 = self.pair_f1 = None
        if self.predicted is not None and self.truth is not None:
            self.point_f1 = point_f1([self.truth], [self.predicted])
            self.pair_f1 = None if closed else pair_f1([self.truth], [self.predicted])

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        x: Any = None,
        truth: Sequence[Hashable] | None = None,
        *,
        start: Hashable = None,
        end: Hashable = None,
        length: int | None = None,
        geographic: bool = False,
    ) -> RouteDisplay:
        """Predict the route of one trip, a row of features, with a fitted `RoutePredictor` that has coordinates."""
        check_is_fitted(model)
        if model.coordinates_ is None:
            raise ValueError(
                "the model has no coordinates of points; expected RoutePredictor(points={name: (x, y), …})"
            )
        X = None if x is None else np.reshape(x, (1, -1))
        places = dict(zip(model.points_, model.coordinates_.tolist(), strict=True))
        found = model.predict(X, start=start, end=end, length=length)[0]
        closed = model.shape == "cycle"
        return cls(places, found, truth, popularity=model.popularity_, closed=closed, geographic=geographic)

    @in_house_style
    def plot(self, ax: Axes | None = None, *, names: bool = True) -> RouteDisplay:
        """Draw the map.

        Parameters
        ----------
        ax : matplotlib axes or None
            The axes to draw on; None creates new ones.
        names : bool
            Whether to write the names of points; those on a route are black, the others grey.

        Returns
        -------
        RouteDisplay, this object, with `ax_` set.
        """
        self.ax_ = ax = axes(ax, (6.4, 5.6))
        xy = np.array(list(self.places.values()))
        areas = np.full(len(xy), 40.0)
        if self.popularity is not None:
            areas = 12.0 + LARGEST * self.popularity / max(self.popularity.max(), 1e-300)
        ax.scatter(xy[:, 0], xy[:, 1], s=areas, color=GREY, alpha=0.35, linewidths=0, zorder=1)
        self._draw_route(self.truth, TRUE, "true")
        self._draw_route(self.predicted, PREDICTED, "predicted")
        if names:
            visited = {*(self.truth or ()), *(self.predicted or ())}
            for (name, place), area in zip(self.places.items(), areas, strict=True):
                ax.annotate(
                    str(name),
                    place,
                    xytext=(0, 3 + np.sqrt(area) / 2),
                    textcoords="offset points",
                    ha="center",
                    fontsize=9,
                    color="black" if name in visited else GREY,
                    zorder=4,
                )
        self._frame(xy)
        return self

    def _draw_route(self, route: list[Hashable] | None, colour: str, label: str) -> None:
        if not route:
            return
        ax = self.ax_
        stops = [*route, route[0]] if self.closed else route
        for tail, head in pairwise(stops):
            style = f"arc3,rad={BENDS[colour]}"
            arrow = {
                "arrowstyle": "-|>",
                "color": colour,
                "lw": 1.8,
                "shrinkA": 5,
                "shrinkB": 5,
                "connectionstyle": style,
            }
            ax.annotate("", self.places[head], self.places[tail], arrowprops=arrow, zorder=3)
        x, y = self.places[route[0]]
        # The ring of the true start is wider, so that both show where routes begin at the same point.
        ax.plot([x], [y], "o", ms=9 if colour == TRUE else 5.5, mfc="none", mec=colour, mew=1.8, zorder=3)
        # Lines break between names only.
        whole = " → ".join(str(stop).replace(" ", "\N{NO-BREAK SPACE}") for stop in stops)
        text = fill(f"{label}: {whole}", WIDEST, break_long_words=False, break_on_hyphens=False)
        ax.plot([], [], "-o", color=colour, mfc="none", label=text)

    def _frame(self, xy: Any) -> None:
        ax = self.ax_
        if ax.get_legend_handles_labels()[1]:
            ax.legend(frameon=False, fontsize=9, loc="upper center", bbox_to_anchor=(0.5, -0.02))
        if self.point_f1 is not None:
            pairs = "" if self.pair_f1 is None else f", of ordered pairs {self.pair_f1:.2f}"
            ax.set_title(f"F1 of points {self.point_f1:.2f}{pairs}", fontsize=9)
        ax.set_xticks([])
        ax.set_yticks([])
        ax.spines[:].set(visible=True, color=LINE)
        ax.margins(0.12, 0.18)  # names are above their points
        ax.set_aspect(1 / np.cos(np.radians(xy[:, 1].mean())) if self.geographic else "equal", adjustable="datalim")

    def _known(self, route: Any, which: str) -> list[Hashable] | None:
        if route is None:
            return None
        if isinstance(route, str | set | frozenset):
            raise ValueError(f"the {which} route is {route!r}; expected a sequence of points")
        points = list(route)
        for point in points:
            if point not in self.places:
                raise ValueError(f"the {which} route visits {point!r}, which has no coordinates on the map")
        return points

    def _sizes(self, popularity: Any) -> Any:
        if popularity is None:
            return None
        if isinstance(popularity, Mapping):
            for name in popularity:
                if name not in self.places:
                    raise ValueError(f"popularity names {name!r}, which has no coordinates on the map")
            popularity = [popularity.get(name, 0) for name in self.places]
        numbers = np.asarray(list(popularity) if isinstance(popularity, Iterable) else popularity, dtype=float)
        if numbers.shape != (len(self.places),):
            raise ValueError(
                f"popularity has the shape {numbers.shape}; expected {len(self.places)} numbers >= 0, one per point"
            )
        for name, number in zip(self.places, numbers.tolist(), strict=True):
            if not 0 <= number < np.inf:
                raise ValueError(f"the popularity of {name!r} is {number}; expected a finite number >= 0")
        return numbers
