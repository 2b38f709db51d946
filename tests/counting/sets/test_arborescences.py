import re

import numpy as np
import pytest
from counting.graph_strategies import rooted_digraphs
from counting.sets.checks import check_best, check_large, check_samples, check_set, check_spectrum, rejects, scores
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.counting.sets.arborescences import Arborescences
from maxmargin.counting.sets.spanning_trees import SpanningTrees


@pytest.mark.parametrize("n", range(2, 7))
def test_trees_of_complete_digraphs_keep_the_contract(n):
    check_set(Arborescences(n))


@given(rooted_digraphs())
def test_trees_of_any_digraph_keep_the_contract(digraph):
    check_set(Arborescences(*digraph), decodes=1)
    check_spectrum(Arborescences(*digraph), expected=False)


def test_words_have_heads():
    trees = Arborescences(["ROOT", "she", "saw", "him"])
    check_set(trees)
    check_samples(trees, uniform=True)
    y = ("saw", "ROOT", "saw")
    on = [arc for arc, value in zip(trees.coordinates, trees.features(y), strict=True) if value]
    assert on == [("ROOT", "saw"), ("saw", "she"), ("saw", "him")]
    assert trees.decode(trees.features(y)) == (y, 3.0, True)


def test_arcs_may_be_an_array():
    check_set(Arborescences(3, np.array([(0, 1), (2, 1), (0, 2)])))


def test_samples_of_given_arcs_are_uniform():
    check_samples(Arborescences(4, [(0, 3), (3, 2), (2, 1), (1, 2), (0, 1), (2, 3)]), uniform=True)


@pytest.mark.parametrize("n", [4, 30])
def test_complete_digraphs_have_closed_forms(n):
    trees = Arborescences(n)
    np.testing.assert_allclose(trees.log_size(), (n - 2) * np.log(n), rtol=1e-12)
    np.testing.assert_allclose(trees.mean(), np.append(np.full(n - 1, 2 / n), np.full((n - 1) * (n - 2), 1 / n)))
    eigenvalues = [space.value for space in trees.cov_spectrum()]
    np.testing.assert_allclose(eigenvalues, [2 / n, (n + 1) / n**2, (n - 1) / n**2, 0], atol=1e-15)


def test_both_directions_of_arcs_are_the_edges_of_spanning_trees():
    n = 40
    directed, undirected = Arborescences(n), SpanningTrees(n)
    edge = {pair: e for e, pair in enumerate(undirected.coordinates)}
    merge = np.zeros((directed.dim, undirected.dim))
    for a, (h, m) in enumerate(directed.coordinates):
        merge[a, edge[min(h, m), max(h, m)]] = 1.0
    F = np.random.default_rng(0).normal(size=(2, undirected.dim))
    np.testing.assert_allclose(directed.cov_apply(F @ merge.T) @ merge, undirected.cov_apply(F), rtol=1e-9, atol=1e-13)


@given(st.integers(2, 5).flatmap(lambda n: scores((n - 1) ** 2)))
def test_the_best_tree_is_found(f):
    assert check_best(Arborescences(round(len(f) ** 0.5) + 1), f).exact


@given(rooted_digraphs().flatmap(lambda digraph: st.tuples(st.just(digraph), scores(len(digraph[1])))))
def test_the_best_tree_of_given_arcs_is_found(drawn):
    digraph, f = drawn
    assert check_best(Arborescences(*digraph), f).exact


def test_a_digraph_on_which_random_walks_would_not_end():
    n = 40  # every step towards the root is as likely as one back to the last node
    trees = Arborescences(n, [(m - 1, m) for m in range(1, n)] + [(n - 1, m) for m in range(1, n - 1)])
    rng = np.random.default_rng(0)
    assert trees.features(trees.sample(rng)).sum() == n - 1


@pytest.mark.slow
def test_sizes_beyond_doubles():
    check_large(Arborescences(170))
    arcs = [(h, m) for m in range(1, 250) for h in range(max(0, m - 15), min(m + 15, 250)) if h != m]
    check_large(Arborescences(250, arcs))


def test_what_is_no_tree_is_explained():
    trees = Arborescences(4)
    rejects(trees, (0, 1), "2 heads were found; expected 3, one for every node except the root 0")
    rejects(trees, (0, 3, 2), "no arcs lead from the root 0 to 2: its heads form a cycle; expected a tree")
    rejects(trees, (1, 0, 0), "there is no arc from 1 to 1")
    rejects(trees, (0, 4, 0), "4 is not one of the nodes; expected 0 … 3")
    rejects(trees, {0, 1, 2}, "has no order; expected a list or tuple of heads, one per node")
    rejects(trees, 7, "the arborescence is 7")
    rejects(Arborescences(3, [(0, 1), (1, 2)]), (0, 0), "there is no arc from 0 to 2")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1,), "there must be at least 2 nodes, got 1"),
        ((True,), "the nodes are given as True"),
        ((3, [(0, 1)]), "there is no tree: no arcs lead from the root 0 to 2"),
        ((3, [(1, 2), (2, 1)]), "there is no tree: no arcs lead from the root 0 to 1"),
        ((3, []), "there is no tree"),
        ((3, [(0, 1), (0, 1)]), "the arc (0, 1) is given twice"),
        ((3, [(0, 1), (1, 1)]), "the arc (1, 1) leads from a node to itself"),
        ((3, [(0, 1), (1, 0)]), "the arc (1, 0) leads to the root"),
        ((3, [(0, 1), (1, 5)]), "5 is not one of the nodes"),
        ((3, [(0, 1, 2)]), "(0, 1, 2) is not an arc; expected a pair of nodes"),
    ],
)
def test_what_is_no_digraph_is_explained(arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        Arborescences(*arguments)
