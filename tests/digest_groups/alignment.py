"""Digests of Aligner and HomologRanker."""

from __future__ import annotations

from math import inf

import numpy as np
from structures.alignment.families import families

import maxmargin as mm
from digest_groups.data import with_columns
from digest_groups.fits import group, scored
from maxmargin import tasks


@group("aligner: modes")
def _(fits):
    fit = fits(mm.Aligner, *mm.datasets.mutated_pairs(8, length=16, seed=0), answer=scored, C=5.0, max_passes=15)
    for mode in ("global", "overlap", "local"):
        fit.formulations(prefix=f"{mode} ", mode=mode)
        for gaps in ("linear", tasks.Gaps(kind="affine", skipped="residue", beside="residue")):
            fit(f"{mode} {gaps}", mode=mode, gaps=gaps)
        fit(f"{mode} tolerant, not symmetric", mode=mode, max_shift=2, symmetric=False)


@group("aligner: features")
def _(fits):
    X, Y = mm.datasets.mutated_pairs(8, length=16, seed=0)
    columns = with_columns(X)
    letters = [tuple({"residue": side["residue"], "ss": side["ss"]} for side in x) for x in columns]
    three = [tuple({**side, "kind": side["residue"].translate({65: 82, 71: 82})} for side in x) for x in letters]

    def own(x):
        a, b = (side["residue"] for side in x)
        return np.array([[[float(p == q), 1.0] for q in b] for p in a])

    fit = fits(mm.Aligner, columns, Y, few=columns[:3], C=5.0, max_passes=10)
    maps = [tasks.Match(tasks.Product("residue", "ss")), tasks.Match("residue", tasks.Window("ss", 1))]
    fit("list", features=maps)
    fit("average", features=[tasks.Match(tasks.Average("residue", 1))])
    fit("function", features=own)
    fit("profile", features="profile")
    fit("profile, not symmetric", features="profile", symmetric=False)
    for name in ("anova2", "tensor", "window"):
        fit(f"{name} of three", data=(three, Y), few=three[:3], features=name, max_passes=5)
    for name in ("simple", "anova2", "window"):
        fit(name, data=(letters, Y), few=letters[:3], features=name)
    fit("simple, not symmetric", data=(letters, Y), few=letters[:3], features="simple", symmetric=False)


@group("aligner: options")
def _(fits):
    X, Y = mm.datasets.mutated_pairs(8, length=16, seed=0)
    fit = fits(mm.Aligner, X, Y, C=5.0, max_passes=10)
    fits(mm.Aligner, X, Y, answer=scored)("default", max_passes=30)
    fit("gapped", data=(X, [y.gapped(*x) for x, y in zip(X, Y, strict=True)]))
    fit("pairs", data=(X, [y.pairs.tolist() for y in Y]))
    fit("letters", alphabet="TGCAN", answer=scored)
    fit("ignored", alphabet="ACT", unknown="ignore", data=([(a.replace("G", "N"), b) for a, b in X], Y))
    fit("weights", given={"sample_weight": np.linspace(1, 3, len(X))})
    fit("n_jobs", n_jobs=2)
    fit.solvers(answer=scored)
    near = mm.datasets.mutated_pairs(6, length=12, keep=1.0, gap=0.02, seed=3)
    fit("hard margin", data=near, C=inf, max_passes=40)
    pieces = [(X[:4], Y[:4]), (X[4:], Y[4:])]
    fits(mm.Aligner, X, Y, C=5.0).partial(pieces, few=X, alphabet="ACGT", solver="subgradient")
    fit.certify(solver="subgradient", max_passes=5)
    fit.path([1.0, 10.0])
    fit.warm(10.0, C=1.0)
    match = {(a, b): float(a == b) for a in "ACGT" for b in "ACGT"}
    made = mm.Aligner.from_matrix(match, gap_open=2.0, gap_extend=0.5, mode="local")
    fit.record("from_matrix", lambda: (made, scored(made, X)))
    odds = mm.Aligner.from_log_odds(X, Y, gap_open=1.5, gap_extend=0.5)
    fit.record("from_log_odds", lambda: (odds, scored(odds, X)))


@group("homologs")
def _(fits):
    X, Y = families(8, length=9, decoys=3)
    tell = fits(mm.HomologRanker, X, Y, answer=scored, max_passes=15)
    for mode in ("local", "global", "overlap"):
        tell.formulations(prefix=f"{mode} ", mode=mode, C=1.0)
    tell("not symmetric", symmetric=False, gaps="linear")
    tell("letters", alphabet="ACDEFGH")
    tell("window", features="window")
    fit = fits(mm.HomologRanker, X, Y, max_passes=15)
    fit.solvers()
    fit("n_jobs", n_jobs=2)
    fit("weights", given={"sample_weight": np.linspace(1, 2, len(X))})
    fit("alignments", answer=lambda model, few: model.predict_alignments(few))
    fit("hard margin", data=(X[:3], Y[:3]), C=inf, max_passes=40)
    online = fits(mm.HomologRanker, X, Y, few=X, answer=scored, solver="perceptron", alphabet="ACDEFG")
    online.partial([(X, Y), (X, Y)])
    fit.path([0.1, 1.0])
    fit.warm(2.0, C=0.5)
    pairs = [(x[0], x[1][y[0]]) for x, y in zip(X, Y, strict=True)]
    aligner = mm.Aligner.from_log_odds(pairs, [y[1] for y in Y], gap_open=0.2, gap_extend=0.2, mode="local")
    made = mm.HomologRanker.from_aligner(aligner)
    fit.record("from_aligner", lambda: (made, scored(made, X)))
