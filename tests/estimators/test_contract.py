"""scikit-learn's rules for estimators of structured outputs: its own suite runs no check where X is not a 2-D array."""

import inspect
import pickle

import joblib
import numpy as np
import pytest
import sklearn
from estimators.problems import CHECKS_WITHOUT_DATA, FORMS, Threshold, choices, sequences
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks, get_tags
from sklearn.utils.validation import check_is_fitted

from maxmargin import SegmentLabeler, SequenceLabeler, StructuredSVM, executors, solvers, tasks

SEQUENCES = {form: sequences(form=form) for form in FORMS}
CHOICES = choices()

ESTIMATORS = {
    "labeler": (SequenceLabeler(C=10.0), *SEQUENCES["dense"]),
    "labeler of sparse rows": (SequenceLabeler(C=10.0), *SEQUENCES["sparse"]),
    "labeler of attributes": (SequenceLabeler(C=10.0, solver=solvers.BCFW(block=4)), *SEQUENCES["attributes"]),
    "labeler of dicts": (SequenceLabeler(C=10.0, executor=executors.Threads(2)), *SEQUENCES["dicts"]),
    "segments": (SegmentLabeler(C=10.0), SEQUENCES["dense"][0], [[(0, 1, "first")]] * len(SEQUENCES["dense"][0])),
    "chain": (StructuredSVM(tasks.Chain(classes=["verb", "noun", "det"]), C=10.0), *SEQUENCES["dense"]),
    "own task": (StructuredSVM(Threshold(), C=10.0, solver=solvers.OneSlack(tol=1e-3)), *CHOICES),
    "averaged": (SequenceLabeler(solver="perceptron", random_state=3), *SEQUENCES["dicts"]),
    "walk": (StructuredSVM(tasks.Chain(), C=10.0, solver="subgradient"), *SEQUENCES["attributes"]),
}


@pytest.fixture(params=ESTIMATORS, ids=lambda name: name.replace(" ", "-"))
def case(request):
    estimator, X, Y = ESTIMATORS[request.param]
    return clone(estimator), X, Y


@pytest.mark.parametrize("check", CHECKS_WITHOUT_DATA, ids=lambda check: check.__name__)
def test_checks_of_scikit_learn_that_need_no_data(case, check):
    estimator = case[0]
    check(type(estimator).__name__, estimator)


def test_constructor_stores_what_it_is_given_and_nothing_else(case):
    estimator = case[0]
    names = list(inspect.signature(type(estimator)).parameters)
    marks = {name: object() for name in names}
    assert vars(type(estimator)(**marks)) == marks


def test_fit_returns_self_and_changes_no_parameter(case):
    estimator, X, Y = case
    before = {name: joblib.hash(value) for name, value in estimator.get_params().items()}
    assert estimator.fit(X, Y) is estimator
    assert {name: joblib.hash(value) for name, value in estimator.get_params().items()} == before


def test_fit_adds_only_attributes_with_a_trailing_underscore(case):
    estimator, X, Y = case
    before = set(vars(estimator))
    estimator.fit(X, Y)
    assert all(name.endswith("_") or name.startswith("_") for name in set(vars(estimator)) - before)


def test_fit_and_predict_leave_the_data_alone(case):
    estimator, X, Y = case
    before = joblib.hash((X, Y))
    estimator.fit(X, Y).predict(X)
    estimator.score(X, Y)
    assert joblib.hash((X, Y)) == before


def test_fitting_twice_gives_the_same_model(case):
    estimator, X, Y = case
    w = estimator.fit(X, Y).w_
    np.testing.assert_array_equal(estimator.fit(X, Y).w_, w)
    np.testing.assert_array_equal(clone(estimator).fit(X, Y).w_, w)


def test_refit_forgets_the_old_data(case):
    estimator, X, Y = case
    estimator.fit(X[:10], Y[:10]).fit(X, Y)
    np.testing.assert_array_equal(estimator.w_, clone(estimator).fit(X, Y).w_)


def test_fit_and_score_take_the_outputs_second(case):
    for name in ("fit", "score", "certify", "fit_path"):
        assert list(inspect.signature(getattr(case[0], name)).parameters)[:2] == ["X", "Y"]


def test_unfitted(case):
    estimator, X, Y = case
    calls = [(estimator.predict, X), (estimator.score, X, Y), (estimator.certify, X, Y)]
    if isinstance(estimator, SequenceLabeler):
        calls += [(estimator.decision_function, X), (estimator.predict_nbest, X, 2)]
        assert not hasattr(estimator, "classes_")
        assert not hasattr(estimator, "weights_")
    for call, *arguments in calls:
        with pytest.raises(NotFittedError, match="not fitted yet"):
            call(*arguments)
    with pytest.raises(NotFittedError):
        check_is_fitted(estimator)
    check_is_fitted(estimator.fit(X, Y))


