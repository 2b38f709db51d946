"""RoutePredictor: it learns what counting-based training of its output set learns, and finds the best routes."""

import inspect
import pickle
from itertools import pairwise, permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from strategies import whole
from thorough import examples

from maxmargin import RoutePredictor
from maxmargin.counting import CyclicPermutations, Paths
from maxmargin.counting.predictor import CountingPredictor
from maxmargin.metrics import point_f1

PLACES = {"inn": (0.0, 0.0), "zoo": (1.0, 0.5), "bay": (2.0, 1.0), "hill": (0.0, 2.0)}
X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [0.5, 0.5]])
ROUTES = [["inn", "zoo", "bay"], ("hill", "bay", "zoo", "inn"), ["zoo", "bay", "hill"], ["inn", "zoo", "hill"], ["bay"]]
TOURS = [*ROUTES[:4], ["bay", "inn", "hill"]]


def named_paths(model, X):
    """The same problem, with source and sink written out."""
    paths = Paths(["<", *model.points_, ">"])
    return CountingPredictor(paths, kernel=model.kernel, alpha=model.alpha, fit_intercept=True).fit(
        X, [("<", *route, ">") for route in ROUTES]
    )


def value(model, i, X, route):
    """The score of a route from the scores that the model shows."""
    numbers = [model.points_.index(point) for point in route]
    arcs, (first, last) = model.decision_function(X)[i], [each[i] for each in model.end_scores(X)]
    closing = [numbers[0]] if model.shape == "cycle" else []
    steps = sum(arcs[u, v] for u, v in pairwise([*numbers, *closing]))
    return steps + first[numbers[0]] + last[numbers[-1]]


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_paths_are_those_from_source_to_sink(kernel):
    model = RoutePredictor(list(PLACES), kernel=kernel, alpha=0.3).fit(X, ROUTES)
    other = named_paths(model, X)
    f, coordinates = other.decision_function(X), other.output_set.coordinates
    arcs, (first, last) = model.decision_function(X), model.end_scores(X)
    assert arcs.shape == (5, 4, 4)
    assert first.shape == last.shape == (5, 4)
    names = model.points_
    for k, (u, v) in enumerate(coordinates):
        if (u, v) != ("<", ">"):
            mine = first[:, names.index(v)] if u == "<" else last[:, names.index(u)] if v == ">" else None
            np.testing.assert_allclose(arcs[:, names.index(u), names.index(v)] if mine is None else mine, f[:, k])
    assert (arcs[:, range(4), range(4)] == 0).all()
    assert model.certificate_.residual < 1e-9
    assert model.certificate_.primal == pytest.approx(other.certificate_.primal)


def test_tours_are_cyclic_permutations():
    model = RoutePredictor(list(PLACES), shape="cycle", alpha=0.3).fit(X, TOURS)
    other = CountingPredictor(CyclicPermutations(list(PLACES), signed=False), alpha=0.3, fit_intercept=True)
    other.fit(X, TOURS)
    f = other.decision_function(X)
    for k, (u, v) in enumerate(other.output_set.coordinates):
        np.testing.assert_allclose(
            model.decision_function(X)[:, model.points_.index(u), model.points_.index(v)], f[:, k]
        )
    assert not np.any(model.end_scores(X))
    for mine, theirs in zip(model.decode(X), other.decode(X), strict=True):
        assert mine.exact
        assert mine.value == pytest.approx(theirs.value)


@st.composite
def queries(draw, closed):
    start, end = (draw(st.none() | st.sampled_from(list(PLACES))) for _ in range(2))
    if start is not None and start == end:
        end = None
    least = 3 if closed else 1 if start is None or end is None else 2
    return start, end, draw(st.none() | st.integers(least, 4))


