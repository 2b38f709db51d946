from itertools import combinations

import numpy as np
import pytest
from counting.sets.checks import (
    check_best,
    check_better_than_random,
    check_large,
    check_samples,
    check_set,
    check_spectrum,
    rejects,
    scores,
)
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.counting.sets.graphs import Cliques, EdgeSets, KCliques

SIZES = [(n, k) for n in range(2, 9) for k in range(2, n + 1)] + [(30, 2), (30, 29), (17, 3)]


def edges(n: int) -> int:
    return n * (n - 1) // 2


@pytest.mark.parametrize("n", [2, 3, 4])
def test_graphs_keep_the_contract(n):
    check_set(EdgeSets(n))


@pytest.mark.parametrize("n", [2, 3, 4, 5, 7, 10])
def test_cliques_keep_the_contract(n):
    check_set(Cliques(n), telling=False)
    check_spectrum(Cliques(n), expected=True)


@pytest.mark.parametrize(("n", "k"), SIZES)
def test_cliques_of_one_size_keep_the_contract(n, k):
    check_set(KCliques(n, k), decodes=2)
    check_spectrum(KCliques(n, k), expected=True)


@pytest.mark.parametrize("outputs", [EdgeSets("abcd"), Cliques(["x", 0, None]), KCliques("abcdef", 3)])
def test_vertices_have_names(outputs):
    check_set(outputs, telling=not isinstance(outputs, Cliques))
    check_samples(outputs, uniform=True)


@given(st.integers(2, 4).flatmap(lambda n: scores(edges(n))))
def test_the_best_graph_is_found(f):
    n = {1: 2, 3: 3, 6: 4}[len(f)]
    assert check_best(EdgeSets(n), f).exact


@given(st.integers(2, 7).flatmap(lambda n: st.tuples(st.just(n), scores(edges(n)), st.integers(2, n))))
def test_the_heaviest_clique_is_found(drawn):
    n, f, k = drawn
    assert check_best(Cliques(n), f).exact
    assert check_best(KCliques(n, k), f).exact


@pytest.mark.parametrize("outputs", [EdgeSets(60), Cliques(1030), KCliques(1100, 500)])
def test_sizes_beyond_doubles(outputs):
    assert 709 < outputs.log_size() < np.inf
    F = np.random.default_rng(0).normal(size=(2, outputs.dim))
    assert np.isfinite(outputs.cov_apply(F)).all()
    assert np.isfinite(outputs.mean()).all()


@pytest.mark.parametrize(
    "outputs",
    [EdgeSets(60), *(pytest.param(each, marks=pytest.mark.slow) for each in (Cliques(1030), KCliques(1100, 500)))],
)
def test_sets_beyond_doubles_keep_the_contract(outputs):
    check_large(outputs)


@pytest.mark.parametrize(
    ("outputs", "exact"),
    [(Cliques(40), False), (KCliques(40, 15), False), (KCliques(60, 3), True), (KCliques(60, 57), True)],
)
def test_many_vertices(outputs, exact):
    rng = np.random.default_rng(0)
    for f in (rng.normal(size=outputs.dim), rng.integers(-1, 2, outputs.dim).astype(float)):
        assert check_better_than_random(outputs, f).exact == exact


def test_simple_cases_of_many_vertices_are_exact():
    outputs = Cliques(60)
    f = np.random.default_rng(0).random(outputs.dim)
    assert outputs.decode(f) == (frozenset(range(60)), pytest.approx(f.sum()), True)
    assert outputs.decode(-f) == (frozenset(), 0.0, True)
    f[:] = -1.0
    f[outputs._graph.number(*np.array(list(combinations(range(5), 2))).T)] = 1.0  # five friends among strangers
    assert outputs.decode(f)[:2] == (frozenset(range(5)), 10.0)


def test_variances_of_many_vertices():
    n, k = 500, 100
    total = KCliques(n, k).cov_apply(np.ones((1, edges(n))))
    np.testing.assert_allclose(total, 0.0, atol=1e-9)  # all have k (k-1) / 2 edges
    star = np.zeros((1, edges(n)))
    star[0, : n - 1] = 1.0  # the edges of vertex 0: k - 1 of them with probability k / n, else none
    variance = float((KCliques(n, k).cov_apply(star) @ star.T)[0, 0])
    np.testing.assert_allclose(variance, (k - 1) ** 2 * k / n * (1 - k / n), rtol=1e-10)


def test_edges_are_read_in_any_form():
    outputs = EdgeSets("abc")
    for graph in [{("a", "b"), ("b", "c")}, [("b", "a"), ("c", "b")], {frozenset("ab"), frozenset("bc")}]:
        np.testing.assert_array_equal(outputs.features(graph), [1, 0, 1])


def test_what_is_no_member_is_explained():
    rejects(EdgeSets(3), {(0, 3)}, "3 is not one of the vertices; expected 0 … 2")
    rejects(EdgeSets(3), [(0, 1), (1, 0)], "the edge (1, 0) is repeated")
    rejects(EdgeSets(3), {(1, 1)}, "the edge (1, 1) joins a vertex with itself")
    rejects(EdgeSets(3), {0, 1}, "0 is not an edge; expected two different vertices")
    rejects(EdgeSets(3), {(0, 1, 2)}, "(0, 1, 2) is not an edge")
    rejects(EdgeSets(3), 5, "the graph is 5; expected a set, list or tuple of edges")
    rejects(Cliques(3), {0, 3}, "3 is not one of the vertices")
    rejects(Cliques(3), [0, 0], "vertex 0 is repeated")
    rejects(KCliques(4, 3), {0, 1}, "the clique has 2 vertices; expected 3")
    rejects(KCliques(4, 3), "012", "the clique is '012'; expected a set, list or tuple of vertices")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: EdgeSets(1), "there must be at least 2 vertices, got 1"),
        (lambda: Cliques("a"), "there must be at least 2 vertices, got 1"),
        (lambda: KCliques(3, 4), "size must be from 2 to 3, got 4"),
        (lambda: KCliques(3, 1), "size must be from 2 to 3, got 1"),
        (lambda: KCliques(3, "2"), "size must be a whole number, got '2'"),
    ],
)
def test_bad_parameters_are_explained(make, message):
    with pytest.raises(ValueError, match=message):
        make()
