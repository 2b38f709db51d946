"""KernelMap: its inner products are the kernel's, exactly or as nearly as it says; and scikit-learn's own checks."""

import pickle
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks
from thorough import examples

from maxmargin.inputs.tokens.tokens import Sequences
from maxmargin.kernels import RBF, Cosine, Function, KernelMap, Linear, Polynomial, Sigmoid

DEFINITE = [RBF(0.4), Polynomial(2, gamma=0.5, coef0=1.0), Linear(), Cosine()]
kernels = pytest.mark.parametrize("kernel", DEFINITE, ids=repr)
methods = pytest.mark.parametrize("landmarks", ["k-means", "leverage", "uniform"])


def data(n=150, width=4, seed=0):
    return np.random.default_rng(seed).normal(size=(n, width))


def gaussian(A, B):
    return np.exp(-0.4 * np.sum((A[:, None] - B) ** 2, axis=2))


def minus(A, B):
    return -(A @ B.T)


@parametrize_with_checks([KernelMap()])
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [
        KernelMap(n_components=5, landmarks="k-means"),
        KernelMap("poly", "nystroem", n_components=5),
        KernelMap(method="random", n_components=20),
        KernelMap(Polynomial(2, coef0=1.0), method="sketch", n_components=20),
    ]
)
def test_scikit_learn_check_of_variants(estimator, check):
    check(estimator)


@kernels
@given(st.integers(0, 10**6), st.integers(1, 25), st.integers(1, 4), st.booleans())
@examples(10, 25)
def test_exact_features_have_the_kernel_as_inner_products(kernel, seed, n, width, packed):
    rng = np.random.default_rng(seed)
    X, new = (rng.integers(-2, 3, (m, width)).astype(float) for m in (n, 7))  # some rows come twice, some are 0
    X[0, 0] = 1.0  # and not all
    wrap = sparse.csr_array if packed else np.asarray
    mapping = KernelMap(kernel, "exact").fit(wrap(X))
    features, others = mapping.transform(wrap(X)), mapping.transform(wrap(new))
    scale = np.abs(mapping.kernel_.values(X, X)).max()
    assert features @ features.T == pytest.approx(mapping.kernel_.values(X, X), abs=1e-9 * scale)
    assert others @ features.T == pytest.approx(mapping.kernel_.values(new, X), abs=1e-6 * scale)
    assert mapping.error_ < 1e-9 * scale
    assert mapping.error(wrap(new)) < 1e-6 * scale
    assert mapping.n_components_ <= len(np.unique(X, axis=0))


@kernels
def test_all_rows_as_landmarks_are_the_exact_map(kernel):
    X = data(40)
    exact = KernelMap(kernel, "exact").fit(X)
    for n in (40, 1000):
        nystroem = KernelMap(kernel, "nystroem", n, "uniform").fit(X)
        assert nystroem.method_ == KernelMap(kernel, n_components=n).fit(X).method_ == "exact"
        assert np.array_equal(nystroem.transform(data(5, seed=1)), exact.transform(data(5, seed=1)))
    fewer = KernelMap(kernel, n_components=39).fit(X)
    assert fewer.method_ == "nystroem"


@methods
@pytest.mark.parametrize("kernel", [RBF(0.4), Polynomial(3, gamma=0.5, coef0=1.0), Function(gaussian)])
def test_projection_is_that_of_the_pseudoinverse(kernel, landmarks):
    X = data()
    mapping = KernelMap(kernel, n_components=20, landmarks=landmarks).fit(X)
    assert mapping.method_ == "nystroem"
    features, kernel, kept = mapping.transform(X), mapping.kernel_, mapping._map.kept
    across = kernel.values(X, kept)
    expected = across @ np.linalg.pinv(kernel.values(kept, kept), rcond=1e-12, hermitian=True) @ across.T
    assert features @ features.T == pytest.approx(expected, abs=1e-7 * np.abs(expected).max())


@methods
def test_error_falls_with_more_landmarks(landmarks):
    X = data(400)
    errors = [KernelMap(RBF(0.1), n_components=n, landmarks=landmarks).fit(X).error_ for n in (5, 20, 80, 400)]
    assert errors[0] > 2 * errors[1] > 4 * errors[2]
    assert errors[3] < 1e-9


