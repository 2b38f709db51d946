from itertools import permutations

import numpy as np
import pytest
from counting.compiled.tours_twin import cycle_value
from counting.tour_strategies import squares
from hypothesis import given
from hypothesis import strategies as st
from thorough import examples

from maxmargin.counting.decoders.tours import best_tour


def tours(n, start, end, length):
    for size in range(3, n + 1) if length is None else [length]:
        for tour in permutations(range(n), size):
            from_start = start is None and (end is not None or tour[0] == min(tour))
            if (from_start or start == tour[0]) and end in (None, tour[-1]):
                yield list(tour)


@st.composite
def problems(draw, most=6):
    arcs = draw(squares(3, most))
    n = len(arcs)
    start, end = (draw(st.none() | st.integers(0, n - 1)) for _ in range(2))
    if start is not None and start == end:
        end = None
    return arcs, start, end, draw(st.none() | st.integers(3, n))


@examples(50, 150)
@given(problems())
def test_tours_are_the_best(problem):
    arcs, *query = problem
    expected = list(tours(len(arcs), *query))
    best = max(cycle_value(arcs, tour) for tour in expected)
    for method in ("auto", "exact", "local"):
        found = best_tour(*problem, method=method)
        assert found.path in expected
        assert found.value == cycle_value(arcs, found.path)
        assert found.value == best if found.exact else found.value <= best
        assert found.exact or method == "local"


@examples(10, 25)
@given(problems(most=5))
def test_the_program_gives_the_best_tour(problem):
    arcs, *query = problem
    found = best_tour(*problem, method="milp")
    assert found.exact
    assert found.path in tours(len(arcs), *query)
    assert found.value == max(cycle_value(arcs, tour) for tour in tours(len(arcs), *query))


@pytest.mark.parametrize("end", [None, 7])
def test_many_nodes_and_a_given_length_are_searched_exactly(end):
    arcs = np.random.default_rng(0).integers(-9, 10, (18, 18)).astype(float)
    found = best_tour(arcs, start=2, end=end, length=6)
    assert found.exact
    assert found.path[0] == 2
    assert end in (None, found.path[-1])
    assert found.value == best_tour(arcs, start=2, end=end, length=6, method="exact").value


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"arcs": np.zeros((2, 3))}, r"arcs have the shape \(2, 3\); expected a square matrix"),
        ({"arcs": np.zeros((2, 2))}, r"arcs between 2 nodes have no tour; expected at least 3 nodes"),
        ({"start": 4}, r"start is 4; expected a node 0 … 3"),
        ({"end": "a"}, r"end is 'a'; expected a node 0 … 3"),
        ({"start": 1, "end": 1}, r"start and end are both 1; expected two nodes of a tour"),
        ({"length": 2}, r"length is 2; expected 3 … 4 nodes for a tour over 4 nodes"),
        ({"length": 5}, r"length is 5; expected 3 … 4 nodes for a tour over 4 nodes"),
        ({"length": 3.0}, r"length is 3.0; expected 3 … 4 nodes"),
        ({"method": "best"}, r"method must be one of 'auto', 'exact', 'local', 'milp', got 'best'"),
    ],
)
def test_what_cannot_be_searched_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        best_tour(**{"arcs": np.zeros((4, 4)), **options})
