"""Kernel functions: their values by definition, their parameters, and what is wrong with them."""

import numpy as np
import pytest
from kernel_problems import exact_map
from scipy import sparse
from sklearn.base import clone
from sklearn.svm import SVC

from maxmargin.kernels import RBF, Cosine, Function, Kernel, Linear, Polynomial, Precomputed, Sigmoid, as_kernel
from maxmargin.kernels.definiteness import check_definite
from maxmargin.kernels.functions import WithConstant

RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(5, 3)), RNG.normal(size=(4, 3))

DEFINED = [
    (Linear(), lambda a, b: a @ b),
    (Cosine(), lambda a, b: a @ b / np.linalg.norm(a) / np.linalg.norm(b)),
    (Polynomial(2, gamma=0.5, coef0=1.5), lambda a, b: (0.5 * a @ b + 1.5) ** 2),
    (RBF(0.7), lambda a, b: np.exp(-0.7 * np.sum((a - b) ** 2))),
    (Sigmoid(0.1, 0.2), lambda a, b: np.tanh(0.1 * a @ b + 0.2)),
    (Function(lambda P, Q: P @ Q.T + 2), lambda a, b: a @ b + 2),
    (WithConstant(RBF(0.7)), lambda a, b: np.exp(-0.7 * np.sum((a - b) ** 2)) + 1),
]
defined = pytest.mark.parametrize(
    ("kernel", "value"), DEFINED, ids=lambda case: getattr(case, "__name__", type(case).__name__)
)


@defined
def test_values(kernel, value):
    kernel = clone(kernel).fit(B)
    expected = [[value(a, b) for b in B[[2, 0]]] for a in A]
    assert kernel.values(A, kernel.kept(B, np.array([2, 0]))) == pytest.approx(np.array(expected))
    assert kernel.diagonal(A) == pytest.approx([value(a, a) for a in A])
    assert kernel.joined(A, B[:2]) == pytest.approx(np.vstack([A, B[:2]]))


@pytest.mark.parametrize(
    "kernel", [Linear(), Cosine(), Polynomial(2, coef0=1.0), RBF(), Sigmoid(), WithConstant(RBF())]
)
def test_sparse_rows_have_the_values_of_dense_ones(kernel):
    units = RNG.integers(-1, 2, (6, 4)).astype(float)
    dense, packed = clone(kernel).fit(units), clone(kernel).fit(sparse.csr_array(units))
    some = np.arange(6)
    assert packed.values(sparse.csr_array(units), sparse.csr_array(units)) == pytest.approx(dense.values(units, units))
    assert packed.diagonal(sparse.csr_array(units)) == pytest.approx(dense.diagonal(units))
    joined = packed.joined(sparse.csr_array(units), packed.kept(sparse.csr_array(units), some[:2]))
    assert joined.toarray() == pytest.approx(np.vstack([units, units[:2]]))


@pytest.mark.parametrize("gamma", ["scale", "auto", 0.3])
def test_gamma_is_that_of_svc(gamma):
    y = [0, 1, 0, 1, 1]
    for X in (A, sparse.csr_matrix(np.maximum(A, 0))):
        assert RBF(gamma).fit(X).gamma_ == pytest.approx(SVC(gamma=gamma).fit(X, y)._gamma)


def test_constant_inputs_have_a_gamma():
    assert RBF().fit(np.ones((3, 2))).gamma_ == 1.0


def test_a_precomputed_kernel_reads_its_columns():
    gram = A @ A.T
    kernel = Precomputed().fit(gram)
    assert kernel.values(gram[[3, 1]], kernel.kept(gram, np.array([0, 4]))) == pytest.approx(gram[[3, 1]][:, [0, 4]])
    assert kernel.diagonal(gram) == pytest.approx(np.diagonal(gram))
    assert kernel.values(sparse.csr_array(gram), np.array([2])) == pytest.approx(gram[:, [2]])
    with pytest.raises(ValueError, match="does not contain the kernel of new inputs with each other"):
        kernel.joined(gram, np.array([0]))
    with pytest.raises(ValueError, match=r"must be square in training.*got the shape \(5, 3\)"):
        Precomputed().fit(A)


