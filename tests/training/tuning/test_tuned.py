"""Tuned: scores are those of separate fits, the choice follows the rule, and what happens on the way is said once."""

import pickle
import warnings
from typing import ClassVar

import numpy as np
import pytest
from digest_groups.data import chains, rare, table, tagged
from estimators.problems import CHECKS_WITHOUT_DATA, sequences
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone, is_classifier
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.feature_selection import SelectKBest
from sklearn.metrics import make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneOut,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted
from structures.ranking.queries import queries
from threadpoolctl import threadpool_info

import maxmargin as mm
from maxmargin.base import interruptions
from maxmargin.errors import InvalidLabels, NothingLearnt, TrainingInterrupted
from maxmargin.training.tuning.choice import Tried
from maxmargin.training.tuning.folds import Given
from maxmargin.training.tuning.splits import splits_of

X, Y = chains(n=20)
A, B = table(n=60, n_classes=3)
FEW = (0.01, 0.1, 1.0)


def tuned(**options):
    return mm.Tuned(**{"estimator": mm.MulticlassSVC(tol=0.02), "cv": 3, **options})


@pytest.mark.parametrize("check", CHECKS_WITHOUT_DATA, ids=lambda check: check.__name__)
def test_checks_of_scikit_learn_that_need_no_data(check):
    check("Tuned", tuned())


# --- what is compared, and what is chosen


@pytest.mark.parametrize(
    ("estimator", "data", "name"),
    [
        (mm.SequenceLabeler(tol=1e-6), (X, Y), "C"),
        (mm.MulticlassSVC(tol=1e-6), (A, B), "C"),
        (make_pipeline(StandardScaler(), SelectKBest(k=4), mm.MulticlassSVC(tol=1e-6)), (A, B), "multiclasssvc__C"),
    ],
    ids=["sequences", "classes", "pipeline"],
)
def test_scores_are_those_of_a_grid_search(estimator, data, name):
    folds = KFold(3, shuffle=True, random_state=1)
    search = GridSearchCV(estimator, {name: list(FEW)}, cv=folds).fit(*data)
    found = mm.Tuned(estimator, Cs=FEW, cv=folds, patience=None).fit(*data)
    np.testing.assert_array_equal(found.results_["C"], FEW)
    for k in range(3):
        np.testing.assert_allclose(found.results_[f"fold_{k}_score"], search.cv_results_[f"split{k}_test_score"])
    np.testing.assert_allclose(found.results_["mean_score"], search.cv_results_["mean_test_score"])
    assert found.best_C_ == search.best_params_[name]
    assert found.best_score_ == pytest.approx(search.best_score_)
    last = found.best_estimator_ if name == "C" else found.best_estimator_[-1]
    alone = search.best_estimator_ if name == "C" else search.best_estimator_[-1]
    assert last.certificate_.primal == pytest.approx(alone.certificate_.primal, rel=1e-5)
    assert last.certificate_.converged


def test_results_do_not_depend_on_where_folds_are_trained():
    places = [{"n_jobs": 1}, {"n_jobs": 2}, {"executor": mm.executors.Threads(3)}]
    found = [mm.Tuned(mm.SequenceLabeler(), cv=3, patience=1, **place).fit(X, Y) for place in places]
    for other in found[1:]:
        for name, values in found[0].results_.items():
            if name != "seconds":
                np.testing.assert_array_equal(other.results_[name], values)
        np.testing.assert_array_equal(other.w_, found[0].w_)


@pytest.mark.slow
def test_folds_in_other_processes():
    place = mm.executors.Processes(2)
    there = make_pipeline(StandardScaler(), mm.MulticlassSVC())
    found = mm.Tuned(there, cv=3, executor=place).fit(A, B)
    here = mm.Tuned(there, cv=3, n_jobs=1).fit(A, B)
    place.close()
    np.testing.assert_array_equal(found.results_["mean_score"], here.results_["mean_score"])
    np.testing.assert_array_equal(found.predict(A), here.predict(A))


