"""weights_ and top_weights of counting-based models: every weight once, under the names of what it is for."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from maxmargin import CountingClassifier, CountingMultilabel, CountingPredictor, RoutePredictor
from maxmargin.base.named_weights import Weights, top_weights
from maxmargin.counting import (
    AllSubsets,
    Assignments,
    Classes,
    HierarchyLabels,
    LabelSequences,
    OrderedClasses,
    Permutations,
    Subsets,
)

X, SPECIES = load_iris(return_X_y=True)
COLUMNS = ["sepal length", "sepal width", "petal length", "petal width"]
TABLE = pd.DataFrame(X, columns=COLUMNS)
NAMES = np.array(["setosa", "versicolor", "virginica"])[SPECIES]
TREE = {"setosa": "iris", "rest": "iris", "versicolor": "rest", "virginica": "rest"}


def named(values):
    """All numbers of the arrays, with how often each comes; zeros may stand where there is no coordinate."""
    numbers = np.concatenate([np.ravel(each) for each in values])
    return np.sort(numbers[numbers != 0])


@pytest.mark.parametrize("solver", ["closed", "cg"])
@pytest.mark.parametrize("intercept", [True, False])
def test_classes_and_columns_have_their_names(solver, intercept):
    model = CountingClassifier(kernel="linear", fit_intercept=intercept, solver=solver).fit(TABLE, NAMES)
    assert model.coef_.shape == (3, 4)
    weights = model.weights_
    assert list(weights) == (["features", "intercept"] if intercept else ["features"])
    assert weights["features"].axes == ("feature", "label")
    assert weights["features"]["petal width", "setosa"] == model.coef_[0, 3]
    np.testing.assert_array_equal(np.asarray(weights["features"]).T, model.coef_)
    if intercept:
        assert weights["intercept"]["virginica"] == model.intercept_[2]
    best = model.top_weights("setosa", 2)
    setosa = np.abs([*model.coef_[0], *([model.intercept_[0]] if intercept else [])])
    assert [abs(each.weight) for each in best] == sorted(setosa, reverse=True)[:2]
    assert all("label=setosa" in each.name for each in best)
    with pytest.raises(ValueError, match="no weight belongs to the label 'rose'"):
        model.top_weights("rose")
    with pytest.raises(ValueError, match="n must be a whole number >= 1, got 0"):
        model.top_weights(n=0)


def test_numbers_where_there_are_no_names():
    labels = (X[:, :3] > X[:, :3].mean(0)).astype(int)
    model = CountingMultilabel(kernel="linear").fit(X, labels)
    weights = model.weights_
    assert weights["features"].names == ([0, 1, 2, 3], [0, 1, 2])
    assert weights["features"][3, 1] == model.coef_[1, 3]
    assert weights["intercept"][2] == model.intercept_[2]


@pytest.mark.parametrize(
    ("outputs", "coordinates"),
    [
        (Classes("ab"), ["a", "b"]),
        (OrderedClasses(["low", "mid", "high"]), [("above", "low"), ("above", "mid")]),
        (Subsets("abc", 2), ["a", "b", "c"]),
        (AllSubsets(2), [0, 1]),
        (HierarchyLabels(TREE), ["rest", "setosa", "versicolor", "virginica"]),
        (Permutations("abc"), [("a", "b"), ("a", "c"), ("b", "c")]),
        (Assignments("ab", "xy"), [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]),
        (LabelSequences("ab", 3), ["a", "b", ("a", "a"), ("a", "b"), ("b", "a"), ("b", "b")]),
    ],
    ids=lambda each: type(each).__name__,
)
def test_coordinates_of_sets_have_names(outputs, coordinates):
    assert list(outputs.coordinates) == coordinates
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(12, 2))
    model = CountingPredictor(outputs, fit_intercept=True).fit(rows, [outputs.sample(rng) for _ in rows])
    weights = model.weights_
    assert weights["features"].names == ([0, 1], coordinates)
    assert weights["intercept"].names == (coordinates,)
    np.testing.assert_array_equal(np.asarray(weights["features"]), model.coef_.T)
    np.testing.assert_array_equal(np.asarray(weights["intercept"]), model.intercept_)
    largest = max(np.abs(model.coef_).max(), np.abs(model.intercept_).max())
    assert abs(model.top_weights(n=1)[0].weight) == largest


def test_sets_of_their_own_have_the_names_of_the_set_of_the_model():
    rng = np.random.default_rng(0)
    sets = [LabelSequences("ab", 2 + i % 2) for i in range(8)]
    rows, Y = rng.normal(size=(8, 1)), [each.sample(rng) for each in sets]
    model = CountingPredictor(LabelSequences("ab", 4)).fit(rows, Y, output_sets=sets)
    assert model.weights_["features"].names[1] == sets[0].coordinates
    other = CountingPredictor(Classes(2)).fit(rows, Y, output_sets=sets)
    assert other.weights_["features"].names[1] == list(range(6))


def test_pairs_speak_of_both_of_their_items():
    weights = {"pairs": Weights([[1.0, -3.0, 2.0]], feature=["b"], coordinate=[("a", "b"), ("b", "c"), ("a", "c")])}
    assert [each.weight for each in top_weights(weights, "b", 5)] == [-3.0, 1.0]
    assert [each.weight for each in top_weights(weights, ("a", "c"), 5)] == [2.0]
    assert [each.name for each in top_weights(weights, None, 1)] == ["pairs: feature=b, coordinate=('b', 'c')"]


ROUTES = [["inn", "zoo", "bay"], ["bay", "zoo", "inn"], ["zoo", "bay"], ["inn", "bay", "zoo"]]
TRIPS = pd.DataFrame([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 0.5]], columns=["old", "green"])


@pytest.mark.parametrize("shape", ["path", "cycle"])
@pytest.mark.parametrize("features", [True, False])
def test_routes_have_steps_and_ends(shape, features):
    routes = ROUTES if shape == "path" else [*ROUTES[:2], ["inn", "bay", "zoo"], ["zoo", "inn", "bay"]]
    model = RoutePredictor(shape=shape).fit(TRIPS if features else None, routes)
    weights = model.weights_
    parts = ["steps", "first", "last", "empty"] if shape == "path" else ["steps"]
    assert list(weights) == [*(parts if features else []), *(f"intercept_{part}" for part in parts)]
    np.testing.assert_array_equal(named(weights.values()), named([model.coef_, model.intercept_]))
    constant = np.asarray(weights["intercept_steps"])
    if not features:
        np.testing.assert_array_equal(constant, model.decision_function()[0])
        return
    old = pd.DataFrame([[1.0, 0.0]], columns=TRIPS.columns)
    steps = np.asarray(weights["steps"])
    np.testing.assert_allclose(model.decision_function(old)[0], steps[0] + constant, atol=1e-12)
    assert weights["steps"]["green", "zoo", "bay"] == steps[1, 2, 0]
    if shape == "path":
        first, last = (np.asarray(weights[part])[0] + np.asarray(weights[f"intercept_{part}"]) for part in parts[1:3])
        np.testing.assert_allclose(model.end_scores(old), (first[None], last[None]), atol=1e-12)
    assert all("inn" in each.name for each in model.top_weights("inn", 20))


def test_there_are_no_weights_without_training_or_with_a_kernel():
    for model in (CountingClassifier(), CountingMultilabel(), CountingPredictor(Classes(3)), RoutePredictor()):
        for tell in (lambda model: model.weights_, lambda model: model.top_weights(), lambda model: model.coef_):
            with pytest.raises(NotFittedError):
                tell(model)
    model = CountingClassifier(kernel="rbf").fit(X, NAMES)
    for tell in (lambda model: model.weights_, lambda model: model.top_weights(), lambda model: model.coef_):
        with pytest.raises(AttributeError, match=r"CountingClassifier with a kernel has no weights .*dual_coef_"):
            tell(model)


def test_labels_have_the_names_that_are_given():
    X, Y = np.eye(3), [[0, 1], [1, 0], [1, 1]]
    model = CountingMultilabel("linear", classes=["calm", "glad"]).fit(X, Y)
    assert model.weights_["features"].names[1] == ["calm", "glad"]
    with pytest.raises(ValueError, match="classes names 1 labels, but Y has 2 columns"):
        CountingMultilabel(classes=["calm"]).fit(X, Y)
