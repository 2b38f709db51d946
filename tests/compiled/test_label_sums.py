import numpy as np
import pytest
from numba.core.errors import TypingError

from maxmargin.compiled.kernel import kernel
from maxmargin.compiled.label_sums import _plain, four_sums, label_sums, sixteen_sums, twelve_sums, twice_two_sums

RNG = np.random.default_rng(0)


@kernel
def run(which, values, places, begin, end, w, row, first, last):
    if which == 2:
        twice_two_sums(values, places, begin, end, w, row, first, last)
    elif which == 3:
        twelve_sums(values, places, begin, end, w, row, first, last)
    else:
        sixteen_sums(values, places, begin, end, w, row, first, last)


@pytest.mark.parametrize("count", [0, 1, 2, 9])
@pytest.mark.parametrize(("which", "width", "vectors", "K"), [(2, 2, 2, 3), (3, 4, 3, 10), (4, 4, 4, 20)])
def test_same_bits_as_a_plain_loop(count, which, width, vectors, K):
    values, places = RNG.standard_normal(count + 2), RNG.permutation(40).astype(np.uint32)[: count + 2] * np.uint32(K)
    w, first = RNG.standard_normal(40 * K), np.uint64(K - width * vectors if width * vectors < K else 0)
    arguments = (values, places, np.uint64(1), np.uint64(count + 1), w)
    found, expected = np.full(K, np.nan), np.full(K, np.nan)
    run(which, *arguments, found, first, np.uint64(K - width))
    _plain(width, vectors)(*arguments, expected, first, np.uint64(K - width))
    np.testing.assert_array_equal(found, expected)


def test_other_arrays_are_refused():
    @kernel
    def wrong(w, places):
        four_sums(w, places, np.uint64(0), np.uint64(0), w, w, np.uint64(0), np.uint64(0))

    for w, places in ((np.zeros(8)[::2], np.zeros(4, dtype=np.uint32)), (np.zeros(4, dtype=np.float32), np.zeros(4))):
        with pytest.raises(TypingError, match="expected"):
            wrong(w, places)
    assert callable(label_sums(4, 1))
