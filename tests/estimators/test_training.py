"""Training through estimators: warm starts, paths, online training, certificates, callbacks, interruptions, errors."""

import pickle
import signal

import numpy as np
import pytest
from estimators.failing import FailsAfter, interrupt_at
from estimators.problems import LABELS, Threshold, choices, sequences
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from maxmargin import MulticlassSVC, SequenceLabeler, StructuredSVM, executors, solvers, tasks
from maxmargin.errors import NotSeparable, TrainingInterrupted
from maxmargin.training.preflight import check_promises

X, Y = sequences(40)
CERTIFIED = ["bcfw", "n_slack", "one_slack", "bundle"]
ONLINE = ["perceptron", "subgradient"]
FLAT = np.concatenate([x.sum(axis=0, keepdims=True) for x in X]), [y[0] for y in Y]


def optimum(C, **options):
    """The optimal value, to seven digits, by another solver than the default one."""
    return SequenceLabeler(C=C, solver="one_slack", tol=1e-7, max_passes=5000, **options).fit(X, Y).certificate_.dual


# --- warm starts


@pytest.mark.parametrize("solver", CERTIFIED)
def test_warm_start_with_another_penalty_saves_passes(solver):
    cold = SequenceLabeler(C=20.0, solver=solver, tol=1e-3).fit(X, Y)
    warm = SequenceLabeler(C=10.0, solver=solver, tol=1e-3, warm_start=True).fit(X, Y)
    warm.set_params(C=20.0).fit(X, Y)
    assert warm.certificate_.passes < cold.certificate_.passes
    assert warm.certificate_.converged
    best = optimum(20.0)
    assert warm.certificate_.dual <= best * (1 + 1e-6)
    assert best * (1 - 1e-6) <= warm.certificate_.primal <= best * (1 + 2e-3)


def test_warm_start_with_another_tolerance_goes_on():
    model = SequenceLabeler(C=20.0, tol=0.3, warm_start=True).fit(X, Y)
    first = model.certificate_
    model.set_params(tol=1e-4).fit(X, Y)
    assert model.certificate_.dual >= first.dual
    assert model.certificate_.converged


def changed_data(model):
    return model, [x + 1.0 for x in X], Y


def changed_labels(model):
    return model, X, [list(reversed(y)) for y in Y]


def fewer(model):
    return model, X[:-1], Y[:-1]


def other_costs(model):
    return model.set_params(costs={"noun": 3.0}), X, Y


def other_classes(model):
    return model.set_params(classes=list(reversed(LABELS))), X, Y


def other_rescaling(model):
    return model.set_params(rescaling="slack"), X, Y


def other_slack(model):
    return model.set_params(slack="l2"), X, Y


@pytest.mark.filterwarnings("ignore::maxmargin.errors.NothingLearnt")  # of reversed labels, within the gap of 1%
@pytest.mark.parametrize("solver", CERTIFIED)
@pytest.mark.parametrize(
    "change", [changed_data, changed_labels, fewer, other_costs, other_classes, other_rescaling, other_slack]
)
def test_warm_start_with_another_problem_is_cold(solver, change):
    """The planes of one problem prove nothing about another."""
    model = SequenceLabeler(C=5.0, solver=solver, warm_start=True).fit(X, Y)
    model, inputs, outputs = change(model)
    np.testing.assert_array_equal(model.fit(inputs, outputs).w_, clone(model).fit(inputs, outputs).w_)


def test_warm_start_with_other_sample_weights_is_cold():
    weights = np.linspace(0.1, 1.0, len(X))
    model = SequenceLabeler(warm_start=True).fit(X, Y)
    np.testing.assert_array_equal(model.fit(X, Y, weights).w_, SequenceLabeler().fit(X, Y, weights).w_)


def test_warm_start_remembers_only_the_last_problem():
    model = SequenceLabeler(warm_start=True).fit(X, Y)
    model.set_params(warm_start=False).fit(X[:9], Y[:9])
    model.set_params(warm_start=True).fit(X, Y)
    np.testing.assert_array_equal(model.w_, SequenceLabeler().fit(X, Y).w_)


