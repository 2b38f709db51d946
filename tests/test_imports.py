"""The import graph of the package: no cycles, and no arrow that points up.

Imports inside of functions and those for types alone count like all others.
"""

import ast
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import maxmargin

ROOT = Path(maxmargin.__file__).parent
MIDDLE = "parts"  # the middle tier, which rooms may be built on
ROOMS = sorted(folder.name for folder in (ROOT / "structures").iterdir() if (folder / "__init__.py").exists())

# From the lowest layer to the highest: what it is, and its modules or folders. A module may import those of lower
# layers, and of its own folder; the modules and folders of one layer do not know each other.
LAYERS = [
    (
        "words and checks",
        [
            "arrays",
            "predictions",
            "errors",
            "checks",
            "search",
            "structures",
            "conformal",
            "sums",
            "tangents",
            "temperature",
        ],
    ),
    ("weights without zeros, and room for large arrays", ["pickled_weights", "room"]),
    ("what fitted objects are made of, in files", ["files"]),
    ("how far sums of floating-point numbers may be off, and rows without zeros", ["rounding", "nonzero_rows"]),
    ("distributions of outputs, and what follows from them", ["conformal", "sums", "tangents", "temperature"]),
    ("sparse matrices with room for more rows", ["growing_rows"]),
    ("compiled functions of the engine", ["compiled"]),
    ("Ctrl-C, and what is said of work", ["interruptions", "live_line", "time_left"]),
    ("how planes are stored", ["atoms"]),
    ("planes", ["planes"]),
    ("what is minimised, and how large planes are", ["objective", "geometry", "reach"]),
    ("its dual point", ["block_dual"]),
    ("planes in a checkpoint", ["learnt_tables"]),
    ("its dual point over planes found one by one", ["dual_blocks"]),
    ("training data that can be searched", ["batch"]),
    ("the plain forms, and rescaled losses through a margin decoder", ["examples", "rescaling"]),
    ("sums over listed outputs", ["listed_sums"]),
    ("what a user writes", ["task"]),
    ("what structures share: labels, matrices, tokens", ["inputs"]),
    ("figures that are of no structure, and what several draw with", ["figures"]),
    ("kernels k(u, v) in the place of features", ["kernels"]),
    ("where data are searched", ["executors"]),
    ("the most violated cuts, those that testify, and who looks for them where", ["places", "violations", "witnesses"]),
    ("what is known of planes, in a checkpoint, and sums over parts of the data", ["learnt_planes", "part_sums"]),
    ("formulation, counting, promises", ["oracle", "preflight"]),
    ("the same for smooth risks", ["soft_oracle"]),
    ("algorithms", ["solvers"]),
    (
        "parts of training",
        [
            "nothing_learnt",
            "online",
            "progress",
            "shared_options",
            "training_options",
            "unconverged",
            "warm_starts",
            "weights",
        ],
    ),
    ("what is said of single weights", ["confines"]),
    ("fits that go on after a stop", ["checkpoints"]),
    ("pages about models", ["report"]),
    ("fit, fit_path, partial_fit, certify", ["trainer"]),
    ("choosing C", ["tuning"]),
    ("what estimators share whose task sums over outputs", ["probabilistic"]),
    ("what estimators share whose inputs are sequences of tokens", ["sequence_trainer"]),
    ("estimators of any task, and of matrices", ["structured", "flat"]),
    ("sets of scored parts, which other rooms may build on", [f"structures.{MIDDLE}"]),
    ("one room per structure", [f"structures.{room}" for room in ROOMS if room != MIDDLE]),
    ("training by counting outputs", ["counting"]),
    (
        "what users find by kind",
        ["baselines", "datasets", "formats", "inference", "metrics", "optimisers", "plotting", "tasks"],
    ),
    ("checks of tasks, solvers and executors", ["testing"]),
    ("models from files", ["loading"]),
    ("training data in folders", ["packing"]),
    ("the public names", [""]),
    ("the demonstration", ["demo"]),
    ("the command line", ["command"]),
    ("python -m maxmargin", ["__main__"]),
]

# (importing module, imported module): why this arrow may stay although the table forbids it
EXCEPTIONS: dict[tuple[str, str], str] = {}

FILES = {
    ".".join(("maxmargin", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in sorted(ROOT.rglob("*.py"))
}
FILES["maxmargin"] = ROOT / "__init__.pyi"  # which names what is imported at first use


@cache
def trees():
    """Of all files; not when tests are collected, because it takes seconds."""
    return {name: ast.parse(path.read_text()) for name, path in FILES.items()}


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
    """The layer of a module, and its entry there."""
    inside = module.removeprefix("maxmargin").removeprefix(".")
    entries = {entry: level for level, (_, names) in enumerate(LAYERS) for entry in names}
    while inside not in entries:
        assert "." in inside, f"{module} is in no layer"
        inside = inside.rpartition(".")[0]
    return entries[inside], inside


def test_every_module_has_its_layer():
    assert {place(module)[1] for module in import_graph()} == {entry for _, names in LAYERS for entry in names}


def test_there_is_no_cycle():
    try:
        TopologicalSorter(import_graph()).prepare()
    except CycleError as error:
        pytest.fail(f"modules import each other in a cycle: {' <- '.join(error.args[1])}")


def upward(graph):
    """The arrows that the table of layers forbids."""
    for module, others in graph.items():
        (level, entry) = place(module)
        for other in others:
            (below, known) = place(other)
            if not (below < level or entry == known) and (module, other) not in EXCEPTIONS:
                yield module, other


def test_no_arrow_points_up():
    assert not list(upward(import_graph()))


@pytest.mark.parametrize(
    "arrow",
    [
        ("solvers.bcfw", "trainer"),
        ("structures.graphs.task", "structures.classes.taxonomy"),
        ("batch", "task"),
        ("oracle", "preflight"),
        ("inputs.labels", "structures.sequences.task"),
    ],
)
def test_what_the_table_forbids(arrow):
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


def test_nobody_reaches_through_the_oracle():
    outside = [
        (at, node)
        for at, node in nodes(ast.Attribute)
        if not at.startswith(("maxmargin.oracle:", "maxmargin.soft_oracle:"))
    ]
    assert not [at for at, node in outside if node.attr == "_batch"]
    assert not [at for at, node in outside if last_name(node.value) == "oracle" and node.attr in ("batch", "task")]


def test_signatures_say_what_a_batch_is():
    batches = [(at, node.annotation) for at, node in nodes(ast.arg) if node.arg == "batch" and node.annotation]
    assert len(batches) > 10
    assert not [at for at, annotation in batches if ast.unparse(annotation) == "Any"]
