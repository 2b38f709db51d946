"""Digests of the counting estimators and RoutePredictor."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.datasets import make_multilabel_classification

import maxmargin as mm
from digest_groups.data import ANIMALS, SPECIES, drawn, rbf, table, trips
from digest_groups.fits import group, predicted, scored
from maxmargin import counting


def decoded(model, few):
    return [model.decode(few), model.decision_function(few)]


@group("counting: output sets")
def _(fits):
    edges = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (2, 4), (3, 4)]
    sets = {
        "Multiclass": counting.Classes(classes=4),
        "Ordinal": counting.OrderedClasses(levels=["low", "mid", "high"]),
        "Hierarchy": counting.HierarchyLabels(taxonomy=ANIMALS),
        "Hierarchy nodes": counting.HierarchyLabels(taxonomy=ANIMALS, labels="nodes"),
        "HierarchyPaths": counting.HierarchyPaths(taxonomy={"b": "a", "c": "a", "d": "b", "e": "b"}),
        "Multilabel": counting.AllSubsets(items=5),
        "Subsets": counting.Subsets(items=5, size=2),
        "Permutations": counting.Permutations(items=5),
        "Permutations local": counting.Permutations(items=5, method="local"),
        "Permutations milp": counting.Permutations(items=5, method="milp"),
        "PartialTournaments": counting.PartialTournaments(items=4),
        "CyclicPermutations": counting.CyclicPermutations(items=5),
        "CyclicPermutations unsigned": counting.CyclicPermutations(items=5, signed=False),
        "HamiltonianCycles": counting.HamiltonianCycles(items=5),
        "HamiltonianCycles directed": counting.HamiltonianCycles(items=5, directed=True),
        "HamiltonianCycles signed": counting.HamiltonianCycles(items=5, directed=True, signed=True),
        "HamiltonianCycles local": counting.HamiltonianCycles(items=6, method="local"),
        "Paths": counting.Paths(nodes=5),
        "Paths milp": counting.Paths(nodes=5, method="milp"),
        "DagPaths": counting.DagPaths(edges=edges, source=0, sink=4),
        "Graphs": counting.EdgeSets(vertices=4),
        "Cliques": counting.Cliques(vertices=5),
        "KCliques": counting.KCliques(vertices=6, size=3),
        "SpanningTrees": counting.SpanningTrees(vertices=5),
        "SpanningTrees weighted": counting.SpanningTrees(vertices=5, edges=edges, weights=[1, 2, 1, 3, 1, 1, 2]),
        "Arborescences": counting.Arborescences(nodes=5),
        "Matchings": counting.Matchings(vertices=5),
        "PerfectMatchings": counting.PerfectMatchings(vertices=6),
        "Assignments": counting.Assignments(items=3, places=4),
        "Sequences": counting.LabelSequences(labels=3, length=4),
        "Sequences forbidden": counting.LabelSequences(labels=["a", "b", "c"], length=4, forbidden=[("a", "a")]),
    }
    for name, output_set in sets.items():
        fit = fits(mm.CountingPredictor, *drawn(output_set), answer=decoded, output_set=output_set)
        fit.solvers(("auto", "cg"), prefix=f"{name} ")


@group("counting: larger sets")
def _(fits):
    arcs = [(0, 1), (0, 2), (1, 2), (2, 1), (1, 3), (2, 3), (3, 1)]
    sets = {
        "Permutations": counting.Permutations(items=16),
        "CyclicPermutations": counting.CyclicPermutations(items=16),
        "HamiltonianCycles": counting.HamiltonianCycles(items=16),
        "Paths": counting.Paths(nodes=18),
        "Cliques": counting.Cliques(vertices=26),
        "KCliques few": counting.KCliques(vertices=22, size=3),
        "KCliques most": counting.KCliques(vertices=22, size=20),
        "KCliques half": counting.KCliques(vertices=22, size=11),
        "Matchings": counting.Matchings(vertices=19),
        "PerfectMatchings": counting.PerfectMatchings(vertices=20),
        "Arborescences of arcs": counting.Arborescences(nodes=4, arcs=arcs),
    }
    for name, output_set in sets.items():
        X, Y = drawn(output_set, n=5)
        fit = fits(mm.CountingPredictor, X, Y, answer=decoded, few=X[:3] + 0.3, kernel="rbf", alpha=0.1)
        fit(name, output_set=output_set)


@group("counting: options")
def _(fits):
    orders = counting.Permutations(items=4)
    X, Y = drawn(orders, n=10)
    S, Z = drawn(counting.LabelSequences(labels=3, length=4), n=6)
    lengths = [counting.LabelSequences(labels=3, length=3 + i % 2) for i in range(6)]
    rng = np.random.default_rng(1)
    mixed = [each.sample(rng) for each in lengths]
    several = [[y] if y == z else [y, z] for y, z in zip(Y, Y[1:] + Y[:1], strict=True)]
    fit = fits(mm.CountingPredictor, X, Y, answer=decoded, output_set=orders)
    fit("linear")
    fit("alpha", alpha=0.1)
    fit("intercept", fit_intercept=True)
    fit("rbf", kernel="rbf")
    fit("rbf gamma", kernel="rbf", gamma=0.3, fit_intercept=True)
    fit("rbf cg", kernel="rbf", solver="cg")
    fit("closed", solver="closed")
    fit("poly", kernel="poly", degree=2, coef0=0.5)
    fit("function", kernel=lambda u, v, power: float(np.dot(u, v) + 1) ** power, kernel_params={"power": 2})
    fit("loose", kernel="rbf", solver="cg", tol=1e-2, max_iter=3)
    fit("sparse", data=(sparse.csr_array(X), Y))
    fit("precomputed", data=(rbf(X, 1.0), Y), kernel="precomputed")
    fit("several", data=(X, several), given={"several": True})
    fit(
        "sets of each",
        data=(S, mixed),
        given={"output_sets": lengths},
        answer=lambda model, few: model.predict(few, lengths[:5]),
        output_set=lengths[0],
    )
    fit("sequences rbf", data=(S, Z), output_set=lengths[1], kernel="rbf")
    fit.path([0.1, 1.0, 10.0], answer=predicted)
    fit.path([0.1, 1.0], "path rbf", answer=predicted, kernel="rbf")


@group("counting: classifiers")
def _(fits):
    X, y = table()
    fit = fits(mm.CountingClassifier, X, y, answer=scored)
    fit("default")
    fit("linear", kernel="linear")
    fit("linear cg", kernel="linear", solver="cg", fit_intercept=False)
    fit("alpha", alpha=0.01)
    fit("poly", kernel="poly", degree=2)
    fit("ordinal", output_set=counting.OrderedClasses(levels=4))
    fit("two classes", data=(X, y > 1))
    fit("hierarchy", data=(X, SPECIES[y]), output_set=counting.HierarchyLabels(taxonomy=ANIMALS))
    fit.path([0.1, 1.0], answer=predicted)
    labels = make_multilabel_classification(40, n_features=6, n_classes=4, random_state=0)
    fit = fits(mm.CountingMultilabel, *labels, answer=scored)
    fit("multilabel")
    fit("multilabel linear", kernel="linear")
    fit("multilabel cg", kernel="rbf", gamma=0.1, alpha=0.1, solver="cg")
    fit("multilabel no intercept", fit_intercept=False)
    fit.path([0.1, 1.0], "multilabel path", answer=predicted)


PLACES = {
    "inn": (0.0, 0.0),
    "zoo": (1.0, 0.5),
    "bay": (2.0, 1.0),
    "hill": (0.0, 2.0),
    "port": (1.0, 1.0),
    "mill": (3, 0),
}


@group("routes")
def _(fits):
    X, routes = trips()
    _, tours = trips(shortest=3)
    several = [[r, r[::-1]] if i % 2 == 0 and len(r) > 1 else [r] for i, r in enumerate(routes)]

    def routed(model, few):
        scores = [model.decode(few), model.decision_function(few), model.end_scores(few)]
        return [*scores, model.predict(few, start="zoo"), model.predict(few, length=3), model.predict(few, end="bay")]

    def alone(model, few):
        return [model.predict(), model.predict(start=["zoo", "bay"]), model.predict(length=[2, 3, None])]

    fit = fits(mm.RoutePredictor, X, routes, answer=routed, points=PLACES)
    fit("path")
    fits(mm.RoutePredictor, X, routes, answer=routed)("points of routes")
    fit("rbf", points=list(PLACES), kernel="rbf", alpha=0.3)
    fit("cg", solver="cg")
    fit("local", method="local")
    fit("milp", method="milp", few=X[:2])
    fit("exact", method="exact")
    fit("no intercept", fit_intercept=False)
    fit("tours", shape="cycle", data=(X, tours))
    fit("tours local", shape="cycle", method="local", data=(X, tours))
    fit("several", data=(X, several), given={"several": True})
    fit("without features", data=(None, routes), few=(), answer=alone)
    fit("tours alone", shape="cycle", data=(None, tours), few=(), answer=lambda model, few: model.predict())
    fit.path([0.1, 1.0], "path of", answer=predicted)
    rng = np.random.default_rng(5)
    many = [rng.permutation(17)[: rng.integers(3, 9)].tolist() for _ in range(10)]

    def of_many(model, few):
        return [model.predict(few, length=6), model.predict(few, start=2, end=9, length=5), model.predict(few)]

    for shape in ("path", "cycle"):
        fit(f"many {shape}", data=(X, many), points=range(17), shape=shape, answer=of_many)