@pytest.mark.parametrize("shape", ["path", "cycle"])
@examples(16, 40)
@given(data=st.data())
def test_routes_are_the_best_of_those_asked_for(shape, data):
    closed = shape == "cycle"
    asked = data.draw(st.lists(queries(closed), min_size=3, max_size=3))
    rows = data.draw(whole((3, 2)))
    model = RoutePredictor(PLACES, shape=shape, alpha=0.5).fit(X, TOURS if closed else ROUTES)
    found = model.decode(rows, *(list(each) for each in zip(*asked, strict=True)))
    for i, ((start, end, length), best) in enumerate(zip(asked, found, strict=True)):
        possible = [
            route
            for size in range(3 if closed else 1, 5)
            for route in permutations(PLACES, size)
            if start in (None, route[0]) and end in (None, route[-1]) and length in (None, size)
        ]
        assert best.exact
        assert best.y in possible
        assert best.value == pytest.approx(value(model, i, rows, best.y))
        assert best.value == pytest.approx(max(value(model, i, rows, route) for route in possible))


def test_one_value_for_all_trips_or_one_each():
    model = RoutePredictor(PLACES).fit(X, ROUTES)
    assert all(route[0] == "zoo" and len(route) == 2 for route in model.predict(X, start="zoo", length=2))
    found = model.predict(X[:3], start=["zoo", None, "bay"], end="hill", length=np.array([2, 3, 4]))
    assert [len(route) for route in found] == [2, 3, 4]
    assert found[0] == ("zoo", "hill")
    assert found[2][0] == "bay"
    assert {route[-1] for route in found} == {"hill"}


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_without_features_there_is_one_model_for_all(kernel):
    model = RoutePredictor(kernel=kernel, alpha=0.2).fit(None, ROUTES)
    constant = RoutePredictor(alpha=0.2, fit_intercept=False).fit(np.ones((5, 1)), ROUTES)
    assert model.n_features_in_ == 0
    np.testing.assert_allclose(model.decision_function(), constant.decision_function([[1.0]]))
    assert len(model.predict()) == 1
    assert model.predict(start="inn") == model.predict(start=["inn", "inn"])[:1]
    assert len(model.predict(length=[1, 2, 3])) == 3
    assert model.score(None, ROUTES) == point_f1(ROUTES, model.predict() * 5)
    assert model.score(None, ROUTES, length=2) == point_f1(ROUTES, model.predict(length=2) * 5)


def test_points_of_the_training_routes_in_order():
    model = RoutePredictor().fit(X, ROUTES)
    assert model.points_ == ["bay", "hill", "inn", "zoo"]
    assert model.coordinates_ is None
    assert model.popularity_.tolist() == [4, 3, 3, 4]
    model = RoutePredictor(PLACES).fit(X, ROUTES)
    assert model.points_ == list(PLACES)
    assert model.coordinates_.tolist() == [list(place) for place in PLACES.values()]
    assert model.popularity_.tolist() == [3, 4, 4, 3]


def test_numbers_and_tuples_are_names_too():
    model = RoutePredictor().fit(None, [np.array([3, 1]), [1, 2]])
    assert model.points_ == [1, 2, 3]
    assert model.predict(start=np.int64(3), length=2) == [(3, 1)]
    model = RoutePredictor().fit(None, [[(0, 1), (2, 2)], [(0, 1), (5, 5)]])
    assert model.predict(start=(0, 1), end=(5, 5), length=2) == [((0, 1), (5, 5))]


@pytest.mark.parametrize("shape", ["path", "cycle"])
def test_learns_what_interests_lead_to(shape):
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (60, 2)).astype(float)
    routes = [["inn", "zoo", "bay"] if row[0] else ["hill", "bay", "inn"] for row in rows]
    model = RoutePredictor(shape=shape, alpha=0.1).fit(rows, routes)
    assert model.score(rows, routes) == 1.0
    if shape == "path":
        assert model.predict([[1.0, 0.0], [0.0, 1.0]]) == [
            tuple(routes[k]) for k in (rows[:, 0].argmax(), rows[:, 0].argmin())
        ]


def test_local_search_says_that_it_is_one():
    model = RoutePredictor(method="local").fit(X, ROUTES)
    assert not any(each.exact for each in model.decode(X))
    exact = RoutePredictor(method="milp").fit(X, ROUTES).decode(X)
    assert all(each.exact for each in exact)
    for mine, best in zip(model.decode(X), exact, strict=True):
        assert mine.value <= best.value + 1e-9