def test_warm_start_after_a_failed_fit_of_other_data_is_cold():
    def fail(record):
        raise RuntimeError("out of order")

    model = SequenceLabeler(warm_start=True).fit(X, Y)
    with pytest.raises(RuntimeError, match="out of order"):
        model.set_params(callback=fail).fit(X[:9], Y[:9])
    model.set_params(callback=None).fit(X, Y)
    np.testing.assert_array_equal(model.w_, SequenceLabeler().fit(X, Y).w_)


def test_warm_start_of_a_task_that_cannot_be_pickled_is_cold():
    inputs, outputs = choices()
    unpicklable = type("Local", (Threshold,), {"__init__": lambda self: None, "scale": 1.0})()
    model = StructuredSVM(unpicklable, warm_start=True).fit(inputs, outputs)
    w = model.w_
    np.testing.assert_array_equal(model.fit(inputs, outputs).w_, w)


def test_warm_start_of_a_flat_classifier():
    model = MulticlassSVC(C=5.0, warm_start=True).fit(*FLAT)
    passes = MulticlassSVC(C=6.0).fit(*FLAT).certificate_.passes
    assert model.set_params(C=6.0).fit(*FLAT).certificate_.passes < passes
    fresh = MulticlassSVC(C=6.0, fit_intercept=False).fit(*FLAT)
    np.testing.assert_array_equal(model.set_params(fit_intercept=False).fit(*FLAT).w_, fresh.w_)


# --- paths


@pytest.mark.parametrize("solver", CERTIFIED)
def test_path(solver):
    Cs = [1.0, 4.0, 16.0, 2.0]
    model = SequenceLabeler(solver=solver, tol=1e-3)
    path = model.fit_path(X, Y, Cs)
    assert [step.C for step in path] == Cs
    assert model.C == 100.0  # parameters are the user's
    for step, C in zip(path, Cs, strict=True):
        best = optimum(C)
        assert step.certificate_.converged
        assert step.certificate_.dual <= best * (1 + 1e-6)
        assert best * (1 - 1e-6) <= step.certificate_.primal <= best * (1 + 2e-3)
        assert step.score(X, Y) > 0.7
        assert step.certify(X, Y, tol=1e-3).primal == pytest.approx(step.certificate_.primal)
        assert len(step.history_) > 0
    np.testing.assert_array_equal(model.w_, path[-1].w_)
    assert model.certify(X, Y).primal == pytest.approx(path[-1].certificate_.primal)  # with the path's last C
    cold = sum(SequenceLabeler(C=C, solver=solver, tol=1e-3).fit(X, Y).certificate_.passes for C in Cs)
    warm = sum(step.certificate_.passes for step in path)
    assert warm < 2 * cold  # with so few examples, rounding decides which is smaller: warm was 0.9 to 1.5 times cold


def test_models_of_a_path_stand_alone():
    path = SequenceLabeler(tol=1e-3, warm_start=True).fit_path(X, Y, [1.0, 4.0])
    before = [step.w_.copy() for step in path]
    path[0].set_params(C=50.0).fit(X, Y)
    path[1].set_params(C=0.1).fit(X, Y)
    assert all(step.certificate_.converged for step in path)
    again = SequenceLabeler(tol=1e-3, warm_start=True).fit_path(X, Y, [1.0, 4.0])
    for w, step in zip(before, again, strict=True):
        np.testing.assert_array_equal(w, step.w_)


def test_path_of_a_flat_classifier():
    path = MulticlassSVC(tol=1e-4).fit_path(*FLAT, [0.1, 10.0])
    for step in path:
        alone = clone(step).fit(*FLAT)
        assert step.certificate_.primal == pytest.approx(alone.certificate_.primal, rel=1e-3)
        assert step.coef_.shape == (3, 4)
        assert list(step.classes_) == LABELS
    with pytest.raises(ValueError, match="Cs is empty"):
        MulticlassSVC().fit_path(*FLAT, [])
    with pytest.raises(ValueError, match=r"C must be a positive number .* got -1"):
        MulticlassSVC().fit_path(*FLAT, [1.0, -1.0])


def test_ctrl_c_ends_a_path():
    model = SequenceLabeler(callback=interrupt_at(2))
    with pytest.warns(TrainingInterrupted):
        path = model.fit_path(X, Y, [1.0, 2.0, 3.0])
    assert [step.C for step in path] == [1.0]


# --- online training


def batches():
    return [(X[i : i + 8], Y[i : i + 8]) for i in range(0, len(X), 8)]


