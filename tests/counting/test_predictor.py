"""CountingPredictor: against dense linear algebra, across kernels and solvers, and scikit-learn's rules."""

from __future__ import annotations

import inspect
import pickle

import joblib
import numpy as np
import pytest
from counting.dense_training import trained
from estimators.problems import CHECKS_WITHOUT_DATA
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import pairwise_kernels, rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks
from thorough import examples

from maxmargin.counting.predictor import CountingPredictor
from maxmargin.counting.sets.assignments import Assignments
from maxmargin.counting.sets.classes import Classes, OrderedClasses
from maxmargin.counting.sets.cycles import CyclicPermutations, HamiltonianCycles
from maxmargin.counting.sets.hierarchy import HierarchyLabels
from maxmargin.counting.sets.orders import PartialTournaments, Permutations
from maxmargin.counting.sets.spanning_trees import SpanningTrees
from maxmargin.counting.sets.subsets import AllSubsets, Subsets

TREES = SpanningTrees(4, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)])  # no known spectrum
SETS = [
    Classes(["a", "b", "c"]),
    OrderedClasses(4),
    Subsets(5, 2),
    AllSubsets(["x", "y", "z"]),
    HierarchyLabels({"a": "r", "b": "r", "c": "a", "d": "a"}),
    Permutations(["tea", "milk", "wine", "beer"]),
    PartialTournaments(3),
    CyclicPermutations(4),
    HamiltonianCycles(5),
    Assignments(3, 3),
    TREES,
]


def noisy(outputs, n=30, p=4, seed=0, noise=0.1):
    """Inputs and the best outputs of a hidden linear policy."""
    rng = np.random.default_rng(seed)
    policy = rng.standard_normal((p, outputs.dim))
    X = rng.standard_normal((n, p))
    return X, [outputs.decode(f).y for f in X @ policy + noise * rng.standard_normal((n, outputs.dim))]


@pytest.fixture(params=SETS, ids=lambda each: type(each).__name__)
def case(request):
    return CountingPredictor(request.param, alpha=0.1), *noisy(request.param)


# --- the model


@pytest.mark.parametrize("outputs", SETS, ids=lambda each: type(each).__name__)
@examples(5, 10)
@given(seed=st.integers(0, 10**6), alpha=st.sampled_from([0.01, 1.0, 20.0]), intercept=st.booleans())
def test_weights_and_objective_are_those_of_the_definition(outputs, seed, alpha, intercept):
    rng = np.random.default_rng(seed)
    members = list(outputs.outputs())
    X = rng.integers(-2, 3, (6, 2)).astype(float)
    Y = [members[j] for j in rng.integers(0, len(members), 6)]
    seen = np.hstack([X, np.ones((6, 1))]) if intercept else X
    # features that are kept once for both directions count twice in the norm: λ is half as large for them
    W, objective = trained(outputs, seen, [[y] for y in Y], alpha / outputs.repeats)
    for solver in ("auto", "cg"):
        model = CountingPredictor(outputs, alpha=alpha, fit_intercept=intercept, solver=solver, tol=1e-12).fit(X, Y)
        np.testing.assert_allclose(model.coef_.T, W[:2], rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(model.intercept_, W[2] if intercept else 0.0, rtol=1e-6, atol=1e-8)
        assert model.certificate_.primal == pytest.approx(objective, rel=1e-8, abs=1e-10)
        np.testing.assert_allclose(model.decision_function(X), seen @ W, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "precomputed"])
