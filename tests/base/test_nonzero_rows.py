import numpy as np
import pytest
from scipy import sparse

from maxmargin.base import nonzero_rows as module
from maxmargin.base.nonzero_rows import nonzero_rows

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("chunk", [1, 20, 2**16])
@pytest.mark.parametrize("shape", [(7, 3), (1, 9), (5, 0), (0, 4)])
@pytest.mark.parametrize("ones", [False, True])
def test_are_those_of_a_compressed_matrix(chunk, shape, ones, monkeypatch):
    monkeypatch.setattr(module, "CHUNK", chunk)
    dense = RNG.integers(-1, 2, size=shape).astype(float)
    bounds, columns, values = nonzero_rows(np.asfortranarray(dense), ones)
    expected = sparse.csr_array(np.hstack([dense, np.ones((shape[0], 1))]) if ones else dense)
    np.testing.assert_array_equal(bounds, expected.indptr)
    np.testing.assert_array_equal(columns, expected.indices)
    np.testing.assert_array_equal(values, expected.data)
