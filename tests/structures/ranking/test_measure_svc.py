"""MeasureSVC: scikit-learn's own checks, what each measure is trained for, weights, thresholds, and bad input.

What cross-validation adds is in test_measure_svc_cut.py; here most models are those of the measure's bound alone.
"""

import pickle
from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.metrics import (
    average_precision_score,
    balanced_accuracy_score,
    f1_score,
    fbeta_score,
    roc_auc_score,
)
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from maxmargin import MeasureSVC
from maxmargin.errors import NothingLearnt, TaskError
from maxmargin.inputs import matrices
from maxmargin.structures.ranking.measures import NAMES
from maxmargin.structures.ranking.soft_labels import SoftLabels

X, y = make_classification(
    120, n_features=6, n_informative=4, weights=[0.75], class_sep=2.5, flip_y=0.02, random_state=0
)
pure = partial(MeasureSVC, train_for="measure", cut="trained")
EVERY = [*NAMES, "roc_auc", "average_precision"]
every = pytest.mark.parametrize("measure", EVERY)
WEIGHTED = ["error", "balanced_error", "roc_auc"]
COUNTED = ["f1", "prbep", "average_precision", "kld"]


def quadratic(tp, fp, fn, tn):
    """A loss of a user's own."""
    return ((fp + fn) / (tp + fp + fn + tn)) ** 2


def expected_failures(estimator):
    if estimator.measure != "precision_at_k":
        return {}
    return {"check_classifiers_train": "it asks for an accuracy that no cut after the three highest scores can have"}


