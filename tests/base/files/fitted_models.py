"""A small fitted model of every kind that there are files of, and inputs to ask it about."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
from digest_groups.data import (
    ANIMALS,
    SPECIES,
    chains,
    clusters,
    drawn,
    graphs,
    hidden_labels,
    planted,
    rare,
    sentences,
    table,
    tagged,
    token_dicts,
    treebank,
    trips,
    with_columns,
)
from example_tasks import Tags
from structures.alignment.families import families
from structures.assignment.test_estimator import moved
from structures.dependencies.tree_lists import sentences as dependency_sentences
from structures.diversity.searches import searches
from structures.ranking.queries import queries
from structures.segments.segmented import segmented

import maxmargin as mm
from maxmargin import counting, kernels, optimisers, solvers, tasks

MAKERS = {}
TRAINED_ON = {}  # by id of a model of `made`: X, the other arguments of fit, and those with names


def model(function):
    MAKERS[function.__name__] = function
    return function


@cache
def made(name):
    """The model, and inputs that it predicts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MAKERS[name]()


def trained_on(name):
    """The model, with what it was trained on: X, the outputs, and what else `score` takes."""
    found, _ = made(name)
    X, (Y, *_), given = TRAINED_ON[id(found)]
    return found, X, Y, {key: value for key, value in given.items() if key == "qid"}


def fitted(estimator, X, *others, **given):
    TRAINED_ON[id(estimator)] = X, others, given
    return estimator.fit(X, *others, **given), X[:4]


@model
def classes():
    X, y = table()
    return fitted(mm.MulticlassSVC(C=10.0, costs={0: 2.0}), X, y)


@model
def classes_online():
    X, y = table()
    return fitted(mm.MulticlassSVC(solver="subgradient", max_passes=3), X, SPECIES[y])


@model
def classes_kernel():
    return fitted(mm.MulticlassSVC(kernel="rbf", max_passes=9), *table())


@model
def classes_precomputed():
    X, y = table()
    return fitted(mm.MulticlassSVC(kernel="precomputed", max_passes=9), X @ X.T, y)


@model
def classes_mapped():
    return fitted(mm.MulticlassSVC(kernel=kernels.KernelMap(n_components=12), max_passes=9), *table())


@model
def classes_random_map():
    mapping = kernels.KernelMap(kernels.RBF(gamma=0.1), method="random", n_components=12)
    return fitted(mm.MulticlassSVC(kernel=mapping, max_passes=9), *table())


@model
def classes_sketch():
    mapping = kernels.KernelMap(kernels.Polynomial(coef0=1.0), method="sketch", n_components=16)
    return fitted(mm.MulticlassSVC(kernel=mapping, max_passes=9), *table())


@model
def taxonomy():
    X, y = table()
    return fitted(mm.TaxonomySVC(ANIMALS), X, SPECIES[y])


@model
def ordinal():
    return fitted(mm.OrdinalSVC(directions="separate"), *table())


@model
def measure():
    return fitted(mm.MeasureSVC("f1", C=10.0), *rare())


@model
def measure_of_single_examples():
    found, some = fitted(mm.MeasureSVC("f1", C=0.001), *rare())
    assert found.trained_for_ == "modified_huber"
    return found, some


@model
def measure_kernel():
    return fitted(mm.MeasureSVC("roc_auc", kernel="poly", max_passes=9), *rare())


@model
def ranker():
    X, y, qid = queries(fewest=6)
    return fitted(mm.Ranker("ndcg", k=3), X, y, qid=qid)


@model
def ranker_latent():
    X, y, qid = queries(fewest=6)
    return fitted(mm.Ranker("precision_at_k", k=2, latent=True, max_passes=9), X, y, qid=qid)


@model
def segments():
    X, Y = segmented(spans=True)
    return fitted(mm.SegmentLabeler(C=10.0, costs={"PER": 2.0}), X, Y)


@model
def segments_columns():
    X, Y = segmented()
    columns = [[(token[0],) for token in x] for x in X]
    templates = mm.TokenTemplates(["word", "word[-1]"])
    return fitted(mm.SegmentLabeler(features=templates, segment_features=tasks.SegmentText(0)), columns, Y)


@model
def segments_text():
    features = tasks.SegmentText(kinds=["text", "around"])
    return fitted(mm.SegmentLabeler(measure="f1", segment_features=features), *segmented())


@model
def sequences():
    return fitted(mm.SequenceLabeler(C=10.0, calibrate=2), *chains())


@model
def sequences_templates():
    columns = [[("the", "D"), ("dog", "N")], [("New", "N"), ("York", "N"), ("sleeps", "V")]]
    templates = mm.TokenTemplates(
        ["word[-1..1]", "pos[-1] | pos", "in(word, city)"], ["word", "pos"], {"city": ["New York"]}
    )
    return fitted(mm.SequenceLabeler(C=10.0, features=templates), columns * 3, [["O", "X"], ["O", "O", "X"]] * 3)


