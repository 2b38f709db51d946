from itertools import pairwise, permutations

import numpy as np
import pytest
from counting.tour_strategies import squares
from hypothesis import given
from hypothesis import strategies as st
from strategies import whole
from thorough import examples

from maxmargin.counting.decoders.routes import best_route


def value(path, arcs, nodes, first=None, last=None):
    ends = (0 if first is None else first[path[0]]) + (0 if last is None else last[path[-1]])
    return ends + sum(nodes[v] for v in path) + sum(arcs[u][v] for u, v in pairwise(path))


def routes(n, start, end, length):
    for size in range(1, n + 1) if length is None else [length]:
        for path in permutations(range(n), size):
            if start in (None, path[0]) and end in (None, path[-1]):
                yield path


@st.composite
def problems(draw, most=6):
    arcs = draw(squares(1, most))
    n = len(arcs)
    start, end = (draw(st.none() | st.integers(0, n - 1)) for _ in range(2))
    least, longest = (1, n) if start is None or end is None else (1, 1) if start == end else (2, n)
    return arcs, draw(whole((n,))), start, end, draw(st.none() | st.integers(least, longest))


def check_route(found, problem, best):
    arcs, nodes, start, end, length = problem
    paths = list(routes(len(arcs), start, end, length))
    assert tuple(found.path) in paths
    assert found.value == value(found.path, arcs, nodes)
    assert not best or found.value == max(value(path, arcs, nodes) for path in paths)


@examples(50, 150)
@given(problems())
def test_routes_are_the_best_paths(problem):
    for method in ("auto", "exact"):
        found = best_route(*problem, method=method)
        assert found.exact
        check_route(found, problem, best=True)


@examples(50, 150)
@given(problems(), st.data())
def test_free_ends_have_scores(problem, data):
    arcs, nodes, start, end, length = problem
    first, last = (data.draw(st.none() | whole((len(arcs),))) for _ in range(2))
    best = max(value(path, arcs, nodes, first, last) for path in routes(len(arcs), start, end, length))
    for method in ("auto", "exact", "local"):
        found = best_route(*problem, method=method, start_scores=first, end_scores=last)
        assert tuple(found.path) in routes(len(arcs), start, end, length)
        assert found.value == value(found.path, arcs, nodes, first, last)
        assert found.value == best if found.exact else found.value <= best
        assert found.exact or method == "local"


@examples(10, 25)
@given(problems(most=5))
def test_the_program_gives_the_best_path(problem):
    found = best_route(*problem, method="milp")
    assert found.exact
    check_route(found, problem, best=True)


@given(problems())
def test_local_search_says_that_it_is_one(problem):
    found = best_route(*problem, method="local")
    check_route(found, problem, best=found.exact)
    arcs, _, start, end, length = problem
    given_ends = {start, end} - {None}
    nothing_free = (start is not None and start == end) or length == len(given_ends) or len(given_ends) == len(arcs)
    assert found.exact == nothing_free


@pytest.mark.parametrize("length", [3, 6, 9])
@pytest.mark.parametrize("end", [None, 5])
def test_many_nodes_and_a_given_length_are_searched_exactly(length, end):
    rng = np.random.default_rng(length)
    arcs, nodes = rng.integers(-9, 10, (18, 18)).astype(float), rng.integers(-9, 10, 18).astype(float)
    found = best_route(arcs, nodes, 2, end, length)
    assert found.exact
    assert found.path[0] == 2
    assert end in (None, found.path[-1])
    assert len(set(found.path)) == length
    assert found.value == value(found.path, arcs, nodes)
    assert found.value == best_route(arcs, nodes, 2, end, length, method="exact").value
    assert found.value >= best_route(arcs, nodes, 2, end, length, method="local").value


def test_a_city_of_ninety_places():
    rng = np.random.default_rng(1)
    places = rng.random((90, 2))
    arcs = -4 * np.linalg.norm(places[:, None] - places[None], axis=-1)
    nodes = rng.normal(size=90)
    found = best_route(arcs, nodes, start=0, length=8)
    assert found.exact
    assert found.value >= best_route(arcs, nodes, start=0, length=8, method="local").value
    free = best_route(arcs, nodes, start=0)
    assert not free.exact
    assert free.value >= found.value


def test_node_scores_may_be_left_out_and_diagonals_are_not_read():
    arcs = np.array([[np.nan, 1.0, -5.0], [-5.0, np.nan, 2.0], [-5.0, -5.0, np.nan]])
    assert best_route(arcs) == ([0, 1, 2], 3.0, True)
    assert best_route(arcs, length=1).value == 0.0
    assert np.isnan(arcs[0, 0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"arcs": np.zeros((2, 3))}, r"arcs have the shape \(2, 3\); expected a square matrix"),
        ({"node_scores": [1.0]}, r"node_scores have the shape \(1,\); expected \(4,\), one per row of arcs"),
        ({"node_scores": [1.0, 2.0, np.nan, 0.0]}, r"node_scores\[2\] is nan; expected finite numbers"),
        ({"arcs": np.where(np.eye(4)[::-1] > 0, np.inf, 0.0)}, r"arcs\[0, 3\] is inf; expected finite numbers"),
        ({"start_scores": [1.0]}, r"start_scores have the shape \(1,\); expected \(4,\), one per row of arcs"),
        ({"end_scores": [1.0, np.inf, 0.0, 0.0]}, r"end_scores\[1\] is inf; expected finite numbers"),
        ({"start": 4}, r"start is 4; expected a node 0 … 3"),
        ({"end": "a"}, r"end is 'a'; expected a node 0 … 3"),
        ({"end": True}, r"end is True; expected a node 0 … 3"),
        ({"length": 0}, r"length is 0; expected 1 … 4 nodes for a path over 4 nodes"),
        ({"length": 2.0}, r"length is 2.0; expected 1 … 4 nodes"),
        ({"length": 5, "start": 1}, r"length is 5; expected 1 … 4 nodes"),
        ({"length": 1, "start": 1, "end": 2}, r"length is 1; expected 2 … 4 nodes for a path from 1 to 2"),
        ({"length": 2, "start": 1, "end": 1}, r"length is 2; expected 1 … 1 nodes for a path from 1 to 1"),
        ({"method": "best", "length": 1, "start": 0}, r"method must be one of 'auto', 'exact', 'local', 'milp'"),
        ({"method": "exact", "arcs": np.zeros((21, 21))}, r"possible up to 20; expected method='milp'"),
        ({"method": "best"}, r"method must be one of 'auto', 'exact', 'local', 'milp', got 'best'"),
    ],
)
def test_what_cannot_be_searched_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        best_route(**{"arcs": np.zeros((4, 4)), **options})
