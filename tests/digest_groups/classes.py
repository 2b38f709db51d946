"""Digests of classifiers: MulticlassSVC, TaxonomySVC, OrdinalSVC, and of kernel maps."""

from __future__ import annotations

from math import inf

import numpy as np
from scipy import sparse
from sklearn.pipeline import make_pipeline

import maxmargin as mm
from digest_groups.data import ANIMALS, SPECIES, chains, graphs, images, intersections, rbf, rbf_map, table, tagged
from digest_groups.fits import ONLINE, SOLVERS, group, scored
from maxmargin import kernels, solvers, tasks

COSTS = np.array([[0, 1, 2, 3], [1, 0, 1, 2], [2, 4, 0, 1], [3, 2, 1, 0.0]])


@group("multiclass: solvers")
def _(fits):
    fit = fits(mm.MulticlassSVC, *table(), answer=scored, C=10.0, costs=COSTS, max_passes=30)
    for solver in SOLVERS:
        fit.formulations(prefix=f"{solver} ", solver=solver)


@group("multiclass: options")
def _(fits):
    X, y = table()
    names = np.array(["ant", "bee", "cow", "dog"])[y]
    fit = fits(mm.MulticlassSVC, X, y, C=10.0)
    tell = fits(mm.MulticlassSVC, X, y, answer=scored, C=10.0)
    fits(mm.MulticlassSVC, X, y, answer=scored)("default")
    tell("names", data=(X, names))
    tell("sparse", data=(sparse.csr_array(np.where(np.abs(X) > 1, X, 0)), y))
    tell("no intercept", fit_intercept=False)
    tell("cost matrix", costs=COSTS)
    fit("cost dict", data=(X, names), costs={"ant": 3, "bee": 1, "cow": 0.5, "dog": 1})
    tell("weights", given={"sample_weight": np.linspace(0.2, 2, len(y))})
    fit("weights of 0", given={"sample_weight": np.arange(len(y)) % 3})
    tell("two classes", data=(X, y > 1))
    fit("tol", tol=0.1)
    fit("tight", C=1.0, tol=1e-9, max_passes=300)
    fit("n_jobs", n_jobs=2)
    fit("executor", executor=mm.executors.Threads(2))
    fit("seed 5", random_state=5, max_passes=3)
    fit("RandomState", random_state=np.random.RandomState(3), max_passes=3)
    fit("callback", callback=lambda record: record.passes >= 3)
    tell("images", data=images(), C=100.0)
    fit.certify(solver="subgradient", max_passes=5)
    for solver in ("bcfw", "n_slack", "one_slack"):
        hard = {"C": inf, "solver": solver, "max_passes": 60}
        fit(f"hard margin {solver}", data=images(), **hard)
        fit(f"hard margin {solver} slack l2", data=images(40), slack="l2", rescaling="slack", **hard)


@group("multiclass: solver options")
def _(fits):
    chosen = {
        "bcfw": solvers.BCFW(block=4, planes_per_example=3, tol=1e-2),
        "bcfw small cache": solvers.BCFW(planes_per_example=8, cache_mb=0.002, tol=1e-2),
        "n_slack small cache": solvers.NSlack(cache_mb=0.002, tol=1e-2),
        "n_slack block": solvers.NSlack(reoptimise="block", block=1, max_passes=20),
        "one_slack": solvers.OneSlack(patience=3, tol=1e-3),
        "bundle": solvers.Bundle(patience=5, rho=0.1),
        "sampled_cuts": solvers.SampledCuts(sample=20, check=50, patience=5, max_passes=20),
        "subgradient": solvers.Subgradient(block=3, max_passes=5),
        "perceptron": solvers.Perceptron(block=7, max_passes=5),
        "cccp": solvers.CCCP(inner="one_slack"),
    }
    fits(mm.MulticlassSVC, *table(), C=10.0).each({name: {"solver": solver} for name, solver in chosen.items()})