@pytest.mark.parametrize("intercept", [False, True])
def test_all_solvers_agree(kernel, intercept):
    outputs = Permutations(4)
    X, Y = noisy(outputs, n=12, p=3)
    given = rbf_kernel(X) if kernel == "precomputed" else X
    options = {"kernel": kernel, "alpha": 0.3, "fit_intercept": intercept, "tol": 1e-12}
    closed = CountingPredictor(outputs, solver="closed", **options).fit(given, Y)
    iterated = CountingPredictor(outputs, solver="cg", **options).fit(given, Y)
    assert closed.certificate_.solver == "closed form"
    assert iterated.certificate_.solver == "conjugate gradients"
    assert iterated.n_iter_ == iterated.certificate_.iterations > 1
    assert (iterated.dual_coef_ is None) == (kernel == "linear")  # there weights are solved for
    assert iterated.certificate_.primal == pytest.approx(closed.certificate_.primal, rel=1e-9)
    np.testing.assert_allclose(iterated.decision_function(given), closed.decision_function(given), rtol=1e-6, atol=1e-8)


def test_the_solver_follows_the_sizes():
    X, Y = noisy(Classes(3), n=501, p=2)
    ways = {
        (500, "linear"): "closed form",
        (501, "linear"): "conjugate gradients",  # for two features a cubic method would be a waste
        (501, "rbf"): "closed form",
    }
    for (n, kernel), solver in ways.items():
        assert CountingPredictor(Classes(3), kernel=kernel).fit(X[:n], Y[:n]).certificate_.solver == solver
    assert CountingPredictor(TREES, kernel="rbf").fit(*noisy(TREES)).certificate_.solver == "conjugate gradients"


@pytest.mark.parametrize("kernel", ["chi2", "cosine", "laplacian", "poly", "rbf"])
def test_kernels_have_their_own_defaults(kernel):
    X, Y = noisy(Classes(3), n=10)
    X = np.abs(X)
    expected = CountingPredictor(Classes(3), kernel="precomputed").fit(pairwise_kernels(X, metric=kernel), Y)
    found = CountingPredictor(Classes(3), kernel=kernel).fit(X, Y)
    np.testing.assert_allclose(found.dual_coef_, expected.dual_coef_, rtol=1e-8, atol=1e-10)


def test_more_features_than_examples_are_solved_for_kernel_coefficients():
    outputs = Subsets(5, 2)
    X, Y = noisy(outputs, n=8, p=20)
    model = CountingPredictor(outputs, alpha=None, solver="cg", tol=1e-12, fit_intercept=True).fit(X, Y)
    assert model.dual_coef_.shape == (8, 5)
    W, _ = trained(outputs, np.hstack([X, np.ones((8, 1))]), [[y] for y in Y], 1.0)
    np.testing.assert_allclose(model.coef_.T, W[:-1], rtol=1e-6, atol=1e-9)


def squares(X):
    """The features of the polynomial kernel (⟨x, z⟩ + 1)² of two numbers."""
    a, b, r = X[:, 0], X[:, 1], np.sqrt(2)
    return np.column_stack([a * a, b * b, r * a * b, r * a, r * b, np.ones(len(X))])


def test_kernels_are_their_features():
    outputs = OrderedClasses(4)
    X, Y = noisy(outputs, p=2)
    new = np.random.default_rng(1).standard_normal((7, 2))
    expected = CountingPredictor(outputs, alpha=0.5).fit(squares(X), Y).decision_function(squares(new))
    ways = [
        (CountingPredictor(outputs, kernel="poly", degree=2, gamma=1.0, coef0=1.0, alpha=0.5), X, new),
        (CountingPredictor(outputs, kernel=lambda x, z: (x @ z + 1) ** 2, alpha=0.5), X, new),
        (
            CountingPredictor(
                outputs, kernel=lambda x, z, power: (x @ z + 1) ** power, kernel_params={"power": 2}, alpha=0.5
            ),
            X,
            new,
        ),
        (CountingPredictor(outputs, kernel="precomputed", alpha=0.5), (X @ X.T + 1) ** 2, (new @ X.T + 1) ** 2),
        (CountingPredictor(outputs, kernel="poly", degree=2, gamma=1.0, alpha=0.5), sparse.csr_array(X), new),
    ]
    for model, inputs, other in ways:
        found = model.fit(inputs, Y).decision_function(other)
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)
        for name in ("coef_", "weights_"):
            with pytest.raises(AttributeError, match="CountingPredictor with a kernel has no weights of features"):
                getattr(model, name)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "laplacian", "cosine"])
