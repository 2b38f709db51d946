"""One vocabulary: the same idea has the same name, and the same type, wherever it occurs."""

import ast
import inspect
import re
from collections import defaultdict
from functools import cache

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from source_trees import source_trees

import maxmargin as mm
from maxmargin import counting, optimisers, solvers, tasks
from maxmargin.base.named_weights import Weights
from maxmargin.counting.trainer import CountingTrainer
from maxmargin.problem.contract.task import Task
from maxmargin.training.trainer import Trainer


def classes(module, kind):
    """The public ones of a module, in the order of their names."""
    listed = [getattr(module, name) for name in sorted(module.__all__)]
    return [each for each in listed if inspect.isclass(each) and issubclass(each, kind)]


TASKS = classes(tasks, Task)
ESTIMATORS = [each for each in classes(mm, BaseEstimator) if each is not Task]
SETS = classes(counting, counting.OutputSet)
SOLVERS = classes(solvers, solvers.Solver)
OPTIMISERS = classes(optimisers, optimisers.Optimiser)


def parameters(kind):
    return {p.name: p.default for p in inspect.signature(kind).parameters.values() if p.kind is not p.VAR_KEYWORD}


def by_name(kind):
    return kind.__name__


# --- names

REPLACED = {  # words that say the same as another one, and that one
    "inference": "method",
    "search": "method",
    "decoder": "method",
    "algorithm": "method",
    "intercept": "fit_intercept",
    "letters": "alphabet",
    "unknown_features": "unknown",
    "loss": "measure",
    "metric": "measure",
    "seed": "start, or random_state",
    "init": "start",
    "tolerance": "tol",
    "eps": "tol",
    "regularization": "C",
    "cost": "costs",
    "n_threads": "n_jobs",
}


@pytest.mark.parametrize("kind", ESTIMATORS + TASKS + SETS + SOLVERS + OPTIMISERS, ids=by_name)
def test_replaced_words_are_gone(kind):
    assert not {name: REPLACED[name] for name in parameters(kind) if name in REPLACED}


def test_the_linear_system_of_counting_has_a_solver():
    """`method` is how outputs are searched, in counting as elsewhere."""
    assert "solver" in parameters(CountingTrainer)
    assert "method" not in parameters(CountingTrainer)


# Parameters of one name whose defaults may be of several types: why
SEVERAL_TYPES: dict[str, str] = {}


def test_a_name_has_one_type_of_defaults():
    """None goes with any type; a parameter that must be given has no default."""
    types = defaultdict(dict)
    for kind in ESTIMATORS + TASKS:
        for name, default in parameters(kind).items():
            if default is not None and default is not inspect.Parameter.empty:
                types[name].setdefault(type(default).__name__, []).append(kind.__name__)
    assert {name: found for name, found in types.items() if len(found) > 1 and name not in SEVERAL_TYPES} == {}
    assert all(len(types[name]) > 1 for name in SEVERAL_TYPES)


TO_BE_DESCRIBED = ("alphabet", "costs", "fit_intercept", "kernel", "measure", "method", "start", "unknown")


def described(kind):
    """The parameters that a docstring describes, or that of the estimator which it names for the others."""
    text = inspect.getdoc(kind)
    lists = re.findall(r"^ *(\w+(?:, \w+)*) : ", text, re.MULTILINE)
    found = {name for names in lists for name in names.split(", ")}
    for other in re.findall(r"parameters are those of (\w+)", text):
        found |= described(getattr(mm, other))
    return found


@pytest.mark.parametrize("kind", ESTIMATORS + TASKS, ids=by_name)
def test_shared_parameters_are_described(kind):
    assert {name for name in parameters(kind) if name in TO_BE_DESCRIBED} <= described(kind)


# --- fitted models of every estimator


def matrix(n=24, n_classes=3):
    rng = np.random.default_rng(0)
    y = np.arange(n) % n_classes
    return rng.standard_normal((n, 4)) + 2 * np.eye(4)[y], y


def tokens(n=6):
    rng = np.random.default_rng(1)
    X = [rng.standard_normal((5, 3)) for _ in range(n)]
    return X, [["up" if row[0] > 0 else "down" for row in x] for x in X]


def chain_graphs():
    X, Y = tokens()
    return [(x, [(i, i + 1) for i in range(4)]) for x in X], Y


def item_sets():
    rng = np.random.default_rng(2)
    Y = [[0, 0, 1, 1, 2], [0, 1, 0, 1, 1], [0, 0, 0, 1, 1]]
    X = []
    for y in map(np.array, Y):
        first, second = np.triu_indices(len(y), 1)
        together = np.where(y[first] == y[second], 1.0, -1.0)
        X.append(tasks.Pairs(5, np.column_stack([first, second]), together[:, None] + rng.normal(0, 0.1, (10, 2))))
    return X, Y


def documents():
    X = [["red apple", "red pear", "green plum", "red"], ["cat", "grey cat", "blue dog", "grey"]]
    return X, [[{"red"}, {"red"}, {"green"}, set()], [{"cat"}, {"cat"}, {"dog"}, set()]]


