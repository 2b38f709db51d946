import numpy as np
import pytest

from maxmargin.problem.dual.compiled.weight_bounds import settle
from maxmargin.problem.dual.geometry import Geometry

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("same", [True, False])
@pytest.mark.parametrize("dim", [0, 1, 7])
def test_as_the_geometry_says(dim, same):
    origin, sums = RNG.normal(size=(2, dim))
    low, high = np.sort(RNG.normal(size=(2, dim)), axis=0)
    low[::3], high[1::3] = -np.inf, np.inf
    if same:
        low[:], high[:] = -0.3, 0.4
    geometry, free, w = Geometry(origin, low, high), np.empty(dim), np.empty(dim)
    potential = settle(sums, origin, geometry.limits, free, w)
    np.testing.assert_array_equal(free, origin + sums)
    np.testing.assert_array_equal(w, geometry.point(sums))
    assert potential == pytest.approx(geometry.potential(sums, w), rel=1e-12, abs=1e-12)
