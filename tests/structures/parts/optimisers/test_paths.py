"""GridPath, DagPath and ShortestPath against all paths."""

from math import comb

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from structures.parts.optimisers.listed_graphs import all_paths, arc_lists
from structures.parts.optimisers.proofs_of_solvers import cost_rows, prove, vectors

from maxmargin.optimisers import DagPath, GridPath, ShortestPath


@given(st.data(), st.integers(1, 4), st.integers(1, 4))
def test_grid(data, rows, columns):
    assume(rows * columns > 1)
    solver = GridPath(rows, columns)
    paths = all_paths(solver.arcs, (0, 0), (rows - 1, columns - 1))
    assert len(paths) == comb(rows + columns - 2, rows - 1)
    prove(solver, vectors(paths, solver.n_parts), data.draw(cost_rows(solver.n_parts)))


def test_the_order_of_steps_is_that_of_the_benchmark():
    """Row by row: to the right, then down; numbered by rows, nodes of a 2 × 3 grid are 0 1 2 and 3 4 5."""
    numbered = [tuple(3 * i + j for i, j in arc) for arc in GridPath(2, 3).arcs]
    assert numbered == [(0, 1), (1, 2), (0, 3), (1, 4), (2, 5), (3, 4), (4, 5)]
    assert GridPath(5, 5).n_parts == 40


@given(st.data(), st.integers(2, 6))
def test_acyclic_graph(data, n_nodes):
    arcs = data.draw(arc_lists(n_nodes, acyclic=True))
    names = data.draw(st.permutations("abcdef"))[:n_nodes]
    paths = all_paths(arcs, 0, n_nodes - 1)
    assume(paths)
    solver = DagPath([(names[u], names[v]) for u, v in arcs], names[0], names[-1])
    assert solver.same_size == (len({len(path) for path in paths}) == 1)
    prove(solver, vectors(paths, len(arcs)), data.draw(cost_rows(len(arcs))))


@given(st.data(), st.integers(2, 5), st.booleans())
def test_any_graph(data, n_nodes, directed):
    arcs = data.draw(arc_lists(n_nodes))
    paths = all_paths(arcs, 0, n_nodes - 1, directed)
    assume(paths)
    solver = ShortestPath(np.array(arcs), 0, n_nodes - 1, directed)
    prove(solver, vectors(paths, len(arcs)), data.draw(cost_rows(len(arcs), nonnegative=True)))


def test_arcs_that_cost_nothing_are_arcs():
    """In matrices of graphs, 0 can mean that there is no arc."""
    solver = ShortestPath([(0, 1), (1, 2), (0, 2), (2, 0)], 0, 2)
    np.testing.assert_array_equal(solver([0, 0, 1, 0]), [1, 1, 0, 0])
    np.testing.assert_array_equal(solver([0, 2, 1, 0]), [0, 0, 1, 0])
    np.testing.assert_array_equal(ShortestPath([(0, 1), (0, 1)], 0, 1)([3, 0]), [0, 1])
    assert solver(np.zeros(4)).sum() in (1, 2)


def test_what_is_refused():
    with pytest.raises(ValueError, match=r"a cycle, 'a' -> 'c' -> 'b' -> 'a'|a cycle, .*; expected none"):
        DagPath([("a", "b"), ("b", "c"), ("c", "a")], "a", "c")
    for kind in (DagPath, ShortestPath):
        with pytest.raises(ValueError, match=r"no path leads from 1 to 0; expected at least one"):
            kind([(0, 1)], 1, 0)
        with pytest.raises(ValueError, match="source is 7, which is not an end of any arc"):
            kind([(0, 1)], 7, 0)
        with pytest.raises(ValueError, match="source and target are both 1"):
            kind([(0, 1)], 1, 1)
        with pytest.raises(ValueError, match=r"arc 1 is \(1, 2, 3\); expected a pair of nodes"):
            kind([(0, 1), (1, 2, 3)], 0, 1)
        with pytest.raises(ValueError, match=r"a node of arc 0, \(\[\], 1\), cannot be used: unhashable"):
            kind([([], 1)], 0, 1)
        with pytest.raises(ValueError, match="there are no arcs"):
            kind([], 0, 1)
    with pytest.raises(ValueError, match="1 row and 1 column has no steps"):
        GridPath(1, 1)
    with pytest.raises(ValueError, match=r"rows must be a whole number >= 1, got 2.5"):
        GridPath(2.5, 1)
    with pytest.raises(ValueError, match=r"the cost of part 1 is -1.0; expected a number >= 0, as ShortestPath needs"):
        ShortestPath([(0, 1), (0, 1)], 0, 1)([1, -1])


def test_what_is_no_path_is_named():
    solver = DagPath([("a", "b"), ("b", "c"), ("a", "c")], "a", "c")
    with pytest.raises(ValueError, match="0 of its arcs leave 'b'; expected one"):
        solver.check([1, 0, 0])
    with pytest.raises(ValueError, match="2 of its arcs leave 'a'; expected one"):
        solver.check([1, 1, 1])
    with pytest.raises(ValueError, match=r"arc 1 \('b' -> 'c'\) is chosen as well"):
        solver.check([0, 1, 1])
