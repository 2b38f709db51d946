"""Weights and planes by coefficients: all products are those of the features written out."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from kernel_problems import exact_map
from strategies import whole

from maxmargin.kernels import Function, Linear, Polynomial, Precomputed
from maxmargin.kernels.atoms import KernelAtoms
from maxmargin.problem.planes.atoms import AtomRows, Atoms


@st.composite
def rows_of_units(draw):
    """Units with owners, and rows over their atoms."""
    n_units, n_labels, direct = draw(st.integers(1, 5)), draw(st.integers(1, 3)), draw(st.integers(0, 2))
    units = draw(whole((n_units, 2)))
    owner = np.sort(draw(hnp.arrays(np.int64, n_units, elements=st.integers(0, 2))))
    lengths = draw(st.lists(st.integers(0, 4), min_size=1, max_size=4))
    indptr = np.append(0, np.cumsum(lengths)).astype(np.int32)
    indices = draw(hnp.arrays(np.int32, int(indptr[-1]), elements=st.integers(0, direct + n_units * n_labels - 1)))
    values = draw(whole(int(indptr[-1])))
    return (units, n_labels, direct, owner), (indptr, indices, values)


def both(problem):
    """Rows over atoms under a kernel, and the same over explicit features."""
    (units, n_labels, direct, owner), rows = problem
    kernel = Polynomial(2, gamma=1.0, coef0=1.0).fit(units)
    features = exact_map(kernel.values(units, units))
    atoms = KernelAtoms(kernel, units, n_labels, direct, owner), Atoms(features, n_labels, direct)
    return [AtomRows(each, *rows) for each in atoms]


def explicit(atoms, features, w):
    """The weights over explicit features that these coefficients stand for."""
    direct = atoms.arrays.direct
    return np.concatenate([w[:direct], (features.T @ atoms.coefficients(w)).ravel()])


@given(problem=rows_of_units(), data=st.data())
def test_products(problem, data):
    by_kernel, written = both(problem)
    atoms = by_kernel.atoms
    features = exact_map(atoms.kernel.values(atoms.own, atoms.own))
    v, w = data.draw(whole(atoms.dim)), data.draw(whole(atoms.dim))
    v_, w_ = explicit(atoms, features, v), explicit(atoms, features, w)
    units = np.array(data.draw(st.lists(st.integers(0, atoms.n_units - 1), max_size=6)), dtype=np.int64)
    assert atoms.scores(w, units) == pytest.approx(written.atoms.scores(w_, units), abs=1e-7)
    assert by_kernel @ w == pytest.approx(written @ w_, abs=1e-7)
    assert atoms.inner(v, w) == pytest.approx(v_ @ w_, abs=1e-7)
    assert atoms.inner(w, w) == pytest.approx(w_ @ w_, abs=1e-7)
    assert atoms.squared_norms(by_kernel) == pytest.approx(written.atoms.squared_norms(written), abs=1e-7)
    factors = data.draw(whole(len(by_kernel.indptr) - 1))
    total, total_ = np.zeros(atoms.dim), np.zeros(written.atoms.dim)
    by_kernel.add_to(total, factors)
    written.add_to(total_, factors)
    assert explicit(atoms, features, total) == pytest.approx(total_, abs=1e-7)


@given(problem=rows_of_units())
def test_images_are_products_within_examples(problem):
    atoms = both(problem)[0].atoms
    gram = atoms.kernel.values(atoms.own, atoms.own)
    images = atoms.images()
    same = atoms.owner[:, None] == atoms.owner
    for u in range(atoms.n_units):
        added = np.zeros(atoms.dim)
        entries = slice(int(images.indptr[u]), int(images.indptr[u + 1]))
        places = images.direct + images.n_labels * images.columns[entries].astype(int)
        added[places] = images.values[entries] if images.every else images.values[0]
        assert np.array_equal(atoms.coefficients(added)[:, 0], gram[u] * same[u])
    assert (images.direct, images.n_labels) == (atoms.arrays.direct, atoms.arrays.n_labels)


def model(n_labels=2, direct=1):
    """Atoms of new units beside a model whose support are others."""
    rng = np.random.default_rng(0)
    support, new = rng.normal(size=(3, 2)), rng.normal(size=(4, 2))
    atoms = KernelAtoms(Linear(), new, n_labels, direct, np.arange(4), support)
    w = rng.normal(size=direct + 3 * n_labels)
    return atoms, w, new @ support.T @ w[direct:].reshape(3, n_labels)


def test_a_model_scores_new_units():
    atoms, w, scores = model()
    assert atoms.scores(w, np.array([2, 0, 2])) == pytest.approx(scores[[2, 0, 2]])
    assert atoms._rows is None, "prediction keeps no kernel rows"
    assert atoms.scores(atoms.lifted(w), np.arange(4)) == pytest.approx(scores)
    assert atoms.inner(atoms.lifted(w), atoms.lifted(w)) > 0
    assert atoms.lifted(atoms.lifted(w)) is not None


def test_weights_of_another_length_are_refused():
    atoms, w, _ = model()
    with pytest.raises(ValueError, match="w has 5 coefficients; expected 15, or 7"):
        atoms.scores(w[:5], np.arange(2))


def test_a_negative_squared_length_is_no_length():
    gram = np.array([[1.0, 2.0], [2.0, 1.0]])
    atoms = KernelAtoms(Precomputed().fit(gram), gram, 1, 0, np.arange(2))
    w = np.array([1.0, -1.0])
    with pytest.raises(ValueError, match="not positive semidefinite: some weights have the squared length -2"):
        atoms.inner(w, w)


def test_rounding_is_no_negative_length():
    units = np.random.default_rng(3).normal(size=(30, 2)) * 1e3
    atoms = KernelAtoms(Linear(), units, 1, 0, np.arange(30))
    null = np.linalg.svd(units.T)[2][2:]
    for w in null:
        assert 0 <= atoms.inner(w, w) < 1e-6


def test_examples_that_are_too_large_for_the_budget():
    units = np.ones((200, 1))
    atoms = KernelAtoms(Linear(cache_mb=0.1), units, 1, 0, np.zeros(200, dtype=int))
    with pytest.raises(ValueError, match=r"up to 200 units\) take 0.458 MB, but cache_mb = 0.1; .*'one_slack'"):
        atoms.images()


def test_nan_of_new_units():
    new = np.array([[1.0], [2.0]])
    kernel = Function(lambda A, B: np.where(A == 2, np.nan, 1.0) * np.ones((1, len(B))))
    atoms = KernelAtoms(kernel, new, 1, 0, np.arange(2), np.ones((2, 1)))
    with pytest.raises(ValueError, match="the kernel of unit 1 with a training unit is not finite"):
        atoms.scores(np.ones(2), np.arange(2))


def test_pickles_without_what_was_computed():
    atoms, w, scores = model()
    atoms.scores(atoms.lifted(w), np.arange(4))
    again = pickle.loads(pickle.dumps(atoms))
    assert again.kept is None
    assert again.scores(w, np.arange(4)) == pytest.approx(scores)
