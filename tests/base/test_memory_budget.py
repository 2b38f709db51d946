"""MemoryBudget: arrays keep to a limit, lie in files beyond it, and have the same numbers wherever they lie."""

import gc
import os
import pickle
import subprocess
import sys
import tempfile

import numpy as np
import pytest

import maxmargin as mm
from maxmargin.base import memory_budget
from maxmargin.base.memory_budget import UNLIMITED, MemoryBudget, beside_packed_data, in_file


def is_in_file(array):
    while array.base is not None and isinstance(array.base, np.ndarray):
        array = array.base
    return array.base is not None


def test_arrays_beyond_the_limit_lie_in_files(monkeypatch):
    monkeypatch.setattr(memory_budget, "SMALL", 100)
    own = MemoryBudget(1)
    first = own.zeros(2**16, np.float64)
    second = own.zeros((2**15, 3), np.float64)
    assert not is_in_file(first)
    assert is_in_file(second)
    assert second.shape == (2**15, 3)
    assert not second.any()
    second[:] = np.arange(3)
    assert second.sum() == 3 * 2**15
    assert second.flags.writeable
    assert second.flags.c_contiguous
    assert not is_in_file(own.zeros(3, np.int32))  # which is not worth one
    left = own.left
    del first
    gc.collect()
    assert own.left == left + 8 * 2**16
    assert not is_in_file(own.zeros(2**16, np.float64))


def test_views_hold_what_they_show(monkeypatch):
    monkeypatch.setattr(memory_budget, "SMALL", 100)
    own = MemoryBudget(1)
    view = own.zeros(2**16, np.float64)[5:10]
    gc.collect()
    assert own.left == 2**20 - 8 * 2**16
    assert len(view) == 5