def test_the_smallest_within_one_standard_error():
    values = {"Cs": np.geomspace(1e-3, 10, 9), "patience": None}
    best = tuned(**values).fit(A, B)
    careful = tuned(**values, rule="one_standard_error").fit(A, B)
    means, errors = best.results_["mean_score"], best.results_["standard_error"]
    scores = np.column_stack([best.results_[f"fold_{k}_score"] for k in range(3)])
    np.testing.assert_allclose(errors, scores.std(axis=1, ddof=1) / np.sqrt(3))
    assert best.best_index_ == np.argmax(means)
    near = means >= means.max() - errors[best.best_index_]
    assert careful.best_index_ == np.flatnonzero(near)[0]
    assert careful.best_C_ == best.results_["C"][careful.best_index_]
    assert careful.best_C_ <= best.best_C_


def by_size(size):
    """A scorer that says how good models are by ‖w‖."""
    return lambda model, X, y: size(float(np.linalg.norm(model.w_)))


def test_ends_where_the_score_has_fallen():
    values = np.geomspace(1e-4, 1e-1, 7)
    falling = tuned(Cs=values, scoring=by_size(lambda norm: -norm), patience=2).fit(A, B)
    assert len(falling.results_["C"]) == 3
    assert falling.best_index_ == 0
    peak = mm.MulticlassSVC(C=values[2]).fit(A, B)
    hill = tuned(Cs=values, scoring=by_size(lambda norm: -abs(norm - np.linalg.norm(peak.w_))), patience=3).fit(A, B)
    assert len(hill.results_["C"]) < len(values)
    assert len(hill.results_["C"]) - 1 - hill.best_index_ == 3
    rising = tuned(Cs=values, scoring=by_size(lambda norm: norm), patience=1).fit(A, B)
    assert len(rising.results_["C"]) == len(values)
    flat = tuned(Cs=values, scoring=by_size(lambda norm: 0.0), patience=1).fit(A, B)
    assert len(flat.results_["C"]) == len(values)
    assert flat.best_C_ == values[0]  # of ties, the smallest
    everything = tuned(Cs=values, scoring=by_size(lambda norm: -norm), patience=None).fit(A, B)
    assert len(everything.results_["C"]) == len(values)


def test_values_are_sorted_and_each_is_tried_once():
    np.testing.assert_array_equal(tuned(Cs=[1, 0.01, 1, 0.1]).fit(A, B).results_["C"], FEW)


def test_the_table_says_what_is_in_the_models():
    pandas = pytest.importorskip("pandas")
    found = tuned(Cs=FEW, estimator=mm.MulticlassSVC(tol=1e-5)).fit(A, B)
    frame = pandas.DataFrame(found.results_)
    assert len(frame) == 3
    for C, norm, loss in zip(frame["C"], frame["norm"], frame["training_loss"], strict=True):
        alone = mm.MulticlassSVC(C=C, tol=1e-5).fit(A, B)
        assert norm == pytest.approx(np.linalg.norm(alone.w_), rel=1e-2)
        assert 0.5 * norm**2 + C * loss == pytest.approx(alone.certificate_.primal, rel=1e-4)
    assert (frame["gap"] <= 1e-5).all()
    assert frame["converged"].all()
    assert (frame["zeros"] == 0).all()
    assert (frame["passes"] > 0).all()
    assert (frame["seconds"] > 0).all()


# --- groups, weights, folds, inputs


def test_queries_stay_whole():
    X, y, qid = queries(noise=0.3, fewest=6)
    found = mm.Tuned(mm.Ranker(), Cs=[1.0, 10.0], cv=3).fit(X, y, qid=qid)
    folds = GroupKFold(3, shuffle=True, random_state=0)
    C = found.best_C_
    expected = [
        mm.Ranker(C=C).fit(X[a], y[a], qid=qid[a]).score(X[b], y[b], qid=qid[b]) for a, b in folds.split(X, y, qid)
    ]
    got = [found.results_[f"fold_{k}_score"][found.best_index_] for k in range(3)]
    np.testing.assert_allclose(got, expected, atol=0.02)  # the models are as near as their tolerance
    assert found.score(X, y, qid=qid) == found.best_estimator_.score(X, y, qid=qid)
    assert len(found.rank(X, qid)) == len(y)


