"""Digests of GraphLabeler."""

from __future__ import annotations

from math import inf

import numpy as np
from scipy import sparse

import maxmargin as mm
from digest_groups.data import graphs, pictures, rbf_map
from digest_groups.fits import CERTIFIED, ONLINE, RESCALED, group
from maxmargin import tasks


def bounded(model, few):
    return [model.predict(few), model.predict_bounds(few)]


@group("graphs: methods")
def _(fits):
    two, three = graphs(n_labels=2, extra=12, alike=0.1), graphs(extra=14, alike=0.1)
    grids, coloured = pictures(size=4), pictures(n_labels=3, size=4)
    frustrated = [np.where(np.indices(y.shape).sum(axis=0) % 2, 1 - y, y) for y in grids[1]]
    fit = fits(mm.GraphLabeler, None, None, answer=bounded, C=5.0, max_passes=15)
    for name, data, methods in (
        ("trees", graphs(extra=0), ("auto", "forest")),
        ("three", three, ("auto", "junction_tree", "relaxation", "expansion")),
        ("two", two, ("auto", "roof_dual", "junction_tree", "relaxation", "expansion")),
        ("grid", grids, ("auto", "roof_dual")),
        ("grid", pictures(size=4, edge_features="constant"), ("min_cut",)),
        ("frustrated", (grids[0], frustrated), ("roof_dual",)),
        ("coloured", coloured, ("auto", "relaxation", "expansion")),
    ):
        for method in methods:
            fit(f"{name} {method}", data=data, method=method)


@group("graphs: formulations")
def _(fits):
    for name, data, method in (
        ("trees", graphs(extra=0), "auto"),
        ("two", graphs(n_labels=2, extra=12, alike=0.1), "roof_dual"),
        ("three", graphs(extra=14, alike=0.1), "relaxation"),
        ("junction tree", graphs(extra=3), "junction_tree"),
    ):
        fit = fits(mm.GraphLabeler, *data, answer=bounded, method=method, C=5.0, max_passes=10)
        fit.formulations(RESCALED, prefix=f"{name} ")


def partly_labelled(Y):
    return [[None if v % 4 == 3 else int(k) for v, k in enumerate(y)] for y in Y]


@group("graphs: options")
def _(fits):
    X, Y = graphs(edge_features=2, extra=12, alike=0.2)
    names = [np.array(["sky", "sea", "sand"])[y] for y in Y]
    tell = fits(mm.GraphLabeler, X, Y, answer=bounded, C=5.0, max_passes=15)
    fits(mm.GraphLabeler, X, Y, answer=bounded)("default", max_passes=30)
    tell("undirected", directed=False)
    tell("half directed", directed=[True, False])
    tell("classes", classes=[2, 1, 0])
    tell("left out", unlabelled="leave_out", data=(X, partly_labelled(Y)))
    tell("priced", data=(X, [tasks.Weighted(y.tolist(), np.linspace(0.5, 2, len(y)).tolist()) for y in Y]))
    tell("sparse nodes", data=([tasks.Nodes(sparse.csr_array(f), e, g) for f, e, g in X], Y))
    product_of_first = {"function": lambda first, second: first[:, 0] * second[:, 0]}
    for name, ways in ({name: name for name in ("directions", "constant", "differences")} | product_of_first).items():
        tell(f"grid {name}", data=pictures(neighbours=8, edge_features=ways), max_passes=10)
    fit = fits(mm.GraphLabeler, X, Y, C=5.0, max_passes=15)
    fit("costs", costs=[[0, 1, 2], [1, 0, 1], [2, 3, 0]])
    fit("cost dict", costs={"sky": 2, "sea": 1, "sand": 1}, data=(X, names))
    fit("weights", given={"sample_weight": np.linspace(1, 2, len(X))})
    fit("n_jobs", n_jobs=2)
    fit("n_jobs relaxation", method="relaxation", n_jobs=2)
    fit("hard margin", data=graphs(n=2, edge_features=3), C=inf, max_passes=40)
    fit.solvers()
    fit.solvers(prefix="relaxation ", method="relaxation", max_passes=10)
    fit.certify(solver="subgradient", max_passes=5)
    fit.certify("certify relaxation", method="relaxation", max_passes=5)
    fit.path([1.0, 5.0])
    fit.warm(5.0, C=1.0)
    online = fits(mm.GraphLabeler, X, Y, few=X, classes=[0, 1, 2], C=5.0)
    for solver in ONLINE:
        online.partial([(X[:3], Y[:3]), (X[3:], Y[3:])], f"partial {solver}", solver=solver)


@group("graphs: kernels")
def _(fits):
    X, Y = graphs()
    fit = fits(mm.GraphLabeler, X, Y, C=5.0, kernel="rbf", max_passes=10)
    fit.solvers((*CERTIFIED, "sampled_cuts", "subgradient"), prefix="rbf ", answer=bounded)
    fit("map", kernel=rbf_map(10), answer=bounded)
    fit("auto", kernel="auto", answer=bounded)
    fit("relaxation", method="relaxation")
    fit("slack l2", rescaling="slack", slack="l2")
    fit("left out", unlabelled="leave_out", data=(X, partly_labelled(Y)))
