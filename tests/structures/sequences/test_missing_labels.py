"""SequenceLabeler with missing labels: hidden parts that training completes."""

from functools import cache

import numpy as np
import pytest
from estimators.problems import LABELS, sequences
from sklearn.model_selection import GridSearchCV

from maxmargin import SequenceLabeler, tasks
from maxmargin.errors import TrainingInterrupted
from maxmargin.problem.dual.objective import Formulation
from maxmargin.solvers import BCFW, CCCP
from maxmargin.structures.sequences.batch import ChainBatch
from maxmargin.tasks import Weighted
from maxmargin.testing import brute_force, objective

X, Y = sequences()


@cache
def trained():
    return SequenceLabeler(C=10.0).fit(X, Y)


def hidden(share=0.4, seed=0, outputs=Y):
    """Some labels replaced by None or by a set of two."""
    rng = np.random.default_rng(seed)
    return [
        [
            label if rng.random() > share else [None, {label, LABELS[LABELS.index(label) - 1]}][rng.integers(2)]
            for label in y
        ]
        for y in outputs
    ]


PARTIAL = hidden()
SOLVERS = ["bcfw", "n_slack", "one_slack", "bundle"]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("rescaling", ["margin", "slack"])
@pytest.mark.parametrize("slack", ["l1", "l2"])
def test_partial_labels_end_in_a_certified_local_optimum(solver, rescaling, slack):
    inputs, outputs = [x[:3] for x in X[:8]], [y[:3] for y in PARTIAL[:8]]
    model = SequenceLabeler(C=10.0, classes=LABELS, solver=solver, rescaling=rescaling, slack=slack, tol=1e-3).fit(
        inputs, outputs
    )
    problem, formulation = (tasks.Chain(classes=LABELS), inputs, outputs), Formulation(rescaling, slack)
    assert model.certificate_.converged
    assert model.certificate_.rounds == len(model.rounds_)
    assert all(any(label is not None for label in y) for y in outputs), "a sequence without labels is left out"
    assert model.certificate_.primal == pytest.approx(objective(*problem, 10.0, model.w_, formulation))
    best = brute_force(*problem, 10.0, formulation, completed_at=model.w_).value
    assert model.certificate_.dual <= best * (1 + 1e-7)
    assert model.certificate_.primal <= best * (1 + 2e-3)


def test_partial_labels_still_teach():
    model = SequenceLabeler(C=10.0).fit(X, PARTIAL)
    new, truth = sequences(200, seed=5)
    assert model.score(new, truth) > 0.95 * trained().score(new, truth)
    assert model.score(X, PARTIAL) > 0.7


def test_known_labels_train_as_before():
    assert not hasattr(trained(), "rounds_")
    assert trained().certificate_.rounds is None
    sets = [[{label} for label in y] for y in Y]
    same = SequenceLabeler(C=10.0).fit(X, sets)
    np.testing.assert_array_equal(same.w_, trained().w_)
    assert not hasattr(same, "rounds_")
    again = SequenceLabeler(C=10.0).fit(X, PARTIAL).fit(X, Y)
    np.testing.assert_array_equal(again.w_, trained().w_)
    assert not hasattr(again, "rounds_")


def test_a_set_with_one_label_is_that_label():
    sets = [[{label} if isinstance(label, str) else label for label in y] for y in PARTIAL]
    np.testing.assert_array_equal(SequenceLabeler(C=10.0).fit(X, sets).w_, SequenceLabeler(C=10.0).fit(X, PARTIAL).w_)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("outputs", [Y, PARTIAL], ids=["known", "partial"])
@pytest.mark.parametrize("weighted", [False, True])
def test_sequences_without_labels_change_nothing(solver, outputs, weighted):
    """Wherever they stand, and whatever they weigh."""
    if outputs is Y:
        outputs = [[None, *y[1:]] if i == 0 and len(y) > 1 else y for i, y in enumerate(Y)]
    weights = np.random.default_rng(0).uniform(0.1, 3.0, len(X))
    options = {"C": 10.0, "solver": solver, "classes": LABELS}
    model = SequenceLabeler(**options).fit(X, outputs, sample_weight=weights if weighted else None)
    unknown, _ = sequences(7, seed=9)
    places = [0, 3, 3, 10, 15, 24, 24]
    inputs, more, heavier = list(X), list(outputs), list(weights)
    for place, x in sorted(zip(places, unknown, strict=True), key=lambda pair: -pair[0]):
        inputs.insert(place, x)
        more.insert(place, [None] * len(x) if place else [set(LABELS)] * len(x))
        heavier.insert(place, 17.3)
    same = SequenceLabeler(**options).fit(inputs, more, sample_weight=heavier if weighted else None)
    np.testing.assert_array_equal(same.w_, model.w_)
    assert same.certificate_.primal == model.certificate_.primal
    assert same.certificate_.passes == model.certificate_.passes


