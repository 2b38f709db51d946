"""Estimators with a kernel: the same model by every way to it, small pickles, and errors that say what is wrong."""

import pickle
from functools import partial

import numpy as np
import pytest
from kernel_problems import TREE, chain_data, exact_map, multiclass_data
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

from maxmargin import MeasureSVC, MulticlassSVC, OrdinalSVC, Ranker, SequenceLabeler, StructuredSVM, TaxonomySVC
from maxmargin.kernels import RBF, Function, Linear, Polynomial
from maxmargin.solvers import NSlack
from maxmargin.tasks import Chain, Multiclass, Sequences

POLY = Polynomial(2, gamma=0.5, coef0=1.0)
X, Y = multiclass_data(n=40, ties=False)
Y = np.array(Y)
CLASSIFIERS = [
    partial(MulticlassSVC, C=10, tol=1e-6),
    partial(MulticlassSVC, C=10, tol=1e-6, fit_intercept=False),
    partial(TaxonomySVC, TREE, C=10, tol=1e-6),
    partial(OrdinalSVC, C=10, tol=1e-6),
    partial(OrdinalSVC, C=10, tol=1e-6, directions="separate"),
]
classifiers = pytest.mark.parametrize("make", CLASSIFIERS, ids=lambda make: f"{make.func.__name__}{make.keywords}")


@classifiers
def test_the_linear_kernel_is_the_linear_classifier(make):
    linear, lifted = make().fit(X, Y), make(kernel="linear").fit(X, Y)
    assert lifted.certificate_.primal == pytest.approx(linear.certificate_.primal, rel=2e-6)
    assert lifted.decision_function(X) == pytest.approx(linear.decision_function(X), abs=0.02)
    clear = np.ptp(np.sort(linear.decision_function(X), axis=1)[:, -2:], axis=1) > 0.05
    assert clear.sum() > 20
    assert np.array_equal(lifted.predict(X)[clear], linear.predict(X)[clear])


@classifiers
def test_the_exact_map_gives_the_same_predictions(make):
    """A kernel, and its features written out for training and new rows: ⟨u, v⟩² has all products of two features."""

    def features(A):
        return np.einsum("ni,nj->nij", A, A).reshape(len(A), -1)

    new = multiclass_data(n=60, seed=5, ties=False)[0]
    by_kernel = make(kernel=Polynomial(2, gamma=1.0)).fit(X, Y)
    by_features = make().fit(features(X), Y)
    assert by_kernel.certificate_.primal == pytest.approx(by_features.certificate_.primal, rel=2e-6)
    scores = by_features.decision_function(features(new))
    assert by_kernel.decision_function(new) == pytest.approx(scores, abs=0.02 * np.abs(scores).max())


@classifiers
def test_precomputed_sparse_and_functions_are_the_same_kernel(make):
    new = multiclass_data(n=7, seed=5, ties=False)[0]
    kernel = clone(POLY).fit(X)
    expected = make(kernel=POLY).fit(X, Y)
    gram, rows = kernel.values(X, X), kernel.values(new, X)
    for model, inputs in [
        (make(kernel="precomputed").fit(gram, Y), rows),
        (make(kernel=lambda A, B: (0.5 * A @ B.T + 1.0) ** 2).fit(X, Y), new),
        (make(kernel=POLY).fit(sparse.csr_matrix(X), Y), sparse.csr_matrix(new)),
    ]:
        assert model.certificate_.primal == pytest.approx(expected.certificate_.primal, rel=2e-6)
        assert model.decision_function(inputs) == pytest.approx(expected.decision_function(new), abs=0.02)
    assert make(kernel="precomputed").fit(gram, Y).kernel_evaluations_ > 0


def sequences(kernel=None, **options):
    return SequenceLabeler(C=10, tol=1e-6, kernel=kernel, **options)