@pytest.mark.parametrize(
    ("kernel", "method"),
    [(RBF(0.3), "random"), (Polynomial(2, gamma=0.5, coef0=1.0), "sketch"), (Polynomial(3, gamma=0.2), "sketch")],
    ids=repr,
)
def test_random_features_approach_the_kernel_in_the_mean(kernel, method):
    X, new = data(60), data(60, seed=1)
    scale = np.abs(clone(kernel).fit(X).values(X, X)).mean()
    few, many = (KernelMap(kernel, method, n).fit(X) for n in (50, 20000))
    assert few.n_components_ == 50
    assert many.error_ < 0.05 * scale
    assert many.error(new) < 0.05 * scale
    assert few.error(new) > 4 * many.error(new)


def test_error_is_the_mean_over_pairs():
    X, new = data(60), data(9, seed=1)
    mapping = KernelMap(RBF(0.4), n_components=10).fit(X)
    features = mapping.transform(X)
    assert mapping.error_ == pytest.approx(np.abs(gaussian(X, X) - features @ features.T).mean())
    assert mapping.error(new) == pytest.approx(np.abs(gaussian(new, X) - mapping.transform(new) @ features.T).mean())


@methods
@pytest.mark.parametrize("method", ["exact", "nystroem", "random", "sketch"])
def test_same_seed_same_features_and_sparse_as_dense(method, landmarks):
    X = np.random.default_rng(2).integers(0, 3, (80, 5)).astype(float)
    kernel = Polynomial(2, gamma=0.5, coef0=1.0) if method == "sketch" else RBF(0.2)
    first = KernelMap(kernel, method, 15, landmarks, random_state=3)
    features = first.fit(X).transform(X)
    assert np.array_equal(clone(first).fit_transform(X), features)
    assert np.array_equal(pickle.loads(pickle.dumps(first)).transform(X), features)
    packed = clone(first).fit(sparse.csr_array(X)).transform(sparse.csr_array(X))
    if (method, landmarks) == ("nystroem", "k-means"):  # centres of dense rows, rows near to them of sparse ones
        assert packed.shape == features.shape
    else:
        assert packed @ packed.T == pytest.approx(features @ features.T, abs=1e-8)
    if method in ("random", "sketch", "nystroem"):
        other = clone(first).set_params(random_state=4).fit(X).transform(X)
        assert not np.allclose(other @ other.T, features @ features.T, atol=1e-12)


def test_transform_does_not_depend_on_the_rows_beside():
    X = data(5000, 3)
    mapping = KernelMap(RBF(0.4), n_components=30).fit(X)
    assert mapping.transform(X)[[0, 2047, 2048, 4999]] == pytest.approx(mapping.transform(X[[0, 2047, 2048, 4999]]))


@methods
def test_precomputed_is_computed(landmarks):
    X, new = data(60), data(9, seed=1)
    if landmarks == "k-means":
        landmarks = "uniform"
    for n in (15, 100):
        computed = KernelMap(gaussian, n_components=n, landmarks=landmarks).fit(X)
        given = KernelMap("precomputed", n_components=n, landmarks=landmarks).fit(gaussian(X, X))
        assert given.transform(gaussian(new, X)) == pytest.approx(computed.transform(new), abs=1e-7)
        assert given.error(gaussian(new, X)) == pytest.approx(computed.error(new), abs=1e-9)


# --- sequences and graphs


def test_sequences_are_mapped_by_position():
    X = data(20)
    offsets = [0, 3, 4, 20]
    mapping = KernelMap(RBF(0.4), n_components=8).fit(X)
    expected = mapping.transform(X)
    parts = [X[a:b] for a, b in pairwise(offsets)]
    for X_given in (parts, tuple(map(sparse.csr_array, parts)), Sequences(X, offsets)):
        other = KernelMap(RBF(0.4), n_components=8, landmarks="uniform").fit(X_given)
        assert other.n_features_in_ == 4
        assert other.kind_ == "sequences"
        reference = clone(other).fit(X).transform(X)
        found = other.transform(X_given)
        assert isinstance(found, Sequences if isinstance(X_given, Sequences) else list)
        assert [x.shape for x in found] == [(3, 8), (1, 8), (16, 8)]
        assert np.vstack(list(found)) == pytest.approx(reference)
    cube = X.reshape(4, 5, 4)
    assert np.vstack(clone(mapping).fit_transform(cube)) == pytest.approx(expected)


def test_graphs_keep_their_edges():
    X = data(20)
    graphs = [(X[:8], [(0, 1)]), SimpleNamespace(features=X[8:], edges=[(3, 4)])]
    mapping = KernelMap(RBF(0.4), "exact").fit(graphs)
    one, other = mapping.transform(graphs)
    features = np.vstack([one[0], other.features])
    assert features @ features.T == pytest.approx(gaussian(X, X), abs=1e-9)
    assert one[1] == [(0, 1)]
    assert other.edges == [(3, 4)]


