"""Rows of features: sorted, those that repeat made one, against rows written out."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from maxmargin.inputs.tokens.token_features import LONG, FeatureRows

WIDTH = 40
ROWS = st.lists(
    st.lists(st.integers(-1, WIDTH - 1), max_size=30)
    | st.integers(0, 99).map(lambda seed: np.random.default_rng(seed).integers(-1, WIDTH, LONG + seed - 20).tolist()),
    max_size=5,
)


def written_out(rows, values):
    """Entries that repeat add up."""
    matrix = np.zeros((len(rows), WIDTH))
    for t, (columns, numbers) in enumerate(zip(rows, values, strict=True)):
        np.add.at(
            matrix[t], [c for c in columns if c >= 0], [v for c, v in zip(columns, numbers, strict=True) if c >= 0]
        )
    return matrix


@given(ROWS, st.lists(st.booleans(), min_size=2, max_size=2), st.integers(0, 5))
def test_rows_in_order(rows, without_values, cut):
    rng = np.random.default_rng(0)
    values = [rng.integers(-4, 5, len(columns)).astype(float) for columns in rows]
    parts = []
    expected = written_out(rows, values)
    there = (written_out(rows, [np.ones(len(columns)) for columns in rows]) > 0).astype(float)
    for k, once in zip((slice(0, cut), slice(cut, None)), without_values, strict=True):
        if once:
            expected[k] = there[k]
        ends = np.cumsum([0, *map(len, rows[k])])
        columns = np.array([c for row in rows[k] for c in row], dtype=np.int32)
        weights = None if once else np.concatenate([np.zeros(0), *values[k]])
        parts.append(FeatureRows.of(columns, weights, ends))
    stacked = FeatureRows.stacked(iter(parts))
    matrix = stacked.to_matrix(WIDTH)
    np.testing.assert_array_equal(matrix.toarray(), expected)
    again = sparse.csr_array((matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape)
    assert np.shares_memory(matrix.indices, stacked.columns) or len(stacked.columns) == 0  # no copy was made
    assert again.has_canonical_format  # sorted, and none twice: looked for here, promised by `to_matrix`