def test_groups():
    groups = np.arange(len(X)) // 4
    seen = []

    class Watched(GroupKFold):
        def split(self, X, y, groups):
            for train, test in super().split(X, y, groups):
                seen.append(set(groups[train]) & set(groups[test]))
                yield train, test

    mm.Tuned(mm.SequenceLabeler(), Cs=[1.0], cv=Watched(3)).fit(X, Y, groups=groups)
    assert seen == [set()] * 3
    whole = mm.Tuned(mm.SequenceLabeler(), Cs=[1.0], cv=3).fit(X, Y, groups=groups)
    other = mm.Tuned(mm.SequenceLabeler(), Cs=[1.0], cv=GroupKFold(3, shuffle=True, random_state=0))
    assert other.fit(X, Y, groups=groups).best_score_ == whole.best_score_


def test_weights_are_split_with_the_examples():
    weights = np.linspace(0.1, 2.0, len(A))
    found = tuned(Cs=[1.0], estimator=mm.MulticlassSVC(tol=1e-6)).fit(A, B, sample_weight=weights)
    for k, (a, b) in enumerate(StratifiedKFold(3, shuffle=True, random_state=0).split(A, B)):
        alone = mm.MulticlassSVC(C=1.0, tol=1e-6).fit(A[a], B[a], sample_weight=weights[a])
        assert found.results_[f"fold_{k}_score"][0] == pytest.approx(alone.score(A[b], B[b], sample_weight=weights[b]))
    alone = mm.MulticlassSVC(C=1.0, tol=1e-6).fit(A, B, sample_weight=weights)
    np.testing.assert_allclose(found.coef_, alone.coef_, atol=1e-2)
    positions = [np.linspace(1, 2, len(y)) for y in Y]
    mm.Tuned(mm.SequenceLabeler(), Cs=[1.0], cv=3).fit(X, Y, position_weight=positions, sample_weight=np.ones(len(X)))


def test_weights_reach_scorers_that_take_them():
    seen = []

    def weighted(y, found, sample_weight=None):
        seen.append(sample_weight)
        return float(np.average(y == found, weights=sample_weight))

    def plain(y, found):
        return float(np.mean(y == found))

    weights = np.linspace(0.1, 2.0, len(A))
    tuned(Cs=[1.0], scoring=make_scorer(weighted), n_jobs=1).fit(A, B, sample_weight=weights)
    assert [len(each) for each in seen] == [20, 20, 20]
    tuned(Cs=[1.0], scoring=make_scorer(plain)).fit(A, B, sample_weight=weights)


@pytest.mark.slow
def test_classifiers_have_stratified_folds():
    X, y = rare()
    y = y.astype(bool)
    found = mm.Tuned(mm.MeasureSVC("f1"), Cs=[10.0], cv=4).fit(X, y)
    same = mm.Tuned(mm.MeasureSVC("f1"), Cs=[10.0], cv=StratifiedKFold(4, shuffle=True, random_state=0)).fit(X, y)
    assert found.best_score_ == same.best_score_
    groups = np.arange(len(y)) // 5
    assert np.isfinite(mm.Tuned(mm.MeasureSVC("f1"), Cs=[10.0], cv=4).fit(X, y, groups=groups).best_score_)


def test_folds_may_be_listed():
    splits = [(np.arange(40), np.arange(40, 60))]
    found = tuned(Cs=FEW, cv=splits).fit(A, B)
    assert np.isnan(found.results_["standard_error"]).all()
    assert found.best_estimator_.score(A, B) > 0.6


def test_the_seed_draws_the_folds():
    scores = [tuned(Cs=[1.0], random_state=seed).fit(A, B).results_["fold_0_score"][0] for seed in (0, 0, 1, 2)]
    assert scores[0] == scores[1]
    assert len(set(scores)) > 1


@pytest.mark.parametrize("form", ["dense", "sparse", "attributes", "dicts"])
def test_forms_of_sequences(form):
    X, Y = sequences(form=form)
    found = mm.Tuned(mm.SequenceLabeler(), Cs=FEW, cv=3).fit(X, Y)
    assert found.score(X, Y) > 0.7
    assert found.predict(X) == found.best_estimator_.predict(X)