def test_fit_path_gives_the_model_of_every_alpha():
    for alpha, model in zip((0.1, 1.0), RoutePredictor(PLACES).fit_path(X, ROUTES, (0.1, 1.0)), strict=True):
        alone = RoutePredictor(PLACES, alpha=alpha).fit(X, ROUTES)
        np.testing.assert_allclose(model.decision_function(X), alone.decision_function(X))
        assert model.alpha == alpha
        assert model.predict(X) == alone.predict(X)


@pytest.mark.parametrize("solver", ["closed", "cg"])
def test_several_routes_of_one_row_are_as_many_rows(solver):
    points = range(12)  # so many that the routes known are a vanishing share of all
    routes = [[[0, 1, 2], [3, 1]], [[4, 5, 6, 7]], [[2, 3], [3, 2, 8], [9, 10, 11]]]
    several = RoutePredictor(points, alpha=0.4, solver=solver, tol=1e-10).fit(X[:3], routes, several=True)
    each = RoutePredictor(points, alpha=0.4).fit(X[[0, 0, 1, 2, 2, 2]], [route for own in routes for route in own])
    np.testing.assert_allclose(several.decision_function(X), each.decision_function(X), atol=1e-6)
    assert several.popularity_.tolist() == each.popularity_.tolist()
    (path,) = RoutePredictor(points, solver=solver, tol=1e-10).fit_path(X[:3], routes, [0.4], several=True)
    np.testing.assert_allclose(path.decision_function(X), several.decision_function(X), atol=1e-6)
    with pytest.raises(ValueError, match=r"trip 1 has \[\]; expected a list of one or more routes"):
        RoutePredictor(points).fit(X[:2], [[[1]], []], several=True)
    with pytest.raises(ValueError, match="trip 1 has the same route twice; expected different routes"):
        RoutePredictor(points).fit(X[:2], [[[1]], [[1, 2], (1, 2)]], several=True)
    with pytest.raises(ValueError, match="X has 2 rows but there are 1 lists of routes: trip 1 has no partner"):
        RoutePredictor(points).fit(X[:2], [[[1]]], several=True)


def test_matrices_of_scikit_learn():
    dense = RoutePredictor(PLACES).fit(X, ROUTES)
    few = RoutePredictor(PLACES, solver="cg").fit(sparse.csr_matrix(X), ROUTES)
    assert few.certificate_.solver == "conjugate gradients"
    np.testing.assert_allclose(few.decision_function(X), dense.decision_function(X), atol=1e-6)
    known = RoutePredictor(PLACES, kernel="precomputed").fit(X @ X.T, ROUTES)
    np.testing.assert_allclose(known.decision_function(X @ X.T), dense.decision_function(X), atol=1e-9)


def test_rules_of_scikit_learn():
    model = RoutePredictor(PLACES, alpha=0.5, gamma=2.0)
    names = list(inspect.signature(RoutePredictor).parameters)
    assert {"points", "shape", "kernel", "alpha", "fit_intercept", "method", "solver", "gamma", "tol"} <= set(names)
    marks = {name: object() for name in names}
    assert vars(RoutePredictor(**marks)) == marks
    with pytest.raises(NotFittedError):
        model.predict(X)
    with pytest.raises(TypeError, match="RoutePredictor has no parameter 'lam'"):
        RoutePredictor(lam=1)
    assert clone(model.fit(X, ROUTES)).get_params() == model.get_params()
    copy = pickle.loads(pickle.dumps(model))
    assert copy.predict(X) == model.predict(X)
    search = GridSearchCV(RoutePredictor(PLACES), {"alpha": [0.1, 1.0]}, cv=2).fit(np.tile(X, (2, 1)), ROUTES * 2)
    assert search.best_params_["alpha"] in (0.1, 1.0)