def test_sparse_inputs_are_dense_ones(kernel):
    outputs = AllSubsets(3)
    X, Y = noisy(outputs)
    X[np.random.default_rng(0).random(X.shape) < 0.5] = 0.0
    for intercept, solver in [(True, "closed"), (False, "cg"), (True, "cg")]:
        options = {"kernel": kernel, "gamma": 0.1, "fit_intercept": intercept, "solver": solver, "tol": 1e-11}
        dense = CountingPredictor(outputs, **options).fit(X, Y)
        for form in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
            model = CountingPredictor(outputs, **options).fit(form(X), Y)
            for new in (X, form(X)):
                # Both are solved to a residual of 1e-11; how far that leaves them apart depends on the processor.
                np.testing.assert_allclose(
                    model.decision_function(new), dense.decision_function(X), rtol=1e-7, atol=1e-8
                )


def test_other_numbers_and_memory(tmp_path):
    outputs = Permutations(3)
    X, Y = noisy(outputs)
    X = X.astype(np.float32)
    expected = CountingPredictor(outputs, kernel="rbf").fit(X.astype(float), Y).decision_function(X)
    joblib.dump(X, tmp_path / "X")
    mapped = joblib.load(tmp_path / "X", mmap_mode="r")
    for form in (X, X.tolist(), mapped, np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2]):
        found = CountingPredictor(outputs, kernel="rbf").fit(form, Y).decision_function(form)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_the_papers_penalty_is_the_number_of_outputs():
    outputs = Classes(4)
    X, Y = noisy(outputs, n=6)
    lists = [[y] if i % 2 else [y, (y + 1) % 4] for i, y in enumerate(Y)]
    default = CountingPredictor(outputs, alpha=None).fit(X, lists, several=True)
    assert (default.alpha_, default.chosen_by_) == (1.5, "the mean number of correct outputs")
    same = CountingPredictor(outputs, alpha=1.5).fit(X, lists, several=True)
    np.testing.assert_array_equal(default.coef_, same.coef_)
    W, objective = trained(outputs, X, lists, 1.5)
    np.testing.assert_allclose(default.coef_.T, W, rtol=1e-6, atol=1e-9)
    assert default.certificate_.primal == pytest.approx(objective, rel=1e-8)


def test_one_output_each_or_lists_of_one(case):
    model, X, Y = case
    one = clone(model).fit(X, Y).decision_function(X)
    np.testing.assert_array_equal(model.fit(X, [[y] for y in Y], several=True).decision_function(X), one)


def test_sets_of_their_own():
    sizes = [1, 2, 3] * 6
    sets = [Subsets(5, size) for size in sizes]
    rng = np.random.default_rng(0)
    policy = rng.standard_normal((3, 5))
    X = rng.standard_normal((18, 3))
    Y = [each.decode(f).y for each, f in zip(sets, X @ policy, strict=True)]
    model = CountingPredictor(AllSubsets(5), alpha=1e-3, tol=1e-12).fit(X, Y, output_sets=sets)
    found = model.predict(X, output_sets=sets)
    assert [len(y) for y in found] == sizes
    assert model.score(X, Y, output_sets=sets) > 0.6
    hessian, target = 2e-3 * np.eye(15), np.zeros(15)
    for x, each, y in zip(X, sets, Y, strict=True):
        c = each.features(y) - each.mean()
        hessian += np.kron(np.outer(x, x), each.covariance() + np.outer(c, c))
        target += np.kron(x, c)
    np.testing.assert_allclose(model.coef_.T.ravel(), np.linalg.solve(hessian, target), rtol=1e-7)
    # one set for all is what the estimator's own parameter says
    shared = Subsets(5, 2)
    Y = [shared.decode(f).y for f in X @ policy]
    other = CountingPredictor(AllSubsets(5)).fit(X, Y, output_sets=[shared] * 18)
    assert other.certificate_.solver == "closed form"
    np.testing.assert_array_equal(other.coef_, CountingPredictor(shared).fit(X, Y).coef_)
    assert other.predict(X, output_sets=[shared] * 18) == CountingPredictor(shared).fit(X, Y).predict(X)