def test_outputs_are_lists_of_one_prediction_each(case):
    estimator, X, Y = case
    found = estimator.fit(X, Y).predict(X)
    assert isinstance(found, list)
    assert len(found) == len(X)
    if not isinstance(Y[0], int):
        assert all(type(labels) is list for labels in found)
        assert [len(labels) for labels in found] == [len(y) for y in Y]
    assert estimator.predict(X[:0]) == []


def test_learns_something(case):
    estimator, X, Y = case
    estimator.fit(X, Y)
    worst = -np.mean([len(y) if isinstance(y, list) else 1 for y in Y])
    assert estimator.score(X, Y) > (0.7 if isinstance(estimator, SequenceLabeler) else 0.3 * worst)
    assert np.isfinite(estimator.w_).all()
    assert estimator.certificate_.converged is solvers.as_solver(estimator._named_solver).certified


def test_tags(case):
    tags = get_tags(case[0])
    assert tags.target_tags.required
    assert not tags.input_tags.two_d_array
    assert tags.estimator_type is None  # a classifier's folds would be stratified, which nested labels cannot be


def test_default_constructible():
    estimator_checks.check_parameters_default_constructible("SequenceLabeler", SequenceLabeler())


def test_repr_names_only_what_was_changed(case):
    model = SequenceLabeler(C=3.0, forbidden="BIO", executor=executors.Threads(2))
    assert repr(model) == "SequenceLabeler(C=3.0, executor=Threads(2), forbidden='BIO')"
    model = StructuredSVM(tasks.Chain(), solver=solvers.BCFW(tol=0.1))
    assert repr(model) == "StructuredSVM(solver=BCFW(tol=0.1), task=Chain())"
    estimator, X, Y = case
    assert repr(estimator.fit(X, Y)) == repr(clone(estimator))


def test_html_repr_of_new_and_fitted(case):
    estimator, X, Y = case
    with sklearn.config_context(display="diagram"):
        assert type(estimator).__name__ in estimator._repr_html_()
        assert type(estimator).__name__ in estimator.fit(X, Y)._repr_html_()


def test_nested_parameters():
    model = StructuredSVM(tasks.Chain(), solver=solvers.BCFW())
    model.set_params(task__costs={"noun": 2.0}, solver__block=4, C=7.0)
    assert model.task.costs == {"noun": 2.0}
    assert model.solver.block == 4
    parameters = model.get_params()
    assert parameters["task__costs"] == {"noun": 2.0}
    assert parameters["solver__block"] == 4
    assert "task__costs" not in model.get_params(deep=False)
    copy = clone(model)
    assert copy.task is not model.task
    assert copy.solver is not model.solver
    assert copy.get_params()["solver__block"] == 4
    with pytest.raises(ValueError, match="Invalid parameter 'shape'"):
        model.set_params(task__shape=1)
    with pytest.raises(TypeError, match="BCFW has no option 'blocks'; it has block, "):
        model.set_params(solver__blocks=1)


def test_fit_works_on_clones_of_task_and_solver():
    X, Y = SEQUENCES["dense"]
    model = StructuredSVM(tasks.Chain(), solver=solvers.BCFW(), tol=0.05, max_passes=7)
    model.fit(X, Y)
    assert not hasattr(model.task, "classes_")
    assert model.solver.tol == solvers.BCFW.tol
    assert model.task_ is not model.task


# --- pickles


def test_pickled_model_predicts_the_same(case):
    estimator, X, Y = case
    estimator.fit(X, Y)
    copy = pickle.loads(pickle.dumps(estimator))
    assert copy.predict(X) == estimator.predict(X)
    np.testing.assert_array_equal(copy.w_, estimator.w_)
    assert copy.certificate_ == estimator.certificate_
    assert copy.history_ == estimator.history_
    assert copy.certify(X, Y).primal == pytest.approx(estimator.certificate_.primal)
    np.testing.assert_array_equal(copy.fit(X, Y).w_, estimator.w_)


def test_pickled_before_fit(case):
    estimator, X, Y = case
    copy = pickle.loads(pickle.dumps(estimator))
    np.testing.assert_array_equal(copy.fit(X, Y).w_, estimator.fit(X, Y).w_)