def sequences_with_motif():
    rng = np.random.default_rng(3)
    X = ["".join(rng.choice(list("ACGT"), 12)) for _ in range(12)]
    return [x[:4] + "TGACG" + x[4:] if i < 6 else x for i, x in enumerate(X)], np.arange(12) < 6


def cheapest(costs):
    return np.arange(len(costs)) == np.argmin(costs)


def linked_frames():
    rng = np.random.default_rng(4)
    X = [rng.standard_normal((3, 3, 2)) for _ in range(4)]
    return [x + np.eye(3)[:, :, None] * 3 for x in X], [[0, 1, -1]] * 4


TAGGED = [[("a", "N"), ("b", "V"), ("c", "N")], [("a", "D"), ("b", "N"), ("c", "V")]]
ARCS = [[(2, "subj"), (0, "root"), (2, "obj")], [(2, "det"), (3, "subj"), (0, "root")]]
TREES = ["(S (NP (N a)) (VP (V b) (NP (N c))))", "(S (NP (D a) (N b)) (VP (V c)))"]
TAGS = [["N", "V", "N"], ["D", "N", "V"]]
HOMOLOGS = [("ACDE", ["ACE", "FFFF"]), ("FGAC", ["DDDD", "FGC"])]
ALIGNED = [(0, [(0, 0), (1, 1), (3, 2)]), (1, [(0, 0), (1, 1), (3, 2)])]
ROUTES = [["inn", "zoo"], ["zoo", "bay", "inn"], ["bay", "zoo"]] * 4
QUERIES = np.repeat(range(4), 6)

# An estimator in each of its ways, how it is fitted, and the shape of its coef_: a row for every label, or, of what
# scores one thing, an array of features
FITS = {
    "Aligner": (mm.Aligner(max_passes=3), lambda m: m.fit(*mm.datasets.mutated_pairs(4, length=8, seed=0)), None),
    "Assigner": (mm.Assigner(), lambda m: m.fit(*linked_frames()), None),
    "Clusterer": (mm.Clusterer(), lambda m: m.fit(*item_sets()), (2,)),
    "Clusterer correlation": (mm.Clusterer(linkage="correlation"), lambda m: m.fit(*item_sets()), (2,)),
    "CostLearner": (mm.CostLearner(cheapest), lambda m: m.fit(matrix()[0], matrix()[0][:, :3]), (3, 4)),
    "CostLearner of parts": (mm.CostLearner(cheapest), lambda m: m.fit(matrix()[0][..., None], matrix()[0]), (1,)),
    "CountingClassifier": (mm.CountingClassifier(kernel="linear"), lambda m: m.fit(*matrix()), (3, 4)),
    "CountingMultilabel": (
        mm.CountingMultilabel(kernel="linear"), lambda m: m.fit(matrix()[0], np.eye(3, dtype=int)[matrix()[1]]), (3, 4),
    ),
    "CountingPredictor": (
        mm.CountingPredictor(counting.Subsets(3, 1)), lambda m: m.fit(matrix()[0], [{k} for k in matrix()[1]]), (3, 4),
    ),
    "DependencyParser": (mm.DependencyParser(), lambda m: m.fit(TAGGED, [[2, 0, 2], [2, 3, 0]]), None),
    "DependencyParser with labels": (mm.DependencyParser(), lambda m: m.fit(TAGGED, ARCS), None),
    "Diversifier": (mm.Diversifier(k=2, thresholds=(0.0, 0.5), C=1e4), lambda m: m.fit(*documents()), (2,)),
    "GraphLabeler": (mm.GraphLabeler(), lambda m: m.fit(*chain_graphs()), (2, 3)),
    "HomologRanker": (mm.HomologRanker(max_passes=3), lambda m: m.fit(HOMOLOGS, ALIGNED), None),
    "MeasureSVC": (mm.MeasureSVC(), lambda m: m.fit(*matrix(n_classes=2)), (1, 4)),
    "MeasureSVC roc_auc": (mm.MeasureSVC("roc_auc"), lambda m: m.fit(*matrix(n_classes=2)), (1, 4)),
    "MotifFinder": (
        mm.MotifFinder(length=5, background_order=0, restarts=1), lambda m: m.fit(*sequences_with_motif()), None,
    ),
    "MulticlassSVC": (mm.MulticlassSVC(), lambda m: m.fit(*matrix()), (3, 4)),
    "MulticlassSVC of two classes": (mm.MulticlassSVC(), lambda m: m.fit(*matrix(n_classes=2)), (1, 4)),
    "OrdinalSVC": (mm.OrdinalSVC(), lambda m: m.fit(*matrix()), (1, 4)),  # one direction for all classes
    "OrdinalSVC separate": (mm.OrdinalSVC(directions="separate"), lambda m: m.fit(*matrix()), (2, 4)),  # one per step
    "PCFG": (mm.PCFG(), lambda m: m.fit(TAGS, TREES), None),
    "Parser": (mm.Parser(), lambda m: m.fit(TAGS, TREES), None),
    "Ranker": (mm.Ranker(), lambda m: m.fit(*matrix(), QUERIES), (4,)),
    "Ranker at k": (mm.Ranker("precision_at_k", k=2), lambda m: m.fit(*matrix(), QUERIES), (4,)),
    "Ranker latent": (mm.Ranker("precision_at_k", k=2, latent=True), lambda m: m.fit(*matrix(), QUERIES), (4,)),
    "RoutePredictor": (mm.RoutePredictor(), lambda m: m.fit(np.ones((12, 1)), ROUTES), (13, 1)),  # of steps and ends
    "SegmentLabeler": (mm.SegmentLabeler(), lambda m: m.fit(tokens()[0], [[(0, 2, "x")]] * len(tokens()[0])), None),
    "SequenceLabeler": (mm.SequenceLabeler(), lambda m: m.fit(*tokens()), None),
    "StructuredSVM": (mm.StructuredSVM(tasks.Multiclass()), lambda m: m.fit(*matrix()), None),
    "TaxonomySVC": (  # a row for every node below the root, classes among them
        mm.TaxonomySVC({0: "low", 1: "low", 2: "high", "low": None, "high": None}), lambda m: m.fit(*matrix()), (5, 4),
    ),
    "Tuned": (mm.Tuned(mm.MulticlassSVC(), Cs=[1.0], cv=2), lambda m: m.fit(*matrix()), (3, 4)),
}  # fmt: skip


