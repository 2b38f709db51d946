"""MulticlassSVC against liblinear, and its own promises."""

import numpy as np
import pandas as pd
import pytest
from proofs import prove_every_weight_has_a_name
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from maxmargin import MulticlassSVC
from maxmargin.kernels import KernelMap

X, y = load_iris(return_X_y=True)
X = StandardScaler().fit_transform(X)
NAMES = np.array(["setosa", "versicolor", "virginica"])[y]


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("c", [0.01, 1.0])
def test_crammer_singer_of_liblinear(c, fit_intercept):
    """liblinear adds C times each slack, this library C times their mean; both regularise the constant feature."""
    other = LinearSVC(multi_class="crammer_singer", C=c, tol=1e-8, max_iter=200_000, fit_intercept=fit_intercept)
    other.fit(X, y)
    model = MulticlassSVC(C=c * len(X), solver="one_slack", tol=1e-7, fit_intercept=fit_intercept).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), other.decision_function(X), atol=2e-3)
    np.testing.assert_array_equal(model.predict(X), other.predict(X))
    np.testing.assert_allclose(model.coef_, other.coef_, atol=2e-3)
    np.testing.assert_allclose(model.intercept_, other.intercept_ * fit_intercept, atol=2e-3)


def test_two_classes_are_the_ordinary_svm():
    """With w₁ = -w₀ = v/2 the objective is ¼‖v‖² + C · mean hinge: liblinear's with C = n/2 times its own."""
    rows, labels = X[50:], NAMES[50:]
    other = LinearSVC(loss="hinge", C=0.1, tol=1e-8, max_iter=500_000).fit(rows, labels)
    model = MulticlassSVC(C=0.1 * len(rows) / 2, solver="one_slack", tol=1e-8).fit(rows, labels)
    scores = model.decision_function(rows)
    assert scores.shape == (100,)
    np.testing.assert_allclose(scores, other.decision_function(rows), atol=2e-3)
    np.testing.assert_array_equal(model.predict(rows), np.where(scores > 0, model.classes_[1], model.classes_[0]))


def test_default_is_within_its_tolerance():
    model = MulticlassSVC(C=10.0).fit(X, y)
    best = MulticlassSVC(C=10.0, solver="one_slack", tol=1e-7).fit(X, y).certificate_
    assert model.certificate_.relative_gap <= 1e-3
    assert best.dual * (1 - 1e-9) <= model.certificate_.primal <= best.primal * 1.001


def test_weights_are_of_the_kept_objective():
    model = MulticlassSVC(C=10.0).fit(X, y)
    scores = X @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), scores)
    margins = scores - scores[np.arange(len(y)), y][:, None] + (np.arange(3) != y[:, None])
    objective = 0.5 * (np.sum(model.coef_**2) + np.sum(model.intercept_**2)) + 10.0 * np.mean(margins.max(axis=1))
    assert model.certificate_.primal == pytest.approx(objective)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_sparse_rows(kind):
    np.testing.assert_allclose(MulticlassSVC().fit(kind(X), y).w_, MulticlassSVC().fit(X, y).w_, rtol=1e-9)


@pytest.mark.parametrize("kind", ["U", "O", "int8", "float", "bool"])
def test_kinds_of_labels(kind):
    labels = {"U": NAMES, "O": NAMES.astype(object), "int8": y.astype(np.int8), "float": y.astype(float), "bool": y > 0}
    model = MulticlassSVC().fit(X, labels[kind])
    assert model.classes_.dtype == labels[kind].dtype == model.predict(X).dtype
    assert model.score(X, labels[kind]) > 0.85


def test_costs_of_labels_and_of_confusions():
    by_name = MulticlassSVC(C=10.0, costs={"virginica": 5.0}).fit(X, NAMES)
    matrix = np.array([[0, 1, 1], [1, 0, 1], [5, 5, 0]])
    np.testing.assert_array_equal(MulticlassSVC(C=10.0, costs=matrix).fit(X, NAMES).w_, by_name.w_)
    plain = MulticlassSVC(C=10.0).fit(X, NAMES)
    missed = [np.sum((NAMES == "virginica") & (model.predict(X) != "virginica")) for model in (plain, by_name)]
    assert missed[1] < missed[0]


def test_parameters_changed_after_fit_change_nothing():
    model = MulticlassSVC().fit(X, y)
    found, coef = model.decision_function(X), model.coef_
    model.set_params(fit_intercept=False, C=100.0, costs={0: 2.0})
    np.testing.assert_array_equal(model.decision_function(X), found)
    np.testing.assert_array_equal(model.coef_, coef)
    assert model.intercept_.any()


def test_tools_of_scikit_learn():
    pipeline = make_pipeline(StandardScaler(), MulticlassSVC())
    search = GridSearchCV(pipeline, {"multiclasssvc__C": [0.01, 10.0]}, cv=3).fit(X, NAMES)
    assert search.best_params_ == {"multiclasssvc__C": 10.0}
    assert OneVsRestClassifier(MulticlassSVC()).fit(X, NAMES).score(X, NAMES) > 0.85


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_weights_by_name(fit_intercept):
    columns = ["sepal length", "sepal width", "petal length", "petal width"]
    frame = pd.DataFrame(X, columns=columns)
    model = MulticlassSVC(C=10.0, fit_intercept=fit_intercept).fit(frame, NAMES)
    prove_every_weight_has_a_name(model)
    features = model.weights_["features"]
    assert dict(zip(features.axes, features.names, strict=True)) == {"feature": columns, "label": list(model.classes_)}
    assert features["petal width", "versicolor"] == model.coef_[1, 3]
    if fit_intercept:
        assert model.weights_["intercept"]["virginica"] == model.intercept_[2]
    largest = int(np.argmax(np.abs(model.coef_[0])))
    expected = (f"features: feature={columns[largest]}, label=setosa", model.coef_[0, largest])
    assert expected in [tuple(each) for each in model.top_weights("setosa", 2)]
    assert MulticlassSVC().fit(X, NAMES).weights_["features"].names[0] == [0, 1, 2, 3]


@pytest.mark.parametrize("kernel", ["rbf", KernelMap(n_components=5)])
def test_with_a_kernel_there_are_no_weights_of_features(kernel):
    model = MulticlassSVC(kernel=kernel, max_passes=5).fit(X, NAMES)
    for call in (lambda: model.weights_, lambda: model.coef_, model.top_weights):
        with pytest.raises(AttributeError, match="MulticlassSVC with a kernel has no weights of features"):
            call()
