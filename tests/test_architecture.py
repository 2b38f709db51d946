"""docs/architecture.md and its drawing are checked against the tree, and the two ways of a fit against real fits."""

import importlib.util
import os
import re
import sys
from pathlib import Path

import pytest
from test_imports import ORDER

import maxmargin as mm

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path(mm.__file__).resolve().parent
PAGE = ROOT / "docs" / "architecture.md"


@pytest.fixture(scope="module")
def script():
    """The script that draws the picture."""
    spec = importlib.util.spec_from_file_location("draw_architecture", ROOT / "docs" / "draw_architecture.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_page_is_short():
    assert len(PAGE.read_bytes()) <= 20_000


def test_every_file_and_folder_that_the_page_names_exists():
    named = re.findall(r"`([\w./<>…]+(?:/|\.pyi?|\.md))`", PAGE.read_text(encoding="utf-8"))
    assert len(named) > 50
    concrete = [name for name in named if not set("<>…") & set(name)]
    tree = [
        f"/{path.relative_to(ROOT).as_posix()}{'/' if path.is_dir() else ''}"
        for root in (PACKAGE, ROOT / "tests", ROOT / "docs", ROOT / "benchmarks", ROOT / "examples")
        for path in [root, *root.rglob("*")]
    ]
    assert not [name for name in concrete if not any(path.endswith(f"/{name}") for path in tree)]


def test_the_drawing_is_that_of_the_tree(script):
    drawn = (ROOT / "docs" / "architecture.svg").read_text(encoding="utf-8")
    assert drawn == script.drawing(), "run `python docs/draw_architecture.py`"


def test_the_drawing_has_the_order_of_imports(script):
    assert [folder.replace(".", "/") for folder in ORDER if folder != "facades"] == script.FOLDERS


class Marked(mm.Task):
    """Which of three numbers is marked."""

    def setup(self, X, Y):
        self.dim = 1

    def psi(self, x, z):
        return [x[z]]

    def loss(self, y, z):
        return float(y != z)

    def outputs(self, x):
        return range(3)


def stacks(fit):
    """Return the stacks of (file, function) of the package during a call, from the outermost to the innermost."""
    found, root = set(), f"{PACKAGE}{os.sep}"

    def enter(frame, event, argument):
        if event == "call" and frame.f_code.co_filename.startswith(root):
            entries = []
            while frame is not None:
                entries.append((frame.f_code.co_filename, frame.f_code.co_qualname))
                frame = frame.f_back
            found.add(tuple(reversed(entries)))

    before = sys.getprofile()
    sys.setprofile(enter)
    try:
        fit()
    finally:
        sys.setprofile(before)
    return [
        [(Path(file).relative_to(PACKAGE).as_posix(), function) for file, function in stack if file.startswith(root)]
        for stack in found
    ]


def runs_through(stack, files):
    """Return whether a stack has these files in this order, perhaps with others between them."""
    rest = iter([file for file, _ in stack])
    return all(file in rest for file in files)


def model_and_stacks(way):
    """Return an estimator that goes this way, and the stacks of its fit."""
    if way == "PLANES":
        model, X, Y = mm.StructuredSVM(Marked(), C=1.0), [[1.0, 2.0, 3.0], [3.0, 1.0, 2.0]], [2, 0]
    else:
        model, X, Y = mm.SequenceLabeler(C=1.0), [[["a"], ["b"]], [["b"], ["a"]]], [["A", "B"], ["B", "A"]]
    model.fit(X, Y)  # compiles the kernels
    return model, stacks(lambda: model.fit(X, Y))


@pytest.mark.parametrize("way", ["PLANES", "OWN_DUAL"])
def test_a_fit_goes_the_way_that_is_drawn(script, way):
    model, found = model_and_stacks(way)
    estimator, *drawn = [stage.file for stage in getattr(script, way)]
    assert type(model).__module__ == "maxmargin." + estimator.removesuffix(".py").replace("/", ".")
    python = [file for file in drawn if "compiled/" not in file]
    assert any(runs_through(stack, python) for stack in found)
    for file in set(drawn) - set(python):  # machine code leaves no trace: the last file calls it
        module = "maxmargin." + file.removesuffix(".py").replace("/", ".")
        assert module in (PACKAGE / python[-1]).read_text(encoding="utf-8")


@pytest.mark.parametrize("way", ["PLANES", "OWN_DUAL"])
def test_a_fit_calls_the_functions_that_the_page_names(way):
    section = PAGE.read_text(encoding="utf-8").split("## The two ways of a fit")[1].split("\n## ")[0]
    block = section.split("```")[1 if way == "PLANES" else 3]
    named = re.findall(r"^(\S+\.py) +([\w.]+)", block, re.MULTILINE)
    assert len(named) >= 5
    _, found = model_and_stacks(way)
    called = {entry for stack in found for entry in stack}
    for file, function in named:
        if "compiled/" in file:  # machine code leaves no trace
            assert f"def {function}(" in (PACKAGE / file).read_text(encoding="utf-8")
        else:
            assert (file, function) in called