def test_packed_sequences():
    packed = mm.tasks.Sequences(np.vstack(X), np.cumsum([0, *map(len, X)]))
    found = mm.Tuned(mm.SequenceLabeler(), Cs=FEW, cv=3).fit(packed, Y)
    np.testing.assert_array_equal(found.w_, mm.Tuned(mm.SequenceLabeler(), Cs=FEW, cv=3).fit(X, Y).w_)


def test_forms_of_matrices():
    pandas = pytest.importorskip("pandas")
    expected = tuned(Cs=FEW).fit(A, B)
    for form in (sparse.csr_array, sparse.csr_matrix, pandas.DataFrame):
        given = form(A) if form is not pandas.DataFrame else form(A, columns=[f"c{k}" for k in range(A.shape[1])])
        found = tuned(Cs=FEW).fit(given, pandas.Series(B))
        np.testing.assert_allclose(found.results_["mean_score"], expected.results_["mean_score"])
    assert list(found.feature_names_in_) == list(given.columns)


def test_kernel_matrices_are_split_on_both_sides():
    options = {"cv": 2, "patience": 1}
    found = tuned(estimator=mm.MulticlassSVC(kernel="precomputed", fit_intercept=False), **options).fit(A @ A.T, B)
    linear = tuned(estimator=mm.MulticlassSVC(fit_intercept=False), **options).fit(A, B)
    n = min(len(found.results_["C"]), len(linear.results_["C"]))
    np.testing.assert_allclose(found.results_["C"][:n], linear.results_["C"][:n])
    np.testing.assert_allclose(found.results_["mean_score"][:n], linear.results_["mean_score"][:n], atol=0.05)
    np.testing.assert_allclose(found.results_["training_loss"][:n], linear.results_["training_loss"][:n], rtol=2e-2)


class Centred(TransformerMixin, BaseEstimator):
    """Remembers of how many rows its mean is."""

    rows: ClassVar[list[int]] = []

    def fit(self, X, y=None):
        self.rows.append(len(X))
        self.mean_ = X.mean(axis=0)
        return self

    def transform(self, X):
        return X - self.mean_


def test_transformers_are_fitted_in_every_fold():
    Centred.rows.clear()
    found = tuned(estimator=make_pipeline(Centred(), mm.MulticlassSVC()), Cs=FEW, n_jobs=1).fit(A, B)
    assert sorted(Centred.rows) == [40, 40, 40, 60]
    np.testing.assert_allclose(found.best_estimator_[0].mean_, A.mean(axis=0))
    assert found.best_C_ == found.best_estimator_[-1].C
    assert found.estimator[-1].C == mm.MulticlassSVC().C
    assert found.score(A, B) > 0.6


# --- an estimator like others


def test_the_best_model_speaks():
    found = tuned(Cs=FEW, estimator=mm.MulticlassSVC(warm_start=True, verbose=1)).fit(A, B)
    best = found.best_estimator_
    assert found.best_C_ == best.C
    assert best.warm_start is True
    assert best.verbose == 1
    np.testing.assert_array_equal(found.predict(A), best.predict(A))
    np.testing.assert_array_equal(found.decision_function(A), best.decision_function(A))
    np.testing.assert_array_equal(found.coef_, best.coef_)
    np.testing.assert_array_equal(found.classes_, best.classes_)
    assert found.certificate_ is best.certificate_
    assert found.n_features_in_ == A.shape[1]
    assert found.top_weights(0, n=2) == best.top_weights(0, n=2)
    assert is_classifier(found)
    assert not is_classifier(mm.Tuned(mm.SequenceLabeler()))
    with pytest.raises(AttributeError, match="no_such_thing"):
        found.no_such_thing  # noqa: B018


def test_before_fitting():
    new = tuned()
    assert hasattr(new, "predict")
    assert not hasattr(new, "classes_")
    assert not hasattr(mm.Tuned(mm.Ranker()), "decision_function")
    with pytest.raises(NotFittedError):
        new.predict(A)
    with pytest.raises(NotFittedError):
        check_is_fitted(new)


