"""Checkpoints of code that was edited since: refused if the edit is seen, trained again if only its effect is."""

import importlib
import sys

import numpy as np
import pytest
from training.checkpoints.sessions import assert_same

import maxmargin as mm
from maxmargin.errors import CheckpointMoved
from maxmargin.training.checkpoints.user_code import comparable, user_code

HELPER = """
PRICES = {"wrong": 1.0}


def price(y, z):
    return PRICES["wrong"] * (y != z)


def by_name(z):
    return z + 0.5


def as_attribute(z):
    return z + 1.5


def imported_late(z):
    return z + 2.5
"""
INNER = """
def nested(z):
    return z + 3.5
"""

MODULE = '''
from array import array
from functools import partial, singledispatch
from pathlib import Path
from types import SimpleNamespace

import edited_helper
import edited_package.inner
import numpy as np
from scipy import sparse

from maxmargin import Task

SCALE = 2.0
TABLE = [1.0, 2.0]
GRID = np.array([1.0, 3.0])
calls = 0


def bend(x, power=1):
    return x**power


def weighted(x, factor):
    return factor * x


def between(A, B):
    """Compare rows."""
    return SCALE * (A @ B.T) + 1.0


class Box:
    """An object whose state is part of the code, but for a counter."""

    def __init__(self, value):
        self.value, self.opened = value, 0

    def open(self):
        self.opened += 1
        return self.value


box = Box(1.5)
space = SimpleNamespace(value=2.5)
numbers = array("d", [3.5])
matrix = sparse.csr_array([[4.5]])
mixed = {bend: 5.5, weighted: 6.5}
several = {bend, weighted}
many = np.vectorize(lambda z: z + 7.5)
rng = np.random.default_rng()
cache, seen = {}, []


@singledispatch
def lifted(z):
    return z + 8.5


@lifted.register
def _(z: int):
    return z + 9.5


def keyword(first, second):
    return first - 2 * second


class Kind(type(Task)):
    @property
    def price(cls):
        return 10.5


def objects(z, library=edited_helper):
    """Read values of all kinds, and change some."""
    import edited_helper as late

    key = ("objects", float(z))
    seen.append(key)
    if key not in cache:
        cache[key] = z
    found = [box.open(), space.value, numbers[0], matrix[0, 0], mixed[bend], len(several), float(many(z)), lifted(1)]
    found += [keyword(first=1.0, second=2.0), getattr(edited_helper, "by" + "_name")(z), late.imported_late(z)]
    return sum(found) + edited_package.inner.nested(z) + library.as_attribute(z) + 0 * rng.random()


def read_from(path):
    return float(Path(path).read_text())


class Filed:
    """A kernel that reads a file."""

    def __init__(self, path):
        self.path = path

    def __call__(self, A, B):
        return read_from(self.path) * (A @ B.T)


class Base(Task, metaclass=Kind):
    """A base class."""

    bonus = 1.0

    def loss(self, y, z):
        return self.bonus * edited_helper.price(y, z)


class Signs(Base):
    """Whether the sum of two numbers is positive."""

    def __init__(self, file=None):
        self.file = file

    def setup(self, X, Y):
        self.dim = 2

    @property
    def lift(self):
        return 0.5

    @staticmethod
    def turned(x):
        return x + 0.25

    def psi(self, x, z):
        global calls
        calls += 1
        shift = 1.0 if self.file is None else float(Path(self.file).read_text())
        scaled = [value * SCALE for value in bend(x)]
        parts = partial(weighted, factor=TABLE[0])(np.array(scaled)) * GRID[0] + self.lift + type(self).price
        parts = parts + objects(1.0)
        return z * (self.turned(parts) - shift)

    def outputs(self, x):
        return [-1, 1]
'''