def test_sample_weights_are_checked_where_sequences_are_left_out():
    inputs, outputs = [*X, X[0]], [*PARTIAL, [None] * len(Y[0])]
    with pytest.raises(ValueError, match=r"sample_weight has shape \(24,\); expected \(25,\)"):
        SequenceLabeler().fit(inputs, outputs, sample_weight=np.ones(24))
    with pytest.raises(ValueError, match=r"sample_weight\[24\] is -1"):
        SequenceLabeler().fit(inputs, outputs, sample_weight=[*np.ones(24), -1.0])


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        ([[None] * len(y) for y in Y], "no position of any sequence has a label: there is nothing to learn from"),
        ([[set(LABELS)] * len(y) for y in Y], "no example has an informative label"),
        ([*PARTIAL[:-1], [set()] * len(Y[-1])], "sequence 23: the set of labels allowed at position 0 is empty"),
        ([*PARTIAL[:-1], [None, "adverb", *[None] * 20][: len(Y[-1])]], "sequence 23: the label 'adverb' is not one"),
        ([*PARTIAL[:-1], [{"noun", "adverb"}] * len(Y[-1])], "sequence 23: .* position 0 has 'adverb', which is not"),
    ],
)
def test_bad_partial_labels_are_named(outputs, message):
    with pytest.raises(ValueError, match=message):
        SequenceLabeler(classes=LABELS).fit(X, outputs)


def test_missing_labels_that_cannot_be_completed():
    forbidden = [("noun", label) for label in LABELS] + [("noun", None)]
    with pytest.raises(ValueError, match="sequence 1: every choice of its missing labels contains"):
        SequenceLabeler(classes=LABELS, forbidden=forbidden).fit(
            [np.ones((1, 2)), np.ones((2, 2))], [["verb"], ["noun", None]]
        )


def test_bio_tags_with_gaps():
    """Stretches of known labels may begin inside an entity."""
    spots = np.eye(3)
    inputs = [spots[[1, 2]] * k for k in (1, 1, 5)] + [spots[[0, 1, 2, 0]]] * 3 + [spots[[0]]]
    outputs = [[None, "I-X"]] * 3 + [["O", "B-X", "I-X", "O"]] * 3 + [["O"]]
    for rescaling in ("margin", "slack"):
        model = SequenceLabeler(C=1000.0, forbidden="BIO", rescaling=rescaling).fit(inputs, outputs)
        assert model.certificate_.converged
        assert model.predict(inputs[:1]) == [["B-X", "I-X"]]


def test_score_of_partial_labels():
    found = trained().predict(X)
    assert trained().score(X, found) == 1.0
    assert trained().score(X, [[None] * (len(y) - 1) + [y[-1]] for y in found]) == 1.0
    assert trained().score(X, [[{label} for label in y] for y in found]) == 1.0
    assert trained().score(X, [[{label, "rare"} for label in y] for y in found]) == 1.0
    assert trained().score(X, [[{"rare", "other"} if t == 0 else None for t in range(len(y))] for y in found]) == 0.0
    half = [[y[0], {"rare"}, *[None] * (len(y) - 2)] for y in found]
    assert trained().score(X, half) == 0.5
    assert trained().score(X, [Weighted(y, [1.0] * len(y)) for y in half]) == 0.5
    with pytest.raises(ValueError, match="no labelled positions given"):
        trained().score(X, [[None] * len(y) for y in Y])


def test_position_weights_of_partial_labels():
    weights = [[1.0 + t for t in range(len(y))] for y in Y]
    model = SequenceLabeler(C=10.0).fit(X, PARTIAL, position_weight=weights)
    weighted = [Weighted(y, costs) for y, costs in zip(PARTIAL, weights, strict=True)]
    np.testing.assert_array_equal(model.w_, SequenceLabeler(C=10.0).fit(X, weighted).w_)
    assert model.certificate_.converged


