"""Model files: every kind of model, written and read, predicts the same to the last bit."""

import json
import os
import struct
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from base.files.fitted_models import MAKERS, made
from digest_groups.fits import plain
from example_tasks import Interval, Tags
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import maxmargin as mm
from maxmargin.base.files.drafts import write_file
from maxmargin.base.files.plain_data import DataWriter
from maxmargin.base.files.saving import FORMAT, SavedModel, model_bytes

KEPT = Path(__file__).parents[2] / "data"  # a file of every version of the format


def own(model):
    """The class of a task that is not the library's."""
    kind = type(getattr(model, "task_", None))
    return None if kind.__module__.startswith("maxmargin") or kind is type(None) else kind


def answers(model, few):
    """All that a model says of inputs, as plain values."""
    found = [plain(model.predict(few))]
    for name in ("decision_function", "predict_costs"):
        if hasattr(model, name):
            found.append(plain(getattr(model, name)(few)))
    return repr(found)


@pytest.fixture(params=MAKERS)
def kind(request):
    return request.param


@pytest.mark.every(3)
@pytest.mark.filterwarnings("ignore")
def test_a_loaded_model_is_the_same(kind, tmp_path):
    model, few = made(kind)
    path = tmp_path / "model.mm"
    model.save(path)
    loaded = mm.load(path, own(model))
    assert type(loaded) is type(model)
    assert answers(loaded, few) == answers(model, few)
    assert str(getattr(loaded, "certificate_", "")) == str(getattr(model, "certificate_", ""))
    runs = {"callback", "executor", "task", "kernel", "solver", "output_set", "optimiser", "features", "gaps"}
    for name, value in model.get_params(deep=False).items():
        if name not in runs:
            assert repr(getattr(loaded, name)) == repr(value), name
    assert model_bytes(loaded) == path.read_bytes()  # nothing is lost on the way


def test_every_estimator_is_among_the_models():
    public = [getattr(mm, name) for name in mm.__all__]
    estimators = {kind for kind in public if isinstance(kind, type) and issubclass(kind, SavedModel)}
    tried = {type(made(kind)[0]) for kind in MAKERS}
    assert tried == estimators, f"add a small model to tests/base/files/fitted_models.py: {estimators - tried}"


@pytest.mark.filterwarnings("ignore")
def test_what_else_models_say(tmp_path):
    for name in ("sequences", "sequences_tokens", "parser", "aligner", "motif", "graph", "taxonomy", "dependencies"):
        model, _ = made(name)
        model.save(tmp_path / "model.mm")
        loaded = mm.load(tmp_path / "model.mm")
        assert repr(plain(loaded.weights_)) == repr(plain(model.weights_))
        assert loaded.history_ == model.history_
        assert loaded.certificate_ == model.certificate_
    model, few = made("sequences")
    model.save(tmp_path / "model.mm")
    loaded = mm.load(tmp_path / "model.mm")
    assert loaded.temperature_ == model.temperature_
    assert [np.array_equal(a, b) for a, b in zip(loaded.predict_proba(few), model.predict_proba(few), strict=True)]
    assert loaded.predict_set(few) == model.predict_set(few)


def test_training_goes_on(tmp_path):
    model, few = made("classes_online")
    X, y = np.vstack([few, few]), np.repeat(model.predict(few)[::-1], 2)
    model.save(tmp_path / "model.mm")
    loaded = mm.load(tmp_path / "model.mm")
    again = mm.load(tmp_path / "model.mm")
    assert np.array_equal(loaded.partial_fit(X, y).w_, again.partial_fit(X, y).w_)
    assert loaded.solution_.memory.t > model.solution_.memory.t
    assert loaded.certify(X, y).dual <= loaded.certify(X, y).primal


def test_a_path_and_a_tuned_model(tmp_path):
    X, y = made("classes")[1], [0, 1, 0, 1]
    _, last = mm.MulticlassSVC().fit_path(X, y, [0.1, 1.0])
    last.save(tmp_path / "model.mm")
    assert mm.load(tmp_path / "model.mm").C == 1.0
    tuned = mm.Tuned(mm.MulticlassSVC(), Cs=[0.1, 1.0], cv=2, n_jobs=1).fit(X, y)
    tuned.save(tmp_path / "model.mm")  # that of the best model, like all its methods
    assert np.array_equal(mm.load(tmp_path / "model.mm").w_, tuned.w_)


# --- what is refused


def test_a_pipeline_is_refused(tmp_path):
    X, y = made("classes")[1], [0, 1, 0, 1]
    pipeline = make_pipeline(StandardScaler(), mm.MulticlassSVC())
    tuned = mm.Tuned(pipeline, Cs=[0.1, 1.0], cv=2, n_jobs=1)
    with pytest.raises(NotFittedError):
        tuned.save(tmp_path / "model.mm")
    tuned.fit(X, y)
    with pytest.raises(ValueError, match=r"\(StandardScaler before a MulticlassSVC\).*best_estimator_\[-1\]"):
        tuned.save(tmp_path / "model.mm")
    tuned.best_estimator_[-1].save(tmp_path / "model.mm")
    scaled = tuned.best_estimator_[:-1].transform(X)
    assert np.array_equal(mm.load(tmp_path / "model.mm").predict(scaled), tuned.predict(X))


