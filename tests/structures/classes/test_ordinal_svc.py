"""OrdinalSVC: scikit-learn's checks, the binary SVM as its smallest case, and what an order is good for."""

import pickle

import numpy as np
import pytest
from proofs import prove_every_weight_has_a_name
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from maxmargin import MulticlassSVC, OrdinalSVC, TaxonomySVC

# Marks from 0 to 4 for a quality that is seen with noise; the direction of it is hidden.
NAMES = np.array(["awful", "poor", "fair", "good", "great"])
HIDDEN = np.array([1.0, -2.0, 0.5, 0.0])


def marks(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    return X, np.searchsorted([-2.5, -1.0, 0.5, 2.0], X @ HIDDEN + 0.7 * rng.standard_normal(n))


X, y = marks(150)
X_test, y_test = marks(1000, seed=1)
both_models = pytest.mark.parametrize("directions", ["shared", "separate"])


@both_models
def test_two_classes_are_the_ordinary_svm(directions):
    """One step: ½‖u‖² + ½b² + C · mean hinge, liblinear's with C = n times its own."""
    other = LinearSVC(loss="hinge", C=0.1, tol=1e-8, max_iter=500_000).fit(X, y > 1)
    model = OrdinalSVC(directions=directions, C=0.1 * len(X), solver="one_slack", tol=1e-8).fit(X, y > 1)
    np.testing.assert_allclose(model.coef_, other.coef_, atol=2e-3)
    np.testing.assert_allclose(model.intercept_, other.intercept_, atol=2e-3)
    np.testing.assert_allclose(model.decision_function(X), other.decision_function(X), atol=5e-3)
    np.testing.assert_array_equal(model.predict(X), other.predict(X))


def test_separate_directions_are_a_taxonomy_that_is_a_chain():
    chain = TaxonomySVC({k: k - 1 for k in range(1, 5)}, sharing=1, predict_at="nodes", C=10.0, tol=1e-6).fit(X, y)
    model = OrdinalSVC(directions="separate", C=10.0, tol=1e-6).fit(X, y)
    assert model.certificate_.primal == pytest.approx(chain.certificate_.primal, rel=2e-6)
    np.testing.assert_allclose(model.coef_, chain.coef_, atol=2e-2)
    np.testing.assert_allclose(-model.thresholds_, chain.intercept_, atol=2e-2)


@both_models
def test_weights_are_of_the_kept_objective(directions):
    model = OrdinalSVC(directions=directions, C=10.0).fit(X, y)
    assert model.coef_.shape == (1 if directions == "shared" else 4, 4)
    steps = (X @ model.coef_.T) - model.thresholds_
    scores = np.column_stack([np.zeros(len(X)), np.cumsum(steps, axis=1)])
    np.testing.assert_allclose(model.decision_function(X), scores)
    hinges = np.max(np.abs(np.arange(5) - y[:, None]) + scores - scores[np.arange(len(y)), y][:, None], axis=1)
    objective = 0.5 * (np.sum(model.coef_**2) + np.sum(model.thresholds_**2)) + 10.0 * np.mean(hinges)
    assert model.certificate_.primal == pytest.approx(objective)
    assert model.certificate_.relative_gap <= 1e-3


@both_models
def test_weights_by_name(directions):
    model = OrdinalSVC(NAMES, directions=directions).fit(X, NAMES[y])
    prove_every_weight_has_a_name(model)
    steps, features = list(NAMES[1:]), model.weights_["features"]
    for k, step in enumerate(steps):
        assert model.weights_["intercept"][step] == -model.thresholds_[k]
        if directions == "separate":
            assert [features[j, step] for j in range(4)] == list(model.coef_[k])
    if directions == "shared":
        assert [features[j] for j in range(4)] == list(model.coef_[0])
    assert len(model.top_weights("fair", 9)) == (1 if directions == "shared" else 5)
    with pytest.raises(ValueError, match="no weight belongs to the label 'awful'"):  # no step leads there
        model.top_weights("awful")


def test_with_a_kernel_the_thresholds_are_left():
    model = OrdinalSVC(kernel="rbf", max_passes=10).fit(X, y)
    assert list(model.weights_) == ["intercept"]
    np.testing.assert_array_equal(model.weights_["intercept"], -model.thresholds_)
    with pytest.raises(AttributeError, match="OrdinalSVC with a kernel has no weights of features"):
        _ = model.coef_


def test_finds_the_direction_and_the_thresholds():
    model = OrdinalSVC().fit(X, y)
    u = model.coef_[0]
    assert u @ HIDDEN / np.linalg.norm(u) / np.linalg.norm(HIDDEN) > 0.98
    assert (np.diff(model.thresholds_) > 0).all()
    places = model.positions(X)
    np.testing.assert_allclose(places, X @ u)
    np.testing.assert_array_equal(model.predict(X), np.sum(places[:, None] > model.thresholds_, axis=1))
    assert OrdinalSVC(directions="separate").fit(X, y).positions(X).shape == (150, 4)


def test_an_order_helps():
    away = {
        model: mean_absolute_error(y_test, estimator.fit(X, y).predict(X_test))
        for model, estimator in (("order", OrdinalSVC()), ("none", MulticlassSVC()))
    }
    assert away["order"] < away["none"]


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
@pytest.mark.parametrize("slack", ["l1", "l2"])
@both_models
def test_solvers_agree_in_all_formulations(rescaling, slack, directions):
    options = {"directions": directions, "C": 5.0, "rescaling": rescaling, "slack": slack}
    exact = OrdinalSVC(solver="one_slack", tol=1e-5, **options).fit(X, y).certificate_
    default = OrdinalSVC(**options).fit(X, y).certificate_
    assert exact.converged
    assert default.dual <= exact.primal * (1 + 1e-9)
    assert exact.dual * (1 - 1e-9) <= default.primal <= exact.primal * 1.001


def test_an_order_of_names():
    model = OrdinalSVC(NAMES).fit(X, NAMES[y])
    np.testing.assert_array_equal(model.classes_, NAMES)
    np.testing.assert_array_equal(model.w_, OrdinalSVC().fit(X, y).w_)
    np.testing.assert_array_equal(model.predict(X_test), NAMES[OrdinalSVC().fit(X, y).predict(X_test)])
    by_alphabet = OrdinalSVC().fit(X, NAMES[y])
    assert list(by_alphabet.classes_) == sorted(NAMES)
    assert by_alphabet.score(X, NAMES[y]) < model.score(X, NAMES[y])


def test_reversed_order_is_the_same_model_mirrored():
    forth = OrdinalSVC([0, 1, 2, 3, 4], tol=1e-5).fit(X, y)
    back = OrdinalSVC([4, 3, 2, 1, 0], tol=1e-5).fit(X, y)
    np.testing.assert_allclose(back.coef_, -forth.coef_, atol=0.05)
    np.testing.assert_allclose(back.thresholds_, -forth.thresholds_[::-1], atol=0.05)


def test_classes_without_examples():
    model = OrdinalSVC(range(7)).fit(X, y)
    assert model.decision_function(X).shape == (150, 7)
    assert model.thresholds_.shape == (6,)


def test_mistakes_that_cost_the_same():
    ones = np.ones((5, 5)) - np.eye(5)
    equal = OrdinalSVC(measure="error").fit(X, y)
    np.testing.assert_array_equal(equal.w_, OrdinalSVC(costs=ones).fit(X, y).w_)
    assert not np.array_equal(equal.w_, OrdinalSVC().fit(X, y).w_)


def test_costs():
    matrix = np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    np.testing.assert_array_equal(OrdinalSVC(costs=matrix).fit(X, y).w_, OrdinalSVC().fit(X, y).w_)
    wide = np.where(np.subtract.outer(np.arange(5), np.arange(5)) > 0, 10 * matrix, matrix)  # too low is worse
    found = OrdinalSVC(costs=wide).fit(X, y).predict(X)
    assert np.sum(found < y) < np.sum(OrdinalSVC().fit(X, y).predict(X) < y)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_sparse_rows(kind):
    model = OrdinalSVC().fit(kind(X), y)
    np.testing.assert_allclose(model.w_, OrdinalSVC().fit(X, y).w_, rtol=1e-9)
    np.testing.assert_allclose(model.positions(kind(X)), model.positions(X))


WRONG = [
    ({"order": NAMES}, [*NAMES[y][:9], "bad", *NAMES[y][10:]], "example 9: the label 'bad' is not one of the classes"),
    ({"order": [0, 1, 2]}, y, "example [0-9]+: the label [34] is not one of the classes .0, 1, 2."),
    ({"order": ["poor", "good", "poor"]}, NAMES[y], "classes contains a label twice"),
    ({"directions": "one"}, y, "directions must be 'shared' or 'separate', got 'one'"),
    ({"measure": "tree"}, y, "measure must be 'distance' or 'error', got 'tree'"),
    ({"costs": np.ones((3, 3))}, y, r"the cost matrix has shape \(3, 3\); expected \(5, 5\)"),
]


@pytest.mark.parametrize(("options", "labels", "message"), WRONG, ids=[case[2] for case in WRONG])
def test_bad_input(options, labels, message):
    with pytest.raises(ValueError, match=message):
        OrdinalSVC(**options).fit(X, labels)


def test_bad_numbers():
    model = OrdinalSVC().fit(X, y)
    wrong = X.copy()
    wrong[3, 1] = np.nan
    for call in (model.predict, model.positions, model.decision_function, lambda rows: clone(model).fit(rows, y)):
        with pytest.raises(ValueError, match="example 3, feature 1: X contains NaN or infinity"):
            call(wrong)


def test_partial_fit():
    model = OrdinalSVC(solver="perceptron")
    with pytest.raises(ValueError, match="first call of partial_fit needs classes"):
        model.partial_fit(X[:5], y[:5])
    model.partial_fit(X[:5], y[:5], classes=range(5)).partial_fit(X, y)
    with pytest.raises(ValueError, match="classes differs from the classes of the first call"):
        model.partial_fit(X, y, classes=range(4))
    named = OrdinalSVC(NAMES, solver="perceptron")
    for _ in range(10):
        named.partial_fit(X, NAMES[y])
    np.testing.assert_array_equal(named.classes_, NAMES)
    assert named.score(X, NAMES[y]) > 0.5


def test_path_certify_and_pickle():
    path = OrdinalSVC(NAMES).fit_path(X, NAMES[y], [0.1, 10.0])
    assert path[1].certify(X, NAMES[y]).primal == pytest.approx(path[1].certificate_.primal)
    copy = pickle.loads(pickle.dumps(path[1]))
    np.testing.assert_array_equal(copy.predict(X), path[1].predict(X))


def test_tools_of_scikit_learn():
    grid = {"ordinalsvc__C": [0.01, 10.0], "ordinalsvc__directions": ["shared", "separate"]}
    search = GridSearchCV(make_pipeline(StandardScaler(), OrdinalSVC()), grid, scoring="neg_mean_absolute_error", cv=3)
    assert search.fit(X, y).best_params_["ordinalsvc__C"] == 10.0
