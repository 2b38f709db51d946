"""The classes that model files may name: the table is complete, and every object in it survives a file."""

import os
import subprocess
import sys

import numpy as np
import pytest
from base.files.fitted_models import made
from base.files.saved_class_table import source, table

import maxmargin as mm
from maxmargin import counting, kernels, optimisers, solvers
from maxmargin.base.files import class_table
from maxmargin.base.files.known_classes import known_class
from maxmargin.base.files.objects import fields_of

SQUARE = [("s", "a"), ("s", "b"), ("a", "t"), ("b", "t")]
PAIRS = [(0, 1), (1, 2), (0, 2)]
TREE = {"dog": "animal", "cat": "animal", "animal": "thing", "fern": "thing"}

SOLVERS = [
    kind
    for kind in vars(solvers).values()
    if isinstance(kind, type) and issubclass(kind, solvers.Solver) and kind is not solvers.Solver
]

# An object of every class of parameters with a value that is not the default.
OBJECTS = {
    "solver": [
        *(kind(tol=0.25, max_passes=7.0) for kind in SOLVERS),
        solvers.CCCP(inner=solvers.OneSlack(tol=0.125), start=np.ones(3)),
    ],
    "kernel": [
        *(getattr(kernels, name)(cache_mb=3.0) for name in ("Cosine", "Linear", "Polynomial", "RBF", "Sigmoid")),
        kernels.Precomputed(cache_mb=3.0),
        kernels.Auto(kernels.RBF(gamma=0.5)),
        kernels.KernelMap(kernels.Polynomial(degree=2), n_components=7),
    ],
    "optimiser": [
        optimisers.Arborescence(3, [(1, 0), (1, 2), (0, 2)], root=1),
        optimisers.Assignment(2, 3, births=True),
        optimisers.DagPath(SQUARE, "s", "t"),
        optimisers.GridPath(2, 3),
        optimisers.Knapsack([3, 4, 2], 5),
        optimisers.LinearProgram(A_ub=[[1.0, 2.0]], b_ub=[3.0], sense="max"),
        optimisers.MinCostFlow(SQUARE, [1, 1, 1, 1], {"s": -1, "t": 1}),
        optimisers.ShortestPath(SQUARE, "s", "t", directed=False),
        optimisers.SpanningTree(3, PAIRS),
    ],
    "output_set": [
        counting.AllSubsets(3),
        counting.Arborescences(3, arcs=PAIRS),
        counting.Assignments(2, 3),
        counting.Classes(["a", "b"]),
        counting.Cliques(3),
        counting.CyclicPermutations(4, signed=False),
        counting.DagPaths(SQUARE, "s", "t"),
        counting.EdgeSets(3),
        counting.HamiltonianCycles(4, directed=True),
        counting.HierarchyLabels(TREE),
        counting.HierarchyPaths(TREE),
        counting.KCliques(4, 2),
        counting.LabelSequences(["B-X", "I-X", "O"], 2, forbidden="BIO"),
        counting.Matchings(4),
        counting.OrderedClasses(3),
        counting.PartialTournaments(3),
        counting.Paths(4),
        counting.PerfectMatchings(4),
        counting.Permutations(3),
        counting.SpanningTrees(3, edges=PAIRS),
        counting.Subsets(4, 2),
    ],
}
TAKES = {"solver": "classes", "kernel": "classes", "optimiser": "costs", "output_set": "counted"}
GIVEN = [(name, each) for name, objects in OBJECTS.items() for each in objects]


def test_the_table_is_that_of_the_package():
    with open(class_table.__file__, encoding="utf-8") as stream:
        same = stream.read() == source(table())
    assert same, "classes were added, moved or removed: run `python tests/base/files/saved_class_table.py`"
    for name in class_table.MODULES:
        kind = known_class(name)
        assert kind.__name__ == name
        assert fields_of(kind) is not None
    assert known_class("Trainer") is known_class("Task") is known_class("os") is None


@pytest.mark.parametrize(("name", "given"), GIVEN, ids=lambda each: type(each).__name__)
@pytest.mark.filterwarnings("ignore")
def test_every_object_that_is_a_parameter_survives(name, given, tmp_path):
    model, _ = made(TAKES[name])
    before = getattr(model, name)
    try:
        setattr(model, name, given)
        model.save(tmp_path / "model.mm")
    finally:
        setattr(model, name, before)
    again = getattr(mm.load(tmp_path / "model.mm"), name)
    assert type(again) is type(given)
    if hasattr(given, "get_params"):
        assert repr(again.get_params()) == repr(given.get_params())
    else:
        assert set(vars(again)) == set(vars(given))


def test_no_kind_of_parameter_is_forgotten():
    """Solvers, kernels, optimisers and output sets are listed above; what else there is, the fitted models have."""
    tried = {type(each).__name__ for _, each in GIVEN}
    folders = ("solvers.", "structures.parts.optimisers.", "counting.sets.")
    parameters = {name for name, module in class_table.MODULES.items() if module.startswith(folders)}
    tried |= {"Round", "Solution", "Walk"}  # these belong to fitted models
    assert parameters <= tried, f"add an object of each class to OBJECTS: {sorted(parameters - tried)}"


def test_a_class_that_no_reader_knows_is_refused_when_it_is_written(monkeypatch, tmp_path):
    model, _ = made("sequences_tokens")  # whose solver is a BCFW
    monkeypatch.delitem(class_table.MODULES, "BCFW")
    known_class.cache_clear()
    try:
        with pytest.raises(ValueError, match=r"SequenceLabeler.solver is a BCFW, a class that model files do not hold"):
            model.save(tmp_path / "model.mm")
    finally:
        known_class.cache_clear()
    assert not list(tmp_path.iterdir())


def test_objects_of_two_classes_of_a_user_are_refused(tmp_path):
    class Slow(solvers.BCFW):
        """A solver of a user."""

    model, _ = made("own_task")
    before = model.solver
    try:
        model.solver = Slow()
        with pytest.raises(ValueError, match="solver is a Slow, and another part of the model is a Tags"):
            model.save(tmp_path / "model.mm")
    finally:
        model.solver = before


def test_a_small_model_imports_its_own_structure_only(tmp_path):
    made("classes")[0].save(tmp_path / "model.mm")
    code = (
        "import sys, maxmargin as mm; mm.load(sys.argv[1]); "
        "print(sorted({name.split('.')[2] for name in sys.modules if name.startswith('maxmargin.structures.')}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, os.fspath(tmp_path / "model.mm")], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "['classes']"