@pytest.mark.filterwarnings("ignore::maxmargin.errors.CutNotValidated")  # of samples with one positive example
@parametrize_with_checks([pure()], expected_failed_checks=expected_failures)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::maxmargin.errors.CutNotValidated")
@parametrize_with_checks(
    [
        MeasureSVC(),  # which trains for every fold and every C: half a minute
        MeasureSVC("roc_auc"),
        MeasureSVC("average_precision"),
        MeasureSVC("error", C=1.0, tol=1e-8),
        MeasureSVC("precision_at_k", k=3),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_check_of_variants(estimator, check):
    check(estimator)


# --- what is trained


@pytest.mark.parametrize("C", [1.0, 50.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_error_is_the_linear_svm(C, fit_intercept):
    ours = pure("error", C=C, fit_intercept=fit_intercept, tol=1e-7).fit(X, y)
    peer = LinearSVC(
        loss="hinge", C=C / len(y), fit_intercept=fit_intercept, intercept_scaling=1, tol=1e-7, max_iter=10**6
    ).fit(X, y)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=2e-3)
    np.testing.assert_allclose(ours.intercept_, peer.intercept_, atol=2e-3)
    weights = peer.coef_[0], np.ravel(peer.intercept_ if fit_intercept else [])
    hinges = np.maximum(0, 1 - (2 * y - 1) * peer.decision_function(X))
    value = 0.5 * sum(part @ part for part in weights) + C * hinges.mean()
    assert ours.certificate_.primal == pytest.approx(value, rel=1e-4)


def test_roc_area_is_the_mean_hinge_of_pairs():
    model = pure("roc_auc", C=10.0, tol=1e-5).fit(X, y)
    scores = X @ model.coef_[0]
    hinges = np.maximum(0, 1 - np.subtract.outer(scores[y == 1], scores[y == 0]))
    value = 0.5 * model.coef_[0] @ model.coef_[0] + 10 * hinges.mean()
    assert model.certificate_.primal == pytest.approx(value, rel=1e-9)
    assert model.certificate_.relative_gap <= 1e-5


@every
def test_certificate(measure):
    model = pure(measure, k=20, beta=2.0).fit(X, y)
    certificate = model.certificate_
    assert certificate.exact
    assert certificate.converged
    assert certificate.relative_gap <= 1e-2
    assert len(model.history_) > 0
    again = model.certify(X, y)
    assert again.primal == pytest.approx(certificate.primal)
    assert again.dual <= certificate.primal


@pytest.mark.parametrize("measure", [name for name in EVERY if not name.endswith("_at_k")])
def test_hinge_is_at_least_the_loss(measure):
    """Not so for measures at k: the truth is not one of the predictions that they compare."""
    model = pure(measure).fit(X, y)
    slack = (model.certificate_.primal - 0.5 * model.w_ @ model.w_) / model.C
    score = model.score(X, y)
    assert slack >= (-score if score <= 0 else 1 - score) - 1e-9


@pytest.mark.parametrize(("rescaling", "slack"), [("slack", "l1"), ("margin", "l2"), ("slack", "l2")])
@pytest.mark.parametrize("measure", ["f1", "precision_at_k", "roc_auc", quadratic])
def test_other_formulations(measure, rescaling, slack):
    model = pure(measure, k=20, rescaling=rescaling, slack=slack).fit(X, y)
    assert model.certificate_.converged
    assert model.certificate_.exact
    assert model.score(X, y) > (-0.1 if callable(measure) else 0.7)


def test_a_function_as_measure():
    model = pure(quadratic, C=1000.0).fit(X, y)
    assert model.certificate_.converged
    error = np.mean(model.predict(X) != y)
    assert model.score(X, y) == pytest.approx(-(error**2))
    same = pure(lambda tp, fp, fn, tn: 1 - 2 * tp / (2 * tp + fp + fn), tol=1e-5).fit(X, y)
    named = pure("f1", tol=1e-5).fit(X, y)
    assert same.certificate_.primal == pytest.approx(named.certificate_.primal, rel=2e-5)


def test_measures_differ():
    """Each is best at its own, by as much as training allows."""
    recall_first = pure("fbeta", beta=4.0).fit(X, y)
    precision_first = pure("fbeta", beta=0.25).fit(X, y)
    assert recall_first.predict(X).sum() > precision_first.predict(X).sum()


@pytest.mark.parametrize("solver", ["bundle", "bcfw", "n_slack"])
def test_solvers_agree(solver):
    values = [pure(solver=each, tol=1e-4).fit(X, y).certificate_.primal for each in ("one_slack", solver)]
    assert values[0] == pytest.approx(values[1], rel=3e-4)


# --- scores and thresholds


def test_scores_are_those_of_scikit_learn():
    for measure, expected in (
        ("f1", lambda m: f1_score(y, m.predict(X))),
        ("fbeta", lambda m: fbeta_score(y, m.predict(X), beta=2.0)),
        ("error", lambda m: -np.mean(m.predict(X) != y)),
        ("balanced_error", lambda m: balanced_accuracy_score(y, m.predict(X)) - 1),
        ("roc_auc", lambda m: roc_auc_score(y, m.decision_function(X))),
        ("average_precision", lambda m: average_precision_score(y, m.decision_function(X))),
        ("precision_at_k", lambda m: np.mean(y[np.argsort(-m.decision_function(X))[:20]])),
        ("recall_at_k", lambda m: np.sum(y[np.argsort(-m.decision_function(X))[:20]]) / y.sum()),
        ("prbep", lambda m: np.mean(y[np.argsort(-m.decision_function(X))[: y.sum()]])),
        ("absolute_error", lambda m: -abs(m.predict(X).mean() - y.mean())),
    ):
        model = pure(measure, k=20, beta=2.0).fit(X, y)
        assert model.score(X, y) == pytest.approx(expected(model)), measure


@pytest.mark.parametrize("measure", ["f1", "error", "balanced_error", "roc_auc", "average_precision", "kld", "q"])
def test_weighted_scores_are_those_of_repeated_rows(measure):
    model, times = pure(measure).fit(X, y), np.arange(len(y)) % 3
    repeated = model.score(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert model.score(X, y, sample_weight=times) == pytest.approx(repeated)


@pytest.mark.parametrize(("measure", "positives"), [("precision_at_k", 25), ("recall_at_k", 25), ("prbep", y.sum())])
def test_as_many_are_predicted_as_the_measure_looks_at(measure, positives):
    model = pure(measure, k=25).fit(X, y)
    assert model.predict(X).sum() == positives
    scores = np.sort(model.decision_function(X))[::-1]
    assert scores[positives - 1] == pytest.approx(-scores[positives])  # half way between


def test_k_of_the_whole_sample():
    model = pure("recall_at_k", k=len(y) - 1).fit(X, y)
    assert model.predict(X).sum() == len(y) - 1
    with pytest.warns(NothingLearnt, match="w = 0 is optimal, because the objective is 0"):
        model = pure("recall_at_k", k=len(y)).fit(X, y)  # all are shown, whatever the scores
    assert model.predict(X).all()
    assert model.score(X, y) == 1


@pytest.mark.parametrize("measure", ["roc_auc", "average_precision"])
def test_measures_of_order_cut_where_balanced_errors_are_fewest(measure):
    model = pure(measure).fit(X, y)
    scores = X @ model.coef_[0]
    cuts = [np.inf, *scores]
    fewest = max(balanced_accuracy_score(y, scores >= cut) for cut in cuts)
    assert balanced_accuracy_score(y, model.predict(X)) == pytest.approx(fewest)
    assert not np.any(model.decision_function(X) == 0)


@pytest.mark.parametrize("measure", ["prbep", "precision_at_k", "roc_auc", "average_precision", "f1"])
@pytest.mark.filterwarnings("ignore::maxmargin.errors.NothingLearnt")  # of scores that are all tied
def test_tied_scores(measure):
    """Rows that are equal are predicted alike, and nothing breaks."""
    rows = np.repeat(np.array([[1.0, 0], [0, 1], [2, 0]]), 4, axis=0)
    labels = np.array([1, 0, 1, 0] * 2 + [1, 1, 1, 0])
    model = pure(measure, k=3).fit(rows, labels)
    found = model.predict(rows).reshape(3, 4)
    assert (found == found[:, :1]).all()
    assert 0 <= model.score(rows, labels) <= 1
    if measure == "precision_at_k":
        assert model.score(rows, labels) == pytest.approx(2 / 3)  # the worst of the orders of four equal rows


def test_no_information_is_said_so():
    with pytest.warns(NothingLearnt, match="w = 0, whose objective for C = 100 is the lowest.* measure 'prbep'"):
        model = pure("prbep").fit(np.zeros((6, 2)), [0, 1, 0, 1, 0, 1])
    assert model.certificate_.converged
    assert not model.coef_.any()


@pytest.mark.parametrize("measure", ["f1", "roc_auc", "precision_at_k"])
def test_data_are_validated_once(measure, monkeypatch):
    looks = []
    validate = matrices.validate_data
    monkeypatch.setattr(
        matrices, "validate_data", lambda *args, **options: looks.append(1) or validate(*args, **options)
    )
    pure(measure, k=20).fit(X, y)
    pure(measure, k=20).fit_path(X, y, [1.0, 10.0])
    assert len(looks) == 2


# --- labels


@pytest.mark.parametrize("measure", ["f1", "roc_auc", "precision_at_k"])
@pytest.mark.parametrize("kind", [np.int8, float, bool, str, object])
def test_kinds_of_labels(measure, kind):
    names = np.array([0, 1] if kind is not object else ["no", "yes"]).astype(kind)
    model = pure(measure, k=20).fit(X, names[y])
    assert model.classes_.dtype == model.predict(X).dtype == names.dtype
    assert model.classes_.tolist() == sorted(names.tolist())
    np.testing.assert_array_equal(model.predict(X) == names[1], pure(measure, k=20).fit(X, y).predict(X) == 1)


@pytest.mark.parametrize("measure", ["f1", "roc_auc", "precision_at_k"])
def test_positive_label(measure):
    names = np.array(["ham", "spam"])[y]
    spam = pure(measure, k=20).fit(X, names)
    np.testing.assert_array_equal(pure(measure, k=20, pos_label="spam").fit(X, names).w_, spam.w_)
    ham = pure(measure, k=20, pos_label="ham").fit(X, names)
    turned = pure(measure, k=20).fit(X, np.where(names == "ham", 1, 0))
    np.testing.assert_array_equal(ham.w_, turned.w_)
    assert ham.score(X, names) == turned.score(X, np.where(names == "ham", 1, 0))
    np.testing.assert_array_equal(ham.predict(X) == "ham", turned.predict(X) == 1)
    # decision_function and coef_ keep to scikit-learn's custom: positive for classes_[1]
    np.testing.assert_array_equal(ham.predict(X), ham.classes_[(ham.decision_function(X) > 0).astype(int)])
    np.testing.assert_array_equal(ham.decision_function(X), -turned.decision_function(X))
    np.testing.assert_allclose(ham.decision_function(X), X @ ham.coef_[0] + ham.intercept_)
    assert roc_auc_score(names, ham.decision_function(X)) > 0.6


@pytest.mark.parametrize("positive", ["ham", "spam"])
@pytest.mark.parametrize("measure", ["f1", "roc_auc"])
def test_weights_by_name(measure, positive):
    """Those of the score of the positive class, whichever that is."""
    model = pure(measure, pos_label=positive).fit(X, np.array(["ham", "spam"])[y])
    sign = 1 if positive == "spam" else -1
    weights = model.weights_["features"]
    assert weights.axes == ("feature", "label")
    assert [sign * weights[f, positive] for f in range(6)] == model.coef_[0].tolist()
    assert sign * model.weights_["intercept"][positive] == model.intercept_[0]
    best = model.top_weights(positive, n=3)
    assert [abs(each.weight) for each in best] == sorted(
        np.abs(np.append(model.coef_[0], model.intercept_)).tolist(), reverse=True
    )[:3]
    with pytest.raises(ValueError, match="no weight belongs to the label"):
        model.top_weights("ham" if positive == "spam" else "spam")


def test_weights_by_name_with_a_kernel():
    with pytest.raises(AttributeError, match="MeasureSVC with a kernel has no weights of features"):
        _ = pure(kernel="rbf").fit(X, y).weights_


def test_more_than_two_classes():
    three = np.arange(len(y)) % 3
    with pytest.raises(ValueError, match=r"Only binary classification is supported. The type .* is multiclass"):
        pure().fit(X, three)
    model = OneVsRestClassifier(pure("balanced_error")).fit(X, three)
    assert set(model.predict(X)) <= {0, 1, 2}


# --- weights of examples


@pytest.mark.parametrize("measure", WEIGHTED)
def test_any_weights_where_the_measure_is_a_sum(measure):
    times = np.arange(len(y)) % 4
    repeated = pure(measure, tol=1e-6).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    for scale in (1.0, 0.3):
        model = pure(measure, tol=1e-6).fit(X, y, sample_weight=scale * times)
        assert model.certificate_.primal == pytest.approx(repeated.certificate_.primal, rel=3e-6)
        np.testing.assert_allclose(model.decision_function(X), repeated.decision_function(X), atol=2e-2)
    broken = np.random.default_rng(0).uniform(0.1, 2, len(y))
    assert pure(measure).fit(X, y, sample_weight=broken).certificate_.converged


@pytest.mark.parametrize("measure", COUNTED)
def test_whole_weights_where_the_measure_counts(measure):
    times = np.arange(len(y)) % 4
    model = pure(measure, k=20).fit(X, y, sample_weight=times)
    repeated = pure(measure, k=20).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(model.w_, repeated.w_, atol=1e-9)
    np.testing.assert_allclose(model.decision_function(X), repeated.decision_function(X), atol=1e-9)
    with pytest.raises(ValueError, match=rf"measure '{measure}' counts examples, .* sample_weight\[1\] is 0.5"):
        pure(measure).fit(X, y, sample_weight=times / 2)


@pytest.mark.parametrize("measure", [*WEIGHTED, *COUNTED])
def test_equal_weights(measure):
    plain = pure(measure).fit(X, y)
    for weight in (1, 0.3):
        model = pure(measure).fit(X, y, sample_weight=np.full(len(y), weight))
        assert model.certificate_.primal == pytest.approx(plain.certificate_.primal, rel=2e-2)


def test_equal_whole_weights_count():
    """The twenty highest of a sample in which all stand twice are ten."""
    model = pure("precision_at_k", k=20).fit(X, y, sample_weight=np.full(len(y), 2))
    assert model.predict(X).sum() == 10


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
def test_examples_of_weight_zero_are_not_there(rescaling):
    weights = (np.arange(len(y)) % 3 > 0).astype(float)
    for measure in (*WEIGHTED, "f1"):
        model = pure(measure, rescaling=rescaling, tol=1e-4).fit(X, y, sample_weight=weights)
        without = pure(measure, rescaling=rescaling, tol=1e-4).fit(X[weights > 0], y[weights > 0])
        assert model.certificate_.primal == pytest.approx(without.certificate_.primal, rel=5e-3)


BAD_WEIGHTS = [
    (np.ones(3), r"sample_weight has shape \(3,\); expected \(120,\)"),
    (np.where(np.arange(120) == 4, -1.0, 1.0), r"sample_weight\[4\] is -1.0; weights must be finite and >= 0"),
    (np.where(np.arange(120) == 4, np.nan, 1.0), r"sample_weight\[4\] is nan; weights must be finite and >= 0"),
    (np.zeros(120), "all sample weights are zero"),
    (y, "the examples of positive weight have only one class, 1; expected both classes"),
]


@pytest.mark.parametrize(("weights", "message"), BAD_WEIGHTS, ids=[case[1] for case in BAD_WEIGHTS])
@pytest.mark.parametrize("measure", ["f1", "error", "roc_auc", "average_precision"])
def test_bad_weights(measure, weights, message):
    with pytest.raises(ValueError, match=message):
        pure(measure).fit(X, y, sample_weight=weights)


# --- bad input


WRONG = [
    ({}, X, np.ones(120, dtype=int), "y has only one class, 1; a measure needs positive and negative examples"),
    ({"measure": "roc_auc"}, X, np.array(["a"] * 120), "y has only one class, 'a'"),
    ({"measure": "precision_at_k", "k": 121}, X, y, "k = 121 is larger than the sample, which has 120 examples"),
    ({"measure": "recall_at_k", "k": 500}, X, y, "k = 500 is larger than the sample, which has 120 examples"),
    *[
        ({"measure": "precision_at_k", "k": k}, X, y, "measure 'precision_at_k' needs k, a positive whole number, got")
        for k in (0, -3, 2.0, None, "5", True)
    ],
    ({"measure": "accuracy"}, X, y, "measure must be one of 'error', 'balanced_error', 'f1', .*'roc_auc', 'average_pr"),
    ({"measure": None}, X, y, r"or a function loss\(tp, fp, fn, tn\), got None"),
    ({"measure": ["f1"]}, X, y, r"or a function loss\(tp, fp, fn, tn\), got \['f1'\]"),
    ({"measure": "fbeta", "beta": 0}, X, y, "beta must be a positive number, got 0"),
    ({"pos_label": 2}, X, y, r"pos_label=2 is not one of the classes \[0, 1\]"),
    ({"pos_label": "1"}, X, y, r"pos_label='1' is not one of the classes \[0, 1\]"),
    ({}, X, y[:-1], "inconsistent numbers of samples"),
    ({}, np.where(np.arange(120)[:, None] == 7, np.nan, X), y, "example 7, feature 0: X contains NaN or infinity"),
    ({}, X * 1e200, y, "whose square overflows; scale the features"),
    ({}, X, X[:, 0], "Unknown label type"),
    ({"C": 0.0}, X, y, "C must be a positive number"),
    ({"rescaling": "both"}, X, y, "rescaling must be 'margin' or 'slack', got 'both'"),
]


@pytest.mark.parametrize(("options", "inputs", "labels", "message"), WRONG, ids=[case[3] for case in WRONG])
def test_bad_input(options, inputs, labels, message):
    model = pure(**options)
    for train in (model.fit, lambda X, y: model.fit_path(X, y, [1.0])):
        if "C" in options and train != model.fit:
            continue
        with pytest.raises(ValueError, match=message):
            train(inputs, labels)
    assert not hasattr(model, "w_")


OWN = [
    (lambda tp, fp, fn, tn: 0.0 * fp + np.where(fp == 1, np.nan, 0.0), "is nan; a loss must be a finite number >= 0"),
    (lambda tp, fp, fn, tn: 0.1 * (fn - fp), "a loss must be a finite number >= 0"),
    (
        lambda tp, fp, fn, tn: 1.0 + fp,
        r"measure\(tp=\d+, fp=0, fn=0, tn=\d+\) is 1.0; the loss of a perfect prediction",
    ),
    (lambda tp, fp, fn, tn: 0.0, r"returned an array of shape \(\) for counts of shape \(2,\)\. It must take four"),
    (lambda tp, fp, fn, tn: max(tp, fp) * 0.0, "it must work on arrays|truth value of an array"),
]


@pytest.mark.parametrize(("measure", "message"), OWN, ids=[case[1] for case in OWN])
def test_functions_that_are_no_losses(measure, message):
    model = pure(measure)
    with pytest.raises((TaskError, ValueError), match=message):
        model.fit(X, y)


def test_prediction_of_bad_input():
    model = pure().fit(X, y)
    with pytest.raises(ValueError, match="X has 5 features, but MeasureSVC is expecting 6 features"):
        model.predict(X[:, :5])
    spoiled = X.copy()
    spoiled[3, 2] = np.inf
    for call in (model.predict, model.decision_function, lambda x: model.score(x, y)):
        with pytest.raises(ValueError, match="example 3, feature 2: X contains NaN or infinity"):
            call(spoiled)
    with pytest.raises(ValueError, match="y has one class only, so measure 'f1' is not defined"):
        model.score(X, np.ones(len(y)))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.score(X, y[:-1])
    with pytest.raises(
        ValueError, match="measure 'prbep' depends on a number of examples, so examples cannot have weights"
    ):
        pure("prbep").fit(X, y).score(X, y, sample_weight=np.ones(len(y)))


def test_certify_knows_the_classes():
    model = pure().fit(X, y)
    with pytest.raises(ValueError, match=r"example 0: the label 'no' is not one of \[0, 1\]"):
        model.certify(X, np.array(["no", "yes"])[np.arange(len(y)) % 2])
    assert model.classes_.tolist() == [0, 1]


def test_unfitted():
    model = pure()
    for name in ("classes_", "coef_", "intercept_"):
        assert not hasattr(model, name)
    for call in (model.predict, model.decision_function, lambda x: model.score(x, y), lambda x: model.certify(x, y)):
        with pytest.raises(NotFittedError):
            call(X)


@pytest.mark.parametrize("solver", ["one_slack", "perceptron", "subgradient"])
def test_no_partial_fit(solver):
    model = pure(solver=solver)
    assert not hasattr(model, "partial_fit")
    with pytest.raises(
        TypeError, match="MeasureSVC has no partial_fit, because its measure is defined on the whole sample"
    ):
        model.partial_fit(X, y)


# --- tools


@pytest.mark.parametrize("measure", ["f1", "roc_auc", "precision_at_k", quadratic])
def test_sparse_is_dense(measure):
    dense = pure(measure, k=20).fit(X, y)
    for kind in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.coo_array):
        model = pure(measure, k=20).fit(kind(X), y)
        np.testing.assert_array_equal(model.w_, dense.w_)
        np.testing.assert_allclose(model.decision_function(kind(X)), dense.decision_function(X))
        np.testing.assert_allclose(dense.decision_function(kind(X)), dense.decision_function(X))


@pytest.mark.parametrize("measure", EVERY)
def test_pickle_and_clone(measure):
    model = pure(measure, k=20, pos_label=0).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    assert copy.score(X, y) == model.score(X, y)
    assert copy.certificate_ == model.certificate_
    np.testing.assert_array_equal(clone(copy).fit(X, y).w_, model.w_)


@pytest.mark.parametrize("measure", ["f1", "roc_auc", "precision_at_k"])
def test_path(measure):
    Cs = [1.0, 10.0, 100.0]
    model = pure(measure, k=20, tol=1e-4)
    path = model.fit_path(X, y, Cs)
    assert [each.C for each in path] == Cs
    for each in path:
        alone = pure(measure, k=20, C=each.C, tol=1e-4).fit(X, y)
        assert each.certificate_.converged
        assert each.certificate_.primal == pytest.approx(alone.certificate_.primal, rel=2e-4)
        scores = [model.decision_function(X) - model.offset_ for model in (each, alone)]  # cut between other examples
        np.testing.assert_allclose(*scores, atol=0.1)
        if measure == "precision_at_k":
            assert each.predict(X).sum() == 20
    np.testing.assert_array_equal(model.decision_function(X), path[-1].decision_function(X))


def test_feature_names():
    import pandas as pd

    table = pd.DataFrame(X, columns=list("abcdef"))
    model = pure("roc_auc").fit(table, y)
    assert list(model.feature_names_in_) == list("abcdef")
    assert model.weights_["features"]["c", 1] == model.coef_[0, 2]
    assert model.predict(table).shape == y.shape
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(table[list("fedcba")])


def test_grid_search():
    grid = {"measure": ["f1", "error"], "C": [1.0, 100.0]}
    search = GridSearchCV(pure(), grid, scoring="f1", cv=3, n_jobs=2).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_score_ > 0.5
    pipeline = make_pipeline(StandardScaler(), pure("roc_auc"))
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.85  # scored by its own measure
    assert cross_val_score(pipeline, X, y, cv=3, scoring="roc_auc").mean() > 0.85


def test_warm_start():
    model = pure(warm_start=True, tol=1e-3).fit(X, y)
    first = model.certificate_.passes
    assert model.fit(X, y).certificate_.passes < first
    other = pure(warm_start=True, tol=1e-3).fit(X[::-1], y[::-1])
    assert model.fit(X[::-1], y[::-1]).certificate_.passes == other.certificate_.passes  # new data: a cold start


def test_threads_and_seeds_change_nothing():
    w = pure().fit(X, y).w_
    np.testing.assert_array_equal(pure(n_jobs=2).fit(X, y).w_, w)
    np.testing.assert_array_equal(pure(random_state=7).fit(X, y).w_, w)


def careless(tp, fp, fn, tn):
    """Changes what it is given."""
    fp += fn
    return fp / (tp + fn)


def test_functions_may_change_their_arguments():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 3)), rng.random(60) < 0.3
    kept, changed = (
        pure(loss, C=1.0, tol=1e-6).fit(X, y) for loss in (lambda tp, fp, fn, tn: (fp + fn) / (tp + fn), careless)
    )
    assert changed.certificate_.primal == pytest.approx(kept.certificate_.primal, rel=1e-5)


def test_errors_of_a_function_say_what_is_expected():
    with pytest.raises(ValueError, match="truth value") as caught:
        pure(lambda tp, fp, fn, tn: max(fp, fn) / (tp + fn)).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    assert "np.maximum instead of if and max" in caught.value.__notes__[0]


@pytest.mark.parametrize(
    ("labels", "message"),
    [(["0", "1", "0"], "example 0: the label is '0'; expected one of"), ([0, 2, 1], "example 1: the label is 2")],
)
def test_score_names_unknown_labels(labels, message):
    model = pure().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    with pytest.raises(ValueError, match=message):
        model.score([[0.0], [1.0], [2.0]], labels)


def test_zero_weights_before_the_optimum_is_known_are_no_optimum():
    rng = np.random.default_rng(0)
    with pytest.warns(NothingLearnt, match=r"nothing was learnt: .* without converging \(stopped by the callback"):
        pure(callback=lambda record: True).fit(rng.standard_normal((60, 3)), np.arange(60) < 5)


def test_weights_that_would_make_too_many_examples():
    with pytest.raises(ValueError, match=r"which makes 4e\+10 examples, more than 1e\+08; divide the weights"):
        pure().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1], sample_weight=[10**10] * 4)