EDITS = {
    "a method": ("z * (self.turned(parts) - shift)", "z * (self.turned(parts) - 2 * shift)"),
    "a constant of a method": ("return 0.5", "return 0.75"),
    "a static method": ("return x + 0.25", "return x - 0.25"),
    "a method of the base class": ("self.bonus * edited", "self.bonus * 2 * edited"),
    "a class attribute": ("bonus = 1.0", "bonus = 3.0"),
    "a global number": ("SCALE = 2.0", "SCALE = 3.0"),
    "a global list": ("TABLE = [1.0", "TABLE = [5.0"),
    "a global array": ("GRID = np.array([1.0", "GRID = np.array([4.0"),
    "a function": ("return x**power", "return x**power + 1"),
    "a default": ("power=1", "power=3"),
    "a function within partial": ("return factor * x", "return factor * x * 2"),
    "an expression within": ("[value * SCALE for", "[value * SCALE + 1 for"),
    "a function of another module": ('PRICES["wrong"] * (y != z)', 'PRICES["wrong"] * 2 * (y != z)'),
    "a dict of another module": ('{"wrong": 1.0}', '{"wrong": 4.0}'),
    "a function that is read by its name": ("z + 0.5", "z + 0.75"),
    "a function of a module that is a default": ("z + 1.5", "z + 1.75"),
    "a function of a module that is imported within": ("z + 2.5", "z + 2.75"),
    "a function of a module in a package": ("z + 3.5", "z + 3.75"),
    "an object": ("Box(1.5)", "Box(1.75)"),
    "an object of Python": ("value=2.5", "value=2.75"),
    "an array of Python": ("[3.5]", "[3.75]"),
    "a sparse matrix": ("[[4.5]]", "[[4.75]]"),
    "a dict of functions": ("bend: 5.5", "bend: 5.75"),
    "a set of functions": ("{bend, weighted}", "{bend}"),
    "a function within an object": ("z + 7.5", "z + 7.75"),
    "a registered function": ("z + 9.5", "z + 9.75"),
    "the order of parameters": (
        "(first, second):\n    return first - 2 * second",
        "(second, first):\n    return second - 2 * first",
    ),
    "a metaclass": ("return 10.5", "return 10.75"),
}
NO_EDITS = {
    "a comment": ("        self.dim = 2", "        # as many as there are\n        self.dim = 2"),
    "a docstring": ("Whether the sum of two", "Say whether the sum of two"),
    "an empty line": ("SCALE = 2.0", "\n\nSCALE = 2.0"),
    "another function": ("class Box", "def unused():\n    return 1\n\n\nclass Box"),
}
FILES = {
    "edited_helper": HELPER,
    "edited_package.__init__": "",
    "edited_package.inner": INNER,
    "edited_task": MODULE,
}
X = list(np.random.default_rng(0).standard_normal((12, 2)))
Y = [1 if x.sum() > 0 else -1 for x in X]


