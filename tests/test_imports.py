"""The import graph of the package: no cycles, and no arrow that points up.

Imports inside of functions and those for types alone count like all others.
"""

import ast
from functools import cache
from graphlib import CycleError, TopologicalSorter

import pytest
from source_trees import PACKAGE as ROOT
from source_trees import source_trees

# The folders of the package, from the lowest to the highest. A module imports from its own folder and from lower ones.
ORDER = [
    "base",
    "executors",
    "problem.planes",
    "problem.dual",
    "problem.contract",
    "problem.oracle",
    "inputs",
    "report",
    "kernels",
    "solvers",
    "training",
    "structures.parts",  # on which other structures may be built
    "structures",
    "neural",
    "torch",
    "jax",
    "compat",
    "active",
    "counting",
    "datasets",
    "testing",
    "facades",
    "command",
]
ROOT_MODULES = {  # the facades of the package, and its entry points
    *("baselines", "errors", "formats", "inference", "metrics", "optimisers", "plotting", "tasks"),
    *("", "demo", "loading", "packing", "warming"),
}
STRUCTURES = sorted(folder.name for folder in (ROOT / "structures").iterdir() if (folder / "__init__.py").exists())

# (importing module, imported module): why this arrow may stay although the table forbids it
EXCEPTIONS: dict[tuple[str, str], str] = {
    ("maxmargin.__main__", "maxmargin.command.main"): "python -m maxmargin is the command",
}

FILES = {
    ".".join(("maxmargin", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in sorted(ROOT.rglob("*.py"))
}
FILES["maxmargin"] = ROOT / "__init__.pyi"  # which names what is imported at first use


@cache
def trees():
    """Return the tree of every module, and that of the stub for the package itself."""
    found = source_trees()
    modules = {name: found[path.relative_to(ROOT)] for name, path in FILES.items() if path.suffix == ".py"}
    return {**modules, "maxmargin": ast.parse(FILES["maxmargin"].read_text(encoding="utf-8"))}


def imported(tree):
    """The modules of the package that a module imports."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == (tree is trees()["maxmargin"]), (
                "imports name the whole path, but for those of the stub"
            )
            module = ".".join(["maxmargin"] * node.level + [node.module or ""]).rstrip(".")
            names = {f"{module}.{alias.name}" for alias in node.names}
            found |= {name if name in FILES else module for name in names}
    return {name for name in found if name.split(".")[0] == "maxmargin"}


@cache
def import_graph():
    return {name: imported(tree) - {name} for name, tree in trees().items()}


def place(module):
    """The level of a module's folder, and the folder."""
    inside = module.removeprefix("maxmargin").removeprefix(".")
    if inside in ROOT_MODULES or inside == "__main__":
        return ORDER.index("facades"), "facades"
    if inside in ("problem", "structures"):  # an __init__.py that says what is in the folder
        return 0, inside
    folders = [folder for folder in ORDER if f"{inside}.".startswith(f"{folder}.")]
    assert folders, f"{module} is in no folder"
    folder = max(folders, key=len)
    return ORDER.index(folder), folder if folder != "structures" else ".".join(inside.split(".")[:2])


def test_every_folder_is_in_the_order():
    found = {place(module)[1].split(".")[0] for module in import_graph()}
    assert found == {folder.split(".")[0] for folder in ORDER}


def test_the_root_has_facades_and_entry_points_only():
    found = {path.stem for path in ROOT.glob("*.py")}
    assert found == {name or "__init__" for name in ROOT_MODULES} | {"__main__"}
    assert len(found) <= 14


def test_there_is_no_cycle():
    try:
        TopologicalSorter(import_graph()).prepare()
    except CycleError as error:
        pytest.fail(f"modules import each other in a cycle: {' <- '.join(error.args[1])}")


def upward(graph):
    """The imports that the order of the folders forbids; structures do not import each other."""
    for module, others in graph.items():
        (level, folder) = place(module)
        for other in others:
            (below, known) = place(other)
            if not (below < level or folder == known) and (module, other) not in EXCEPTIONS:
                yield module, other


def test_no_import_points_up():
    assert not list(upward(import_graph()))


@pytest.mark.parametrize(
    "arrow",
    [
        ("solvers.bcfw", "training.trainer"),
        ("structures.graphs.task", "structures.classes.taxonomy"),
        ("problem.dual.objective", "problem.contract.task"),
        ("base.rounding", "problem.planes.atoms"),
        ("inputs.labels.labels", "structures.sequences.task"),
        ("training.trainer", "tasks"),
    ],
)
def test_what_the_order_forbids(arrow):
    """So that the proof above proves something."""
    module, other = (f"maxmargin.{name}" for name in arrow)
    assert list(upward({module: {other}})) == [(module, other)]


def test_exceptions_are_needed():
    for module, other in EXCEPTIONS:
        assert other in import_graph()[module]


# --- the borders of the oracle


def last_name(node):
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def nodes(kind):
    """All of this kind in the package, with the places where they stand."""
    for module, tree in trees().items():
        yield from ((f"{module}:{node.lineno}", node) for node in ast.walk(tree) if isinstance(node, kind))


def test_nobody_reaches_through_the_oracle_to_the_data():
    """Outside of its folder, the batch of an oracle is asked for what it offers and for its name and costs alone."""
    outside = [(at, node) for at, node in nodes(ast.Attribute) if not at.startswith("maxmargin.problem.oracle.")]
    batches = [(at, node) for at, node in outside if last_name(node.value) == "oracle" and node.attr == "batch"]
    asked = {
        id(node.value)
        for _, node in outside
        if node.attr in ("call_cost", "name", "offers", "plane_atoms", "weighs_loss")
    }
    assert not [at for at, node in batches if id(node) not in asked]
    assert not [at for at, node in outside if last_name(node.value) == "oracle" and node.attr.startswith("_")]
    assert not [at for at, node in outside if last_name(node.value) in ("batch", "oracle") and node.attr == "__dict__"]


def test_signatures_say_what_a_batch_is():
    batches = [(at, node.annotation) for at, node in nodes(ast.arg) if node.arg == "batch" and node.annotation]
    assert len(batches) > 10
    assert not [at for at, annotation in batches if ast.unparse(annotation) == "Any"]
