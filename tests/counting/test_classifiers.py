"""CountingClassifier and CountingMultilabel: CountingPredictor for matrices, with scikit-learn's whole contract."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from estimators.problems import CHECKS_WITHOUT_DATA
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_multilabel_classification
from sklearn.exceptions import NotFittedError
from sklearn.metrics import hamming_loss
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from maxmargin.counting.classifier import CountingClassifier
from maxmargin.counting.multilabel import CountingMultilabel
from maxmargin.counting.predictor import CountingPredictor
from maxmargin.counting.sets.classes import Classes, OrderedClasses
from maxmargin.counting.sets.hierarchy import HierarchyLabels
from maxmargin.counting.sets.orders import Permutations
from maxmargin.counting.sets.output_set import OutputSet
from maxmargin.counting.sets.subsets import AllSubsets

X, SPECIES = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[SPECIES]
BAGS, LABELS = make_multilabel_classification(n_samples=80, n_features=12, n_classes=5, random_state=0)
BAGS = BAGS / BAGS.max()


@parametrize_with_checks([CountingClassifier()])
def test_scikit_learn_check_of_the_classifier(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [
        CountingClassifier(kernel="linear"),
        CountingClassifier(kernel="linear", fit_intercept=False),
        CountingClassifier(kernel="linear", solver="cg"),
        CountingClassifier(kernel="rbf", solver="cg"),
        CountingClassifier(kernel="poly", degree=2, alpha=0.1),
    ]
)
def test_scikit_learn_check_of_variants_of_the_classifier(estimator, check):
    check(estimator)


class FromClasses(CountingMultilabel):
    """One column: which rows have the class of the first row. scikit-learn's checks know no subsets, only classes."""

    def fit(self, X, y):
        return super().fit(X, indicators(y))

    def score(self, X, y):
        return super().score(X, indicators(y))


def indicators(y):
    if y is None or np.iscomplexobj(y) or np.size(y) == 0:
        return y
    return np.equal(np.reshape(y, (-1, 1)), np.ravel(y)[0]).astype(int)


@parametrize_with_checks([FromClasses()])
def test_scikit_learn_check_of_subsets(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([FromClasses(kernel="linear"), FromClasses(kernel="linear", solver="cg")])
def test_scikit_learn_check_of_variants_of_subsets(estimator, check):
    check(estimator)


@pytest.mark.parametrize("check", CHECKS_WITHOUT_DATA, ids=lambda check: check.__name__)
@pytest.mark.parametrize("model", [CountingMultilabel(), CountingClassifier(OrderedClasses(3))], ids=repr)
def test_checks_that_need_no_data(model, check):
    check(type(model).__name__, clone(model))


# --- one label per row


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "precomputed"])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_classifier_is_the_predictor_of_classes(kernel, intercept):
    inputs = rbf_kernel(X) if kernel == "precomputed" else X
    options = {"kernel": kernel, "alpha": 0.3, "fit_intercept": intercept, "degree": 2}
    model = CountingClassifier(**options).fit(inputs, NAMES)
    other = CountingPredictor(Classes(sorted(set(NAMES))), **options).fit(inputs, NAMES.tolist())
    np.testing.assert_array_equal(model.decision_function(inputs), other.decision_function(inputs))
    assert model.predict(inputs).tolist() == other.predict(inputs)
    assert model.score(inputs, NAMES) == other.score(inputs, NAMES.tolist())
    assert model.certificate_.primal == other.certificate_.primal


def test_digits_are_learnt():
    images, digits = load_digits(return_X_y=True)
    train = np.arange(len(digits)) % 3 > 0
    for options in ({"kernel": "rbf", "gamma": 0.001}, {"kernel": "linear", "solver": "cg"}):
        model = CountingClassifier(alpha=1e-4, **options).fit(images[train], digits[train])
        assert model.certificate_.converged
        assert model.score(images[~train], digits[~train]) > (0.98 if options["kernel"] == "rbf" else 0.9)


def test_two_classes_have_one_score():
    two = SPECIES > 0
    model = CountingClassifier().fit(X, two)
    assert model.classes_.tolist() == [False, True]
    scores = model.decision_function(X)
    assert scores.shape == (150,)
    np.testing.assert_array_equal(model.predict(X), scores > 0)
    # the scores of two classes are those of regularised least squares: opposite to each other
    both = CountingPredictor(Classes(2), kernel="rbf", fit_intercept=True).fit(X, two.astype(int).tolist())
    np.testing.assert_allclose(both.decision_function(X).sum(1), 0.0, atol=1e-12)
    np.testing.assert_allclose(np.diff(both.decision_function(X))[:, 0], scores, rtol=1e-9, atol=1e-12)


