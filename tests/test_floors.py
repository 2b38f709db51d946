"""Imports point down, from facades to rooms, trainer, solvers, oracle, contract and ground, and never in a circle."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

SRC = Path(__file__).resolve().parent.parent / "src"
FILES = {".".join(path.relative_to(SRC).with_suffix("").parts): path for path in (SRC / "maxmargin").rglob("*.py")}

# from the ground up; a name stands for a file or a folder at the root of the package
FLOORS = [
    {"arrays", "errors", "checks", "search", "compiled"},
    {"atoms", "planes", "objective", "dual_blocks"},
    {"batch", "examples", "task"},
    {"inputs", "kernels", "figures"},
    {"rescaling", "executors", "oracle"},
    {"solvers"},
    {"shared_options", "training_options", "warm_starts", "online", "preflight", "progress", "weights"}
    | {"trainer", "structured", "flat"},
    {"structures", "counting"},
    {"tasks", "metrics", "plotting", "formats", "inference", "baselines", "testing", "datasets", "demo", "__init__"},
]
FLOOR = {name: number for number, names in enumerate(FLOORS) for name in names}


class Executed(ast.NodeTransformer):
    """Leaves out what only type checkers read: a batch may name the type of the task that packs it."""

    def visit_If(self, node):
        only_types = isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        return None if only_types else self.generic_visit(node)


def imported(name):
    """The files that a file imports, anywhere in it; a package stands for its __init__."""
    for node in ast.walk(Executed().visit(ast.parse(FILES[name].read_text(encoding="utf-8")))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "maxmargin":
            targets = [f"{node.module}.{alias.name}" for alias in node.names]
            targets = [each if each in FILES or f"{each}.__init__" in FILES else node.module for each in targets]
        elif isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names if alias.name.split(".")[0] == "maxmargin"]
        else:
            continue
        yield from (each if each in FILES else f"{each}.__init__" for each in targets)


GRAPH = {name: set(imported(name)) - {name} for name in FILES}


def test_every_file_has_a_floor():
    assert {name.split(".")[1] for name in FILES} == set(FLOOR)


@pytest.mark.parametrize("floor", range(len(FLOORS)))
def test_imports_point_down(floor):
    arrows = [
        f"{name} -> {other}"
        for name in FILES
        if FLOOR[name.split(".")[1]] == floor
        for other in GRAPH[name]
        if FLOOR[other.split(".")[1]] > floor
    ]
    assert not arrows


def test_no_circles():
    list(TopologicalSorter(GRAPH).static_order())


def test_a_room_borrows_finished_pieces_only():
    """Rooms do not know each other, but for these."""
    borrowed = {
        ("graphs", "maxmargin.structures.clustering.compiled.forest"),
        ("motifs", "maxmargin.structures.alignment.substitution_display"),
    }
    rooms = [name.split(".") for name in FILES if name.startswith("maxmargin.structures.")]
    found = {
        (parts[2], other)
        for parts in rooms
        for other in GRAPH[".".join(parts)]
        if other.startswith("maxmargin.structures.") and other.split(".")[2] != parts[2]
    }
    assert found == borrowed
