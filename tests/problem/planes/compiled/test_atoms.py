import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from problem.planes.compiled import atoms_twin as twin
from scipy import sparse
from strategies import atom_rows, whole

from maxmargin.problem.planes.atoms import AtomRows, Atoms


def written_out(drawn):
    rows = drawn.rows
    return twin.dense(rows.indptr, rows.indices, rows.values, drawn.matrix, drawn.n_labels, drawn.direct)


@given(atom_rows(), st.data())
def test_rows_times_weights(drawn, data):
    w = data.draw(whole(drawn.rows.shape[1]))
    assert np.array_equal(drawn.rows @ w, written_out(drawn) @ w)


@given(atom_rows(), st.data())
def test_rows_are_added_to_a_vector(drawn, data):
    factors = data.draw(whole(drawn.rows.shape[0]))
    total = data.draw(whole(drawn.rows.shape[1]))
    expected = total + factors @ written_out(drawn)
    drawn.rows.add_to(total, factors)
    assert np.array_equal(total, expected)


@given(atom_rows(), st.data())
def test_unit_scores(drawn, data):
    if not len(drawn.matrix):
        return
    w = data.draw(whole(drawn.rows.shape[1]))
    units = data.draw(hnp.arrays(np.int64, st.integers(0, 6), elements=st.integers(0, len(drawn.matrix) - 1)))
    expected = twin.unit_scores(w, drawn.matrix, drawn.n_labels, drawn.direct, units)
    assert np.array_equal(drawn.rows.atoms.scores(w, units), expected)


def test_scores_do_not_depend_on_the_other_units_of_a_call():
    rng = np.random.default_rng(0)
    atoms = Atoms(rng.standard_normal((30, 11)), 5, 3)
    w = rng.standard_normal(atoms.dim)
    together = atoms.scores(w, np.arange(30))
    for group in (np.array([7]), np.arange(4, 19), rng.permutation(30)):
        assert np.array_equal(atoms.scores(w, group), together[group])


@given(atom_rows(), st.data())
def test_explicit_rows(drawn, data):
    expected = written_out(drawn)
    assert np.array_equal(drawn.rows.toarray(), expected)
    assert np.array_equal(drawn.rows.tocsr().toarray(), expected)
    order = data.draw(hnp.arrays(np.int64, st.integers(0, 6), elements=st.integers(0, len(expected) - 1)))
    assert np.array_equal(drawn.rows.take(order).toarray(), expected[order])
    assert np.array_equal(AtomRows.stack([drawn.rows, drawn.rows.take(order)]).toarray(), [*expected, *expected[order]])
    factors = data.draw(whole(len(expected)))
    assert np.array_equal(drawn.rows.scaled(factors).toarray(), factors[:, None] * expected)


@given(whole((3, 4)))
def test_dense_and_sparse_rows_are_rows_over_coordinates(matrix):
    for given_as in (matrix, sparse.csr_array(matrix), sparse.csr_matrix(matrix), matrix.astype(np.float32)):
        rows = AtomRows.of(given_as)
        assert rows.shape == (3, 4)
        assert rows.values.dtype == np.float64
        assert np.array_equal(rows.toarray(), matrix)
    assert AtomRows.of(rows) is rows


def test_too_many_atoms_are_refused():
    with pytest.raises(
        ValueError,
        match="1,048,576 rows or tokens with 1 features and 2,048 labels are too many for one model",
    ):
        Atoms(sparse.csr_array((2**20, 1)), 2**11, 0)


@given(
    hnp.arrays(float, st.tuples(st.integers(0, 5), st.integers(1, 4)), elements=st.sampled_from([0.0, 0.0, -3.0, 4.0]))
)
def test_lengths_and_peaks_are_computed_piece_by_piece(matrix):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("maxmargin.problem.planes.atoms.BLOCK", 2)
        atoms = Atoms(matrix, 3, 1)
        np.testing.assert_allclose(atoms.lengths, np.sqrt((matrix**2).sum(axis=1)), rtol=1e-12)
        assert atoms.peaks.tolist() == np.abs(matrix).max(axis=0, initial=0.0).tolist()