def test_decoding(case):
    model, X, Y = case
    found = model.fit(X, Y).decode(X)
    outputs = model.output_set
    members = outputs.feature_rows(list(outputs.outputs()))
    for each, f in zip(found, model.decision_function(X), strict=True):
        assert each.exact
        assert each.value == pytest.approx(outputs.features(each.y) @ f, rel=1e-9, abs=1e-9)
        assert each.value == pytest.approx((members @ f).max(), rel=1e-9, abs=1e-9)
    assert model.predict(X) == [each.y for each in found]
    same = [np.array_equal(outputs.features(each.y), outputs.features(y)) for each, y in zip(found, Y, strict=True)]
    assert model.score(X, Y) == np.mean(same)


def test_learns_something(case):
    model, X, Y = case
    size = np.exp(model.output_set.log_size())
    assert model.fit(X, Y).score(X, Y) > max(0.5, 2 / size)
    assert model.certificate_.converged
    assert model.certificate_.primal < 0  # that of f = 0


def test_a_path_is_its_single_fits(case):
    model, X, Y = case
    alphas = [0.03, 1.0, 10.0]
    path = model.fit_path(X, Y, alphas)
    for step, alpha in zip(path, alphas, strict=True):
        alone = clone(model).set_params(alpha=alpha).fit(X, Y)
        assert step.alpha == alpha
        assert repr(step) == repr(alone)
        np.testing.assert_allclose(step.coef_, alone.coef_, rtol=1e-6, atol=1e-8)
        assert step.certificate_.primal == pytest.approx(alone.certificate_.primal, rel=1e-7)
        assert step.n_features_in_ == 4
    assert model.alpha == 0.1
    np.testing.assert_array_equal(model.coef_, path[-1].coef_)