def test_levels():
    model = CountingClassifier(OrderedClasses(["low", "mid", "high", "top"]), kernel="linear", alpha=0.1)
    y = np.array(["low", "mid", "high"])[SPECIES]
    model.fit(X, y)
    assert model.classes_.tolist() == ["high", "low", "mid", "top"]  # sorted, as everywhere in scikit-learn
    steps = model.decision_function(X)[:, [1, 2, 0, 3]]
    inner = CountingPredictor(OrderedClasses(4), kernel="linear", alpha=0.1, fit_intercept=True).fit(
        X, SPECIES.tolist()
    )
    np.testing.assert_allclose(np.diff(steps, axis=1), inner.decision_function(X), atol=1e-10)
    assert model.predict(X).tolist() == [["low", "mid", "high", "top"][k] for k in inner.predict(X)]
    assert model.score(X, y) > 0.8


def test_hierarchies():
    tree = HierarchyLabels({"setosa": "iris", "rest": "iris", "versicolor": "rest", "virginica": "rest"})
    model = CountingClassifier(tree, alpha=0.01, gamma=0.1).fit(X, NAMES)
    assert model.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    scores = model.decision_function(X)
    marks = tree.feature_rows(model.classes_.tolist())
    other = CountingPredictor(tree, kernel="rbf", alpha=0.01, gamma=0.1, fit_intercept=True).fit(X, NAMES.tolist())
    np.testing.assert_allclose(scores, other.decision_function(X) @ marks.T, atol=1e-10)
    assert model.score(X, NAMES) > 0.95
    # labels that the data do not show can be predicted
    wide = CountingClassifier(Classes(["setosa", "versicolor", "virginica", "new"])).fit(X, NAMES)
    assert wide.classes_.tolist() == ["new", "setosa", "versicolor", "virginica"]
    assert wide.decision_function(X).shape == (150, 4)


def test_labels_that_a_set_does_not_have():
    with pytest.raises(ValueError, match="example 100: 'virginica' is not one of the classes; expected 'setosa', 'ver"):
        CountingClassifier(Classes(["setosa", "versicolor"])).fit(X, NAMES)
    for wrong in (3, "ordinal", OrderedClasses, [OrderedClasses(3)]):
        with pytest.raises(TypeError, match="output_set must be an OutputSet of"):
            CountingClassifier(wrong).fit(X, SPECIES)
    for outputs in (Permutations(30), AllSubsets(40)):  # too many to list them
        with pytest.raises(ValueError, match=r"the outputs of .* are not labels; use CountingPredictor"):
            CountingClassifier(outputs).fit(X, SPECIES)
    with pytest.raises(
        ValueError,
        match=r"OutputSet\(\) does not list its outputs; expected an output "
        r"set with labels",
    ):
        CountingClassifier(OutputSet()).fit(X, SPECIES)


BAD = [
    (X, np.zeros(150), r"only one class was found \(\[0.0\]\)"),
    (X, SPECIES[:-1], "inconsistent numbers of samples"),
    (X, X[:, 0], "Unknown label type: continuous"),
    (X, None, "requires y to be passed, but the target y is None"),
    (X[:0], [], r"Found array with 0 sample\(s\)"),
    (np.where(np.arange(4) == 2, np.nan, X), SPECIES, "Input X contains NaN"),
]


@pytest.mark.parametrize(("inputs", "labels", "message"), BAD, ids=[case[2] for case in BAD])
def test_bad_input(inputs, labels, message):
    for train in (CountingClassifier().fit, lambda X, y: CountingClassifier().fit_path(X, y, [1.0])):
        with pytest.raises(ValueError, match=message):
            train(inputs, labels)


