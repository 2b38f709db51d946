import numpy as np
import pytest
from numba import TypingError

from maxmargin.base.compiled.accelerated import ACCELERATED
from maxmargin.base.compiled.kernel import kernel
from maxmargin.base.compiled.label_vectors import (
    column_sums,
    label_masses,
    label_maxima,
    label_sums,
    plain_column_sums,
    plain_masses,
    plain_maxima,
    plain_sums,
    plain_weight,
    weight,
)
from maxmargin.problem.planes.compiled.atom_arrays import EACH

RNG = np.random.default_rng(0)


@kernel
def sums(values, places, begin, end, w, limits, K, row):
    label_sums(values, places, begin, end, w, limits, K, row)


@kernel
def sums_of_columns(values, every, columns, first, begin, end, w, limits, K, row):
    column_sums(values, every, columns, first, begin, end, w, limits, K, row)


@kernel
def weights(w, limits, row):
    for j in range(len(w)):
        row[j] = weight(w, limits, np.uint64(j))


@kernel
def plain_weights(w, limits, row):
    for j in range(len(w)):
        row[j] = plain_weight(w, limits, np.uint64(j))


@kernel
def maxima(values, end, w, K, row):
    label_maxima(values, end, w, K, row)


@kernel
def masses(values, end, w, K, row):
    label_masses(values, end, w, K, row)


def assert_same(K, found, plain, *arguments):
    """Compare with the Python function of a plain loop and, for some numbers of labels, with its compiled form."""
    functions = [getattr(plain, "py_func", plain), *([plain] if K in (2, 19) else [])]
    results = [np.full(K + 1, np.nan) for _ in (found, *functions)]
    for function, result in zip((found, *functions), results, strict=True):
        function(*arguments, result)
        np.testing.assert_array_equal(result, results[0])


@pytest.mark.parametrize("count", [0, 1, 2, 9, 30])
@pytest.mark.parametrize("K", [*range(2, 20), 24, 25, 29, 32, 33, 40, 49])
def test_same_bits_as_plain_loops(count, K):
    values, places = RNG.standard_normal(count + 2), RNG.permutation(40).astype(np.uint32)[: count + 2] * np.uint32(K)
    w, more = RNG.standard_normal(40 * K), RNG.standard_normal(40 * K + 3)  # which begins with three that are direct

    def wide(limits):
        each = limits is not None and isinstance(limits[0], np.ndarray)
        return tuple(np.concatenate([limit[:3], limit]) for limit in limits) if each else limits

    low, high = np.sort(RNG.standard_normal((2, 40 * K)), axis=0)
    low[::3], high[1::3] = -np.inf, np.inf
    labels = np.uint64(K)
    for limits in (None, (-0.5, 0.3), (0.0, np.inf), (low, high)):
        arguments = (values, places, np.uint64(1), np.uint64(count + 1), w, limits, labels)
        assert_same(K, sums, plain_sums, *arguments)
        for numbers, every in ((values, EACH), (values[:1].copy(), np.uint64(0))):
            columns = (places // np.uint32(K))[: count + 2]
            of_atoms = (numbers, every, columns, np.uint64(3), *arguments[2:4], more, wide(limits), labels)
            assert_same(K, sums_of_columns, plain_column_sums, *of_atoms)
    links = RNG.standard_normal((count + 2, K))
    assert_same(K, masses, plain_masses, values, np.uint64(count), links, labels)
    links[RNG.random(links.shape) < 0.3] = -np.inf
    assert_same(K, maxima, plain_maxima, values, np.uint64(count), links, labels)


@pytest.mark.parametrize("limits", [None, (-0.5, 0.3), (np.full(9, -0.1), np.full(9, np.inf))])
def test_weights_within_their_limits(limits):
    w, found, plain = RNG.standard_normal(9), np.empty(9), np.empty(9)
    weights(w, limits, found)
    plain_weights(w, limits, plain)
    np.testing.assert_array_equal(found, plain)
    np.testing.assert_array_equal(found, [plain_weight(w, limits, j) for j in range(9)])
    if limits is not None:
        np.testing.assert_array_equal(found, np.clip(w, *limits))


@pytest.mark.skipif(not ACCELERATED, reason="kernels are plain")
def test_other_arrays_are_refused():
    for w, places in ((np.zeros(8)[::2], np.zeros(4, dtype=np.uint32)), (np.zeros(4), np.zeros(4))):
        with pytest.raises(TypingError, match="expected"):
            sums(w, places, np.uint64(0), np.uint64(0), w, None, np.uint64(4), w)
    numbers = np.zeros(4, dtype=np.float32)
    with pytest.raises(TypingError, match="expected"):
        maxima(numbers, np.uint64(0), numbers, np.uint64(4), numbers)
