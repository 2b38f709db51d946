"""Digests of CostLearner."""

from __future__ import annotations

import numpy as np
from structures.decisions.listed import Together, subsets

import maxmargin as mm
from digest_groups.fits import group


def answered(model, few):
    return [model.predict(few), model.predict_costs(few)]


@group("costs")
def _(fits):
    rng = np.random.default_rng(0)
    X, parts = rng.standard_normal((40, 3)), rng.standard_normal((40, 5, 2))
    costs, low = X @ rng.standard_normal((3, 5)) + 0.3 * rng.standard_normal((40, 5)), Together(subsets(5, 2))
    decisions = low.solve_many(costs)
    partial = np.where(rng.random(costs.shape) < 0.2, np.nan, decisions)
    tell = fits(mm.CostLearner, X, costs, answer=answered, optimiser=low)
    tell("default")
    tell("max", optimiser=Together(subsets(5, 2), "max"))
    tell("one by one", optimiser=low.__call__)
    tell("parts", data=(parts, costs))
    tell("decisions", data=(X, decisions), measure="parts")
    tell("partial", data=(X, partial), measure="parts")
    tell("kernel", kernel="rbf")
    tell("n_jobs", n_jobs=2)
    tell("weights", given={"sample_weight": 1.0 + np.arange(40) % 2})
    tell.solvers(max_passes=20)
    tell.formulations(max_passes=20)
    tell.path([1.0, 10.0])