def test_clone_pickle_and_parameters():
    found = tuned(Cs=FEW).fit(A, B)
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.predict(A), found.predict(A))
    assert again.best_C_ == found.best_C_
    new = clone(found)
    assert not hasattr(new, "best_C_")
    new.set_params(estimator__tol=0.5, cv=4)
    assert new.get_params()["estimator__tol"] == 0.5
    assert new.get_params()["cv"] == 4


def test_within_cross_validation():
    assert np.isfinite(cross_val_score(tuned(Cs=FEW), A, B, cv=3)).all()
    assert len(cross_val_predict(tuned(Cs=FEW), A, B, cv=3)) == len(B)
    search = GridSearchCV(tuned(Cs=FEW), {"estimator__fit_intercept": [True, False]}, cv=2).fit(A, B)
    assert search.best_estimator_.best_C_ in FEW


def test_scoring_by_name_and_in_score():
    found = tuned(Cs=FEW, scoring="balanced_accuracy").fit(A, B)
    assert found.score(A, B) == pytest.approx(np.mean([np.mean(found.predict(A)[k == B] == k) for k in np.unique(B)]))


def test_progress(capsys):
    tuned(Cs=FEW, verbose=True).fit(A, B)  # shorter than a line takes to appear
    assert capsys.readouterr().out == ""
    model = tuned(Cs=FEW, n_jobs=1)
    texts = []

    class Line:
        def show(self, text):
            texts.append(text)

    tried = Tried()
    folds = model._folds(Given(A, B, {}), splits_of(model.estimator, 3, B, None, 0), model.estimator)
    for row in model._rows(mm.executors.Serial(), folds, list(FEW), tried, None, Line()):
        tried.add(row)
    assert len(texts) == 12
    assert texts[0].startswith("C 1 of at most 3: 0.01  1 of 4 trained")
    assert "best so far" in texts[-1]
    assert "at C =" in texts[-1]
    assert "left" in texts[-1]


# --- what does not go well


@pytest.fixture
def _one_ctrl_c(monkeypatch):
    monkeypatch.setattr(interruptions, "AGAIN", 2.0)
    monkeypatch.setattr(interruptions, "_last", -np.inf)


def pressing_at(step, times=1):
    """A callback that presses Ctrl-C."""
    steps = []

    def callback(record):
        steps.append(record)
        if step <= len(steps) < step + times:
            raise KeyboardInterrupt

    return callback


@pytest.mark.usefixtures("_one_ctrl_c")
def test_ctrl_c_keeps_the_best_so_far():
    calls = []

    def count(record):
        calls.append(record)

    tuned(estimator=mm.MulticlassSVC(callback=count), Cs=FEW, n_jobs=1).fit(A, B)
    model = tuned(estimator=mm.MulticlassSVC(callback=pressing_at(len(calls) - 2)), Cs=FEW, n_jobs=1)
    with pytest.warns(TrainingInterrupted, match="best of the 2 values") as said:
        model.fit(A, B)
    assert len(said) == 1
    assert len(model.results_["C"]) == 2
    assert model.best_C_ in FEW[:2]
    assert model.score(A, B) > 0.5


@pytest.mark.usefixtures("_one_ctrl_c")
def test_ctrl_c_in_another_thread_than_the_folds():
    """It reaches the main thread only, which waits for the folds."""

    class Pressed(mm.executors.Threads):
        steps = 0

        def map(self, *arguments):
            self.steps += 1
            answers = super().map(*arguments)
            if self.steps == 3:
                next(answers)
                raise KeyboardInterrupt
            return answers

    with pytest.warns(TrainingInterrupted, match="best of the 2 values"):
        found = tuned(Cs=FEW, executor=Pressed(2)).fit(A, B)
    assert len(found.results_["C"]) == 2


@pytest.mark.usefixtures("_one_ctrl_c")
def test_ctrl_c_before_there_is_a_model():
    model = tuned(estimator=mm.MulticlassSVC(callback=pressing_at(1)), Cs=FEW, n_jobs=1)
    with pytest.raises(KeyboardInterrupt):
        model.fit(A, B)
    assert not hasattr(model, "best_C_")


