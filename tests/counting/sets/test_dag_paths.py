import re
from itertools import pairwise, product

import numpy as np
import pytest
from counting.graph_strategies import acyclic_graphs
from counting.sets.checks import check_best, check_large, check_samples, check_set, check_spectrum, rejects, scores
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.counting.sets.dag_paths import DagPaths

STREETS = [("s", "a"), ("s", "b"), ("a", "b"), ("a", "t"), ("b", "t"), ("a", "dead end"), ("nowhere", "b"), ("t", "on")]


def layers(width, length):
    """Source, layers of nodes each joined with all of the next, sink."""
    rows = [[(0, 0)], *([(k, j) for j in range(width)] for k in range(1, length + 1)), [(length + 1, 0)]]
    return DagPaths([arc for near, far in pairwise(rows) for arc in product(near, far)], (0, 0), (length + 1, 0))


@given(acyclic_graphs())
def test_paths_keep_the_contract(graph):
    check_set(DagPaths(*graph), decodes=1)
    check_spectrum(DagPaths(*graph), expected=False)


@given(acyclic_graphs().flatmap(lambda graph: st.tuples(st.just(graph), scores(len(graph[0])))))
def test_the_longest_path_is_found(drawn):
    graph, f = drawn
    assert check_best(DagPaths(*graph), f).exact


def test_arcs_on_no_path_have_features_that_are_0():
    paths = DagPaths(STREETS, "s", "t")
    check_set(paths)
    check_samples(paths, uniform=True)
    assert set(paths.outputs()) == {("s", "a", "t"), ("s", "b", "t"), ("s", "a", "b", "t")}
    assert paths.coordinates == STREETS
    np.testing.assert_allclose(paths.mean(), np.array([2, 1, 1, 1, 2, 0, 0, 0]) / 3)
    assert paths.decode(np.array([0, 0, 0, 0, 0, 9, 9, 9.0])).value == 0


def test_nodes_are_any_values():
    paths = DagPaths([(3, (1, 2)), ((1, 2), None), (3, None)], 3, None)
    check_set(paths)
    assert paths.features([3, (1, 2), None]).tolist() == [1, 1, 0]


def test_arcs_may_be_an_array():
    paths = DagPaths(np.array([(5, 7), (7, 9), (5, 9)]), 5, 9)
    check_set(paths)
    assert paths.decode(np.zeros(3)).y in {(5, 9), (5, 7, 9)}


def test_all_forward_arcs():
    check_set(DagPaths([(u, v) for u in range(11) for v in range(u + 1, 11)], 0, 10), decodes=2)


def test_layers_are_independent():
    width, length = 5, 800
    paths = layers(width, length)
    np.testing.assert_allclose(paths.log_size(), length * np.log(width), rtol=1e-12)
    chances = {(1, width): 1 / width, (width, width): 1 / width**2, (width, 1): 1 / width}
    sizes = {0: 1, length + 1: 1}
    expected = [chances[sizes.get(u, width), sizes.get(v, width)] for (u, _), (v, _) in paths.coordinates]
    np.testing.assert_allclose(paths.mean(), expected, rtol=1e-10)
    # 1 at all arcs into the first node of every layer: a sum of independent coins.
    coins = np.array([float(0 < k <= length and j == 0) for _, (k, j) in paths.coordinates])
    np.testing.assert_allclose(paths.cov_apply(coins[None])[0] @ coins, length * (1 / width) * (1 - 1 / width))


def test_sizes_beyond_doubles():
    check_large(DagPaths([(u, v) for u in range(1300) for v in range(u + 1, min(u + 4, 1300))], 0, 1299))


def test_what_is_no_path_is_explained():
    paths = DagPaths(STREETS, "s", "t")
    rejects(paths, ("s", "t"), "there is no arc from 's' to 't'; expected a path along arcs")
    rejects(paths, ("s", "a"), "('s', 'a') is not a path from 's' to 't'; expected these as its ends")
    rejects(paths, ("a", "t"), "is not a path from 's' to 't'")
    rejects(paths, ("s", "x", "t"), "'x' is not one of the nodes")
    rejects(paths, {"s", "t"}, "a set has no order")
    rejects(paths, "st", "the path is 'st'")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([(0, 1), (1, 2), (2, 1)], 0, 2), "the arcs have a cycle"),
        (([(0, 0)], 0, 1), "the arcs have a cycle, 0 -> 0; expected none"),
        (([(0, 1), (2, 1)], 0, 2), "no path leads from 0 to 2; expected at least one"),
        (([(0, 1)], 0, 0), "source and sink are both 0"),
        (([(0, 1)], 0, 7), "7 is not one of the nodes"),
        (([(0, 1), (0, 1)], 0, 1), "the arc (0, 1) is given twice"),
        (([(0, 1, 2)], 0, 1), "(0, 1, 2) is not an arc; expected a pair of nodes (u, v)"),
        (([([], 1)], 0, 1), "a node of the arc ([], 1) cannot be used"),
        (([], 0, 1), "there must be at least 1 node, got 0"),
    ],
)
def test_what_is_no_graph_is_explained(arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        DagPaths(*arguments)


def test_what_are_no_scores_is_explained():
    with pytest.raises(ValueError, match=r"scores have the shape \(1,\); expected \(8,\)"):
        DagPaths(STREETS, "s", "t").decode(np.zeros(1))