def test_a_map_is_of_one_kind_until_it_is_fitted_again():
    X = data(6)
    mapping = KernelMap().fit(X)
    with pytest.raises(ValueError, match="X looks like a list of sequences; expected a matrix, as in training"):
        mapping.transform([X])
    mapping.fit([X])
    with pytest.raises(ValueError, match="X looks like a matrix; expected a list of sequences, as in training"):
        mapping.transform(X)
    with pytest.raises(ValueError, match="sequence 0 has 2 features; expected 4"):
        mapping.transform([X[:, :2]])


def test_columns_have_names_where_there_are_columns():
    X = data(6)
    mapping = KernelMap().fit(X)
    assert mapping.get_feature_names_out().tolist() == [f"kernelmap{j}" for j in range(mapping.n_components_)]
    assert not hasattr(clone(mapping).fit([X]), "get_feature_names_out")
    with config_context(transform_output="pandas"):  # of lists no table is made
        assert mapping.transform(X).shape == (6, mapping.n_components_)
        assert isinstance(clone(mapping).fit_transform([X, X]), list)


# --- bad input


def test_indefinite_kernels_are_projected_with_a_warning():
    gram = np.array([[1.0, 2.0], [2.0, 1.0]])  # eigenvalues 3 and -1
    with pytest.warns(UserWarning, match="on 2 landmarks its smallest eigenvalue is -1 ") as caught:
        mapping = KernelMap("precomputed").fit(gram)
    assert caught[0].filename == __file__
    features = mapping.transform(gram)
    assert features @ features.T == pytest.approx(np.full((2, 2), 1.5))  # 3 · v vᵀ, v = (1, 1)/√2
    assert mapping.error_ == pytest.approx(0.5)
    X = data(30)
    kernel = Sigmoid(1.0, 1.0)
    with pytest.warns(UserWarning, match="not positive semidefinite"):
        mapping = KernelMap(kernel).fit(X)
    values, vectors = np.linalg.eigh(kernel.fit(X).values(X, X))
    features = mapping.transform(X)
    assert features @ features.T == pytest.approx((vectors * np.maximum(values, 0)) @ vectors.T, abs=1e-9)
    with (
        pytest.warns(UserWarning, match="not positive semidefinite"),
        pytest.raises(ValueError, match="the kernel of all landmarks is zero or negative"),
    ):
        KernelMap(minus).fit(X)


def not_finite(A, B):
    return np.where(np.outer(A[:, 0], B[:, 0]) > 20.0, np.nan, A @ B.T)


def one_sided(A, B):
    return A @ B.T + A[:, :1]


WRONG = [
    (KernelMap(method="best"), "method must be one of 'auto', 'exact', 'nystroem', 'random', 'sketch', got 'best'"),
    (KernelMap(landmarks="grid"), "landmarks must be one of 'leverage', 'k-means', 'uniform', got 'grid'"),
    (KernelMap(n_components=0), "n_components must be a whole number >= 1, got 0"),
    (KernelMap(n_components=2.5), "n_components must be a whole number >= 1, got 2.5"),
    (KernelMap("gauss"), "kernel must be None, one of 'linear'"),
    (KernelMap("poly", "random"), r"method='random' is for RBF kernels, got Polynomial\(\)"),
    (KernelMap("rbf", "sketch"), r"method='sketch' is for polynomial kernels, got RBF\(\)"),
    (KernelMap(Polynomial(2.5), "sketch"), "needs a whole degree and coef0 >= 0"),
    (KernelMap(Polynomial(coef0=-1.0), "sketch"), "needs a whole degree and coef0 >= 0"),
    (KernelMap("precomputed"), r"must be square in training.*got the shape \(6, 1\)"),
    (KernelMap(RBF(cache_mb=1e-4)), r"matrix of 6 landmarks takes 0.000275 MB, but cache_mb = 0.0001;"),
    (KernelMap(not_finite), "the kernel of row 5 with a training row is not finite"),
    (KernelMap(one_sided), r"the kernel is not symmetric: k\(a, b\) = "),
]


@pytest.mark.parametrize(("mapping", "message"), WRONG, ids=[case[1] for case in WRONG])
def test_what_is_wrong_is_said(mapping, message):
    X = np.arange(6.0)[:, None]
    with pytest.raises(ValueError, match=message):
        mapping.fit(X)


def test_rows_that_are_not_finite_are_named_in_transform():
    X = np.arange(5.0)[:, None]
    mapping = KernelMap(not_finite).fit(X)
    with pytest.raises(ValueError, match="the kernel of row 1 with a training row is not finite"):
        mapping.transform([[0.0], [30.0]])
