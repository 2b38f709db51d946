import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.counting.sets.spectra import FEW, Subspace, averaged, centred, decomposed, distinct


def test_equal_eigenvalues_are_one_and_empty_spaces_none():
    first, second = np.diag([1.0, 0, 0]), np.diag([0.0, 1, 0])
    parts = [
        Subspace(2.0, 1, lambda rows: rows @ first),
        Subspace(3.0, 0, lambda rows: rows),
        Subspace(2.0 + 1e-15, 1, lambda rows: rows @ second),
        Subspace(0.0, 1, lambda rows: rows @ np.diag([0.0, 0, 1])),
    ]
    spaces = distinct(parts)
    np.testing.assert_allclose([space.value for space in spaces], [2.0, 0.0])
    np.testing.assert_array_equal(spaces[0].project(np.eye(3)), first + second)


def test_a_set_without_variance_has_one_space():
    spaces = distinct([Subspace(0.0, 2, centred), Subspace(0.0, 1, averaged)])
    assert [space.value for space in spaces] == [0.0]
    np.testing.assert_allclose(spaces[0].project(np.eye(3)), np.eye(3))


@given(st.lists(st.integers(0, 3), min_size=1, max_size=8), st.integers(0, 100))
def test_matrices_with_few_eigenvalues_are_decomposed(values, seed):
    Q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(values), len(values))))
    S = (Q * np.array(values, dtype=float)) @ Q.T
    spaces = decomposed(S)
    np.testing.assert_allclose([space.value for space in spaces], sorted(set(values), reverse=True), atol=1e-12)
    assert all(space.value == 0 or space.value > 0.5 for space in spaces)
    eye = np.eye(len(values))
    np.testing.assert_allclose(sum(space.project(eye) for space in spaces), eye, atol=1e-12)
    np.testing.assert_allclose(sum(space.value * space.project(eye) for space in spaces), S, atol=1e-12)


def test_matrices_with_many_eigenvalues_are_not():
    assert decomposed(np.diag(np.arange(FEW, dtype=float))) is not None
    assert decomposed(np.diag(np.arange(FEW + 1, dtype=float))) is None
