"""The sum over neighbouring positions, four at a time, has the bits of a plain loop."""

import numpy as np
import pytest

from maxmargin.structures.sequences.compiled.chain_sums import add_steps


@pytest.mark.parametrize("n", range(1, 12))
def test_it_adds_one_position_after_the_other(n):
    rng = np.random.default_rng(n)
    a, ahead, found = rng.random((12, 5)), rng.random((12, 5)), rng.random((5, 5))
    expected = found.copy()
    for t in range(1, n):
        for i in range(5):
            share = 0.3 * a[t - 1, i]
            for k in range(5):
                expected[i, k] += share * ahead[t, k]
    add_steps(a, ahead, n, 0.3, found)
    np.testing.assert_array_equal(found, expected)