@pytest.fixture
def edited(tmp_path, monkeypatch):
    """Return a function that imports the modules after an edit."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def imported(old="", new=""):
        assert not old or sum(text.count(old) for text in FILES.values()) == 1
        for name, text in FILES.items():
            forget(name)
            path = tmp_path.joinpath(*name.split(".")).with_suffix(".py")
            path.parent.mkdir(exist_ok=True)
            path.write_text(text.replace(old, new) if old else text)
        importlib.invalidate_caches()
        return importlib.import_module("edited_task")

    yield imported
    for name in FILES:
        forget(name)


def forget(name):
    """Let a module be imported again, and the package that contains it."""
    sys.modules.pop(name, None)
    sys.modules.pop(name.partition(".")[0], None)


def fitted(task, path, **options):
    return mm.StructuredSVM(task, checkpoint=path, random_state=0, **options).fit(X, Y)


@pytest.mark.every(6)
@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_of_the_task_is_refused(edit, edited, tmp_path):
    path = tmp_path / "checkpoint"
    fitted(edited().Signs(), path)
    task = edited(*EDITS[edit]).Signs()
    with pytest.raises(ValueError, match=r"code of the task.*has been changed.*Give another path, or delete the file"):
        fitted(task, path)


@pytest.mark.parametrize("edit", NO_EDITS)
def test_edits_that_change_nothing_are_not(edit, edited, tmp_path):
    path = tmp_path / "checkpoint"
    first = fitted(edited().Signs(), path)
    assert_same(first, fitted(edited(*NO_EDITS[edit]).Signs(), path))


def test_the_hash_does_not_depend_on_calls_or_on_the_import(edited):
    module = edited()
    task = module.Signs()
    before = user_code(task)
    task.psi(X[0], 1)
    assert (module.calls, module.box.opened, len(module.cache), len(module.seen)) == (1, 1, 1, 1)
    assert user_code(task) == before == user_code(edited().Signs())
    assert user_code(task) != user_code(3)


def test_installed_packages_are_not_hashed():
    assert user_code(mm.MulticlassSVC(), np.mean) == user_code(3)


def test_hashes_of_other_interpreters_are_not_compared():
    assert comparable("cpython-311 a", "cpython-311 b")
    assert not comparable("cpython-311 a", "cpython-312 a")


def test_a_change_that_no_hash_sees_is_measured(edited, tmp_path):
    """The features depend on a file beside the code; the finished model has another objective then."""
    path, file = tmp_path / "checkpoint", tmp_path / "shift.txt"
    file.write_text("1.0")
    fitted(edited().Signs(str(file)), path)
    file.write_text("-3.0")
    with pytest.warns(CheckpointMoved, match=r"objective.*trained again"):
        found = fitted(edited().Signs(str(file)), path)
    plain = mm.StructuredSVM(edited().Signs(str(file)), random_state=0).fit(X, Y)
    assert_same(plain, found)
    assert_same(plain, fitted(edited().Signs(str(file)), path))  # which is finished again, and says nothing


def test_an_edited_kernel_is_refused(edited, tmp_path):
    path = tmp_path / "checkpoint"
    options = {"checkpoint": path, "max_passes": 9}
    mm.MulticlassSVC(kernel=edited().between, **options).fit(X, Y)
    kernel = edited("(A @ B.T) + 1.0", "(A @ B.T) + 7.0").between
    with pytest.raises(ValueError, match="code of the task, or of a function"):
        mm.MulticlassSVC(kernel=kernel, **options).fit(X, Y)


@pytest.mark.parametrize("solver", ["closed", "cg"])
def test_an_edited_kernel_of_counting_is_refused(solver, edited, tmp_path):
    options = {"checkpoint": tmp_path / "checkpoint", "solver": solver, "alpha": 1.0}
    mm.CountingClassifier(kernel=edited().between, **options).fit(X, Y)
    kernel = edited("SCALE = 2.0", "SCALE = 4.0").between
    with pytest.raises(ValueError, match="code of the task, or of a function"):
        mm.CountingClassifier(kernel=kernel, **options).fit(X, Y)


@pytest.mark.parametrize("solver", ["closed", "cg"])
def test_a_finished_model_of_counting_is_measured_again(solver, edited, tmp_path):
    file, options = tmp_path / "factor.txt", {"solver": solver, "alpha": 1.0}
    file.write_text("1.0")
    kernel = edited().Filed(str(file))
    mm.CountingClassifier(kernel=kernel, checkpoint=tmp_path / "checkpoint", **options).fit(X, Y)
    file.write_text("3.0")
    with pytest.warns(CheckpointMoved, match=r"objective.*trained again"):
        found = mm.CountingClassifier(kernel=kernel, checkpoint=tmp_path / "checkpoint", **options).fit(X, Y)
    plain = mm.CountingClassifier(kernel=kernel, **options).fit(X, Y)
    assert np.array_equal(found.dual_coef_, plain.dual_coef_)
    assert found.certificate_.primal == plain.certificate_.primal


def test_a_warm_start_is_cold_after_an_edit(edited):
    model = mm.StructuredSVM(edited().Signs(), random_state=0, warm_start=True).fit(X, Y)
    model.set_params(task=edited(*EDITS["a method"]).Signs()).fit(X, Y)
    plain = mm.StructuredSVM(edited(*EDITS["a method"]).Signs(), random_state=0).fit(X, Y)
    assert np.array_equal(model.w_, plain.w_)
    assert model.certificate_.primal == plain.certificate_.primal


def test_a_finished_path_is_measured_again(edited, tmp_path):
    path, file = tmp_path / "checkpoint", tmp_path / "shift.txt"
    file.write_text("1.0")

    def trained(task, checkpoint=path):
        return mm.StructuredSVM(task, checkpoint=checkpoint, random_state=0).fit_path(X, Y, [0.1, 1.0])

    trained(edited().Signs(str(file)))
    file.write_text("-3.0")
    with pytest.warns(CheckpointMoved, match="trained again"):
        found = trained(edited().Signs(str(file)))
    for one, other in zip(found, trained(edited().Signs(str(file)), None), strict=True):
        assert one.certificate_.primal == pytest.approx(other.certificate_.primal, rel=1e-2)
