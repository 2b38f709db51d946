import re
from math import prod

import numpy as np
import pytest
from counting.graph_strategies import connected_graphs
from counting.sets.checks import (
    CLOSE,
    check_best,
    check_large,
    check_samples,
    check_set,
    check_spectrum,
    listed,
    rejects,
    scores,
)
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.counting.sets.spanning_trees import SpanningTrees

SQUARE = [("a", "b"), ("c", "b"), ("c", "d"), ("d", "a"), ("a", "c")]  # with one diagonal: 8 trees


@pytest.mark.parametrize("n", range(2, 7))
def test_trees_of_complete_graphs_keep_the_contract(n):
    check_set(SpanningTrees(n))
    check_spectrum(SpanningTrees(n), expected=True)


@given(connected_graphs())
def test_trees_of_any_graph_keep_the_contract(graph):
    check_set(SpanningTrees(*graph), decodes=1)
    check_spectrum(SpanningTrees(*graph), expected=False)


def test_vertices_have_names_and_edges_their_order():
    trees = SpanningTrees("abcd", SQUARE)
    check_set(trees)
    check_samples(trees, uniform=True)
    np.testing.assert_allclose(trees.log_size(), np.log(8))
    assert trees.coordinates == [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d"), ("a", "c")]
    np.testing.assert_array_equal(trees.features([("b", "a"), ("c", "b"), ("d", "c")]), [1, 1, 1, 0, 0])


def test_edges_may_be_an_array():
    edges = np.array([(0, 1), (2, 1), (0, 2)])
    check_set(SpanningTrees(3, edges))
    assert SpanningTrees(3, edges).decode(np.array([0.0, 1, 2])).y == {(1, 2), (0, 2)}


def test_samples_of_complete_graphs_are_uniform():
    check_samples(SpanningTrees(4), uniform=True)


@given(connected_graphs(), st.data())
def test_weights_are_a_law_of_trees(graph, data):
    n, edges = graph
    weights = np.array(data.draw(st.lists(st.integers(1, 5), min_size=len(edges), max_size=len(edges)))) / 2
    trees = SpanningTrees(n, edges, weights)
    Y, rows = listed(trees)
    p = np.array([prod(weights[row > 0]) for row in rows])
    p /= p.sum()
    mean = p @ rows
    np.testing.assert_allclose(trees.log_size(), np.log(len(Y)), **CLOSE)
    np.testing.assert_allclose(trees.mean(), mean, **CLOSE)
    np.testing.assert_allclose(trees.covariance(), (rows - mean).T @ ((rows - mean) * p[:, None]), **CLOSE)


def test_equal_weights_are_no_weights():
    weighted = SpanningTrees(5, weights=np.full(10, 3.0))
    np.testing.assert_allclose(weighted.covariance(), SpanningTrees(5).covariance(), **CLOSE)
    np.testing.assert_allclose(weighted.log_size(), 3 * np.log(5))


def test_weighted_samples_follow_the_law():
    trees = SpanningTrees("abcd", SQUARE, [1, 2, 3, 4, 5])
    rng = np.random.default_rng(0)
    seen = np.mean([trees.features(trees.sample(rng)) for _ in range(4000)], axis=0)
    np.testing.assert_allclose(seen, trees.mean(), atol=5.5 * 0.5 / np.sqrt(4000))


def test_the_matrix_tree_theorem_agrees_with_the_closed_forms_of_large_complete_graphs():
    alike = SpanningTrees(60)
    listed_edges = SpanningTrees(60, alike.coordinates)
    np.testing.assert_allclose(listed_edges.log_size(), alike.log_size(), rtol=1e-12)
    np.testing.assert_allclose(listed_edges.mean(), alike.mean(), rtol=1e-12)
    F = np.random.default_rng(0).normal(size=(3, alike.dim))
    np.testing.assert_allclose(listed_edges.cov_apply(F), alike.cov_apply(F), rtol=1e-9, atol=1e-13)


@given(st.integers(2, 5).flatmap(lambda n: scores(n * (n - 1) // 2)))
def test_the_best_tree_is_found(f):
    n = {1: 2, 3: 3, 6: 4, 10: 5}[len(f)]
    assert check_best(SpanningTrees(n), f).exact


def test_tiny_scores_are_told_apart():
    assert SpanningTrees(3).decode(np.array([0.0, 1e-300, -1e-300])).y == {(0, 1), (0, 2)}


def test_sizes_beyond_doubles():
    check_large(SpanningTrees(200))
    band = [(u, v) for u in range(250) for v in range(u + 1, min(u + 20, 250))]
    check_large(SpanningTrees(250, band))


def test_what_is_no_tree_is_explained():
    trees = SpanningTrees("abcd", SQUARE)
    rejects(trees, {("a", "b"), ("b", "c")}, "2 edges were found; a spanning tree of 4 vertices has 3")
    rejects(trees, {("a", "b"), ("b", "c"), ("c", "a")}, "do not connect the vertices 'a' and 'd'", "close a cycle")
    rejects(trees, {("a", "b"), ("b", "d"), ("c", "d")}, "('b', 'd') is not an edge of the graph", "such as ('a', 'b')")
    rejects(trees, {("a", "b"), ("b", "e"), ("c", "d")}, "'e' is not one of the vertices", "'a', 'b', 'c', 'd'")
    rejects(trees, [("a", "b"), ("b", "a"), ("c", "d")], "the edge ('b', 'a') is repeated")
    rejects(trees, [("a", "a"), ("b", "a"), ("c", "d")], "joins a vertex with itself")
    rejects(trees, [("a", "b", "c")], "is not an edge; expected two different vertices")
    rejects(trees, 3, "the spanning tree is 3; expected a set, list or tuple of edges")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1,), "there must be at least 2 vertices, got 1"),
        ((1.5,), "the vertices are given as 1.5"),
        ((3, [(0, 1)]), "the graph has no spanning tree: its edges do not connect 0 and 2"),
        ((3, []), "the graph has no spanning tree"),
        ((3, [(0, 1), (1, 0), (1, 2)]), "the edge (1, 0) is given twice"),
        ((3, [(0, 1), (1, 3)]), "3 is not one of the vertices; expected 0 … 2"),
        ((3, None, [1, 2]), "weights have the shape (2,); expected one for each of the 3 edges"),
        ((3, None, [1, 2, 0]), "the weight of edge (1, 2) is 0.0; expected a positive finite number"),
        ((3, None, [1, np.nan, 1]), "the weight of edge (0, 2) is nan"),
    ],
)
def test_what_is_no_graph_is_explained(arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        SpanningTrees(*arguments)


@pytest.mark.parametrize("f", [np.zeros(2), np.array([0.0, np.nan, 1.0])])
def test_what_are_no_scores_is_explained(f):
    with pytest.raises(ValueError, match=r"expected \(3,\), one for each|score 1 is nan; expected finite"):
        SpanningTrees(3).decode(f)


def test_a_changed_parameter_is_read_anew():
    trees = SpanningTrees(3)
    assert trees.mean().shape == (3,)
    assert trees.set_params(vertices=4).mean().shape == (6,)
