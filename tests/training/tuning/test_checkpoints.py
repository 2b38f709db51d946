"""A search for C that was stopped at any step goes on and ends alike, to the last bit."""

import numpy as np
import pytest
from estimators.problems import sequences
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from training.checkpoints.sessions import OFTEN, assert_same, in_sessions

import maxmargin as mm
from maxmargin.executors import Threads


def classes(n=40):
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=n)
    return np.eye(3)[y] + 0.8 * rng.standard_normal((n, 3)), y


def of_classes(model, **options):
    return mm.Tuned(model, **{"Cs": [0.1, 1.0, 10.0], "cv": 2, "n_jobs": 1, **options}).fit(*classes())


WAYS = {
    "given values": (lambda: mm.MulticlassSVC(tol=1e-2), of_classes, 1),
    "values from the data": (lambda: mm.MulticlassSVC(tol=1e-2), lambda model: of_classes(model, Cs=None), 3),
    "cuts": (lambda: mm.MulticlassSVC(tol=1e-2, solver="one_slack"), of_classes, 4),
    "sequences": (
        lambda: mm.SequenceLabeler(tol=0.1),
        lambda model: mm.Tuned(model, Cs=[1.0, 10.0], cv=2, n_jobs=1).fit(*sequences(12)),
        2,
    ),
    "a pipeline": (
        lambda: mm.MulticlassSVC(tol=1e-2),
        lambda model: of_classes(make_pipeline(StandardScaler(), model)),
        2,
    ),
    "threads": (lambda: mm.MulticlassSVC(tol=1e-2), lambda model: of_classes(model, executor=Threads(2)), 5),
}


def assert_same_search(one, other):
    assert (one.best_C_, one.best_score_, one.best_index_) == (other.best_C_, other.best_score_, other.best_index_)
    for name, column in one.results_.items():
        if name != "seconds":
            np.testing.assert_array_equal(column, other.results_[name], err_msg=name)
    models = (each.best_estimator_[-1] if hasattr(each.best_estimator_, "steps") else each for each in (one, other))
    assert_same(*models)


@pytest.mark.every(3)
@pytest.mark.parametrize("way", WAYS)
def test_stopped_again_and_again(way, tmp_path):
    make, search, steps = WAYS[way]
    whole = search(make())
    parts, sessions = in_sessions(make, tmp_path / "checkpoint", search, steps)
    assert sessions > 3
    assert_same_search(whole, parts)


def test_a_search_that_has_ended_is_answered_from_its_files(tmp_path):
    path = tmp_path / "checkpoint"
    first = of_classes(mm.MulticlassSVC(tol=1e-2, checkpoint=path, checkpoint_every=OFTEN))
    assert sorted(each.name for each in tmp_path.iterdir() if not each.name.endswith(".previous")) == [
        "checkpoint.all_data",
        "checkpoint.fold_0",
        "checkpoint.fold_1",
    ]
    assert first.best_estimator_.checkpoint == path
    calls = []
    again = of_classes(mm.MulticlassSVC(tol=1e-2, checkpoint=path, callback=calls.append))
    assert calls == []
    assert_same_search(first, again)


def test_other_folds_and_other_values_are_refused(tmp_path):
    path = tmp_path / "checkpoint"
    model = mm.MulticlassSVC(tol=1e-2, checkpoint=path)
    of_classes(model)
    with pytest.raises(ValueError, match=r"fold_0 is a checkpoint of another fit: the data differ"):
        of_classes(model, random_state=1)
    with pytest.raises(ValueError, match=r"all_data is a checkpoint of another fit: C was 0\.1 and is now 0\.2"):
        of_classes(model, Cs=[0.2, 1.0, 10.0])
    with pytest.raises(ValueError, match="ended after 3 training runs, but this one has more"):
        of_classes(model, Cs=[0.1, 1.0, 10.0, 100.0], patience=None)
