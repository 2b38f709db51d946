"""Digests of SequenceLabeler."""

from __future__ import annotations

from math import inf

import numpy as np
from scipy import sparse

import maxmargin as mm
from digest_groups.data import chains, hidden_labels, intersections, rbf, rbf_map, tagged, token_dicts
from digest_groups.fits import CERTIFIED, ONLINE, RESCALED, SOLVERS, group, predicted, scored
from maxmargin import kernels, solvers, tasks


@group("sequences: solvers")
def _(fits):
    fit = fits(mm.SequenceLabeler, *chains(), answer=scored, C=10.0, max_passes=20)
    for solver in SOLVERS:
        fit.formulations(prefix=f"{solver} ", solver=solver)


@group("sequences: inputs")
def _(fits):
    X, Y = chains()
    words = T, B = tagged()
    packed = tasks.Sequences(np.vstack(X), np.cumsum([0, *map(len, X)]))
    digits = mm.datasets.digit_strings(n_train=12, n_test=1)[:2]
    fit = fits(mm.SequenceLabeler, X, Y, answer=scored, C=10.0)
    fit("sparse", data=([sparse.csr_array(x) for x in X], Y))
    fit("packed", data=(packed, Y), few=packed)
    fit("attributes", data=words)
    fit("BIO", data=words, forbidden="BIO")
    fit("dicts", data=(token_dicts(T), B))
    fit("strict", data=words, unknown="error")
    fit("digits", data=digits, C=100.0)
    fit("hard margin", data=digits, answer=predicted, C=inf, max_passes=60)
    fit("hard margin n_slack", data=digits, answer=predicted, C=inf, solver="n_slack", max_passes=60)
    fit("n best", answer=lambda model, few: model.predict_nbest(few, 3))


@group("sequences: options")
def _(fits):
    X, Y = chains()
    at_positions = {"position_weight": [np.linspace(0, 2, len(y)) for y in Y]}
    rising = X, [[0, *sorted(y[1:])] for y in Y]
    forbidden = [(2, 0), (2, 1), (1, 0), (None, 2)]
    tell = fits(mm.SequenceLabeler, X, Y, answer=scored, C=10.0)
    tell("classes", classes=[2, 1, 0, 9])
    tell("order 2", order=2)
    tell("order 3 observed", order=3, ngrams="observed")
    tell("features of pairs", transition_features=[0])
    tell("cost matrix", costs=np.array([[0, 1, 2], [1, 0, 1], [3, 1, 0.0]]))
    tell("cost dict", costs={0: 2, 1: 1, 2: 0.5})
    tell("forbidden", forbidden=forbidden, data=rising)
    fit = fits(mm.SequenceLabeler, X, Y, C=10.0)
    fit("forbidden slack", forbidden=forbidden, data=rising, rescaling="slack")
    fit("weights", given={"sample_weight": np.linspace(0.5, 2, len(X))})
    fit("position weights", given=at_positions)
    fit("slack positions", given=at_positions, rescaling="slack")
    fit("n_jobs", n_jobs=2)
    fit("n_jobs one_slack", solver="one_slack", n_jobs=2)
    fit("seed", random_state=9, max_passes=2)
    fit.certify(solver="perceptron")
    for solver in CERTIFIED:
        fit.path([1.0, 10.0], f"path {solver}", solver=solver, max_passes=20)
        fit.warm(10.0, f"warm {solver}", solver=solver, C=1.0)
    for solver in ONLINE:
        tell.partial([(X[:8], Y[:8]), (X[8:], Y[8:])], f"partial {solver}", classes=[0, 1, 2], solver=solver)


@group("sequences: kernels")
def _(fits):
    X, Y = chains(n=10)
    rows = np.split(rbf(np.vstack(X), 0.3), np.cumsum([len(x) for x in X])[:-1])
    tell = fits(mm.SequenceLabeler, X, Y, answer=scored, C=10.0, kernel="rbf", max_passes=15)
    tell.solvers(prefix="rbf ")
    tell.formulations(RESCALED, prefix="rbf ")
    tell("poly", kernel=kernels.Polynomial(degree=2, coef0=1.0))
    tell("function", kernel=intersections)
    tell("auto", kernel="auto")
    tell("map exact", kernel=kernels.KernelMap(kernel="rbf", method="exact"))
    tell("map nystroem", kernel=rbf_map(10, method="nystroem"))
    fit = fits(mm.SequenceLabeler, X, Y, C=10.0, kernel="rbf")
    fit("rbf few sampled", answer=scored, solver=solvers.SampledCuts(sample=4, check=6, max_passes=20))
    fit("precomputed", data=(rows, Y), kernel="precomputed", max_passes=15)
    fit("n_jobs", n_jobs=2, max_passes=15)
    partly = X, hidden_labels(Y)
    fit("latent", data=partly, max_passes=60)
    fit.solvers(("n_slack", "one_slack", "bundle"), prefix="latent ", data=partly, max_passes=60)
    fit("latent restarts", data=partly, solver=solvers.CCCP(restarts=2, max_passes=60), n_jobs=2)


@group("sequences: missing labels")
def _(fits):
    X, Y = chains()
    fit = fits(mm.SequenceLabeler, X, hidden_labels(Y), C=10.0, max_passes=100)
    fit.solvers(CERTIFIED, prefix="", answer=scored)
    fit.formulations(RESCALED, answer=scored)
    restarts = fits(mm.SequenceLabeler, X, hidden_labels(Y), C=10.0, solver=solvers.CCCP(restarts=2, max_passes=100))
    for jobs in (1, 2):
        restarts(f"restarts {jobs} jobs", n_jobs=jobs)
    fit("sets only", data=(X, [[{k, (k + 1) % 3} for k in y] for y in Y]))
    fit("costs", costs={0: 2, 1: 1, 2: 1})
    fit("weights", given={"sample_weight": np.linspace(1, 2, len(X))})
    fit.certify()
    fit.path([1.0, 10.0])
    fit.warm(10.0, C=1.0)
