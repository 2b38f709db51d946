import numpy as np

from maxmargin.base.compiled.exponentials import ERROR, FLOOR, exponentials


def test_as_the_library_has_them():
    rng = np.random.default_rng(0)
    x = np.concatenate([np.linspace(FLOOR, 700, 100_001), -(10.0 ** rng.uniform(-300, 2, 10_000)), [0.0, -0.0, 1e-320]])
    found = x.copy()
    exponentials(found)
    np.testing.assert_allclose(found, np.exp(x), rtol=2 * ERROR)


def test_what_is_too_small_is_nothing():
    x = np.array([np.nextafter(FLOOR, -np.inf), -1e3, -1e300, -np.inf])
    exponentials(x)
    np.testing.assert_array_equal(x, 0.0)