def test_the_state_of_random_numbers_is_refused(tmp_path):
    X, y = made("classes")[1], [0, 1, 0, 1]
    model = mm.MulticlassSVC(random_state=np.random.RandomState(0)).fit(X, y)
    with pytest.raises(ValueError, match=r"MulticlassSVC.random_state is a RandomState.*set_params\(random_state=0\)"):
        model.save(tmp_path / "model.mm")
    model.set_params(random_state=0).save(tmp_path / "model.mm")
    assert np.array_equal(mm.load(tmp_path / "model.mm").w_, model.w_)


def test_functions_are_refused(tmp_path):
    X, y = made("classes")[1], [0, 1, 0, 1]
    model = mm.MulticlassSVC(kernel=lambda A, B: A @ B.T).fit(X, y)
    with pytest.raises(ValueError, match=r"MulticlassSVC.kernel is the function .*, which a model file cannot hold"):
        model.save(tmp_path / "model.mm")
    model = mm.MulticlassSVC(callback=lambda record: False).fit(X, y)
    model.save(tmp_path / "model.mm")  # a callback is of a run
    assert mm.load(tmp_path / "model.mm").callback is None
    model.extra_ = 1
    with pytest.raises(ValueError, match="has the attribute 'extra_', which is not a field of MulticlassSVC, and"):
        model.save(tmp_path / "model.mm")
    with pytest.raises(NotFittedError):
        mm.MulticlassSVC().save(tmp_path / "model.mm")


def test_a_task_of_your_own(tmp_path):
    model, _ = made("own_task")
    model.save(tmp_path / "model.mm")
    with pytest.raises(ValueError, match="has a task of the class 'Tags', which is not one of maxmargin: pass"):
        mm.load(tmp_path / "model.mm")
    with pytest.raises(ValueError, match="the task of the model is a 'Tags', the given class is 'Interval'"):
        mm.load(tmp_path / "model.mm", Interval)
    assert mm.load(tmp_path / "model.mm", task=Tags).task_.tags_ == ["a", "b"]


def test_a_file_that_cannot_be_written(tmp_path):
    model, few = made("classes")
    path = tmp_path / "model.mm"
    model.save(path)
    before = path.read_bytes()
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        model.save(tmp_path / "nowhere" / "model.mm")
    with pytest.raises(ValueError, match="a folder or a device"):
        model.save(tmp_path)
    path.chmod(0o600)
    spoiled = mm.MulticlassSVC(kernel=lambda A, B: A @ B.T).fit(few, [0, 1, 0, 1])
    with pytest.raises(ValueError, match="cannot hold"):
        spoiled.save(path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["model.mm"]


def test_no_pipe_is_replaced_by_a_file(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(ValueError, match="a folder or a device"):
        made("classes")[0].save(pipe)
    assert pipe.is_fifo()


def test_a_link_stays_a_link(tmp_path):
    link, target = tmp_path / "newest.mm", tmp_path / "model.mm"
    link.symlink_to(target)
    model, _ = made("classes")
    model.save(link)
    assert link.is_symlink()
    assert target.read_bytes() == model_bytes(model)


def test_threads_write_the_same_file(tmp_path):
    content, path = bytes(100_000), tmp_path / "model.mm"

    def write_and_read(_):
        write_file(path, content)
        return path.read_bytes() == content

    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(write_and_read, range(40)))
    assert [each.name for each in tmp_path.iterdir()] == ["model.mm"]


@pytest.mark.parametrize("labels", [(b"a", b"b"), (("a", frozenset({1})), ("b", None)), (("é", 2.5), "\0")])
def test_labels_of_every_type_that_is_plain(labels, tmp_path):
    first, second = labels
    X = [np.eye(2), np.eye(2)[::-1]]
    model = mm.SequenceLabeler(C=10).fit(X, [[first, second], [second, first]])
    model.save(tmp_path / "model.mm")
    assert mm.load(tmp_path / "model.mm").predict(X) == model.predict(X) == [[first, second], [second, first]]


def test_sets_are_written_in_one_order():
    assert list({0, 8}) != list({8, 0})  # as with texts, whose hashes are others in every process
    for kind in (set, frozenset):
        assert DataWriter().write(kind([0, 8]), "it") == DataWriter().write(kind([8, 0]), "it")


# --- the versions of the format


@pytest.mark.parametrize("path", sorted(KEPT.glob("model-*.mm")), ids=lambda path: path.stem)
def test_files_of_all_versions_are_read(path):
    told = json.loads(path.with_suffix(".json").read_text())
    loaded = mm.load(path)
    assert type(loaded).__name__ == told["estimator"]
    assert plain(loaded.predict(told["inputs"])) == told["predictions"]


def test_there_is_a_file_of_this_version():
    assert list(KEPT.glob(f"model-{FORMAT}-*.mm"))


def test_the_header_tells_what_a_file_is(tmp_path):
    model, _ = made("sequences_tokens")
    model.save(tmp_path / "model.mm")
    content = (tmp_path / "model.mm").read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    description = json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["maxmargin"])
    assert description["format"] == FORMAT
    assert description["estimator"] == "SequenceLabeler"
    assert description["certificate"] == str(model.certificate_)
    assert set(description["versions"]) == {"python", "maxmargin", "numpy", "scipy", "scikit-learn", "numba"}