@pytest.mark.parametrize(
    "outputs",
    [CyclicPermutations(200), HamiltonianCycles(200), Permutations(100), Assignments(60, 60), AllSubsets(5000)],
    ids=lambda each: type(each).__name__,
)
def test_large_sets_have_finite_numbers(outputs):
    """|Y| is beyond the largest float; only its logarithm is ever formed."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6, 3))
    Y = [outputs.sample(rng) for _ in X]
    model = CountingPredictor(outputs, alpha=0.5, tol=1e-10)
    for solver in ("closed", "cg"):
        model.set_params(solver=solver).fit(X, Y)
        assert np.isfinite(model.coef_).all()
        assert model.certificate_.converged
        assert model.certificate_.primal < 0
    several = model.fit(X, [[y, outputs.sample(rng)] for y in Y], several=True)
    assert several.certificate_.converged
    assert np.isfinite(several.coef_).all()
    fitted = np.array([outputs.features(y) for y in Y])
    # by (2) of counting/least_squares.py right outputs are better than the mean of all: margins are between 0 and 1
    margins = np.einsum("nd,nd->n", model.fit(X, Y).decision_function(X), fitted - outputs.mean())
    assert (margins > 0).all()
    assert (margins < 1).all()


# --- bad input

GOOD = noisy(Classes(3), n=6, p=2)
K = rbf_kernel(GOOD[0])


def changed(matrix, *places):
    copy = np.array(matrix)
    for i, j, value in places:
        copy[i, j] = value
    return copy


DATA = [
    ({}, GOOD[0], [0, 1, 2, 3, 0, 1], "example 3: 3 is not one of the classes; expected 0 … 2"),
    ({}, GOOD[0], [0, 1, 2, [1], 0, 1], r"example 3: \[1\] is not one of the classes"),
    ({}, GOOD[0], GOOD[1][:5], "X has 6 examples but Y has 5: example 5 has no partner"),
    ({}, GOOD[0][:5], GOOD[1], "X has 5 examples but Y has 6: example 5 has no partner"),
    ({}, GOOD[0], None, "CountingPredictor requires y to be passed, but the target y is None"),
    ({}, GOOD[0][:0], [], r"Found array with 0 sample\(s\)"),
    ({}, GOOD[0][:, :0], GOOD[1], r"Found array with 0 feature\(s\)"),
    ({}, GOOD[0][0], GOOD[1], "Expected 2D array, got 1D array"),
    ({}, changed(GOOD[0], (2, 1, np.nan)), GOOD[1], "Input X contains NaN"),
    ({}, changed(GOOD[0], (2, 1, np.inf)), GOOD[1], "Input X contains infinity"),
    ({"kernel": "precomputed"}, K[:, :4], GOOD[1], r"must be square, got shape \(6, 4\)"),
    (
        {"kernel": "precomputed"},
        changed(K, (1, 4, 2.0)),
        GOOD[1],
        r"must be symmetric, but its value at \(1, 4\) is 2 and at \(4, 1\) ",
    ),
    ({"kernel": "precomputed"}, changed(K, (1, 4, np.nan)), GOOD[1], "Input X contains NaN"),
    ({"kernel": "precomputed"}, K - 2 * np.eye(6), GOOD[1], "kernel matrix is not positive semidefinite: its smallest"),
    (
        {"kernel": lambda x, z: np.nan if x[0] == GOOD[0][2, 0] else x @ z},
        *GOOD,
        "the kernel of rows 2 and 2 is nan; it must be finite",
    ),
    ({"kernel": lambda x, z: -np.exp(-np.sum((x - z) ** 2))}, *GOOD, "not positive semidefinite"),
    ({"kernel": "gauss"}, *GOOD, "'metric' parameter of pairwise_kernels must be"),
    *[({"kernel": kernel}, *GOOD, "kernel must be the name of a kernel of scikit-learn") for kernel in (3, None)],
    ({"kernel": K}, *GOOD, r"or 'precomputed', got an array of shape \(6, 6\); a kernel matrix is given as X"),
    *[
        ({"kernel": "poly", "gamma": gamma}, *GOOD, "gamma must be a positive number or None, got")
        for gamma in ("scale", 0, -1.0, np.nan, True)
    ],
    *[({"kernel": "poly", "degree": d}, *GOOD, "degree must be a positive number, got") for d in (0, -2, None, "2")],
    *[({"kernel": "poly", "coef0": c}, *GOOD, "coef0 must be a number, got") for c in (None, np.inf, "1")],
    ({"kernel": "rbf", "kernel_params": {"gamma": 2.0}}, *GOOD, "are the arguments of a kernel function, a dict; got"),
    ({"kernel": np.dot, "kernel_params": [2.0]}, *GOOD, "are the arguments of a kernel function, a dict; got"),
    ({"solver": "exact"}, *GOOD, "solver must be one of 'auto', 'closed', 'cg', got 'exact'"),
    *[
        ({"alpha": alpha}, *GOOD, r"alpha \(λ\) must be a positive number, got")
        for alpha in (0, -1.0, np.nan, np.inf, "1", True, 1j, [1.0])
    ],
    *[({"tol": tol}, *GOOD, "tol must be a number between 0 and 1, got") for tol in (0, 1.0, -1e-3, np.nan, "1", True)],
    *[({"max_iter": n}, *GOOD, "max_iter must be a whole number >= 1, got") for n in (0, -3, 1.5, "9", True)],
]


@pytest.mark.parametrize(("options", "X", "Y", "message"), DATA, ids=[case[3] for case in DATA])
def test_what_cannot_be_trained(options, X, Y, message):
    model = CountingPredictor(Classes(3), **options)
    for solver in ("closed", "cg"):
        if "solver" not in options:
            model.set_params(solver=solver)
        with pytest.raises(ValueError, match=message):
            model.fit(X, Y)
        with pytest.raises(ValueError, match=message):
            model.fit_path(X, Y, [1.0, 2.0])
    assert not hasattr(model, "certificate_")


@pytest.mark.parametrize(
    ("alphas", "message"),
    [
        ([], "alphas is empty"),
        (1.0, "alphas is 1.0; expected a sequence"),
        ([1.0, 0.0], r"alpha \(λ\) must be a positive number, got 0.0"),
        ([None], "got None"),
    ],
)
def test_paths_need_penalties(alphas, message):
    with pytest.raises(ValueError, match=message):
        CountingPredictor(Classes(3)).fit_path(*GOOD, alphas)


def test_lists_of_outputs():
    model = CountingPredictor(Classes(3))
    with pytest.raises(ValueError, match="example 1 has no output; expected at least one"):
        model.fit(GOOD[0], [[0], [], [1], [2], [0], [1]], several=True)
    with pytest.raises(ValueError, match="example 2: 5 is not one of the classes"):
        model.fit(GOOD[0], [[0], [1], [1, 5], [2], [0], [1]], several=True)
    with pytest.raises(ValueError, match="outputs 0 and 2 of example 4 have the same features"):
        model.fit(GOOD[0], [[0], [1], [1, 0], [2], [2, 0, 2], [1]], several=True)
    with pytest.raises(ValueError, match="outputs 0 and 1 of example 0 have the same features"):  # written in two ways
        CountingPredictor(CyclicPermutations(4)).fit([[1.0]], [[(0, 1, 2), (1, 2, 0)]], several=True)


@pytest.mark.parametrize("given", [None, 3, "multiclass", Classes, [Classes(3)]])
def test_output_sets_must_be_some(given):
    with pytest.raises(TypeError, match=r"output_set must be an OutputSet of maxmargin.counting, got"):
        CountingPredictor(given).fit(*GOOD)
    model = CountingPredictor(Classes(3)).fit(*GOOD)
    sets = [Classes(3)] * 2 + [given] + [Classes(3)] * 3
    for call in (
        lambda: model.fit(*GOOD, output_sets=sets),
        lambda: model.predict(GOOD[0], output_sets=sets),
        lambda: model.score(*GOOD, output_sets=sets),
    ):
        with pytest.raises(TypeError, match=r"output_sets\[2\] must be an OutputSet of maxmargin.counting, got"):
            call()


def test_output_sets_that_do_not_fit():
    model = CountingPredictor(Classes(3)).fit(*GOOD)
    for alone in (
        lambda: model.fit(*GOOD, output_sets=Classes(3)),
        lambda: model.predict(GOOD[0], output_sets=Classes(3)),
    ):
        with pytest.raises(TypeError, match=r"output_sets is Classes\(classes=3\); expected a list with one set per"):
            alone()
    two = [Classes(3)] * 2
    for call in (
        lambda: clone(model).fit(*GOOD, output_sets=two),
        lambda: model.decode(GOOD[0], two),
        lambda: model.score(*GOOD, two),
    ):
        with pytest.raises(ValueError, match="2 output sets were given for 6 examples"):
            call()
    with pytest.raises(ValueError, match=r"features of one length, got \[3, 4\]"):
        clone(model).fit(*GOOD, output_sets=[Classes(3)] * 5 + [Classes(4)])
    with pytest.raises(
        ValueError, match="output set of example 5 has features of length 4; expected 3, as in training"
    ):
        model.predict(GOOD[0], [Classes(3)] * 5 + [Classes(4)])
    with pytest.raises(ValueError, match=r"needs one output set for all examples .*; use solver='cg'"):
        clone(model).set_params(solver="closed").fit(*GOOD, output_sets=[Classes(3), *[Classes([2, 1, 0])] * 5])
    with pytest.raises(ValueError, match="whose covariance has few, known eigenvalues; use solver='cg'"):
        CountingPredictor(TREES, solver="closed").fit(*noisy(TREES))


def test_predictions_need_the_inputs_of_training():
    model = CountingPredictor(Classes(3)).fit(*GOOD)
    for call in (model.predict, model.decode, model.decision_function, lambda X: model.score(X, [0, 1])):
        with pytest.raises(ValueError, match="X has 3 features, but CountingPredictor is expecting 2 features"):
            call(np.ones((2, 3)))
        with pytest.raises(ValueError, match="Input X contains NaN"):
            call([[1.0, np.nan], [0.0, 1.0]])
    given = CountingPredictor(Classes(3), kernel="precomputed").fit(K, GOOD[1])
    with pytest.raises(ValueError, match="X has 5 features, but CountingPredictor is expecting 6 features"):
        given.predict(K[:2, :5])
    broken = CountingPredictor(Classes(3), kernel=lambda x, z: x @ z / (x[0] != 9.0)).fit(*GOOD)
    with np.errstate(divide="ignore"), pytest.raises(ValueError, match=r"the kernel of rows 1 and 0 is -?inf"):
        broken.predict([[1.0, 2.0], [9.0, 0.0]])
    with pytest.raises(ValueError, match="X has 6 examples but Y has 5"):
        model.score(GOOD[0], GOOD[1][:5])
    with pytest.raises(ValueError, match="example 1: 7 is not one of the classes"):
        model.score(GOOD[0], [0, 7, 0, 0, 0, 0])


def test_unfitted():
    model = CountingPredictor(Classes(3))
    for call in (model.predict, model.decode, model.decision_function, lambda X: model.score(X, GOOD[1])):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            call(GOOD[0])
    with pytest.raises(NotFittedError):
        _ = model.coef_


def test_unknown_parameters_are_named_with_the_estimator():
    with pytest.raises(
        TypeError, match=r"CountingPredictor has no parameter 'lamda'; it has output_set, kernel, .*tol"
    ):
        CountingPredictor(Classes(3), lamda=1.0)


# --- scikit-learn


@pytest.mark.parametrize("check", CHECKS_WITHOUT_DATA, ids=lambda check: check.__name__)
def test_checks_of_scikit_learn_that_need_no_data(case, check):
    check("CountingPredictor", case[0])


class OfNumbers(CountingPredictor):
    """Classes 0 … 9 as outputs, under the names that scikit-learn's checks use: what they know to ask for."""

    def __init__(self, kernel="linear", solver="auto", max_iter=1000):
        super().__init__(Classes(10), kernel=kernel, solver=solver, max_iter=max_iter)

    def fit(self, X, y):
        return super().fit(X, y if y is None or np.iscomplexobj(y) else np.asarray(y).ravel() % 10)

    def score(self, X, y):
        return super().score(X, np.asarray(y).ravel() % 10)

    def predict(self, X):
        return np.array(super().predict(X))


