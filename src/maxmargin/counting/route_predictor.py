"""RoutePredictor: open routes and closed tours through points of interest."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Self, Unpack, get_args

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.base.arrays import Array
from maxmargin.base.files.fields import LabelList, NumberArray, OneOf, Text
from maxmargin.base.files.objects import Derived, Fields
from maxmargin.base.predictions import Predictions
from maxmargin.counting.decoders.methods import SearchMethod
from maxmargin.counting.decoders.routes import FoundRoute, best_route
from maxmargin.counting.decoders.tours import best_tour
from maxmargin.counting.routes import checked_place, point_f1
from maxmargin.counting.sets.cycles import CyclicPermutations
from maxmargin.counting.sets.items import Items, collection, whole_number
from maxmargin.counting.sets.ordered_items import ordered_numbers
from maxmargin.counting.sets.output_set import DecodedOutput
from maxmargin.counting.sets.paths import Paths
from maxmargin.counting.trainer import CountingOptions, CountingTrainer, NamedCoordinates
from maxmargin.inputs.labels.labels import in_order, plain
from maxmargin.report.findings import Findings, Section

RouteShape = Literal["path", "cycle"]
SHAPES = get_args(RouteShape)


class RoutePredictor(CountingTrainer):
    """A predictor of routes through points of interest (Gärtner and Vembu 2009, Sections 4.2 and 7.3).

    A route scores Σ f_uv(x) over its steps u -> v; an open route also f_start(x) of its first and f_end(x) of its last
    point. Training compares every known route with all possible ones at once, by one linear system, without any search:
    see CountingPredictor, with counting.Paths (from a virtual source to a virtual sink) or counting.CyclicPermutations
    as the output set. Prediction searches, which is NP-hard: `decode` says whether the route is proved to be optimal.

    Parameters
    ----------
    points : sequence, mapping or None
        The names of all points; or {name: (x, y)} with coordinates, which are kept for maps. None: the points of the
        training routes.
    shape : "path" or "cycle"
        Open routes of one or more points; or closed tours of three or more, which return to their start. The features
        of tours are their steps, one coordinate for either direction (the signed features of the paper cannot express
        how popular a point is; CountingPredictor(counting.CyclicPermutations(points)) has them).
    method : "auto", "exact", "local" or "milp"
        How routes are searched: "exact" over all subsets of at most 19 points that are free to choose, "milp" by an
        integer program, exact too, "local" by local search. "auto": "exact" for at most 14 points; otherwise local
        search, followed by branch and bound if the length is given.
    {options}

    Attributes
    ----------
    points_ : list
        The points.
    coordinates_ : array of shape (points, 2) or None
        The coordinates of the points.
    popularity_ : array of shape (points,)
        The number of training routes that visit each point.
    weights_ : dict of Weights
        The weights of steps from point to point, of first points and of last points, for the linear kernel.
    alpha_, chosen_by_, certificate_, dual_coef_, coef_, intercept_, n_iter_, n_features_in_
        As for CountingPredictor.

    Examples
    --------
    >>> from maxmargin import RoutePredictor
    >>> model = RoutePredictor().fit(None, [("inn", "zoo"), ("inn", "zoo", "bay"), ("zoo", "bay")])
    >>> model.predict(start=["inn"], length=[3])
    [('inn', 'zoo', 'bay')]

    See Also
    --------
    maxmargin.metrics.point_f1, maxmargin.metrics.pair_f1 : how well predicted routes agree with true ones.
    maxmargin.plotting.RouteDisplay : routes on a map.
    """

    saved: ClassVar[Fields] = {
        "shape": Text(*SHAPES),
        "points_": LabelList(least=1),
        "_items_": Derived(lambda model: Items(model.points_, 1, "point")),
        "coordinates_": OneOf(None, NumberArray(float, "points_.__len__", 2)),
        "popularity_": NumberArray(np.int64, "points_.__len__"),
    }

    def __init__(
        self,
        points: Sequence[Hashable] | Mapping[Hashable, tuple[float, float]] | None = None,
        shape: RouteShape = "path",
        kernel: Any = "linear",
        alpha: float | str | None = "loo",
        fit_intercept: bool = True,
        method: SearchMethod = "auto",
        **options: Unpack[CountingOptions],
    ):
        self.points = points
        self.shape = shape
        self.method = method
        super().__init__(kernel=kernel, alpha=alpha, fit_intercept=fit_intercept, **options)

    def _check_scores(self, n_scores: int) -> None:
        if self._possible().dim != n_scores:
            raise ValueError(f"it has {n_scores} scores, which does not match routes over {len(self.points_)} points")

    def _possible(self) -> Paths | CyclicPermutations:
        """Return the set of routes; an open route begins and ends at two virtual nodes that are not points."""
        n = len(self.points_)
        return (
            CyclicPermutations(n, signed=False, method=self.method)
            if self.shape == "cycle"
            else Paths(n + 2, method=self.method)
        )

    def fit(self, X: Any, routes: Sequence[Any], several: bool = False) -> Self:
        """Train on trips: the rows of X are their features (None: no features) and routes the points visited.

        several : whether routes has a list of routes for every row of X, because many trips have the same features.
        """
        return self._train(*self._examples(X, routes, several), several)

    def fit_path(self, X: Any, routes: Sequence[Any], alphas: Sequence[float], several: bool = False) -> list[Self]:
        """Fit a model for every value of λ, with one decomposition of the kernel matrix.

        The last model stays in this estimator.
        """
        return self._train_path(*self._examples(X, routes, several), alphas, several)

    def decision_function(self, X: Any = None) -> Array:
        """Return (n, points, points) scores of steps from one point to another, 0 on the diagonal."""
        return self._route_scores(X, 1).arcs

    def end_scores(self, X: Any = None) -> tuple[Array, Array]:
        """Return two (n, points) arrays, the scores of the first and of the last point of open routes."""
        return self._route_scores(X, 1)[1:]

    def decode(self, X: Any = None, start: Any = None, end: Any = None, length: Any = None) -> list[DecodedOutput]:
        """Return the best route found for every trip, with its score and whether it is proved to be optimal.

        start, end, length : the first and the last point and the number of points, if they are known: None, one value
            for all trips, or a list with one value or None per trip. The last point of a closed tour is the one from
            which it returns to the first.
        X : features; a model trained without features predicts as many trips as the lists have entries, or one.
        """
        check_is_fitted(self)
        asked = [each for each in (start, end, length) if _is_list(each)]
        scores = self._route_scores(X, len(asked[0]) if asked else 1)
        n = len(scores.arcs)
        starts, ends = (self._numbers_of(each, n, name) for each, name in ((start, "start"), (end, "end")))
        lengths = _per_trip(length, n, "length")
        self._check_queries(starts, ends, lengths)
        found = []
        for i in self._with_progress(range(n), "routes"):
            route = self._searched(scores, i, starts[i], ends[i], lengths[i])
            found.append(DecodedOutput(self._items_.named(route.path), route.value, route.exact))
        return found

    def predict(
        self, X: Any = None, start: Any = None, end: Any = None, length: Any = None
    ) -> list[tuple[Hashable, ...]]:
        """Return the best route for every trip; see `decode`."""
        return Predictions(found.y for found in self.decode(X, start, end, length))

    def score(
        self, X: Any, routes: Sequence[Sequence[Hashable]], start: Any = None, end: Any = None, length: Any = None
    ) -> float:
        """Return the mean F1 of the points of predicted routes (metrics.point_f1)."""
        if X is None and not any(_is_list(each) for each in (start, end, length)):
            length = [length] * len(routes)  # tells `predict` the number of trips
        return point_f1(routes, self.predict(X, start, end, length))

    def _findings(self, X: Any, Y: Any, start: Any = None, end: Any = None, length: Any = None) -> Findings:
        from maxmargin.counting.findings import route_findings

        return route_findings(self, X, Y, start, end, length)

    def _learnt(self) -> list[Section]:
        from maxmargin.counting.findings import learnt_steps

        return [] if self._weights_ is None else learnt_steps(self.weights_)

    # --- routes as outputs

    def _examples(self, X: Any, routes: Any, several: bool) -> tuple[Any, list[Any], Paths | CyclicPermutations]:
        if self.shape not in SHAPES:
            raise ValueError(f"shape must be one of {', '.join(map(repr, SHAPES))}, got {self.shape!r}")
        if not isinstance(routes, Iterable):
            raise ValueError(f"routes is {routes!r}; expected a list of routes, one per trip")
        trips = [_listed(each, i) if several else [each] for i, each in enumerate(routes)]
        if not trips:
            raise ValueError("there are no routes to learn from")
        trips = [[_collected(route, i) for route in own] for i, own in enumerate(trips)]
        self._read_points([route for own in trips for route in own])
        numbers = [[self._route_numbers(route, i) for route in own] for i, own in enumerate(trips)]
        for i, own in enumerate(numbers):
            if len(set(map(tuple, own))) < len(own):
                raise ValueError(
                    f"trip {i} has the same route twice; expected different routes (or give several rows of X)"
                )
        if X is None:
            X = self._without_features(len(trips))
            self.n_features_in_ = 0
            self.__dict__.pop("feature_names_in_", None)  # left by an earlier fit
        else:
            X = self._inputs(X, reset=True)
        if X.shape[0] != len(trips):
            raise ValueError(
                f"X has {X.shape[0]} rows but there are {len(trips)} {'lists of ' if several else ''}routes: "
                f"trip {min(X.shape[0], len(trips))} has no partner"
            )
        n = len(self.points_)
        self.popularity_ = np.bincount([k for own in numbers for each in own for k in each], minlength=n)
        if self.shape == "cycle":
            outputs = [[tuple(each) for each in own] for own in numbers]
        else:
            outputs = [[(0, *(k + 1 for k in each), n + 1) for each in own] for own in numbers]
        return X, outputs if several else [own[0] for own in outputs], self._possible()

    def _read_points(self, routes: list[list[Any]]) -> None:
        least = 3 if self.shape == "cycle" else 1
        self.coordinates_: Array | None = None
        if isinstance(self.points, Mapping):
            self._items_ = Items(list(self.points), least, "point")
            self.coordinates_ = np.array([checked_place(name, place) for name, place in self.points.items()])
        elif self.points is not None:
            self._items_ = Items(self.points, least, "point")
        else:
            self._items_ = Items(in_order(plain(point) for route in routes for point in route), least, "point")
        self.points_ = list(self._items_.names)

    def _route_numbers(self, route: list[Any], i: int) -> list[int]:
        try:
            numbers = ordered_numbers(self._items_, route, "route")
        except ValueError as error:
            raise ValueError(f"trip {i}: {error}") from None
        if self.shape == "cycle" and len(numbers) < 3:
            raise ValueError(f"trip {i} is a closed tour of {len(numbers)} points; expected at least 3")
        return numbers

    # --- scores and searches

    def _route_scores(self, X: Any, n_without: int) -> _RouteScores:
        check_is_fitted(self)
        if (X is None) != (self.n_features_in_ == 0):
            trained = "without features" if X is not None else f"with {self.n_features_in_} features"
            raise ValueError(f"the model was trained {trained}; expected {'X=None' if X is not None else 'such an X'}")
        return self._by_point(self._scores(self._without_features(n_without) if X is None else X))

    def _by_point(self, f: Array) -> _RouteScores:
        """Return the coordinates of f, ordered by the points that they belong to."""
        n, rows = len(self.points_), len(f)
        arcs = np.zeros((rows, n, n))
        between = ~np.eye(n, dtype=bool)
        if self.shape == "cycle":
            arcs[:, between] = f
            return _RouteScores(arcs, np.zeros((rows, n)), np.zeros((rows, n)))
        # The coordinates of Paths: source to points and to sink, then of every point those to other points and to sink.
        from_points = f[:, n + 1 :].reshape(rows, n, n)
        arcs[:, between] = from_points[:, :, :-1].reshape(rows, -1)
        return _RouteScores(arcs, f[:, :n], np.ascontiguousarray(from_points[:, :, -1]))

    def _row(self, x: Any) -> Any:
        return self._without_features(1) if x is None and self.n_features_in_ == 0 else super()._row(x)

    def _best_output(self, X: Any) -> Any:
        return self.predict(X)[0] if X is None else super()._best_output(X)

    def _output_features(self, z: Any) -> Array:
        numbers = ordered_numbers(self._items_, _collected(z, 0), "route")
        if self.shape == "cycle":
            return self._possible().features(tuple(numbers))
        return self._possible().features((0, *(k + 1 for k in numbers), len(self.points_) + 1))

    def _coordinates(self, rows: Array) -> dict[str, NamedCoordinates]:
        scores, points = self._by_point(rows), self.points_
        named = {"steps": NamedCoordinates(scores.arcs, {"before": points, "after": points})}
        if self.shape == "path":
            named["first"] = NamedCoordinates(scores.first, {"point": points})
            named["last"] = NamedCoordinates(scores.last, {"point": points})
            named["empty"] = NamedCoordinates(rows[:, [len(points)]], {"route": ["empty"]})  # source to sink
        return named

    def _searched(
        self, scores: _RouteScores, i: int, start: int | None, end: int | None, length: int | None
    ) -> FoundRoute:
        if self.shape == "cycle":
            return best_tour(scores.arcs[i], start, end, length, self.method)
        ends = {"start_scores": scores.first[i], "end_scores": scores.last[i]}
        return best_route(scores.arcs[i], None, start, end, length, self.method, **ends)

    def _numbers_of(self, given: Any, n: int, name: str) -> list[int | None]:
        numbers: list[int | None] = []
        for i, point in enumerate(_per_trip(given, n, name)):
            try:
                numbers.append(None if point is None else self._items_.number(point))
            except ValueError as error:
                raise ValueError(f"trip {i}: the {name} {error}") from None
        return numbers

    def _check_queries(self, starts: list[int | None], ends: list[int | None], lengths: list[Any]) -> None:
        closed = self.shape == "cycle"
        for i, (start, end, length) in enumerate(zip(starts, ends, lengths, strict=True)):
            both = start is not None and end is not None
            if start is not None and start == end and (closed or length not in (None, 1)):
                kind = "a closed tour" if closed else f"a route of {length} points"
                raise ValueError(f"trip {i}: start and end are both {self.points_[start]!r}, but {kind} has two ends")
            if length is not None:
                least = 3 if closed else 2 if both and start != end else 1
                why = f"there are {len(self.points_)} points"
                whole_number(length, f"trip {i}: its length", least, len(self.points_), why)

    # --- trips without features

    def _without_features(self, n: int) -> Array:
        if not self.fit_intercept:
            raise ValueError("without features there is only the constant to learn from; expected fit_intercept=True")
        if self._has_kernel("precomputed"):
            raise ValueError("without features there is no kernel matrix; expected one as X for kernel='precomputed'")
        return np.zeros((n, 0))

    def _inputs(self, X: Any, reset: bool = False) -> Any:
        if not reset and self.n_features_in_ == 0 and np.shape(X)[1:] == (0,):
            return X
        return super()._inputs(X, reset)

    def _kernel(self, X: Any, Y: Any) -> Array:
        if X.shape[1] == 0:
            return np.ones((X.shape[0], Y.shape[0]))
        return super()._kernel(X, Y)


class _RouteScores(NamedTuple):
    """Scores of the steps and ends of n trips."""

    arcs: Array  # (n, points, points) scores of steps
    first: Array  # (n, points) scores of first points
    last: Array  # (n, points) scores of last points


def _listed(routes: Any, i: int) -> list[Any]:
    if not isinstance(routes, list | tuple) or not routes:
        raise ValueError(f"trip {i} has {routes!r}; expected a list of one or more routes, because of several=True")
    return list(routes)


def _collected(route: Any, i: int) -> list[Any]:
    if isinstance(route, set | frozenset):
        raise ValueError(f"trip {i} is {route!r}, and a set has no order; expected a tuple or list of points")
    try:
        points = collection(route, "route", "point")
    except ValueError:
        raise ValueError(f"trip {i}: {route!r} is not a route; expected a tuple or list of points") from None
    if not points:
        raise ValueError(f"trip {i} has an empty route; expected at least one point")
    return points


def _is_list(given: Any) -> bool:
    """Return whether there is one value per trip. A tuple may be the name of one point."""
    return isinstance(given, list) or (hasattr(given, "dtype") and np.ndim(given) == 1)


def _per_trip(given: Any, n: int, name: str) -> list[Any]:
    if not _is_list(given):
        return [given] * n
    if len(given) != n:
        raise ValueError(f"{name} has {len(given)} values for {n} trips: trip {min(len(given), n)} has no partner")
    return list(given)