def test_sequences():
    given, labels = chain_data((1, 3, 2, 3, 2, 4), n_classes=3, ties=False)
    new = chain_data((2, 3), seed=7, ties=False)[0]
    linear, lifted = sequences().fit(given, labels), sequences("linear").fit(given, labels)
    assert lifted.certificate_.primal == pytest.approx(linear.certificate_.primal, rel=2e-6)
    assert lifted.decision_function(new) == pytest.approx(linear.decision_function(new), abs=0.02)
    np.testing.assert_allclose(lifted.weights_["transitions"], linear.weights_["transitions"], atol=0.02)
    assert "features" not in lifted.weights_
    by_kernel = sequences(POLY).fit(given, labels)
    kernel = clone(POLY).fit(given.matrix)
    gram = Sequences(kernel.values(given.matrix, given.matrix), given.offsets)
    rows = Sequences(kernel.values(new.matrix, given.matrix), new.offsets)
    by_matrix = sequences("precomputed").fit(gram, labels)
    assert by_matrix.certificate_.primal == pytest.approx(by_kernel.certificate_.primal, rel=2e-6)
    assert by_matrix.decision_function(rows) == pytest.approx(by_kernel.decision_function(new), abs=0.02)
    assert [best[0][0] for best in by_kernel.predict_nbest(list(new), 2)] == by_kernel.predict(new)
    by_map = sequences().fit(Sequences(exact_map(gram.matrix), given.offsets), labels)
    assert by_map.certificate_.primal == pytest.approx(by_kernel.certificate_.primal, rel=2e-6)


def test_sequences_of_tokens():
    given = [[{"w": "a"}, {"w": "b"}], [{"w": "c"}], [{"w": "b"}, {"w": "a"}, {"w": "c"}]]
    labels = [["x", "y"], ["x"], ["y", "x", "x"]]
    model = sequences(Polynomial(2, gamma=1.0, coef0=1.0)).fit(given, labels)
    assert model.predict(given) == labels
    assert model.predict([[{"w": "never"}]])[0][0] in ("x", "y")


def test_missing_labels_are_completed_under_a_kernel():
    given, labels = chain_data((3, 3, 2, 4), ties=False)
    labels[0][1] = labels[3][0] = None
    linear, lifted = (SequenceLabeler(C=10, tol=1e-3, kernel=kernel).fit(given, labels) for kernel in (None, "linear"))
    assert lifted.certificate_.rounds is not None
    assert lifted.certificate_.primal == pytest.approx(linear.certificate_.primal, rel=5e-3)
    assert SequenceLabeler(C=10, kernel=RBF(0.5)).fit(given, labels).certificate_.converged


@pytest.mark.parametrize("measure", ["f1", "error", "prbep", "roc_auc"])
@pytest.mark.parametrize("solver", ["one_slack", "bcfw"])
def test_measures(measure, solver):
    rng = np.random.default_rng(0)
    points = rng.normal(size=(60, 2))
    y = (points[:, 0] + 0.3 * rng.normal(size=60) > 0.5).astype(int)
    linear, lifted = (
        MeasureSVC(measure, C=10, tol=1e-6, kernel=kernel, solver=solver, train_for="measure", cut="trained").fit(
            points, y
        )
        for kernel in (None, "linear")
    )
    assert lifted.certificate_.primal == pytest.approx(linear.certificate_.primal, rel=2e-6)
    assert lifted.decision_function(points) == pytest.approx(linear.decision_function(points), abs=0.02)
    assert lifted.score(points, y) == pytest.approx(linear.score(points, y), abs=0.05)
    with pytest.raises(AttributeError, match="MeasureSVC with a kernel has no weights of features"):
        lifted.coef_  # noqa: B018
    with pytest.raises(AttributeError):
        lifted.intercept_  # noqa: B018
    rings = (np.linalg.norm(points, axis=1) > 1.2).astype(int)
    assert MeasureSVC(measure, C=100, kernel="rbf").fit(points, rings).score(points, rings) > -0.1


