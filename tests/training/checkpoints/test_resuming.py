"""A fit that was stopped at any step goes on and ends with the same model, to the last bit."""

import numpy as np
import pytest
from estimators.problems import Threshold, choices, sequences
from training.checkpoints.sessions import OFTEN, Killed, assert_same, in_sessions, killed_after

import maxmargin as mm
from maxmargin import solvers
from maxmargin.errors import CheckpointDamaged

CERTIFIED = ["bcfw", "n_slack", "one_slack", "bundle", "sampled_cuts"]
ONLINE = ["perceptron", "subgradient"]
SMOOTH = ["lbfgs", "exponentiated_gradient", "one_slack", "bundle"]


def classes(n=60, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(4, size=n)
    return np.eye(4)[y] + 0.8 * rng.standard_normal((n, 4)), y


def chain(solver, **options):
    return lambda: mm.SequenceLabeler(**{"C": 10.0, "solver": solver, "tol": 1e-3, "max_passes": 60, **options})


PROBLEMS = {
    **{f"chain {each}": (chain(each), sequences(20)) for each in CERTIFIED + ONLINE},
    **{f"squared {each}": (chain(each, slack="l2"), sequences(10)) for each in CERTIFIED},
    **{f"rescaled {each}": (chain(each, rescaling="slack", tol=1e-2), sequences(8)) for each in ("bcfw", "one_slack")},
    **{f"likelihood {each}": (chain(each, objective="likelihood"), sequences(12)) for each in SMOOTH},
    **{
        f"classes {each}": (lambda each=each: mm.MulticlassSVC(C=10.0, solver=each, tol=1e-3, max_passes=60), classes())
        for each in CERTIFIED + ONLINE
    },
    **{
        f"own task {each}": (
            lambda each=each: mm.StructuredSVM(Threshold(), C=10.0, solver=each, tol=1e-3, max_passes=60),
            choices(),
        )
        for each in CERTIFIED + ONLINE
    },
    "bounds": (chain("bcfw", bounds={"transitions": (0.0, None)}), sequences(12)),
    "bounds bundle": (chain("bundle", bounds={"transitions": (0.0, None)}), sequences(12)),
    "hard margin": (lambda: mm.MulticlassSVC(C=np.inf, max_passes=40), (np.eye(3)[[0, 1, 2] * 4], np.arange(12) % 3)),
    "kernel": (lambda: mm.MulticlassSVC(C=10.0, kernel="rbf", tol=1e-3), classes(30)),
    "kernel one_slack": (lambda: mm.MulticlassSVC(C=10.0, kernel="rbf", solver="one_slack", tol=1e-3), classes(20)),
    "threads": (chain("one_slack", n_jobs=2), sequences(20)),
}


@pytest.mark.every(3)
@pytest.mark.parametrize("name", PROBLEMS)
def test_stopped_at_every_step(name, tmp_path):
    make, data = PROBLEMS[name]
    whole = make().fit(*data)
    parts, sessions = in_sessions(make, tmp_path / "checkpoint", lambda model: model.fit(*data))
    assert sessions >= min(len(whole.history_), 2) - 1
    assert_same(whole, parts)


@pytest.mark.parametrize("name", ["chain bcfw", "classes bcfw", "own task bcfw", "chain one_slack"])
def test_writing_changes_nothing(name, tmp_path):
    make, data = PROBLEMS[name]
    kept = make().set_params(checkpoint=tmp_path / "kept", checkpoint_every=OFTEN).fit(*data)
    assert_same(make().fit(*data), kept)


def test_calibration_goes_on(tmp_path):
    make, data = chain("bcfw", calibrate=2, tol=0.05), sequences(12)
    whole = make().fit(*data)
    parts, sessions = in_sessions(make, tmp_path / "checkpoint", lambda model: model.fit(*data))
    assert sessions > len(whole.history_)  # the models of the two halves were stopped, too
    assert_same(whole, parts)
    assert parts.temperature_ == whole.temperature_


def test_a_fit_that_has_ended_is_answered_from_the_file(tmp_path):
    (make, data), path = PROBLEMS["chain bcfw"], tmp_path / "checkpoint"
    first = make().set_params(checkpoint=path).fit(*data)
    calls = []
    again = make().set_params(checkpoint=path, callback=calls.append).fit(*data)
    assert calls == []
    assert_same(first, again)
    assert again.predict(data[0]) == first.predict(data[0])


def test_more_passes_go_on(tmp_path):
    (make, data), path = (chain("bcfw", tol=1e-6), sequences(20)), tmp_path / "checkpoint"
    with pytest.warns(UserWarning, match="max_passes"):
        short = make().set_params(checkpoint=path, max_passes=3).fit(*data)
    with pytest.warns(UserWarning, match="max_passes"):
        again = make().set_params(checkpoint=path, max_passes=3).fit(*data)
    assert_same(short, again)
    longer = make().set_params(checkpoint=path, max_passes=400).fit(*data)
    assert longer.certificate_.passes > short.certificate_.passes
    assert longer.certificate_.converged
    assert longer.history_[: len(short.history_)] == short.history_


def test_joint_rounds_are_part_of_it(tmp_path):
    """Features of very different sizes make passes over single examples so slow that joint rounds take over."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 6)) * 10.0 ** np.arange(-2, 4)
    y = (X[:, 0] * 100 + X[:, 5] / 1000 + 0.5 * rng.standard_normal(40) > 0).astype(int)

    def make():
        return mm.MulticlassSVC(C=100.0, tol=1e-4, max_passes=300)

    seen = []
    whole = make().set_params(callback=lambda record: seen.append(record.primal)).fit(X, y)
    parts, _ = in_sessions(make, tmp_path / "checkpoint", lambda model: model.fit(X, y))
    assert_same(whole, parts)


def test_a_path_goes_on_where_it_was(tmp_path):
    X, Y = sequences(16)
    Cs = [0.1, 1.0, 10.0]
    whole = chain("bcfw")().fit_path(X, Y, Cs)
    parts, sessions = in_sessions(chain("bcfw"), tmp_path / "checkpoint", lambda model: model.fit_path(X, Y, Cs))
    assert sessions > 3
    for one, other in zip(whole, parts, strict=True):
        assert_same(one, other)


def test_latent_training_goes_on(tmp_path):
    X, Y = sequences(14)
    Y = [[None if (i + t) % 3 == 0 else y for t, y in enumerate(labels)] for i, labels in enumerate(Y)]

    def make():
        return mm.SequenceLabeler(C=10.0, solver=solvers.CCCP(inner="bcfw", restarts=2, tol=1e-2))

    whole = make().fit(X, Y)
    assert whole.certificate_.rounds is not None
    parts, _ = in_sessions(make, tmp_path / "checkpoint", lambda model: model.fit(X, Y))
    assert_same(whole, parts)


@pytest.mark.slow
def test_folds_of_measures_go_on(tmp_path):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((80, 3))
    y = (X[:, 0] + 0.7 * rng.standard_normal(80) > 1).astype(int)
    whole = mm.MeasureSVC("f1", C=10.0).fit(X, y)
    path = tmp_path / "checkpoint"
    parts, _ = in_sessions(lambda: mm.MeasureSVC("f1", C=10.0), path, lambda model: model.fit(X, y), steps=7)
    assert_same(whole, parts)
    assert parts.cv_scores_ == whole.cv_scores_
    assert parts.offset_ == whole.offset_


def test_other_data_and_other_parameters_are_refused(tmp_path):
    X, y = classes()
    path = tmp_path / "checkpoint"
    mm.MulticlassSVC(C=10.0, checkpoint=path).fit(X, y)
    with pytest.raises(ValueError, match=r"other parameters: C was 10.0 and is now 1.0.*another path, or delete"):
        mm.MulticlassSVC(C=1.0, checkpoint=path).fit(X, y)
    with pytest.raises(ValueError, match=r"solver was 'bcfw' and is now 'one_slack'"):
        mm.MulticlassSVC(C=10.0, solver="one_slack", checkpoint=path).fit(X, y)
    with pytest.raises(ValueError, match="the data differ"):
        mm.MulticlassSVC(C=10.0, checkpoint=path).fit(X + 1e-9, y)
    with pytest.raises(ValueError, match="the data differ"):
        mm.MulticlassSVC(C=10.0, checkpoint=path).fit(X, y, sample_weight=1 + np.arange(len(y)))
    with pytest.raises(ValueError, match="of a MulticlassSVC, not of a OrdinalSVC"):
        mm.OrdinalSVC(C=10.0, checkpoint=path).fit(X, y)
    with pytest.raises(ValueError, match=r"ended after 1 training runs|another fit"):
        mm.MulticlassSVC(C=10.0, checkpoint=path).fit_path(X, y, [10.0, 20.0])
    mm.MulticlassSVC(C=10.0, checkpoint=path, n_jobs=2, verbose=0, checkpoint_every="3 passes").fit(X, y)


def test_a_damaged_file_gives_way_to_the_one_before(tmp_path):
    (make, data), path = PROBLEMS["chain bcfw"], tmp_path / "checkpoint"
    whole = make().fit(*data)
    with pytest.raises(Killed):
        make().set_params(checkpoint=path, checkpoint_every=OFTEN, callback=killed_after(5)).fit(*data)
    content = path.read_bytes()
    for damaged in (b"", content[:100], content[:-1], content[:-9] + b"x" + content[-8:]):
        path.write_bytes(damaged)
        before = (tmp_path / "checkpoint.previous").read_bytes()
        with pytest.warns(CheckpointDamaged, match=r"continues from the checkpoint before it, checkpoint\.previous"):
            found = make().set_params(checkpoint=path, checkpoint_every=1e9).fit(*data)
        assert_same(whole, found)
        (tmp_path / "checkpoint.previous").write_bytes(before)
    path.unlink()  # the process has ended between two names
    assert_same(whole, make().set_params(checkpoint=path).fit(*data))


def test_what_is_no_checkpoint_is_left_alone(tmp_path):
    X, y = classes()
    path = tmp_path / "notes.txt"
    path.write_text("what I must not forget")
    with pytest.raises(ValueError, match="Delete it, or give another path"):
        mm.MulticlassSVC(checkpoint=path).fit(X, y)
    assert path.read_text() == "what I must not forget"
    model = tmp_path / "model.mm"
    mm.MulticlassSVC().fit(X, y).save(model)
    with pytest.raises(ValueError, match="is not a checkpoint"):
        mm.MulticlassSVC(checkpoint=model).fit(X, y)
    assert mm.load(model) is not None
    with pytest.raises(ValueError, match="folder or a device"):
        mm.MulticlassSVC(checkpoint=tmp_path).fit(X, y)
    with pytest.raises(FileNotFoundError, match="no folder"):
        mm.MulticlassSVC(checkpoint=tmp_path / "nowhere" / "file").fit(X, y)
    with pytest.raises(TypeError, match="path of a file"):
        mm.MulticlassSVC(checkpoint=5).fit(X, y)


@pytest.mark.parametrize("every", [0, -1, "soon", "0 passes", None, True, "3", "passes", float("nan")])
def test_when_to_write_must_make_sense(every, tmp_path):
    with pytest.raises(ValueError, match="checkpoint_every must be a positive number of seconds, or passes"):
        mm.MulticlassSVC(checkpoint=tmp_path / "file", checkpoint_every=every).fit(*classes())


def test_a_solver_that_cannot_go_on_says_so(tmp_path):
    class Short(solvers.Solver):
        def steps(self, oracle, C, seed, start):
            w = np.zeros(oracle.dim)
            yield solvers.Step(w, dual=0.0)

    with pytest.raises(ValueError, match="Short takes no checkpoint: it has no begin and advance"):
        mm.MulticlassSVC(solver=Short(), checkpoint=tmp_path / "file").fit(*classes())


def test_models_do_not_keep_where_their_checkpoint_was(tmp_path):
    X, y = classes()
    model = mm.MulticlassSVC(checkpoint=tmp_path / "checkpoint").fit(X, y)
    model.save(tmp_path / "model.mm")
    assert mm.load(tmp_path / "model.mm").checkpoint is None


def test_paths_of_measures_take_none(tmp_path):
    X, y = classes()
    model = mm.MeasureSVC("f1", checkpoint=tmp_path / "file")
    for train in (lambda: model.fit_path(X, y > 1, [1.0, 2.0]), lambda: mm.Tuned(model, cv=2).fit(X, y > 1)):
        with pytest.raises(ValueError, match="MeasureSVC takes no checkpoint if several values of C are trained"):
            train()
    assert not list(tmp_path.iterdir())


def test_partial_fit_goes_on_from_a_model_file(tmp_path):
    X, y = classes()
    whole, parts = mm.MulticlassSVC(solver="subgradient"), mm.MulticlassSVC(solver="subgradient")
    for k in range(3):
        piece = slice(20 * k, 20 * k + 20)
        for model in (whole, parts):
            model.partial_fit(X[piece], y[piece], classes=np.arange(4))
        parts.save(tmp_path / "model.mm")
        parts = mm.load(tmp_path / "model.mm")
    assert whole.w_.tobytes() == parts.w_.tobytes()