@group("multiclass: paths")
def _(fits):
    X, y = table()
    fit = fits(mm.MulticlassSVC, X, y, C=1.0)
    for solver in SOLVERS:
        fit.path([0.1, 1.0, 10.0], f"path {solver}", solver=solver, max_passes=15)
        fit.warm(10.0, f"warm {solver}", solver=solver, max_passes=15)
    fit.path([10.0, 1.0], "path weighted", given={"sample_weight": 1.0 + np.arange(len(y)) % 2})
    fit.path([1.0, 10.0], "path kernel", kernel="rbf", max_passes=20)
    fit.warm(10.0, "warm kernel", kernel="rbf", max_passes=20)
    pieces = [(X[:40], y[:40]), (X[40:], y[40:]), (X[:10], y[:10])]
    for solver in ONLINE:
        given = {"classes": [0, 1, 2, 3]}
        fit.partial(pieces, f"partial {solver}", solver=solver, C=10.0, answer=scored, given=given)


@group("multiclass: kernels")
def _(fits):
    X, y = table()
    K, few = rbf(X, 0.1), solvers.SampledCuts(sample=20, check=30, max_passes=20)
    tell = fits(mm.MulticlassSVC, X, y, answer=scored, C=10.0, kernel="rbf", max_passes=20)
    tell.solvers(prefix="rbf ")
    tell.formulations(prefix="rbf ", costs=COSTS)
    fits(mm.MulticlassSVC, X, y, answer=scored, C=10.0, kernel="rbf")("rbf few sampled", solver=few)
    chosen = {
        "poly": "poly",
        "linear": "linear",
        "cosine": "cosine",
        "polynomial": kernels.Polynomial(degree=2, gamma=0.5, coef0=1.0),
        "rbf auto small cache": kernels.RBF(gamma="auto", cache_mb=0.02),
        "map sigmoid": kernels.KernelMap(kernel=kernels.Sigmoid(gamma=0.01), n_components=30),
        "function": intersections,
        "auto": "auto",
        "auto mapped": kernels.Auto(
            kernel=kernels.KernelMap(kernel=kernels.RBF(gamma=0.1, cache_mb=0.02), n_components=20)
        ),
        "map exact": kernels.KernelMap(kernel="rbf", method="exact"),
        "map leverage": rbf_map(20, method="nystroem"),
        "map k-means": rbf_map(20, method="nystroem", landmarks="k-means"),
        "map uniform": rbf_map(20, landmarks="uniform", random_state=4),
        "map random": kernels.KernelMap(kernel=kernels.RBF(gamma=0.1), method="random", n_components=30),
        "map sketch": kernels.KernelMap(kernel=kernels.Polynomial(degree=2), method="sketch", n_components=30),
    }
    tell.each({name: {"kernel": kernel} for name, kernel in chosen.items()})
    fit = fits(mm.MulticlassSVC, X, y, C=10.0, kernel="rbf", max_passes=20)
    rows = sparse.csr_array(X), y
    fit("precomputed", data=(K, y), kernel="precomputed")
    fit("precomputed sampled", data=(K, y), kernel="precomputed", solver="sampled_cuts")
    fit("no intercept", fit_intercept=False)
    fit("sparse", data=rows)
    fit("n_jobs", n_jobs=2)
    fit("hard margin", C=inf, kernel=kernels.RBF(gamma=1.0), max_passes=60)
    fit("hard margin long", C=inf, kernel=kernels.RBF(gamma=0.1), tol=1e-7, max_passes=40)
    fit("support", answer=lambda model, few: model.support_)
    fit.certify(max_passes=5)
    fit.certify("certify sparse", data=rows, max_passes=5)
    mapped = fits(mm.MulticlassSVC, X, y, C=10.0)
    mapped("map sparse", data=rows, kernel=kernels.KernelMap(n_components=20))
    mapped("map sparse k-means", data=rows, kernel=kernels.KernelMap(n_components=20, landmarks="k-means"))
    fits(lambda: make_pipeline(rbf_map(15), mm.MulticlassSVC(C=10.0)), X, y)("pipeline")