BAD_FITS = [
    ({}, X, [*ROUTES[:4], ["inn", "zoo", "inn"]], "trip 4: point 'inn' is repeated; expected every point at most once"),
    ({"shape": "cycle"}, X, [*TOURS[:4], ["inn", "zoo"]], "trip 4 is a closed tour of 2 points; expected at least 3"),
    ({}, X, [["inn", "pub"], *ROUTES[1:]], "trip 0: 'pub' is not one of the points; expected 'inn', 'zoo'"),
    ({}, X, [ROUTES[0], [], *ROUTES[2:]], "trip 1 has an empty route; expected at least one point"),
    ({}, X, ["inn", *ROUTES[1:]], "trip 0: 'inn' is not a route; expected a tuple or list of points"),
    ({}, X, [*ROUTES[:4], {"inn", "zoo"}], "trip 4 is .*and a set has no order; expected a tuple or list"),
    ({}, X, ROUTES[:4], "X has 5 rows but there are 4 routes: trip 4 has no partner"),
    ({}, X[:2], ROUTES, "X has 2 rows but there are 5 routes: trip 2 has no partner"),
    ({}, X, None, "routes is None; expected a list of routes, one per trip"),
    ({}, X, [], "there are no routes to learn from"),
    ({"shape": "star"}, X, ROUTES, "shape must be one of 'path', 'cycle', got 'star'"),
    ({"points": ["inn", "inn"]}, X, ROUTES, "point 'inn' is named twice"),
    ({"points": {"inn": (0, 0), "zoo": (1,)}}, X, ROUTES, r"point 'zoo' is at \(1,\); expected two finite coordinates"),
    ({"points": {"inn": "here"}}, X, ROUTES, "point 'inn' is at 'here'; expected two finite coordinates"),
    ({"kernel": "precomputed"}, None, ROUTES, "without features there is no kernel matrix; expected one as X"),
    ({"points": None, "shape": "cycle"}, X[:1], [["inn", "zoo"]], "there must be at least 3 points, got 2"),
    ({"fit_intercept": False}, None, ROUTES, "only the constant to learn from; expected fit_intercept=True"),
    ({"method": "best"}, X, ROUTES, "method must be one of 'auto', 'exact', 'local', 'milp', got 'best'"),
    ({"alpha": 0}, X, ROUTES, r"alpha \(λ\) must be a positive number, got 0"),
]


@pytest.mark.parametrize(("options", "rows", "routes", "message"), BAD_FITS)
def test_bad_trips_are_named(options, rows, routes, message):
    with pytest.raises(ValueError, match=message):
        RoutePredictor(**{"points": PLACES, **options}).fit(rows, routes)


BAD_QUERIES = [
    ("path", {"start": "pub"}, "trip 0: the start 'pub' is not one of the points"),
    ("path", {"end": ["inn", "pub"]}, "trip 1: the end 'pub' is not one of the points"),
    ("path", {"length": [2, 5]}, r"trip 1: its length must be from 1 to 4, got 5 \(there are 4 points\)"),
    ("path", {"length": 2.5}, "trip 0: its length must be a whole number, got 2.5"),
    ("path", {"start": "inn", "end": "zoo", "length": 1}, "trip 0: its length must be from 2 to 4, got 1"),
    (
        "path",
        {"start": "inn", "end": "inn", "length": 2},
        "trip 0: start and end are both 'inn', but a route of 2 points",
    ),
    ("cycle", {"start": "inn", "end": "inn"}, "trip 0: start and end are both 'inn', but a closed tour has two ends"),
    ("cycle", {"length": 2}, "trip 0: its length must be from 3 to 4, got 2"),
    ("path", {"start": ["inn"] * 3}, "start has 3 values for 2 trips: trip 2 has no partner"),
]


@pytest.mark.parametrize(("shape", "query", "message"), BAD_QUERIES)
def test_bad_queries_are_named(shape, query, message):
    model = RoutePredictor(PLACES, shape=shape).fit(X[:4], ROUTES[:4])
    with pytest.raises(ValueError, match=message):
        model.predict(X[:2], **query)


def test_features_are_as_in_training():
    with pytest.raises(ValueError, match="the model was trained with 2 features; expected such an X"):
        RoutePredictor().fit(X, ROUTES).predict()
    with pytest.raises(ValueError, match="the model was trained without features; expected X=None"):
        RoutePredictor().fit(None, ROUTES).predict(X)
    with pytest.raises(ValueError, match="2 features"):
        RoutePredictor().fit(X, ROUTES).predict(X[:, :1])
    named = RoutePredictor().fit(pd.DataFrame(X, columns=["old", "green"]), ROUTES)
    assert named.feature_names_in_.tolist() == ["old", "green"]
    assert not hasattr(named.fit(None, ROUTES), "feature_names_in_")