@pytest.mark.usefixtures("_one_ctrl_c")
def test_ctrl_c_twice_ends_everything():
    model = tuned(estimator=mm.MulticlassSVC(callback=pressing_at(1, times=99)), Cs=FEW, n_jobs=1)
    with pytest.raises(KeyboardInterrupt):
        model.fit(A, B)


def test_unconverged_fits_are_said_once():
    model = tuned(estimator=mm.MulticlassSVC(max_passes=2, tol=1e-9), Cs=FEW)
    with pytest.warns(
        ConvergenceWarning, match="stopped above tol for 3 of 3 values of C .the chosen one among"
    ) as said:
        model.fit(A, B)
    assert len(said) == 1
    assert not model.results_["converged"].any()
    assert (model.results_["gap"] > 1e-9).all()


def test_what_is_said_of_the_data_is_said_once():
    X = [[["a"], ["b"]]] * 6 + [[["b"], ["a"]]] * 6
    Y = [["B-X", "I-X"]] * 6 + [["I-X", "B-X"]] * 6
    model = mm.SequenceLabeler(forbidden="BIO", invalid="repair")
    with pytest.warns(InvalidLabels, match="6") as said:
        mm.Tuned(model, Cs=FEW, cv=2).fit(X, Y)
    assert len(said) == 1


def test_chunks():
    X, Y = tagged()
    scoring = mm.metrics.chunk_f1_scorer
    found = mm.Tuned(mm.SequenceLabeler(forbidden="BIO"), Cs=FEW, cv=2, scoring=scoring).fit(X, Y)
    assert found.score(X, Y) == scoring(found.best_estimator_, X, Y)


class LosesAll(mm.MulticlassSVC):
    """Ends at w = 0 on all of the data for some C."""

    def __init__(self, lost=(0.1,), C=1.0, **options):
        super().__init__(C=C, **options)
        self.lost = lost

    def _train(self, problem, C, start, *others, **options):
        solution = super()._train(problem, C, start, *others, **options)
        if len(problem.batch) == len(A) and C in self.lost:
            solution.w = np.zeros_like(solution.w)
        return solution


def test_a_model_that_has_learnt_nothing_is_not_chosen():
    scores = dict(zip(FEW, (0.3, 0.9, 0.5), strict=True))
    scoring = lambda model, X, y: scores[model.C]  # noqa: E731
    with pytest.warns(NothingLearnt, match="0.9, belongs to C = 0.1, but .* value is used, C = 1 with 0.5") as said:
        found = tuned(estimator=LosesAll(), Cs=FEW, scoring=scoring).fit(A, B)
    assert len(said) == 1
    assert (found.best_C_, found.best_score_) == (1.0, 0.5)
    assert np.any(found.w_)
    np.testing.assert_array_equal(found.results_["zeros"], [0, 1, 0])
    with pytest.warns(NothingLearnt, match="for every C that was tried"):
        nothing = tuned(estimator=LosesAll(lost=FEW), Cs=FEW, scoring=scoring).fit(A, B)
    assert nothing.best_C_ == 0.1


def test_nothing_to_learn():
    with pytest.warns(NothingLearnt) as said:
        tuned(estimator=mm.MulticlassSVC(fit_intercept=False)).fit(np.zeros((30, 2)), np.arange(30) % 3)
    assert len(said) == 1


