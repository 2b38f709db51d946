from itertools import combinations

import numpy as np
import pytest

from maxmargin.counting.sets.complete_graph import CompleteGraph, EdgeEigenvalues


@pytest.mark.parametrize("n", [2, 3, 4, 5, 9])
def test_edges_are_numbered_in_order(n):
    graph, edges = CompleteGraph(n), list(combinations(range(n), 2))
    assert list(zip(graph.tails, graph.heads, strict=True)) == edges
    assert [graph.number(u, v) for u, v in edges] == list(range(len(edges)))
    np.testing.assert_array_equal(graph.number(graph.heads, graph.tails), np.arange(len(edges)))
    f = np.arange(1.0, len(edges) + 1)
    assert all(graph.matrix(f)[u, v] == graph.matrix(f)[v, u] == f[e] for e, (u, v) in enumerate(edges))


@pytest.mark.parametrize("n", [2, 3, 4, 5, 8])
def test_covariances_that_see_how_edges_meet(n):
    graph, (same, share, disjoint) = CompleteGraph(n), (5.0, 1.0, 0.25)
    edges = [set(edge) for edge in combinations(range(n), 2)]
    S = np.array([[(disjoint, share, same)[len(e & g)] for g in edges] for e in edges])
    eigenvalues = EdgeEigenvalues.of(n, same, share, disjoint)
    np.testing.assert_allclose(graph.cov_apply(np.eye(len(edges)), eigenvalues), S, atol=1e-12)
    spaces = graph.spectrum(eigenvalues)
    found = np.concatenate([np.full(round(np.trace(space.project(np.eye(len(S))))), space.value) for space in spaces])
    np.testing.assert_allclose(np.sort(found), np.linalg.eigvalsh(S), atol=1e-12)