@pytest.mark.parametrize("measure", ["map", "ndcg", "roc_auc", "precision_at_k"])
def test_rankings(measure):
    rng = np.random.default_rng(0)
    rows, qid = rng.normal(size=(40, 3)), np.repeat(np.arange(8), 5)
    relevance = (rows[:, 0] + 0.5 * rng.normal(size=40) > 0.4).astype(float)
    relevance[::5], relevance[1::5], relevance[::10] = 1, 0, 2
    k = 2 if measure in ("ndcg", "precision_at_k") else None
    linear, lifted = (
        Ranker(measure, k=k, C=5, tol=1e-6, kernel=kernel).fit(rows, relevance, qid) for kernel in (None, "linear")
    )
    assert lifted.certificate_.primal == pytest.approx(linear.certificate_.primal, rel=2e-6)
    assert lifted.predict(rows) == pytest.approx(linear.predict(rows), abs=0.02)
    for what in (lambda: lifted.coef_, lambda: lifted.to_solr("model")):
        with pytest.raises(AttributeError, match="Ranker with a kernel has no weights of features"):
            what()


def test_latent_rankings_take_no_kernel():
    with pytest.raises(ValueError, match="latent=True does not take a kernel"):
        Ranker("precision_at_k", k=1, latent=True, kernel="rbf").fit(X, np.arange(40) % 2)


@pytest.mark.parametrize(
    "make", [*CLASSIFIERS[::2], partial(SequenceLabeler, C=10)], ids=lambda make: make.func.__name__
)
def test_models_are_small_and_pickle(make):
    rng = np.random.default_rng(0)
    if make.func is SequenceLabeler:
        data = Sequences(rng.normal(size=(400, 2)), np.arange(0, 401, 4))
        labels = [(row[:, 0] > 0).astype(int).tolist() for row in data]
    else:
        data = rng.normal(size=(400, 2))
        labels = (data[:, 0] > 0).astype(int) + (data[:, 0] > 1)
    model = make(kernel=RBF(0.5)).set_params(tol=1e-2).fit(data, labels)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.decision_function(data), model.decision_function(data))
    n_support = len(model.support_)
    assert 0 < n_support < 350
    assert model.task_.support_.shape == (n_support, 2)
    assert len(pickle.dumps(model)) < 40 * 8 * n_support + 20_000
    assert np.array_equal(again.support_, model.support_)


def test_fit_path_certify_and_warm_starts():
    models = MulticlassSVC(kernel="rbf", tol=1e-3).fit_path(X, Y, [1.0, 10.0, 5.0])
    for model in models:
        cold = MulticlassSVC(C=model.C, kernel="rbf", tol=1e-3).fit(X, Y)
        assert model.certificate_.primal == pytest.approx(cold.certificate_.primal, rel=2e-3)
        assert model.decision_function(X) == pytest.approx(cold.decision_function(X), abs=0.2)
        checked = model.certify(X, Y, tol=1e-4)
        assert checked.primal == pytest.approx(model.certificate_.primal, rel=1e-9)
        assert checked.relative_gap <= 2e-3
        assert pickle.loads(pickle.dumps(model)).certify(X, Y).primal == pytest.approx(checked.primal)
    for solver in ("bcfw", "bundle", "one_slack", NSlack()):
        model = MulticlassSVC(C=1.0, kernel="rbf", warm_start=True, tol=1e-3, solver=solver).fit(X, Y)
        again = pickle.loads(pickle.dumps(model)).set_params(C=5.0).fit(X, Y)
        model.set_params(C=5.0).fit(X, Y)
        for each in (model, again):
            assert each.certificate_.converged
            assert each.certificate_.primal == pytest.approx(models[-1].certificate_.primal, rel=2e-3)


def test_certify_speaks_of_any_data():
    model = SequenceLabeler(C=5, kernel=RBF(0.5)).fit(*chain_data(ties=False))
    other = model.certify(*chain_data((2, 2, 3), seed=3, ties=False))
    assert other.primal > other.dual
    gram = RBF(0.5).fit(X).values(X, X)
    precomputed = MulticlassSVC(kernel="precomputed", fit_intercept=False).fit(gram, Y)
    with pytest.raises(ValueError, match="the certificate of training is the only one"):
        precomputed.certify(gram, Y)