@pytest.mark.parametrize("solver", ONLINE)
def test_partial_fit_learns_from_batches(solver):
    model = SequenceLabeler(C=10.0, solver=solver, classes=LABELS)
    for _ in range(3):
        for inputs, outputs in batches():
            assert model.partial_fit(inputs, outputs) is model
    assert model.score(X, Y) > 0.7
    assert not model.certificate_.converged
    assert model.certify(X, Y).relative_gap < 0.8


@pytest.mark.parametrize("solver", ONLINE)
def test_first_partial_fit_is_a_fit_of_one_pass(solver):
    once = SequenceLabeler(solver=solver, max_passes=1).fit(X, Y)
    np.testing.assert_array_equal(SequenceLabeler(solver=solver).partial_fit(X, Y).w_, once.w_)


@pytest.mark.parametrize("solver", ONLINE)
def test_partial_fit_goes_on_after_fit_and_after_a_pickle(solver):
    model = SequenceLabeler(solver=solver).fit(X[:20], Y[:20])
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.partial_fit(X[20:], Y[20:]).w_, model.partial_fit(X[20:], Y[20:]).w_)
    assert not np.array_equal(model.w_, SequenceLabeler(solver=solver).partial_fit(X[20:], Y[20:]).w_)


@pytest.mark.parametrize("solver", ONLINE)
def test_partial_fit_of_a_flat_classifier(solver):
    inputs, outputs = FLAT
    model = MulticlassSVC(C=10.0, solver=solver)
    with pytest.raises(ValueError, match="first call of partial_fit needs classes"):
        model.partial_fit(inputs[:3], outputs[:3])
    for _ in range(20):
        model.partial_fit(inputs[:3], outputs[:3], classes=LABELS)
        model.partial_fit(inputs[3:], outputs[3:])
    assert list(model.classes_) == LABELS
    assert model.score(inputs, outputs) > 0.5
    with pytest.raises(ValueError, match="example 1: the label 'cat' is not one of the classes"):
        model.partial_fit(inputs[:2], ["det", "cat"])
    with pytest.raises(ValueError, match="classes differs from the classes of the first call"):
        model.partial_fit(inputs, outputs, classes=["det", "noun"])


def test_partial_fit_of_an_unseen_label():
    model = SequenceLabeler(solver="perceptron").partial_fit(X, Y)
    w = model.w_.copy()
    with pytest.raises(ValueError, match="sequence 1: the label 'adj' is not one of the classes"):
        model.partial_fit(X[:2], [Y[0], ["adj"] * len(Y[1])])
    np.testing.assert_array_equal(model.w_, w)


@pytest.mark.parametrize("solver", CERTIFIED)
def test_partial_fit_needs_an_online_solver(solver):
    model = SequenceLabeler(solver=solver)
    assert not hasattr(model, "partial_fit")
    with pytest.raises(TypeError, match=f"partial_fit needs the solver 'perceptron' or 'subgradient', not '{solver}'"):
        model.partial_fit(X, Y)
    model.fit(X, Y).set_params(solver="perceptron")
    with pytest.raises(ValueError, match="cannot continue from a model of another solver"):
        model.partial_fit(X, Y)


# --- certificates


@pytest.mark.parametrize("solver", [*CERTIFIED, *ONLINE])
def test_certify(solver):
    model = SequenceLabeler(C=10.0, solver=solver).fit(X, Y)
    before = pickle.dumps(model)
    certificate = model.certify(X, Y, tol=1e-4)
    assert pickle.dumps(model) == before
    assert certificate.primal == pytest.approx(model.certificate_.primal)
    assert certificate.dual == pytest.approx(optimum(10.0), rel=2e-4)
    assert certificate.converged is (certificate.relative_gap <= 1e-4)
    assert certificate.stop_reason == "bound computed by BCFW: converged"
    assert model.set_params(C=3.0).certify(X, Y).primal == pytest.approx(model.certificate_.primal)  # the C of the fit


def test_certify_of_a_flat_classifier():
    model = MulticlassSVC(C=10.0, solver="perceptron").fit(*FLAT)
    assert model.certify(*FLAT).primal == pytest.approx(model.certificate_.primal)
    with pytest.raises(ValueError, match="example 0: the label 'cat' is not one of the classes"):
        model.certify(FLAT[0][:2], ["cat", "noun"])