def test_files_have_no_names(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    array = in_file((1000,), np.int64)
    array[:] = 7
    assert os.listdir(tmp_path) == []
    assert array.sum() == 7000


def test_a_cache_has_a_share_of_the_limit():
    assert MemoryBudget(100).of_cache(1000) == 25
    assert MemoryBudget(100).of_cache(10) == 10
    assert UNLIMITED.of_cache(1000) == 1000


def test_a_pickled_budget_has_no_limit():
    """In another process, memory is that process's own."""
    assert pickle.loads(pickle.dumps(MemoryBudget(100))).memory_mb is None


def test_packed_data_have_files_beside_them():
    assert not is_in_file(beside_packed_data(10, np.float64))
    large = beside_packed_data(2**18, np.float64)
    assert is_in_file(large)
    assert not large.any()


def test_paths_that_are_stepped_in_turn_have_their_own_limits(monkeypatch):
    """Whatever order they begin, go on and end in."""
    asked = []
    of_cache = MemoryBudget.of_cache

    def noted(self, cache_mb):
        asked.append(self.memory_mb)
        return of_cache(self, cache_mb)

    def stepped(path):
        asked.clear()
        next(path)
        return set(asked)

    monkeypatch.setattr(MemoryBudget, "of_cache", noted)
    first, second, unlimited = (
        mm.MulticlassSVC(memory_mb=limit).path(np.eye(3), [0, 1, 2], [1.0, 2.0, 3.0]) for limit in (100, 200, None)
    )
    assert stepped(first) == {100}
    assert stepped(second) == {200}
    assert stepped(first) == {100}
    assert stepped(unlimited) == {None}
    first.close()
    assert stepped(second) == {200}
    assert stepped(unlimited) == {None}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_warm_start_has_the_limit_of_the_new_training():
    X, Y = noisy()
    for solver in ("bcfw", "one_slack"):
        model = mm.SequenceLabeler(solver=solver, warm_start=True, max_passes=30, memory_mb=100).fit(X, Y)
        known = model.solution_.memory
        model.set_params(memory_mb=50).fit(X, Y)
        assert model.solution_.memory is known
        memory = known.problem.limits.memory if solver == "bcfw" else known.vectors.memory
        assert memory.memory_mb == 50


@pytest.mark.parametrize("memory_mb", [0, -1, np.inf, "100", True])
def test_limits_make_sense(memory_mb):
    with pytest.raises(ValueError, match="memory_mb must be None or a positive number"):
        mm.MulticlassSVC(memory_mb=memory_mb).fit(np.eye(2), [0, 1])


def test_vectors_of_weights_must_fit():
    with pytest.raises(ValueError, match=r"memory_mb=0\.0001 is too little for 6 vectors"):
        mm.MulticlassSVC(memory_mb=1e-4).fit(np.eye(2), [0, 1])


pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # training ends early here


def noisy(n=300):
    rng = np.random.default_rng(0)
    X = [[[f"w{k}", f"v{k % 7}"] for k in rng.integers(40, size=rng.integers(1, 9))] for _ in range(n)]
    return X, [[str((int(token[0][1:]) + rng.integers(2)) % 4) for token in x] for x in X]


@pytest.mark.parametrize(
    ("solver", "objective"),
    [("bcfw", "hinge"), ("one_slack", "hinge"), ("bundle", "hinge"), ("exponentiated_gradient", "likelihood")],
)
def test_a_limit_changes_no_number(solver, objective, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(memory_budget, "SMALL", 100)
    X, Y = noisy()
    options = {"C": 10.0, "solver": solver, "objective": objective, "max_passes": 12, "tol": 1e-3}
    free = mm.SequenceLabeler(**options).fit(X, Y)
    budgets = []
    make = MemoryBudget.__init__

    def noted(self, memory_mb=None):
        make(self, memory_mb)
        budgets.append(self)

    monkeypatch.setattr(MemoryBudget, "__init__", noted)
    limit = 0.01 + 6 * 8 * free.w_.size / 2**20
    bound = mm.SequenceLabeler(**options, memory_mb=limit, verbose=1).fit(X, Y)
    assert "MB of arrays did not fit and were put into temporary files" in capsys.readouterr().err
    assert budgets[0].in_files > 10_000
    np.testing.assert_array_equal(free.w_, bound.w_)
    assert free.certificate_.dual == bound.certificate_.dual
    assert os.listdir(tmp_path) == []


def test_a_plane_cache_folds_when_its_share_is_full():
    X, Y = noisy()
    options = {"C": 100.0, "rescaling": "slack", "max_passes": 10, "tol": 1e-6}  # which keeps planes
    free, few = (mm.SequenceLabeler(**options, memory_mb=limit).fit(X, Y) for limit in (None, 1.0))
    used, kept = free.solution_.memory._used_mb(), few.solution_.memory._used_mb()
    assert kept <= 1.0 / 4 < used
    assert few.certificate_.dual <= few.certificate_.primal


SCRIPT = """
import resource, sys
import numpy as np
import maxmargin as mm

def status(name):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(name + ":")) * 1024

few = [[["a"], ["b"]]], [["x", "y"]]
mm.SequenceLabeler(max_passes=2).fit(*few)  # all code is there
resource.setrlimit(resource.RLIMIT_DATA, (status("VmData") + 60 * 2**20, resource.RLIM_INFINITY))
packed = mm.open_packed(sys.argv[1])
mm.SequenceLabeler(C=10, tol=0.3, memory_mb=20).fit(packed)
try:
    np.ones(packed.n_tokens * 50)
except MemoryError:
    print("fits", packed.n_tokens)
"""


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="limits of memory are asked of Linux")
def test_more_data_than_memory_train(tmp_path):
    rng = np.random.default_rng(0)

    def sentences():
        for _ in range(12_000):
            words = rng.integers(1000, size=20)
            yield [[f"w{k}", f"v{k % 7}", "bias"] for k in words], [str(k % 3) for k in words]

    mm.pack(sentences(), tmp_path / "folder", "sequences", hash_bits=12)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "folder")], capture_output=True, text=True, timeout=600
    )
    assert done.stdout == "fits 240000\n", done.stderr