def test_searches_over_kernels():
    search = GridSearchCV(MulticlassSVC(kernel=RBF()), {"kernel__gamma": [0.01, 1.0], "C": [1.0, 10.0]}, cv=2).fit(X, Y)
    assert search.best_estimator_.kernel.gamma in (0.01, 1.0)
    kernel = RBF(0.5).fit(X)
    gram = kernel.values(X, X)
    scores = cross_val_score(MulticlassSVC(C=10, kernel="precomputed", tol=1e-6), gram, Y, cv=4)
    assert scores == pytest.approx(cross_val_score(MulticlassSVC(C=10, kernel=kernel, tol=1e-6), X, Y, cv=4))


def test_a_model_without_support_predicts_as_well():
    oracle_task = Multiclass(kernel="rbf")
    oracle_task.setup(X, Y)
    task, w, _ = oracle_task.pack(X, Y).trained_model(np.zeros(oracle_task.dim))
    assert len(w) == 0
    assert task.scores(w, X) == pytest.approx(np.zeros((40, 3)))


def test_what_has_no_meaning_with_a_kernel():
    model = MulticlassSVC(kernel="rbf", solver="perceptron")
    assert not hasattr(model, "partial_fit")
    model.fit(X, Y)
    for name in ("coef_", "intercept_"):
        with pytest.raises(AttributeError, match=r"MulticlassSVC with a kernel has no weights of features.*support_"):
            getattr(model, name)
    assert MulticlassSVC().fit(X, Y).coef_.shape == (3, 3)
    assert not hasattr(MulticlassSVC().fit(X, Y), "support_")
    refitted = model.set_params(kernel=None, solver="bcfw").fit(X, Y)
    assert not hasattr(refitted, "support_")


BAD = [
    ({"kernel": "gauss"}, X, "kernel must be None, one of 'linear'"),
    ({"kernel": RBF(gamma=-1)}, X, "gamma must be"),
    ({"kernel": "precomputed"}, X, r"must be square in training.*\(40, 3\)"),
    ({"kernel": "precomputed"}, -np.eye(40), "smallest eigenvalue is -1 "),
    (
        {"kernel": RBF(cache_mb=1e-5)},
        X,
        "one row of the kernel matrix of 40 units takes 0.000305 MB, but cache_mb = 1e-05",
    ),
    ({"kernel": Function(lambda A, B: np.full((len(A), len(B)), np.nan))}, X, "units 0 and 0 is not finite"),
    ({"kernel": Function(lambda A, B: A @ B.T * (A[:, :1] > 0))}, X, "the kernel is not symmetric"),
    ({"kernel": "rbf"}, np.where(np.arange(40)[:, None] == 3, np.nan, X), "example 3, feature 0: X contains NaN"),
]


@pytest.mark.parametrize(("options", "inputs", "message"), BAD, ids=[case[2][:30] for case in BAD])
def test_bad_input(options, inputs, message):
    with pytest.raises(ValueError, match=message):
        MulticlassSVC(**options).fit(inputs, Y)


def test_new_rows_of_a_precomputed_kernel_have_a_column_per_training_row():
    model = MulticlassSVC(kernel="precomputed").fit(np.eye(40), Y)
    with pytest.raises(ValueError, match="X has 39 features, but MulticlassSVC is expecting 40"):
        model.predict(np.eye(40)[:, 1:])


def test_tasks_take_kernels_themselves():
    model = StructuredSVM(Multiclass(kernel=Linear()), C=10.0, tol=1e-5).fit(X, Y)
    assert model.certificate_.primal == pytest.approx(
        StructuredSVM(Multiclass(), C=10.0, tol=1e-5).fit(X, Y).certificate_.primal, rel=2e-5
    )
    chain = StructuredSVM(Chain(kernel="rbf"), C=10.0).fit(*chain_data())
    assert len(chain.predict(list(chain_data()[0]))) == 5
    with pytest.raises(ValueError, match="partial_fit is not available with a kernel, because"):
        StructuredSVM(Multiclass(kernel="rbf"), solver="perceptron").partial_fit(X, Y)