@pytest.mark.parametrize("solver", [*CERTIFIED, *ONLINE])
def test_certificate_and_history_are_plain_numbers(solver):
    model = SequenceLabeler(C=10.0, solver=solver, max_passes=5).fit(X, Y)
    certificate = model.certificate_
    for name in ("primal", "dual", "gap", "relative_gap", "passes", "seconds", "cpu_seconds"):
        assert type(getattr(certificate, name)) is float, name
    assert type(certificate.converged) is type(certificate.exact) is bool
    assert str(certificate).startswith("objective ")
    for line in model.history_:
        assert list(line) == ["passes", "seconds", "primal", "dual", "guess"]
        assert all(type(value) is float for value in line.values())
    assert all(a["passes"] < b["passes"] for a, b in zip(model.history_, model.history_[1:], strict=False))
    assert all(a["dual"] <= b["dual"] for a, b in zip(model.history_, model.history_[1:], strict=False))
    measured = [line["primal"] for line in model.history_ if np.isfinite(line["primal"])]
    if solver == "perceptron":  # it minimises something else, and its model is the last one
        assert certificate.primal == measured[-1]
    else:
        assert certificate.primal <= min(measured)


def test_max_passes_ends_training():
    model = SequenceLabeler(C=100.0, tol=1e-9, max_passes=3).fit(X, Y)
    assert model.certificate_.stop_reason == "max_passes reached"
    assert not model.certificate_.converged
    assert model.certificate_.passes <= 5
    assert model.certificate_.dual <= optimum(100.0) <= model.certificate_.primal * (1 + 1e-6)


# --- callbacks


def test_callback_sees_every_step_and_can_stop():
    seen = []

    def callback(record):
        seen.append(record)
        return np.bool_(len(seen) == 3)

    model = SequenceLabeler(tol=1e-9, callback=callback).fit(X, Y)
    assert len(seen) == len(model.history_) == 3
    assert model.certificate_.stop_reason == "stopped by the callback"
    assert [record.dual for record in seen] == [line["dual"] for line in model.history_]
    assert all(record.w.shape == model.w_.shape for record in seen)
    assert model.score(X, Y) > 0.5


@pytest.mark.parametrize("answer", [None, False, 0, 1, "no", []])
def test_only_true_stops(answer):
    assert SequenceLabeler(callback=lambda record: answer).fit(X, Y).certificate_.converged


# --- interruptions and errors


@pytest.mark.parametrize("solver", [*CERTIFIED, *ONLINE])
def test_ctrl_c_keeps_the_best_model(solver):
    model = SequenceLabeler(C=10.0, solver=solver, tol=1e-9, callback=interrupt_at(3))
    with pytest.warns(
        TrainingInterrupted, match=f"the model is the {'last' if solver == 'perceptron' else 'best'} one so far"
    ):
        model.fit(X, Y)
    assert model.certificate_.stop_reason == "interrupted"
    assert len(model.history_) == 3
    assert model.score(X, Y) > 0.5
    assert model.certify(X, Y).primal == pytest.approx(model.certificate_.primal)
    assert model.certificate_.dual <= optimum(10.0) * (1 + 1e-6)
    model.set_params(callback=None, tol=1e-2).fit(X, Y)  # and can be trained again
    assert model.certificate_.converged is solvers.as_solver(solver).certified


def test_ctrl_c_is_a_signal():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    try:
        with pytest.warns(TrainingInterrupted):
            model = SequenceLabeler(tol=1e-9, callback=lambda record: signal.raise_signal(signal.SIGINT)).fit(X, Y)
    finally:
        signal.signal(signal.SIGINT, before)
    assert model.certificate_.stop_reason == "interrupted"


class Failing(FailsAfter, Threshold):
    """A task whose decoder fails after so many calls: with an error, or with Ctrl-C."""

    def __init__(self, scale=1.0, after=0, error=RuntimeError):
        super().__init__(scale)
        self.after = after
        self.error = error


def calls_of_the_first_look():
    """How often the decoder is called before training."""
    task, (inputs, outputs) = Failing(), choices()
    task.setup(inputs, outputs)
    check_promises(task, task.pack(inputs, outputs))
    return task.calls_


CHECKED = calls_of_the_first_look()


def test_the_first_look_is_taken_once():
    inputs, outputs = choices()
    model = StructuredSVM(Failing(), solver="perceptron").partial_fit(inputs, outputs)
    calls = model.task_.calls_
    model.partial_fit(inputs, outputs)
    assert calls - CHECKED == model.task_.calls_ - calls


