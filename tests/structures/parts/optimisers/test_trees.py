"""SpanningTree and Arborescence against all trees."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from structures.parts.optimisers.listed_graphs import all_arborescences, all_spanning_trees, arc_lists
from structures.parts.optimisers.proofs_of_solvers import cost_rows, prove, vectors

from maxmargin.optimisers import Arborescence, SpanningTree


@given(st.data(), st.integers(2, 5))
def test_spanning_trees(data, n_nodes):
    arcs = data.draw(arc_lists(n_nodes))
    trees = all_spanning_trees(n_nodes, arcs)
    assume(trees)
    prove(SpanningTree(n_nodes, arcs), vectors(trees, len(arcs)), data.draw(cost_rows(len(arcs))))


@given(st.data(), st.integers(2, 5))
def test_arborescences(data, n_nodes):
    arcs, root = data.draw(arc_lists(n_nodes, most=12)), data.draw(st.integers(0, n_nodes - 1))
    trees = all_arborescences(n_nodes, arcs, root)
    assume(trees)
    prove(Arborescence(n_nodes, arcs, root), vectors(trees, len(arcs)), data.draw(cost_rows(len(arcs))))


def test_complete_graph():
    arcs = [(u, v) for u in range(4) for v in range(4)]
    solver, rng = Arborescence(4, np.array(arcs), 2), np.random.default_rng(0)
    prove(solver, vectors(all_arborescences(4, arcs, 2), 16), rng.standard_normal((50, 16)))


def test_what_is_refused():
    with pytest.raises(ValueError, match="the arcs do not connect the nodes 0 and 2; expected a connected graph"):
        SpanningTree(3, [(0, 1)])
    with pytest.raises(ValueError, match="the arcs cannot reach node 0 from the root 1; expected a path to every node"):
        Arborescence(3, [(0, 1), (1, 2)], root=1)
    with pytest.raises(ValueError, match="root is 3, but nodes are numbered from 0 to 2"):
        Arborescence(3, [(0, 1), (1, 2)], root=3)
    for kind in (SpanningTree, Arborescence):
        with pytest.raises(ValueError, match=r"arc 1 is \(1, 3\), but nodes are numbered from 0 to 2"):
            kind(3, [(0, 1), (1, 3)])
        with pytest.raises(ValueError, match="n_nodes must be a whole number >= 2, got 1"):
            kind(1, [(0, 0)])


def test_what_is_no_tree_is_named():
    arcs = [(0, 1), (1, 2), (2, 1), (0, 2)]
    with pytest.raises(ValueError, match="z does not connect the nodes 0 and 1"):
        SpanningTree(3, arcs).check([0, 1, 1, 0])
    with pytest.raises(ValueError, match="z has 3 edges; a spanning tree of 3 nodes has 2"):
        SpanningTree(3, arcs).check([1, 1, 1, 0])
    with pytest.raises(ValueError, match="2 arcs of z lead to node 1; expected 1"):
        Arborescence(3, arcs).check([1, 0, 1, 0])
    with pytest.raises(ValueError, match="z cannot reach node 1 from the root 0"):
        Arborescence(3, arcs).check([0, 1, 1, 0])
