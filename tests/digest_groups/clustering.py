"""Digests of Clusterer."""

from __future__ import annotations

import numpy as np

import maxmargin as mm
from digest_groups.data import clusters
from digest_groups.fits import CERTIFIED, RESCALED, group
from maxmargin import solvers


def linked_items(model, few):
    return [model.predict(few), model.links(few), model.decision_function(few)]


@group("clusters: forest")
def _(fits):
    X, Y, near = clusters()
    restarts = solvers.CCCP(inner="bundle", restarts=2, rounds=10)
    tell = fits(mm.Clusterer, X, Y, answer=linked_items, linkage="forest", C=5.0)
    tell("pairs")
    tell("chain", start="chain")
    tell("random", start="random")
    tell("penalty", penalty=0.1)
    tell("no intercept", fit_intercept=False)
    tell("restarts", solver=restarts)
    tell("random restarts", start="random", solver=restarts)
    tell("restarts n_jobs", solver=restarts, n_jobs=2)
    tell("n_jobs", n_jobs=2)
    tell.solvers((*CERTIFIED, "sampled_cuts"), max_passes=200)
    tell.formulations(RESCALED, max_passes=200)
    tell("candidates", data=(near, Y))
    fit = fits(mm.Clusterer, X, Y, linkage="forest", C=5.0)
    fit("chain of candidates", data=(near, Y), start="chain")
    fit("weights", given={"sample_weight": np.linspace(1, 2, len(X))})
    fit.certify()
    fit.path([1.0, 5.0])
    fit.warm(5.0, C=1.0)


@group("clusters: correlation")
def _(fits):
    X, Y, near = clusters()
    tell = fits(mm.Clusterer, X, Y, answer=linked_items, linkage="correlation", C=5.0, max_passes=60)
    tell("greedy pairs", method="greedy", measure="pairs")
    tell("greedy mitre", method="greedy", measure="mitre")
    tell("relaxed", method="relaxed", max_passes=30)
    tell("no intercept", fit_intercept=False)
    tell("n_jobs", n_jobs=2)
    tell.solvers(max_passes=30)
    tell.formulations(RESCALED, max_passes=30)
    tell.formulations(RESCALED, prefix="relaxed ", method="relaxed", max_passes=10)
    tell("candidates", data=(near, Y))
    fit = fits(mm.Clusterer, X, Y, linkage="correlation", C=5.0, max_passes=60)
    fit("relaxed candidates", data=(near, Y), method="relaxed", max_passes=20)
    fit("weights", given={"sample_weight": [1, 2, 3, 1, 2, 3]})
    online = fits(mm.Clusterer, X, Y, few=X, linkage="correlation", C=5.0, solver="subgradient")
    online.partial([(X, Y), (X, Y)])
    fit.path([1.0, 5.0])
    fit.warm(5.0, C=1.0)