@pytest.mark.parametrize("solver", [*CERTIFIED, *ONLINE])
@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_inside_the_oracle(solver, workers):
    inputs, outputs = choices()
    task = Failing(after=CHECKED + 75, error=KeyboardInterrupt)
    model = StructuredSVM(task, C=10.0, solver=solver, tol=1e-9, n_jobs=workers)
    with pytest.warns(TrainingInterrupted):
        model.fit(inputs, outputs)
    assert model.certificate_.stop_reason == "interrupted"
    assert model.score(inputs, outputs) > -0.6
    assert model.w_.any()


@pytest.mark.parametrize("solver", [*CERTIFIED, *ONLINE])
def test_ctrl_c_in_the_first_pass(solver):
    inputs, outputs = choices()
    model = StructuredSVM(Failing(after=CHECKED + 5, error=KeyboardInterrupt), solver=solver)
    with pytest.warns(TrainingInterrupted):
        model.fit(inputs, outputs)
    assert len(model.predict(inputs)) == len(inputs)
    assert not model.certificate_.converged


@pytest.mark.parametrize("solver", ONLINE)
def test_ctrl_c_in_a_later_partial_fit_keeps_what_was_learnt(solver):
    inputs, outputs = choices()
    model = StructuredSVM(Failing(after=10**9, error=KeyboardInterrupt), solver=solver)
    w = model.partial_fit(inputs, outputs).w_.copy()
    model.task_.after = model.task_.calls_ + 5
    with pytest.warns(TrainingInterrupted):
        model.partial_fit(inputs, outputs)
    np.testing.assert_array_equal(model.w_, w)
    model.partial_fit(inputs, outputs)
    assert not np.array_equal(model.w_, w)


def test_ctrl_c_in_a_warm_start_keeps_the_last_model():
    inputs, outputs = choices()
    model = StructuredSVM(Threshold(), C=10.0, warm_start=True).fit(inputs, outputs)
    before = model.certificate_.primal
    with pytest.warns(TrainingInterrupted):
        model.set_params(callback=interrupt_at(1), tol=1e-9).fit(inputs, outputs)
    assert model.certificate_.primal < 1.05 * before
    assert model.certificate_.dual > 0.95 * before


@pytest.mark.parametrize("solver", [*CERTIFIED, *ONLINE])
@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_half_way_keeps_the_model_and_says_so(solver, workers):
    inputs, outputs = choices()
    model = StructuredSVM(
        Failing(after=CHECKED + 75), C=10.0, solver=solver, tol=1e-9, executor=executors.Threads(workers)
    )
    with pytest.raises(RuntimeError, match="out of order") as caught:
        model.fit(inputs, outputs)
    notes = "\n".join(caught.value.__notes__)
    assert "raised by Failing on training example " in notes
    assert "the estimator keeps the best model found before this error" in notes
    assert model.certificate_.stop_reason == "stopped by RuntimeError"
    assert model.score(inputs, outputs) > -0.6
    assert not model.certificate_.converged
    pickle.loads(pickle.dumps(model)).predict(inputs)


def test_an_error_before_any_model_leaves_the_estimator_as_it_was():
    inputs, outputs = choices()
    model = StructuredSVM(Failing(after=CHECKED + 5))
    with pytest.raises(RuntimeError, match="out of order") as caught:
        model.fit(inputs, outputs)
    assert not any("keeps the best model" in note for note in caught.value.__notes__)
    with pytest.raises(NotFittedError):
        model.predict(inputs)
    w = model.set_params(task__after=10**9).fit(inputs, outputs).w_
    with pytest.raises(RuntimeError, match="out of order"):
        model.set_params(task__after=CHECKED + 5).fit(inputs, outputs)
    np.testing.assert_array_equal(model.w_, w)


def test_bad_input_leaves_a_flat_classifier_as_it_was():
    model = MulticlassSVC().fit(*FLAT)
    found = model.predict(FLAT[0])
    with pytest.raises(ValueError, match="costs names the label 'cat'"):
        model.set_params(costs={"cat": 1.0}).fit(*FLAT)
    model.set_params(costs=None)
    with pytest.raises(ValueError, match="only one class"):
        model.fit(FLAT[0], ["det"] * len(FLAT[0]))
    np.testing.assert_array_equal(model.predict(FLAT[0]), found)
    assert list(model.classes_) == LABELS


