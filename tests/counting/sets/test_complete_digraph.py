import numpy as np
import pytest

from maxmargin.counting.sets.complete_digraph import ArcEigenvalues, CompleteDigraph
from maxmargin.counting.sets.complete_graph import EdgeEigenvalues


@pytest.mark.parametrize("n", [3, 4, 6])
def test_the_five_spaces(n):
    arcs, rng = CompleteDigraph(n), np.random.default_rng(n)
    eigenvalues = ArcEigenvalues(EdgeEigenvalues(2.0, 3.0, 5.0), 7.0, 11.0)
    u, v = arcs.ends
    g = rng.normal(size=n)
    g -= g.mean()
    for value, row in [(2.0, np.ones(len(arcs))), (3.0, g[u] + g[v]), (7.0, g[u] - g[v])]:
        np.testing.assert_allclose(arcs.cov_apply(row[None], eigenvalues)[0], value * row, atol=1e-12)
    turning = arcs.of_arcs(np.array([0, 1, 2]), np.array([1, 2, 0])) - arcs.of_arcs(
        np.array([1, 2, 0]), np.array([0, 1, 2])
    )
    np.testing.assert_allclose(arcs.cov_apply(turning[None], eigenvalues)[0], 11.0 * turning, atol=1e-12)
    values = sorted(space.value for space in arcs.spectrum(eigenvalues))
    assert values == ([2.0, 3.0, 7.0, 11.0] if n == 3 else [2.0, 3.0, 5.0, 7.0, 11.0])
    if n > 3:  # two opposite edges less the two others of their square
        square = np.zeros((n, n))
        square[0, 1] = square[2, 3] = 1.0
        square[1, 2] = square[3, 0] = -1.0
        row = (square + square.T)[u, v]
        np.testing.assert_allclose(arcs.cov_apply(row[None], eigenvalues)[0], 5.0 * row, atol=1e-12)


def test_coordinates_of_arcs():
    arcs = CompleteDigraph(4)
    tails, heads = arcs.ends
    np.testing.assert_array_equal(arcs.number(tails, heads), np.arange(12))
    f = np.arange(1.0, 13.0)
    np.testing.assert_array_equal(arcs.matrix(f)[tails, heads], f)
    assert (np.diag(arcs.matrix(f)) == 0).all()
    np.testing.assert_array_equal(arcs.of_arcs(tails[[2, 7]], heads[[2, 7]]), np.isin(np.arange(12), [2, 7]))