@cache
def fitted(way):
    model, fit, _ = FITS[way]
    return fit(model)


def test_every_estimator_is_fitted_here():
    tried = {type(model) for model, _, _ in FITS.values()}
    assert tried == set(ESTIMATORS), f"add a small fit to FITS: {set(ESTIMATORS) - tried}"


# Parameters whose default an estimator does not take over from its task: why
OTHER_DEFAULTS = {
    (
        "Clusterer",
        "start",
    ): "None finds first weights by least squares, a task has only links to begin with",
    ("HomologRanker", "mode"): "homologs share a part, so that alignments are local; those that one is given are whole",
    ("MeasureSVC", "measure"): "of two tasks, which have defaults of their own",
    ("PCFG", "horizontal"): "counted rules need more memory of siblings than rules with weights of spans",
    ("Ranker", "measure"): "of three tasks, which have defaults of their own",
    ("Ranker", "k"): "only one of its three tasks always has a k",
}


def test_defaults_are_those_of_the_task():
    different = set()
    for way, (model, _, _) in FITS.items():
        kind = type(model)
        task = getattr(fitted(way), "task_", None)
        if task is None or kind is mm.StructuredSVM:
            continue
        parts = [task, *(part for part in vars(task).values() if isinstance(part, Task))]
        for other in map(parameters, map(type, parts)):
            mine = parameters(kind)
            different |= {(kind.__name__, name) for name in mine.keys() & other.keys() if mine[name] != other[name]}
    assert different == set(OTHER_DEFAULTS)


@pytest.mark.parametrize("way", FITS)
def test_coefficients_have_the_shape_of_scikit_learn(way):
    model, shape = fitted(way), FITS[way][2]
    if shape is None:
        assert not hasattr(model, "coef_")
    else:
        assert model.coef_.shape == shape


@pytest.mark.parametrize("way", ["MulticlassSVC", "MulticlassSVC of two classes", "MeasureSVC"])
def test_coefficients_make_the_decision(way):
    model, (X, _) = fitted(way), matrix()
    expected = X @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), expected[:, 0] if expected.shape[1] == 1 else expected)


@pytest.mark.parametrize("way", FITS)
def test_every_weight_has_a_name(way):
    model = fitted(way)
    named = model.weights_
    assert isinstance(model, Trainer | CountingTrainer | mm.PCFG | mm.Tuned)
    assert named
    assert all(isinstance(kind, str) and isinstance(each, Weights) for kind, each in named.items())
    top = model.top_weights(n=3)
    sizes = [abs(weight) for _, weight in top]
    every = np.concatenate([np.abs(each.values[each.distinct]) for each in named.values()])
    np.testing.assert_array_equal(sizes, np.sort(every[every != 0])[::-1][:3])
    assert all(name.split(":")[0] in named for name, _ in top)


# --- classes


def test_class_names_are_unique():
    """Nor has a name of a type, such as an alias, that of a class elsewhere."""
    places, aliases = defaultdict(list), defaultdict(list)
    for path, tree in source_trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(path)
        for node in tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                aliases[node.targets[0].id].append(path)
    twice = {name: list(map(str, found)) for name, found in places.items() if len(found) > 1}
    assert not twice, f"rename one of the classes, because a class name means one thing in the whole package: {twice}"
    taken = {name: list(map(str, aliases[name] + places[name])) for name in aliases.keys() & places.keys()}
    assert not taken, f"rename the alias, because a class elsewhere has its name: {taken}"
