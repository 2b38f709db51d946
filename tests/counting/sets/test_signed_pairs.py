import numpy as np
import pytest

from maxmargin.counting.sets.signed_pairs import SignedPairs


@pytest.mark.parametrize("n", [2, 3, 6])
def test_gradients_and_circulations(n):
    pairs, rng = SignedPairs(n), np.random.default_rng(n)
    u, v = pairs.ends
    g = rng.normal(size=(4, n))
    gradients = g[:, u] - g[:, v]
    np.testing.assert_allclose(pairs.cov_apply(gradients, 3.0, 5.0), 3.0 * gradients, atol=1e-12)
    F = rng.normal(size=(4, len(pairs)))
    circulations = pairs.cov_apply(F, 0.0, 1.0)
    for row in circulations:
        np.testing.assert_allclose(pairs.matrix(row).sum(1), 0.0, atol=1e-12)
    np.testing.assert_allclose(pairs.cov_apply(circulations, 3.0, 5.0), 5.0 * circulations, atol=1e-12)
    np.testing.assert_allclose(pairs.cov_apply(F, 1.0, 1.0), F, atol=1e-12)


def test_directions_have_signs():
    pairs = SignedPairs(4)
    tails, heads = np.array([3, 0, 1]), np.array([1, 2, 0])
    square = pairs.matrix(pairs.of_arcs(tails, heads))
    expected = np.zeros((4, 4))
    expected[tails, heads], expected[heads, tails] = 1.0, -1.0
    np.testing.assert_array_equal(square, expected)