def test_pickle_leaves_the_plane_cache_and_the_data_out(case):
    estimator, X, Y = case
    estimator.fit(X, Y)
    copy = pickle.loads(pickle.dumps(estimator))
    if solvers.as_solver(estimator._named_solver).online:  # what partial_fit needs: two vectors and a number
        assert len(copy.solution_.memory) == 4
    else:
        assert estimator.solution_.memory is not None
        assert copy.solution_.memory is None
    twice = clone(estimator).fit(X + X, Y + Y)
    history = len(pickle.dumps(twice.history_)) - len(pickle.dumps(estimator.history_))
    assert len(pickle.dumps(twice)) - history < len(pickle.dumps(estimator)) + 200


def test_warm_start_survives_a_pickle_as_a_cold_start():
    X, Y = SEQUENCES["dense"]
    model = SequenceLabeler(warm_start=True).fit(X, Y)
    copy = pickle.loads(pickle.dumps(model)).set_params(C=20.0).fit(X, Y)
    assert copy.certificate_.converged


# --- model selection


def test_cross_validation(case):
    estimator, X, Y = case
    scores = cross_val_score(estimator, X, Y, cv=3)
    assert scores.shape == (3,)
    assert np.isfinite(scores).all()


def test_cross_validation_by_groups():
    X, Y = SEQUENCES["attributes"]
    groups = np.arange(len(X)) // 4
    assert len(cross_val_score(SequenceLabeler(), X, Y, groups=groups, cv=GroupKFold(3))) == 3


def test_cross_val_predict_of_sequences_of_one_length():
    X, Y = [np.eye(3)] * 9, [["a", "b", "c"]] * 9
    found = cross_val_predict(SequenceLabeler(), X, Y, cv=3)
    assert found.shape == (9,)  # one output per example, as for sequences of any other lengths


@pytest.mark.every(2)
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_grid_search(n_jobs):
    X, Y = SEQUENCES["dicts"]
    grid = {"task__unknown": ["ignore"], "C": [0.1, 10.0], "solver__tol": [1e-3]}
    search = GridSearchCV(StructuredSVM(tasks.Chain(), solver=solvers.BCFW()), grid, cv=2, n_jobs=n_jobs)
    search.fit(X, Y)
    assert search.best_params_["C"] == 10.0
    assert search.best_estimator_.certificate_.converged
    assert search.predict(X) == search.best_estimator_.predict(X)
    assert search.score(X, Y) == search.best_estimator_.score(X, Y)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_grid_search_of_labelers_does_not_depend_on_processes(n_jobs):
    X, Y = SEQUENCES["attributes"]
    search = GridSearchCV(SequenceLabeler(), {"C": [1.0, 30.0], "solver": ["bcfw", "one_slack"]}, cv=2, n_jobs=n_jobs)
    alone = [
        cross_val_score(SequenceLabeler(**parameters), X, Y, cv=2).mean()
        for parameters in ({"C": C, "solver": solver} for C in (1.0, 30.0) for solver in ("bcfw", "one_slack"))
    ]
    assert list(search.fit(X, Y).cv_results_["mean_test_score"]) == alone


class AddLength(TransformerMixin, BaseEstimator):
    """A transformer from lists of sequences to lists of sequences."""

    def fit(self, X, Y=None):
        return self

    def transform(self, X):
        return [[[*token, f"length={len(x)}"] for token in x] for x in X]


def test_pipeline():
    X, Y = SEQUENCES["attributes"]
    pipeline = make_pipeline(AddLength(), SequenceLabeler(C=10.0))
    pipeline.fit(X, Y)
    assert "length=3" in pipeline[-1].task_.packer_.feature_names
    assert pipeline.score(X, Y) > 0.7
    assert pipeline.predict(X) == pipeline[-1].predict(AddLength().transform(X))
    search = GridSearchCV(pipeline, {"sequencelabeler__C": [0.01, 10.0]}, cv=2).fit(X, Y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_sample_weights_are_routed():
    X, Y = SEQUENCES["dense"]
    weights = np.linspace(0.1, 2.0, len(X))
    with sklearn.config_context(enable_metadata_routing=True):
        model = SequenceLabeler(C=5.0).set_fit_request(sample_weight=True, position_weight=False)
        search = GridSearchCV(model, {"C": [5.0]}, cv=2).fit(X, Y, sample_weight=weights)
    np.testing.assert_array_equal(search.best_estimator_.w_, SequenceLabeler(C=5.0).fit(X, Y, weights).w_)


# --- read-only input


def test_read_only_memory(tmp_path, case):
    estimator, X, Y = case
    if not hasattr(X[0], "shape"):
        X, Y = SEQUENCES["dense"]
    joblib.dump(X, tmp_path / "X")
    mapped = joblib.load(tmp_path / "X", mmap_mode="r")
    np.testing.assert_array_equal(clone(estimator).fit(mapped, Y).w_, estimator.fit(X, Y).w_)