def test_an_error_in_the_callback_keeps_the_model():
    def callback(record):
        if record.passes > 2:
            raise RuntimeError("no more")

    model = SequenceLabeler(C=10.0, tol=1e-9, callback=callback)
    with pytest.raises(RuntimeError, match="no more"):
        model.fit(X, Y)
    assert model.score(X, Y) > 0.5


def test_hard_margin_of_inseparable_data():
    with pytest.raises(NotSeparable, match="use a finite C"):
        SequenceLabeler(C=np.inf).fit([np.ones((2, 1))] * 2, [["a", "b"], ["b", "a"]])


def test_hard_margin():
    easy = [np.eye(3)[[LABELS.index(label) for label in y]] for y in Y]
    model = SequenceLabeler(C=np.inf, tol=1e-3).fit(easy, Y)
    assert model.certificate_.converged
    assert model.score(easy, Y) == 1.0


# --- the same model everywhere


@pytest.mark.parametrize("solver", [*CERTIFIED, *ONLINE])
def test_threads_do_not_change_the_model(solver):
    one = SequenceLabeler(C=10.0, solver=solver, n_jobs=1).fit(X, Y)
    two = SequenceLabeler(C=10.0, solver=solver, n_jobs=2).fit(X, Y)
    given = SequenceLabeler(C=10.0, solver=solver, executor=executors.Threads(3)).fit(X, Y)
    np.testing.assert_array_equal(one.w_, two.w_)
    np.testing.assert_array_equal(one.w_, given.w_)
    assert one.certificate_.dual == two.certificate_.dual == given.certificate_.dual


def test_threads_do_not_change_the_model_of_a_task_in_plain_python():
    inputs, outputs = choices()
    models = [StructuredSVM(Threshold(), C=10.0, n_jobs=n_jobs).fit(inputs, outputs) for n_jobs in (1, 2, -1, None)]
    for model in models:
        np.testing.assert_array_equal(model.w_, models[0].w_)


def test_random_state():
    same = [SequenceLabeler(tol=0.1, random_state=seed).fit(X, Y).w_ for seed in (3, 3, np.int64(3))]
    np.testing.assert_array_equal(same[0], same[1])
    np.testing.assert_array_equal(same[0], same[2])
    assert not np.array_equal(same[0], SequenceLabeler(tol=0.1, random_state=4).fit(X, Y).w_)
    drawn = [SequenceLabeler(tol=0.1, random_state=np.random.RandomState(1)).fit(X, Y).w_ for _ in range(2)]
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert SequenceLabeler(tol=0.1, random_state=None).fit(X, Y).certificate_.converged


def test_estimators_agree():
    """One problem, three doors."""
    labeler = SequenceLabeler(C=10.0).fit(X, Y)
    structured = StructuredSVM(tasks.Chain(), C=10.0).fit(X, Y)
    np.testing.assert_array_equal(labeler.w_, structured.w_)
    assert labeler.predict(X) == structured.predict(X)
    inputs, outputs = FLAT
    flat = MulticlassSVC(C=10.0, fit_intercept=False, tol=1e-3).fit(inputs, outputs)
    same = StructuredSVM(tasks.Multiclass(), C=10.0, tol=1e-3).fit(inputs, outputs)
    np.testing.assert_array_equal(flat.w_, same.w_)
    assert list(flat.predict(inputs)) == same.predict(inputs)


def test_whose_tolerance_counts():
    inputs, outputs = FLAT
    assert MulticlassSVC().fit(inputs, outputs).certificate_.relative_gap <= 1e-3
    loose = MulticlassSVC(solver=solvers.BCFW(tol=0.5)).fit(inputs, outputs).certificate_
    assert 1e-3 < loose.relative_gap <= 0.5
    assert MulticlassSVC(solver=solvers.BCFW(tol=0.5), tol=1e-4).fit(inputs, outputs).certificate_.relative_gap <= 1e-4
    assert SequenceLabeler(solver=solvers.BCFW(tol=1e-4)).fit(X, Y).certificate_.relative_gap <= 1e-4
    assert SequenceLabeler(solver=solvers.BCFW(max_passes=2, tol=1e-9)).fit(X, Y).certificate_.passes <= 4
