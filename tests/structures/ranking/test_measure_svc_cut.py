"""MeasureSVC: the cut that cross-validation chooses, and what is trained for where a bound has nothing to say."""

import pickle
from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.metrics import f1_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV

from maxmargin import MeasureSVC, kernels
from maxmargin.errors import CutNotValidated, NothingLearnt, TrainingInterrupted
from maxmargin.structures.ranking.folds import deal_folds
from maxmargin.structures.ranking.groups import Groups
from maxmargin.structures.ranking.measures import measure_of
from maxmargin.structures.ranking.objectives import INSTEAD
from maxmargin.structures.ranking.score_measure import FoldMeasure, clearly_better, measured
from maxmargin.structures.ranking.threshold import Cut, FoldRows, cut_after

pure = partial(MeasureSVC, train_for="measure", cut="trained")
X, y = make_classification(
    120, n_features=6, n_informative=4, weights=[0.75], class_sep=2.5, flip_y=0.02, random_state=0
)


def clouds(n=1500, share=0.02, seed=0):
    """Rare positives amid many negatives: the bounds on F1 and on the break-even point have their optimum at w = 0."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < share
    rows = rng.standard_normal((n, 8))
    rows[truth, :4] += 0.8
    return rows, truth.astype(int)


def held_out_scores(measure, rows, labels, seed, **options):
    """Fold by fold, with the public estimator."""
    truth = labels.astype(float)
    fold = deal_folds(Groups(rows, np.arange(len(rows)), np.array([0, len(rows)])), truth, seed)
    scores = np.empty(len(labels))
    for k in range(fold.max() + 1):
        model = pure(measure, **options).fit(rows[fold != k], labels[fold != k])
        scores[fold == k] = model.decision_function(rows[fold == k]) - model.offset_
    return scores, FoldRows(truth, np.ones(len(truth)), fold)


# --- the cut


@pytest.mark.parametrize("measure", ["f1", "balanced_error", "kld"])
@pytest.mark.parametrize("seed", [0, 3])
def test_the_cut_is_chosen_out_of_fold(measure, seed):
    model = MeasureSVC(measure, train_for="measure", C=10.0, random_state=seed).fit(X, y)
    scores, rows = held_out_scores(measure, X, y, seed, C=10.0)
    best = FoldMeasure(measure_of(measure), rows).cut(scores)
    assert model.cut_by_ == "cross-validation"
    assert model.trained_for_ == measure
    assert model.offset_ == pytest.approx(-best.at, abs=1e-9)
    assert model.cv_scores_ == {measure: pytest.approx(best.mean)}
    bound = pure(measure, C=10.0).fit(X, y)
    np.testing.assert_array_equal(model.w_, bound.w_)  # the cut leaves the weights and their certificate alone
    assert model.certificate_.primal == bound.certificate_.primal
    np.testing.assert_allclose(model.decision_function(X), bound.decision_function(X) - best.at)
    np.testing.assert_allclose(model.decision_function(X), X @ model.coef_[0] + model.intercept_)


def test_measures_at_k_look_at_their_share_of_every_fold():
    truth = np.array([1, 0, 1, 0, 1, 0]) > 0
    scores = np.array([3.0, 2.0, 1.0, 0.5, 0.2, 0.1])
    ones = np.ones(6)
    assert measured(measure_of("precision_at_k", k=6), truth, scores, ones, 1 / 3) == 0.5  # the first two of six
    assert measured(measure_of("precision_at_k", k=1), truth, scores, ones, 1 / 3) == 1.0  # at least one
    assert measured(measure_of("prbep"), truth, scores, ones, 1 / 3) == pytest.approx(2 / 3)
    rows = FoldRows(np.tile(truth, 2).astype(float), np.ones(12), np.repeat([0, 1], 6))
    both = np.concatenate([scores, -scores])
    cut = FoldMeasure(measure_of("prbep"), rows).cut(both)
    assert cut.at == cut_after(both, 6)
    np.testing.assert_allclose(cut.values, [2 / 3, 1 / 3])


@pytest.mark.parametrize("measure", ["roc_auc", "average_precision"])
def test_measures_of_order_keep_their_scores(measure):
    model, bound = MeasureSVC(measure).fit(X, y), pure(measure).fit(X, y)
    np.testing.assert_array_equal(model.coef_, bound.coef_)
    assert model.cut_by_ == "cross-validation"
    assert 0.5 < model.cv_scores_[measure] < 1
    assert model.score(X, y) == bound.score(X, y)


def test_a_standard_error_is_wanted():
    own, better, unsure = (
        Cut(0.0, np.array(values), np.zeros(3)) for values in ([0.5, 0.6, 0.4], [0.6, 0.7, 0.5], [0.9, 0.6, 0.3])
    )
    assert clearly_better(better, own)
    assert not clearly_better(unsure, own)
    assert not clearly_better(own, own)


# --- what is trained for


@pytest.mark.parametrize("measure", ["f1", "prbep"])
def test_where_a_bound_says_nothing_single_examples_are_trained_for(measure):
    rows, labels = clouds()
    with pytest.warns(NothingLearnt, match="training ended at w = 0, whose objective for C = 10 is the lowest"):
        bound = MeasureSVC(measure, C=10.0, train_for="measure").fit(rows, labels)
    assert not bound.coef_.any()
    assert bound.cut_by_ == "training"
    model = MeasureSVC(measure, C=10.0).fit(rows, labels)
    assert model.trained_for_ == INSTEAD
    assert set(model.cv_scores_) == {INSTEAD}
    assert "soft labels" in str(model.certificate_)
    margins = np.where(labels, 1, -1) * (rows @ model.coef_[0] + model.intercept_ - model.offset_)
    losses = np.where(margins >= -1, np.maximum(0, 1 - margins) ** 2, -4 * margins)
    objective = 0.5 * model.w_ @ model.w_ + 10.0 * losses.sum() / labels.sum()
    assert model.certificate_.primal == pytest.approx(objective)
    assert model.certify(rows, labels).primal == pytest.approx(model.certificate_.primal)
    others, theirs = clouds(6000, seed=1)
    trivial = 2 * theirs.mean() / (1 + theirs.mean())
    assert f1_score(theirs, model.predict(others)) > 2 * trivial


def test_a_refit_is_never_left_without_a_model():
    """On three quarters of the data the bound may have a model while it has none on all of them."""
    rows, labels = clouds(2000, 0.01)
    search = GridSearchCV(MeasureSVC(), {"C": [1.0, 10.0]}, cv=3, error_score="raise").fit(rows, labels)
    assert search.best_estimator_.coef_.any()
    assert search.best_estimator_.score(rows, labels) > 0.1


def test_the_measure_itself_is_preferred_where_it_says_something():
    rows, labels = make_classification(300, 5, n_informative=3, class_sep=3.0, weights=[0.8], random_state=0)
    model = MeasureSVC("f1").fit(rows, labels)
    assert model.trained_for_ == "f1"
    assert set(model.cv_scores_) == {"f1", INSTEAD}


def test_with_the_cut_of_training():
    rows, labels = clouds(300, 0.04)
    model = MeasureSVC("f1", C=1.0, cut="trained").fit(rows, labels)
    assert (model.trained_for_, model.cut_by_) == (INSTEAD, "training")
    scores = model.decision_function(rows)
    found = [f1_score(labels, scores > at) for at in np.append(scores - 1e-9, np.inf)]
    assert f1_score(labels, model.predict(rows)) == pytest.approx(max(found))


def test_bounds_of_weights_leave_one_thing_to_train_for():
    model = MeasureSVC("f1", bounds=(-1, 1)).fit(X, y)
    assert set(model.cv_scores_) == {"f1"}
    assert np.abs(model.coef_).max() <= 1


def test_no_scores_at_all():
    with pytest.warns(NothingLearnt, match="measure 'f1'"), pytest.warns(CutNotValidated):
        model = MeasureSVC("f1").fit(np.arange(60)[:, None] * [[0.0, 0.0]], np.arange(60) < 20)
    assert not model.coef_.any()


# --- few examples, weights, labels


def test_one_positive_example_cannot_be_held_out():
    labels = (np.arange(40) == 3).astype(int)
    rows = X[:40] + 3 * labels[:, None]
    with pytest.warns(
        CutNotValidated, match="a class has a single distinct example.*: the scores are cut as in training"
    ):
        model = MeasureSVC("f1").fit(rows, labels)
    assert (model.cut_by_, model.cv_scores_) == ("training", {})
    pure("f1").fit(rows, labels)  # without a word


@pytest.mark.parametrize("positives", [2, 3])
def test_few_positive_examples_make_few_folds(positives):
    labels = (np.arange(40) < positives).astype(int)
    model = MeasureSVC("f1").fit(X[:40] + 3 * labels[:, None], labels)
    assert model.cut_by_ == "cross-validation"
    assert model.score(X[:40] + 3 * labels[:, None], labels) > 0.5


@pytest.mark.parametrize("measure", ["f1", "balanced_error"])
def test_whole_weights_are_repeated_rows(measure):
    times = np.arange(len(y)) % 3
    model = MeasureSVC(measure, tol=1e-3).fit(X, y, sample_weight=times)
    repeated = MeasureSVC(measure, tol=1e-3).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert model.trained_for_ == repeated.trained_for_
    np.testing.assert_allclose(model.decision_function(X), repeated.decision_function(X), atol=2e-2)
    assert model.cv_scores_[model.trained_for_] == pytest.approx(repeated.cv_scores_[model.trained_for_], abs=0.02)


def test_positive_label():
    names = np.array(["ham", "spam"])[1 - y]
    model, turned = MeasureSVC(pos_label="ham").fit(X, names), MeasureSVC().fit(X, y)
    np.testing.assert_array_equal(model.predict(X) == "ham", turned.predict(X) == 1)
    assert model.cv_scores_ == turned.cv_scores_


def test_a_function_as_measure():
    loss = lambda tp, fp, fn, tn: (10 * fn + fp) / (10 * (tp + fn))  # noqa: E731 - as users write it
    model = MeasureSVC(loss).fit(X, y)
    assert model.trained_for_ in (loss, INSTEAD)
    assert model.cv_scores_[loss] < 0
    assert model.predict(X).sum() > MeasureSVC("f1").fit(X, y).predict(X).sum()


# --- tools


def test_the_same_again():
    model, again = MeasureSVC().fit(X, y), MeasureSVC(n_jobs=2).fit(sparse.csr_array(X), y)
    assert model.offset_ == pytest.approx(again.offset_, abs=1e-9)
    other = np.random.default_rng(0).permutation(len(y))
    turned = MeasureSVC().fit(X[other], y[other])
    assert turned.cv_scores_["f1"] == pytest.approx(model.cv_scores_["f1"], abs=0.05)  # the folds are the same
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    assert (copy.trained_for_, copy.cut_by_, copy.cv_scores_) == (model.trained_for_, model.cut_by_, model.cv_scores_)
    assert model.set_params(warm_start=True).fit(X, y).fit(X, y).offset_ == pytest.approx(again.offset_, abs=1e-9)


def test_path():
    rows, labels = clouds(600, 0.04)
    Cs = [0.1, 10.0, 100.0]
    model = MeasureSVC(tol=1e-4)
    path = model.fit_path(rows, labels, Cs)
    for each in path:
        alone = MeasureSVC(C=each.C, tol=1e-4).fit(rows, labels)
        assert each.trained_for_ == alone.trained_for_
        for name in set(each.cv_scores_) & set(alone.cv_scores_):
            assert each.cv_scores_[name] == pytest.approx(alone.cv_scores_[name], abs=0.2)  # a fold has five positives
        assert each.certificate_.primal == pytest.approx(alone.certificate_.primal, rel=2e-4)
    assert {each.trained_for_ for each in path} >= {INSTEAD}
    np.testing.assert_array_equal(model.decision_function(rows), path[-1].decision_function(rows))
    assert (model.trained_for_, model.cv_scores_) == (path[-1].trained_for_, path[-1].cv_scores_)


@pytest.mark.parametrize("seed", range(3))
def test_a_path_of_zeros_has_no_weights_of_rounding(seed):
    rng = np.random.default_rng(seed)
    labels = np.arange(60) < 5
    rows, Cs = rng.standard_normal((60, 3)) + 0.4 * labels[:, None], [1.0, 10.0, 100.0]
    with pytest.warns(NothingLearnt):
        path = MeasureSVC(train_for="measure", cut="trained").fit_path(rows, labels, Cs)
    assert [np.abs(each.w_).max() for each in path] == [0.0, 0.0, 0.0]
    assert [each.trained_for_ for each in MeasureSVC().fit_path(rows, labels, Cs)] == [INSTEAD] * 3
    with pytest.warns(NothingLearnt):
        again = MeasureSVC(C=1.0, train_for="measure", cut="trained", warm_start=True).fit(rows, labels)
    with pytest.warns(NothingLearnt):
        again.set_params(C=10.0).fit(rows, labels)


def test_kernels():
    rows, labels = X[:60], y[:60]
    by_name = MeasureSVC(kernel=kernels.RBF(gamma=0.1), C=5.0).fit(rows, labels)
    K = rbf_kernel(rows, gamma=0.1)
    given = MeasureSVC(kernel="precomputed", C=5.0).fit(K, labels)
    assert given.cut_by_ == by_name.cut_by_ == "cross-validation"
    assert given.score(K, labels) > 0.7
    assert by_name.score(rows, labels) > 0.7
    others, rare = clouds(200, 0.05)
    instead = MeasureSVC(kernel=kernels.Linear(), C=0.1).fit(others, rare)
    assert instead.trained_for_ == INSTEAD
    linear = MeasureSVC(C=0.1).fit(others, rare)
    np.testing.assert_allclose(instead.decision_function(others), linear.decision_function(others), atol=0.05)


def test_callbacks_know_the_fold():
    seen = []
    MeasureSVC("roc_auc", callback=lambda record: seen.append(record.where)).fit(X, y)
    assert list(dict.fromkeys(seen)) == ["", *(f"fold {k} of 5" for k in range(1, 6))]


def test_an_interruption_leaves_the_cut_of_training():
    def stop(record):
        if record.where:
            raise KeyboardInterrupt

    with pytest.warns(TrainingInterrupted):
        model = MeasureSVC("f1", callback=stop).fit(X, y)
    bound = pure("f1").fit(X, y)
    assert (model.cut_by_, model.cv_scores_) == ("training", {})
    np.testing.assert_array_equal(model.decision_function(X), bound.decision_function(X))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"train_for": "f1"}, "train_for must be 'auto' or 'measure', got 'f1'"),
        ({"cut": None}, "cut must be 'cv' or 'trained', got None"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        MeasureSVC(**options).fit(X, y)