@pytest.mark.parametrize("model", [CountingClassifier(kernel="precomputed"), CountingMultilabel(kernel="precomputed")])
def test_bad_kernel_matrices(model):
    K = rbf_kernel(BAGS)
    y = LABELS if isinstance(model, CountingMultilabel) else LABELS[:, 0]
    broken = K.copy()
    broken[3, 5] += 0.5
    for given, message in [
        (K[:, :70], r"must be square, got shape \(80, 70\)"),
        (broken, r"must be symmetric, but its value at \(3, 5\) is"),
        (K - 3 * np.eye(80), "not positive semidefinite"),
        (np.where(np.eye(80), np.nan, K), "Input X contains NaN"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.fit(given, y)
    with pytest.raises(ValueError, match=r"X has 70 features, but .* is expecting 80 features"):
        model.fit(K, y).predict(K[:5, :70])


def test_unknown_parameters_are_named_with_the_estimator():
    for kind in (CountingClassifier, CountingMultilabel):
        with pytest.raises(
            TypeError, match=f"{kind.__name__} has no parameter 'C'; it has .*kernel, alpha, .*max_iter"
        ):
            kind(C=1.0)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_paths_are_their_single_fits(kernel):
    alphas = [0.01, 1.0, 100.0]
    cases = [(CountingClassifier(kernel=kernel), X, NAMES), (CountingMultilabel(kernel=kernel), BAGS, LABELS)]
    for model, inputs, y in cases:
        path = model.fit_path(inputs, y, alphas)
        for step, alpha in zip(path, alphas, strict=True):
            alone = clone(model).set_params(alpha=alpha).fit(inputs, y)
            assert vars(step).keys() == vars(alone).keys()
            np.testing.assert_allclose(
                step.decision_function(inputs), alone.decision_function(inputs), rtol=1e-7, atol=1e-9
            )
            assert step.score(inputs, y) == alone.score(inputs, y)
        np.testing.assert_array_equal(model.predict(inputs), path[-1].predict(inputs))


# --- any subset of labels per row


@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
def test_subsets_are_those_of_the_predictor(kernel):
    inputs = rbf_kernel(BAGS) if kernel == "precomputed" else BAGS
    model = CountingMultilabel(kernel=kernel, alpha=0.5).fit(inputs, LABELS)
    other = CountingPredictor(AllSubsets(5), kernel=kernel, alpha=0.5, fit_intercept=True)
    other.fit(inputs, [frozenset(np.flatnonzero(row).tolist()) for row in LABELS])
    np.testing.assert_array_equal(model.decision_function(inputs), other.decision_function(inputs))
    predicted = model.predict(inputs)
    assert [frozenset(np.flatnonzero(row).tolist()) for row in predicted] == other.predict(inputs)
    assert predicted.dtype == np.int64
    assert model.n_labels_ == 5
    assert model.score(inputs, LABELS) == pytest.approx(1 - hamming_loss(LABELS, predicted))
    assert model.score(inputs, LABELS) > max(LABELS.mean(), 1 - LABELS.mean())


def test_forms_of_indicators():
    expected = CountingMultilabel().fit(BAGS, LABELS)
    for form in (LABELS.tolist(), LABELS.astype(bool), LABELS.astype(float), sparse.csr_array(LABELS)):
        model = CountingMultilabel().fit(BAGS, form)
        np.testing.assert_array_equal(model.decision_function(BAGS), expected.decision_function(BAGS))
        assert model.score(BAGS, form) == expected.score(BAGS, LABELS)


WRONG = [
    (LABELS[:, 0], r"Y must be an \(n, labels\) matrix of zeros and ones, got shape \(80,\)"),
    (np.where(np.arange(80)[:, None] == 7, 2, LABELS), "example 7, label 0: Y is 2; expected 0 or 1"),
    (np.where(np.arange(80)[:, None] == 7, np.nan, LABELS), "example 7, label 0: Y is nan; expected 0 or 1"),
    ([["a", "b"]] * 80, "example 0, label 0: Y is 'a'; expected 0 or 1"),
    ([[0], [1, 2]] * 40, r"Y has rows of different lengths; expected an \(n, labels\) matrix of zeros and ones"),
    (LABELS[:-1], "X has 80 examples but Y has 79: example 79 has no partner"),
    (LABELS[:, :0], "there must be at least 1 item, got 0"),
    (None, "CountingMultilabel requires y to be passed, but the target y is None"),
]


@pytest.mark.parametrize(("labels", "message"), WRONG, ids=[case[1] for case in WRONG])
def test_what_is_no_matrix_of_indicators(labels, message):
    with pytest.raises(ValueError, match=message):
        CountingMultilabel().fit(BAGS, labels)
    with pytest.raises(ValueError, match=message):
        CountingMultilabel().fit_path(BAGS, labels, [1.0])


def test_scores_need_the_same_labels():
    model = CountingMultilabel().fit(BAGS, LABELS)
    for wrong in (LABELS[:, :3], LABELS[:1], LABELS[:-1]):  # numpy would compare the second with every row
        with pytest.raises(ValueError, match=r"Y has shape .*; expected \(80, 5\)"):
            model.score(BAGS, wrong)


def test_subsets_without_examples_and_without_variety():
    everything = CountingMultilabel(kernel="linear").fit(BAGS, np.ones((80, 3)))
    np.testing.assert_array_equal(everything.predict(BAGS), np.ones((80, 3)))
    nothing = CountingMultilabel(kernel="linear").fit(BAGS, np.zeros((80, 3)))
    np.testing.assert_array_equal(nothing.predict(BAGS), np.zeros((80, 3)))


# --- both


MODELS = [
    (CountingClassifier(alpha=0.1), X, NAMES),
    (CountingClassifier(OrderedClasses(3), kernel="linear"), X, SPECIES),
    (CountingMultilabel(alpha=0.1), BAGS, LABELS),
    (CountingMultilabel(kernel="linear", solver="cg"), BAGS, LABELS),
]


@pytest.fixture(params=range(len(MODELS)), ids=lambda k: repr(MODELS[k][0]))
def case(request):
    model, inputs, y = MODELS[request.param]
    return clone(model), inputs, y


def test_all_solvers_agree(case):
    model, inputs, y = case
    closed = clone(model).set_params(solver="closed").fit(inputs, y)
    iterated = model.set_params(solver="cg", tol=1e-12).fit(inputs, y)
    np.testing.assert_allclose(
        iterated.decision_function(inputs), closed.decision_function(inputs), rtol=1e-6, atol=1e-8
    )


def test_sparse_and_other_numbers(case):
    model, inputs, y = case
    rounded = inputs.astype(np.float32)
    expected = clone(model).fit(rounded.astype(float), y).decision_function(rounded)
    fixed = rounded.copy()
    fixed.flags.writeable = False
    for form in (rounded, fixed, sparse.csr_array(rounded), sparse.csc_matrix(rounded), np.asfortranarray(rounded)):
        np.testing.assert_allclose(clone(model).fit(form, y).decision_function(form), expected, rtol=1e-5, atol=1e-7)


def test_pickled_model_predicts_the_same(case):
    model, inputs, y = case
    copy = pickle.loads(pickle.dumps(model.fit(inputs, y)))
    np.testing.assert_array_equal(copy.decision_function(inputs), model.decision_function(inputs))
    np.testing.assert_array_equal(copy.predict(inputs), model.predict(inputs))
    assert copy.certificate_ == model.certificate_


def test_model_selection(case):
    model, inputs, y = case
    search = GridSearchCV(model, {"alpha": [0.01, 1.0, 1e6]}, cv=3).fit(inputs, y)
    assert search.best_params_["alpha"] < 1e6
    assert search.best_score_ == max(search.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(search.predict(inputs), search.best_estimator_.predict(inputs))
    assert cross_val_predict(model, inputs, y, cv=3).shape == y.shape
    pipeline = make_pipeline(StandardScaler(), clone(model)).fit(inputs, y)
    assert pipeline.score(inputs, y) == pipeline[-1].score(StandardScaler().fit_transform(inputs), y)


def test_folds_of_kernel_matrices(case):
    model, inputs, y = case
    model.set_params(kernel="rbf", gamma=0.5, solver="auto")
    scores = cross_val_score(model, inputs, y, cv=3)
    np.testing.assert_allclose(
        cross_val_score(model.set_params(kernel="precomputed"), rbf_kernel(inputs, gamma=0.5), y, cv=3), scores
    )


def test_unfitted(case):
    model, inputs, y = case
    for call in (model.predict, model.decision_function, lambda X: model.score(X, y)):
        with pytest.raises(NotFittedError):
            call(inputs)


def test_names_of_columns(case):
    pandas = pytest.importorskip("pandas")
    model, inputs, y = case
    table = pandas.DataFrame(inputs, columns=[f"c{j}" for j in range(inputs.shape[1])])
    labels = pandas.DataFrame(y) if y.ndim == 2 else pandas.Series(y)
    model.fit(table, labels)
    assert model.feature_names_in_.tolist() == list(table.columns)
    np.testing.assert_array_equal(model.predict(table), clone(model).fit(inputs, y).predict(inputs))
    with pytest.raises(ValueError, match="The feature names should match"):
        model.predict(table[table.columns[::-1]])


def test_tags():
    assert get_tags(CountingClassifier()).estimator_type == "classifier"
    assert get_tags(CountingClassifier(kernel="precomputed")).input_tags.pairwise
    tags = get_tags(CountingMultilabel()).target_tags
    assert tags.two_d_labels
    assert tags.multi_output
    assert not tags.single_output


def test_repr_names_only_what_was_changed():
    assert (
        repr(CountingClassifier(OrderedClasses(3), alpha=2))
        == "CountingClassifier(alpha=2, output_set=OrderedClasses(levels=3))"
    )
    assert repr(CountingMultilabel(kernel="poly", degree=4)) == "CountingMultilabel(degree=4, kernel='poly')"