def test_grid_search_over_partial_labels():
    search = GridSearchCV(SequenceLabeler(classes=LABELS), {"C": [0.1, 10.0]}, cv=3).fit(X, PARTIAL)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_estimator_.rounds_
    assert search.best_estimator_.certificate_.converged
    deeper = GridSearchCV(SequenceLabeler(solver=CCCP()), {"solver__restarts": [1, 2]}, cv=2).fit(X, PARTIAL)
    assert np.isfinite(deeper.cv_results_["mean_test_score"]).all()


def test_restarts_and_threads_of_partial_labels():
    found = [
        SequenceLabeler(C=10.0, solver=CCCP(inner="bcfw", restarts=3), n_jobs=n_jobs).fit(X, PARTIAL)
        for n_jobs in (1, 2, 3)
    ]
    for model in found[1:]:
        np.testing.assert_array_equal(model.w_, found[0].w_)
    assert {each.restart for each in found[0].rounds_} == {0, 1, 2}
    alone = SequenceLabeler(C=10.0, solver=CCCP(inner="bcfw")).fit(X, PARTIAL)
    assert found[0].certificate_.primal <= alone.certificate_.primal


def test_the_solver_of_the_first_weights_is_left_alone():
    inner = BCFW(tol=1e-3)
    SequenceLabeler(C=10.0, solver=CCCP(inner=inner)).fit(X, PARTIAL)
    assert vars(inner) == {"tol": 1e-3}


def test_an_error_while_the_known_labels_teach_is_not_lost(monkeypatch):
    """Whatever goes wrong before the first round goes wrong, also after the first trainer has a model to keep."""
    calls, planes = [], ChainBatch.planes

    def failing(self, w, augment=1.0):
        calls.append(len(self))
        if len(calls) == 4:
            raise RuntimeError("out of order")
        return planes(self, w, augment)

    monkeypatch.setattr(ChainBatch, "planes", failing)
    with pytest.raises(RuntimeError, match="out of order"):
        SequenceLabeler(C=10.0, solver="one_slack", tol=1e-6).fit(X, PARTIAL)


def test_solvers_without_a_certificate_cannot_train_on_partial_labels():
    with pytest.raises(ValueError, match="latent training needs an inner solver with a certificate"):
        SequenceLabeler(solver="subgradient").fit(X, PARTIAL)


def test_certify_a_local_optimum():
    model = SequenceLabeler(C=10.0, tol=1e-3).fit(X, PARTIAL)
    certificate = model.certify(X, PARTIAL, tol=1e-3)
    assert certificate.primal == pytest.approx(model.certificate_.primal)
    assert certificate.relative_gap <= 2e-3


def test_ctrl_c_with_partial_labels():
    def interrupt(record):
        raise KeyboardInterrupt

    with pytest.warns(TrainingInterrupted):
        model = SequenceLabeler(C=10.0, callback=interrupt).fit(X, PARTIAL)
    assert model.certificate_.stop_reason == "interrupted"
    assert model.score(X, PARTIAL) > 0.5


@pytest.mark.parametrize("solver", SOLVERS)
def test_path_and_warm_start_of_partial_labels(solver):
    for model in SequenceLabeler(solver=solver, tol=1e-3).fit_path(X, PARTIAL, [0.5, 10.0, 2.0]):
        assert model.certificate_.converged
        certificate = model.certify(X, PARTIAL, tol=1e-3)
        assert certificate.primal == pytest.approx(model.certificate_.primal)
        assert model.certificate_.dual <= certificate.primal * (1 + 1e-9)
        assert certificate.dual <= model.certificate_.primal * (1 + 1e-9)
    warm = SequenceLabeler(C=10.0, solver=solver, warm_start=True).fit(X, PARTIAL)
    again = warm.certificate_.primal
    warm.fit(X, PARTIAL)
    assert warm.certificate_.primal <= again
    assert warm.certificate_.converged


def test_position_weights_of_paths_and_certificates():
    weights = [[2.0] * len(y) for y in Y]
    model = SequenceLabeler(C=10.0).fit(X, PARTIAL, position_weight=weights)
    path = SequenceLabeler().fit_path(X, PARTIAL, [10.0], position_weight=weights)
    assert np.array_equal(path[0].w_, model.w_)
    certificate = model.certify(X, PARTIAL, position_weight=weights)
    assert certificate.primal == pytest.approx(model.certificate_.primal)
    assert "with the hidden parts fixed" in str(certificate)