@pytest.mark.parametrize("name", ["linear", "poly", "rbf", "cosine", "sigmoid", "precomputed"])
def test_names(name):
    assert isinstance(as_kernel(name), Kernel)


def test_what_a_kernel_can_be():
    given = RBF(0.5)
    assert as_kernel(given) is not given
    assert as_kernel(given).gamma == 0.5
    assert isinstance(as_kernel(lambda P, Q: P @ Q.T), Function)
    for wrong in ("gauss", 3, RBF):
        with pytest.raises(ValueError, match="kernel must be None, one of 'linear', 'poly', 'rbf'"):
            as_kernel(wrong)


WRONG = [
    (RBF(gamma=0.0), "gamma must be 'scale', 'auto' or a positive number, got 0.0"),
    (RBF(gamma="wide"), "gamma must be 'scale', 'auto' or a positive number, got 'wide'"),
    (Polynomial(degree=-1), "degree must be a positive number, got -1"),
    (Polynomial(coef0=float("nan")), "coef0 must be a finite number, got nan"),
    (RBF(cache_mb=-3), "cache_mb must be a positive number of megabytes, got -3"),
]


@pytest.mark.parametrize(("kernel", "message"), WRONG, ids=[case[1] for case in WRONG])
def test_wrong_parameters(kernel, message):
    with pytest.raises(ValueError, match=message):
        kernel.fit(A)


def test_a_function_must_return_a_matrix():
    kernel = Function(lambda P, Q: 1.0).fit(A)
    with pytest.raises(ValueError, match=r"returned an array of shape \(\) for inputs of shapes \(5, 3\) and \(4, 3\)"):
        kernel.values(A, B)


def test_indefinite_kernels_are_refused_with_their_smallest_eigenvalue():
    gram = np.array([[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(ValueError, match="on 2 training units its smallest eigenvalue is -1 "):
        check_definite(Precomputed().fit(gram), gram)
    with pytest.raises(ValueError, match="not positive semidefinite"):
        check_definite(Function(lambda P, Q: -(P @ Q.T)).fit(A), A)
    with pytest.raises(ValueError, match="units differs by 1 from k"):
        check_definite(Precomputed().fit(gram), np.array([[1.0, 0.0], [1.0, 1.0]]))
    with pytest.raises(ValueError, match="units 0 and 1 is not finite"):
        check_definite(Precomputed().fit(gram), np.array([[1.0, np.nan], [1.0, 1.0]]))


def test_definite_kernels_are_accepted():
    features = exact_map(A @ A.T)
    for kernel in (Precomputed(), Function(lambda P, Q: P @ Q.T)):
        check_definite(kernel, features @ features.T)
    assert not Polynomial(2, coef0=-1.0).definite
    assert not Polynomial(2.5).definite
    assert Polynomial(2, coef0=1.0).definite
    assert WithConstant(RBF()).definite


def test_many_units_are_examined_by_a_sample():
    units = np.random.default_rng(1).normal(size=(1500, 2))
    sizes = []
    check_definite(Function(lambda P, Q: sizes.append((len(P), len(Q))) or P @ Q.T), units)
    assert sizes == [(1000, 1000)]


def test_rbf_does_not_depend_on_the_origin():
    rng = np.random.default_rng(0)
    X = rng.integers(-3, 4, (20, 3)).astype(float)
    near, far = (RBF(0.1).fit(X + shift) for shift in (0.0, 1e7))
    assert far.values(X + 1e7, X + 1e7) == pytest.approx(near.values(X, X), abs=1e-9)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("rows", [3, 50])
def test_values_between_prepared_inputs(rows, packed):
    rng = np.random.default_rng(0)
    X = 100.0 + rng.standard_normal((60, 4))
    units = sparse.csr_array(X) if packed else X
    kernel = WithConstant(RBF(0.3)).fit(units)
    some, others = rng.permutation(60)[:rows], rng.permutation(60)[:20]
    found = kernel.between(kernel.prepared(units), some, others)
    assert found == pytest.approx(1.0 + np.exp(-0.3 * ((X[some][:, None] - X[others]) ** 2).sum(axis=2)), rel=1e-9)
