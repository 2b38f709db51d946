"""Digests of MotifFinder."""

from __future__ import annotations

import numpy as np

import maxmargin as mm
from digest_groups.data import planted
from digest_groups.fits import CERTIFIED, RESCALED, group, scored
from maxmargin import solvers


def sites(model, few):
    return [*scored(model, few), model.find_sites(few), model.all_sites(few), model.sites_]


@group("motifs: options")
def _(fits):
    X, y = planted()
    has, others = X[:12], {"background": planted(seed=4)[0][12:]}
    matrix = np.full((8, 4), 0.1) + 0.6 * np.eye(4)[["ACGT".index(a) for a in "TTGACGTC"]]
    shared = {"length": 8, "background_order": 1, "restarts": 2, "C": 20.0}
    blind = fits(mm.MotifFinder, X, y, answer=sites, **shared)
    fit = fits(mm.MotifFinder, X, y, answer=sites, positive="with", **shared)
    seeded = fits(mm.MotifFinder, X, y, answer=sites, positive="with", length=8, background_order=1, C=20.0)
    fit("words")
    fit("windows", start="windows")
    blind("negative", background_order=0)
    fit("no background", background_order=None)
    fit("order 3", background_order=3)
    fit("one strand", strands=1)
    seeded("seed text", start="TTGAYGTN")
    seeded("seed matrix", start=matrix)
    fit("lengths", length=[6, 8], background_order=0)
    fit("n_jobs", restarts=3, n_jobs=2)
    fit("one restart n_jobs", restarts=1, n_jobs=2)
    fit("random_state", random_state=3)
    blind("discovery", data=(has,))
    blind("controls", data=(has,), given=others)
    fit("background", given=others, background_weight=0.3)
    fit("unknown letters", data=([x[:5] + "N" + x[6:] for x in X], y), unknown="skip")
    protein = planted(motif="KDEL", alphabet="ACDEFGHIKL", seed=2)
    fit("protein", data=protein, length=4, background_order=0, strands=1, alphabet="ACDEFGHIKL")
    fit("weights", given={"sample_weight": np.linspace(0.5, 2, len(X))})


@group("motifs: solvers")
def _(fits):
    shared = {"length": 8, "background_order": 0, "C": 20.0, "positive": "with"}
    fit = fits(mm.MotifFinder, *planted(), restarts=2, max_passes=150, **shared)
    fit.solvers(CERTIFIED, prefix="", answer=sites)
    fit.formulations(RESCALED, answer=sites)
    fit.path([5.0, 20.0])
    fit.warm(20.0, C=5.0)
    fit = fits(mm.MotifFinder, *planted(), **shared)
    fit("cccp", solver=solvers.CCCP(inner="n_slack", restarts=2, rounds=4))
    fit.certify(restarts=2)