@group("kernel maps")
def _(fits):
    S, G = chains()[0], graphs()[0]
    packed = tasks.Sequences(np.vstack(S), np.cumsum([0, *map(len, S)]))
    fit = fits(kernels.KernelMap, table()[0], answer=lambda model, few: model.transform(few))
    fit("tokens", data=(tagged()[0],), kernel="rbf", n_components=12)
    fit("nodes", data=([tasks.Nodes(*graph) for graph in G],), kernel="rbf", n_components=12)
    fit("packed", data=(packed,), few=packed, answer=lambda model, few: model.transform(few).matrix)
    fit("rows", kernel="rbf", n_components=12)
    fit("exact", kernel="poly")
    fit("sequences", data=(S,), kernel="rbf", n_components=12)
    fit("graphs", data=(G,), kernel="rbf", n_components=12)


@group("taxonomy")
def _(fits):
    X, y = table()
    animals = SPECIES[y]
    paths = np.array(["1.1", "1.2", "2.1.1", "2.1.2"])[y]
    inner = np.where(np.arange(len(y)) % 5 == 0, "pet", animals)
    edges = [("top", "left"), ("top", "right"), ("left", "cat"), ("left", "dog"), ("right", "cow"), ("right", "oak")]
    lattice = {"cat": ["pet", "hunter"], "dog": ["pet"], "owl": ["hunter"]}
    lattice |= {name: ["top"] for name in ("pet", "hunter", "cow")}
    tell = fits(mm.TaxonomySVC, X, animals, answer=scored, taxonomy=ANIMALS, C=10.0)
    tell("tree")
    tell("pairs", taxonomy=edges)
    tell("paths", taxonomy=".", data=(X, paths))
    tell("lattice", taxonomy=lattice, data=(X, np.array(["cat", "dog", "owl", "cow"])[y]))
    tell("flat", taxonomy=None)
    tell("nodes", predict_at="nodes", data=(X, inner))
    tell("sharing 1", sharing=1.0)
    tell("sharing 0", sharing=0.0)
    tell("costs None", measure="error")
    tell("no intercept", fit_intercept=False)
    tell("rbf", kernel="rbf", max_passes=20)
    tell("map", kernel=rbf_map(20))
    fit = fits(mm.TaxonomySVC, X, animals, taxonomy=ANIMALS, C=10.0)
    fit("cost matrix", costs=2 - 2 * np.eye(4))
    fit("sparse", data=(sparse.csr_array(X), animals))
    fit("weights", given={"sample_weight": 1 + np.arange(len(y)) % 3})
    fit("n_jobs", n_jobs=2)
    fit("rbf sampled", kernel="rbf", solver="sampled_cuts")
    fit("hard margin", taxonomy=".", data=(X[:20], paths[:20]), C=inf, max_passes=60)
    fit.solvers(max_passes=20)
    fit.formulations(max_passes=20)
    fit.partial([(X, animals)] * 2, solver="subgradient")
    fit.path([1.0, 10.0])
    fit.warm(10.0, C=1.0)


@group("ordinal")
def _(fits):
    X, y = table()
    order = ["small", "medium", "large", "huge"]
    sizes = np.array(order)[y]
    tell = fits(mm.OrdinalSVC, X, y, answer=scored, C=10.0)
    tell("shared")
    tell("separate", directions="separate")
    tell("order", order=order, data=(X, sizes))
    tell("alphabet", data=(X, sizes))
    tell("costs None", measure="error")
    tell("cost dict", costs={0: 1, 1: 2, 2: 3, 3: 4})
    tell("rbf", kernel="rbf", max_passes=20)
    tell("map", kernel=rbf_map(20))
    tell.partial([(X, sizes)] * 2, order=order, solver="perceptron")
    fit = fits(mm.OrdinalSVC, X, y, C=10.0)
    fit("sparse", data=(sparse.csr_array(X), y))
    fit("weights", given={"sample_weight": 1 + np.arange(len(y)) % 3})
    fit("n_jobs", n_jobs=2)
    fit("rbf separate", directions="separate", kernel="rbf", max_passes=20)
    fit("hard margin", directions="separate", data=(X[:12], y[:12]), C=inf, max_passes=60)
    fit.solvers(max_passes=20)
    fit.formulations(max_passes=20)
    fit.certify(solver="subgradient")
    fit.path([1.0, 10.0])
    fit.warm(10.0, C=1.0)