@parametrize_with_checks([OfNumbers()])
def test_checks_of_scikit_learn_with_data(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([OfNumbers(kernel="rbf"), OfNumbers(solver="cg")])
def test_checks_of_scikit_learn_of_variants_with_data(estimator, check):
    check(estimator)


def test_constructor_stores_what_it_is_given_and_nothing_else():
    marks = {name: object() for name in inspect.signature(CountingPredictor).parameters}
    assert vars(CountingPredictor(**marks)) == marks


def test_fit_changes_no_parameter_and_no_data(case):
    model, X, Y = case
    before = joblib.hash((X, Y, model.get_params()))
    assert model.fit(X, Y) is model
    model.score(X, Y)
    assert joblib.hash((X, Y, model.get_params())) == before
    assert all(name.endswith("_") for name in set(vars(model)) - set(model.get_params(deep=False)))


def test_refit_forgets_the_old_data(case):
    model, X, Y = case
    model.set_params(kernel="rbf").fit(X[:10, :2], Y[:10])
    model.set_params(kernel="linear").fit(X, Y)
    fresh = clone(model).fit(X, Y)
    np.testing.assert_array_equal(model.coef_, fresh.coef_)
    assert vars(model).keys() == vars(fresh).keys()


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_pickled_model_predicts_the_same(case, kernel):
    model, X, Y = case
    model.set_params(kernel=kernel).fit(X, Y)
    copy = pickle.loads(pickle.dumps(model))
    assert copy.predict(X) == model.predict(X)
    np.testing.assert_array_equal(copy.decision_function(X), model.decision_function(X))
    assert copy.certificate_ == model.certificate_
    np.testing.assert_array_equal(copy.fit(X, Y).decision_function(X), model.decision_function(X))


def test_inputs_may_be_changed_after_training():
    X, Y = noisy(Classes(3))
    model = CountingPredictor(Classes(3), kernel="rbf").fit(X, Y)
    new = X[:3].copy()
    before = model.decision_function(new)
    X[:] = 0.0
    np.testing.assert_array_equal(model.decision_function(new), before)


def test_models_keep_no_inputs_that_they_do_not_need():
    X, Y = noisy(Classes(3), n=400, p=3)
    linear = CountingPredictor(Classes(3), solver="cg").fit(X, Y)
    assert len(pickle.dumps(linear)) < X.nbytes
    given = CountingPredictor(Classes(3), kernel="precomputed").fit(rbf_kernel(X), Y)
    assert len(pickle.dumps(given)) < 3 * len(X) * 8 * 2


def test_tags():
    tags = get_tags(CountingPredictor(Classes(3)))
    assert tags.target_tags.required
    assert tags.input_tags.sparse
    assert not tags.input_tags.pairwise
    assert tags.estimator_type is None  # a classifier's folds would be stratified, which structures cannot be
    assert get_tags(CountingPredictor(Classes(3), kernel="precomputed")).input_tags.pairwise


def test_repr_names_only_what_was_changed():
    model = CountingPredictor(Permutations(3), kernel="rbf", gamma=0.5)
    assert repr(model) == "CountingPredictor(gamma=0.5, kernel='rbf', output_set=Permutations(items=3))"


@pytest.mark.parametrize("outputs", [Permutations(3), AllSubsets(3), CyclicPermutations(5)], ids=str)
def test_model_selection(outputs):
    X, Y = noisy(outputs)
    grid = {"alpha": [1e-2, 1e4], "kernel": ["linear", "rbf"]}
    search = GridSearchCV(CountingPredictor(outputs), grid, cv=3).fit(X, Y)
    alone = cross_val_score(CountingPredictor(outputs, alpha=1e-2), X, Y, cv=3).mean()
    assert alone in search.cv_results_["mean_test_score"]
    assert search.predict(X) == search.best_estimator_.predict(X)
    kernel = {"kernel": ["precomputed"], "alpha": [1e-2, 1.0]}
    given = GridSearchCV(CountingPredictor(outputs), kernel, cv=3).fit(X @ X.T, Y)
    np.testing.assert_allclose(
        given.cv_results_["mean_test_score"][0], alone
    )  # the folds take rows and columns of the kernel matrix
    pipeline = make_pipeline(StandardScaler(), CountingPredictor(outputs, alpha=1e-2)).fit(X, Y)
    assert pipeline.score(X, Y) == pipeline[-1].score(StandardScaler().fit_transform(X), Y)


def test_nested_parameters():
    model = CountingPredictor(Permutations(3)).set_params(output_set__method="local", alpha=2.0)
    assert model.output_set.method == "local"
    assert clone(model).output_set is not model.output_set
    model.set_params(output_set__items=4)
    X, Y = noisy(Permutations(4))
    assert model.fit(X, Y).coef_.shape == (6, 4)


def test_names_of_columns():
    pandas = pytest.importorskip("pandas")
    X, Y = noisy(Classes(3), p=2)
    table = pandas.DataFrame(X, columns=["height", "weight"])
    model = CountingPredictor(Classes(3)).fit(table, Y)
    assert model.feature_names_in_.tolist() == ["height", "weight"]
    assert model.predict(table) == CountingPredictor(Classes(3)).fit(X, Y).predict(X)
    with pytest.raises(ValueError, match="The feature names should match"):
        model.predict(table[["weight", "height"]])