def test_a_function_that_has_become_another_one_is_looked_at_anew():
    """Its answer may depend on what it does not take as an argument, here on how the loss is curved."""
    rng = np.random.default_rng(0)
    X, y, power = rng.standard_normal((60, 3)), np.arange(60) < 15, [1.0]

    def curved(tp, fp, fn, tn):
        return ((fp + fn) / (tp + fn) / 4) ** power[0]

    pure(curved, C=5.0, tol=1e-6).fit(X, y)
    power[0] = 2.0
    again, anew = (pure(loss, C=5.0, tol=1e-6).fit(X, y) for loss in (curved, lambda *table: curved(*table)))
    assert again.certificate_.primal == anew.certificate_.primal


def test_every_model_of_a_path_says_what_it_was_trained_for():
    X, y = make_classification(200, 6, n_informative=4, weights=[0.85], class_sep=1.5, flip_y=0.05, random_state=1)
    followed = MeasureSVC("f1")
    path = followed.fit_path(X, y, [0.01, 0.1, 1.0])
    assert {each.trained_for_ for each in path} == {"f1", "modified_huber"}  # which changes on the way
    for model in path:
        assert (model.trained_for_ == "modified_huber") == isinstance(model.task_, SoftLabels)
        assert model.cut_by_ == "cross-validation"
        assert model.n_examples_ == 200
    last = path[-1]
    assert (followed.trained_for_, followed.offset_, followed.n_examples_) == (last.trained_for_, last.offset_, 200)