class NoC(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        return self


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"estimator": SVC()}, TypeError, "SequenceLabeler, MulticlassSVC.*got SVC"),
        ({"estimator": NoC()}, TypeError, "large margin"),
        ({"estimator": make_pipeline(StandardScaler(), SVC())}, TypeError, "pipeline that ends in one; got SVC"),
        ({"estimator": mm.CountingClassifier()}, TypeError, "CountingClassifier has no C.*alpha itself"),
        ({"estimator": mm.MulticlassSVC(solver="perceptron")}, ValueError, "does not use C"),
        ({"Cs": []}, ValueError, "Cs is empty"),
        ({"Cs": [1.0, 0.0]}, ValueError, "positive finite numbers, got 0.0"),
        ({"Cs": [1.0, np.inf]}, ValueError, "positive finite numbers, got inf"),
        ({"Cs": [np.nan]}, ValueError, "positive finite numbers, got nan"),
        ({"Cs": ["1"]}, ValueError, "positive finite numbers, got '1'"),
        ({"Cs": 3.0}, TypeError, "sequence of numbers, got 3.0"),
        ({"cv": 1}, ValueError, "cv must be"),
        ({"cv": 61}, ValueError, "61"),
        ({"cv": []}, ValueError, "no folds"),
        ({"cv": [(np.arange(60), np.arange(0))]}, ValueError, "fold 0 of cv has 60 examples to train and 0"),
        ({"rule": "largest"}, ValueError, "'best', 'one_standard_error', got 'largest'"),
        ({"rule": "one_standard_error", "cv": [(np.arange(40), np.arange(40, 60))]}, ValueError, "two folds, got one"),
        ({"patience": 0}, ValueError, "patience must be"),
        ({"n_jobs": 0}, ValueError, "n_jobs must be"),
        ({"executor": 3}, TypeError, "executor must be"),
        ({"scoring": lambda model, X, y: np.nan}, ValueError, "score of fold 0 for C = .* is nan"),
        ({"random_state": -1}, ValueError, "random_state must not be negative"),
        ({"verbose": 7}, ValueError, "verbose must be"),
    ],
)
def test_bad_options(options, error, message):
    with pytest.raises(error, match=message):
        tuned(**{"n_jobs": 1, **options}).fit(A, B)


def test_bad_data():
    with pytest.raises(ValueError, match="Tuned needs y"):
        tuned().fit(A)
    with pytest.raises(ValueError, match="60 examples but y has 59"):
        tuned().fit(A, B[:59])
    with pytest.raises(ValueError, match="groups has 3"):
        tuned().fit(A, B, groups=[1, 2, 3])
    with pytest.raises(ValueError, match=r"scikit|splits|members"):
        tuned(cv=5).fit(A[:4], [0, 1, 2, 3])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_fold_that_fails_is_named(n_jobs):
    X, y = rare(n=40)
    one_class = [(np.arange(40), np.arange(40)), (np.flatnonzero(y == 0), np.arange(40))]
    with pytest.raises(ValueError, match=r"class") as raised:
        mm.Tuned(mm.MeasureSVC(), Cs=[1.0], cv=one_class, n_jobs=n_jobs).fit(X, y)
    assert any("fold 1, C = 1.0" in note for note in raised.value.__notes__)
    with pytest.raises(ValueError, match="one class") as raised:
        mm.Tuned(mm.MeasureSVC(), Cs=[1.0], cv=LeaveOneOut(), n_jobs=n_jobs).fit(X, y)
    assert any("fold 0" in note for note in raised.value.__notes__)


def test_blas_has_its_threads_back():
    def threads():
        return [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]

    before = threads()
    tuned(Cs=FEW).fit(A, B)
    assert threads() == before


@pytest.mark.slow
def test_no_warnings_on_the_way():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mm.Tuned(mm.MeasureSVC("f1"), cv=3).fit(*rare())


def test_one_loss_is_followed_whatever_is_trained_for():
    """MeasureSVC trains for another loss where its bound says nothing; that one is in another unit, and larger."""
    rows, labels = make_classification(
        200, 6, n_informative=4, weights=[0.85], class_sep=1.5, flip_y=0.05, random_state=1
    )
    Cs = [0.01, 0.1, 1.0]
    path = mm.MeasureSVC("f1").fit_path(rows, labels, Cs)
    assert [each.trained_for_ for each in path] == ["modified_huber", "f1", "f1"]
    assert path[0].solution_.risk > 2
    with pytest.warns(NothingLearnt):
        bound = mm.MeasureSVC("f1", train_for="measure", cut="trained").fit_path(rows, labels, Cs)
    losses = [each.solution_.risk for each in bound]
    found = mm.Tuned(mm.MeasureSVC("f1"), Cs=Cs, cv=2, patience=None).fit(rows, labels)
    np.testing.assert_allclose(found.results_["training_loss"], losses)
    assert losses == sorted(losses, reverse=True)