@model
def sequences_tokeniser():
    templates = mm.TokenTemplates(["word[-1..1]"], tokeniser=mm.Tokeniser(r"\w+"))
    words = [["the", "dog"], ["New", "York", "sleeps"]]
    return fitted(mm.SequenceLabeler(C=10.0, features=templates), words * 3, [["O", "X"], ["O", "O", "X"]] * 3)


@model
def sequences_tokens():
    return fitted(mm.SequenceLabeler(forbidden="BIO", solver=solvers.BCFW(tol=0.05)), *tagged())


@model
def sequences_likelihood():
    X, Y = tagged()
    return fitted(mm.SequenceLabeler(objective="likelihood", min_count=2), token_dicts(X), Y)


@model
def sequences_hashed():
    return fitted(mm.SequenceLabeler(hash_bits=10), *tagged())


@model
def sequences_memory():
    options = {"order": 2, "ngrams": "observed", "transition_features": ["w"]}
    return fitted(mm.SequenceLabeler(max_passes=9, **options), *tagged())


@model
def sequences_hidden():
    X, Y = chains()
    return fitted(mm.SequenceLabeler(max_passes=9), X, hidden_labels(Y))


@model
def sequences_kernel():
    return fitted(mm.SequenceLabeler(kernel="rbf", max_passes=9), *chains())


@model
def parser():
    return fitted(mm.Parser(max_passes=9), *sentences())


@model
def parser_words():
    parser, trees = mm.Parser(inputs="words", horizontal=None, vertical=2, max_passes=5), treebank()
    return fitted(parser, [tree.words() for tree in trees], trees)


@model
def pcfg():
    return fitted(mm.PCFG(on_failure="flat"), *sentences())


@model
def aligner():
    return fitted(mm.Aligner(C=5.0, max_passes=9), *mm.datasets.mutated_pairs(8, length=16, seed=0))


@model
def aligner_columns():
    X, Y = mm.datasets.mutated_pairs(6, length=12, seed=0)
    maps = [tasks.Match(tasks.Product("residue", "ss")), tasks.Match("residue", tasks.Window("ss", 1))]
    gaps = tasks.Gaps("linear", skipped="residue", beside=tasks.Average("profile", 1))
    return fitted(mm.Aligner(features=maps, gaps=gaps, symmetric=False, max_passes=5), with_columns(X), Y)


@model
def homologs():
    return fitted(mm.HomologRanker(max_passes=9), *families(8, length=9, decoys=3))


@model
def motif():
    return fitted(mm.MotifFinder(length=8, background_order=1, restarts=2, C=20.0), *planted())


@model
def clusterer():
    return fitted(mm.Clusterer("correlation", C=5.0), *clusters()[:2])


@model
def clusterer_forest():
    return fitted(mm.Clusterer("forest", max_passes=9), *clusters()[:2])


@model
def graph():
    return fitted(mm.GraphLabeler(max_passes=9), *graphs(edge_features=2))


@model
def graph_potts():
    return fitted(mm.GraphLabeler(pairwise="potts", max_passes=9), *graphs(edge_features=2))


@model
def graph_attractive():
    return fitted(mm.GraphLabeler(attractive=True, max_passes=9), *graphs(n_labels=2, edge_features=2))


@model
def diversifier():
    return fitted(mm.Diversifier(k=3, max_passes=20), *searches(6, documents_each=12))


@model
def dependencies():
    X, Y = dependency_sentences(20, longest=6, labelled=True)
    return fitted(mm.DependencyParser(max_passes=9), X, Y)


@model
def dependencies_hashed():
    X, Y = dependency_sentences(20, longest=6)
    return fitted(mm.DependencyParser(hash_bits=12, max_passes=9), X, Y)


@model
def assigner():
    X, Y = moved(10)
    frames = [tasks.Frames(-np.linalg.norm(a[:, None] - b[None], axis=2)[:, :, None]) for a, b in X]
    return fitted(mm.Assigner(max_passes=9), frames, Y)


@model
def costs():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 3))
    return fitted(mm.CostLearner(optimisers.GridPath(3, 3), max_passes=9), X, np.abs(X @ rng.standard_normal((3, 12))))


@model
def costs_of_a_knapsack():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 3))
    optimiser = optimisers.Knapsack([3, 4, 2, 5], 7)
    return fitted(mm.CostLearner(optimiser, max_passes=9), X, np.abs(X @ rng.standard_normal((3, 4))))


@model
def own_task():
    return fitted(mm.StructuredSVM(Tags(n_words=3)), [[0, 1, 2], [1, 0], [2, 2, 1], [0, 2]], ["a", "b", "b", "a"])


@model
def task_of_the_library():
    return fitted(mm.StructuredSVM(tasks.Chain(costs=np.ones((3, 3)) - np.eye(3))), *chains())


@model
def counted():
    orders = counting.Permutations(items=4)
    return fitted(mm.CountingPredictor(orders), *drawn(orders, n=10))


@model
def counted_classes():
    return fitted(mm.CountingClassifier(kernel="rbf"), *table())


@model
def counted_labels():
    X, y = table()
    return fitted(mm.CountingMultilabel(classes=list("abcd")), X, np.eye(4, dtype=int)[y])


@model
def routes():
    return fitted(mm.RoutePredictor(), *trips())
