"""Digests of Parser and PCFG."""

from __future__ import annotations

from math import inf

import numpy as np

import maxmargin as mm
from digest_groups.data import sentences
from digest_groups.fits import group, predicted, scored

RULES = (
    "S -> NP VP",
    "VP -> V NP | V NP PP",
    "NP -> N | D N | J N | D J N | J J N | D J J N | NP PP",
    "PP -> P NP | O NP",
)


@group("parser: measures")
def _(fits):
    fit = fits(mm.Parser, *sentences(n=8), answer=scored, C=10.0, max_passes=15)
    for measure in ("hamming", "f1", "zero_one"):
        fit.formulations(prefix=f"{measure} ", measure=measure)


@group("parser: options")
def _(fits):
    X, trees = sentences()
    tags, words = [[token[1] for token in x] for x in X], [tree.words() for tree in trees]
    features = [[[f"word={w}", "bias"] for w in x] for x in words]
    matrices = [np.array([[len(w), w < "d", 1.0] for w in x], dtype=float) for x in words]
    more = sentences(n=30, seed=1)
    tell = fits(mm.Parser, X, trees, answer=scored, C=10.0, max_passes=15)
    tell("tags", data=(tags, trees))
    tell("bracket strings", data=(X, [str(tree) for tree in trees]))
    tell("words", data=(words, trees), inputs="words")
    tell("features", data=(features, trees), inputs="features")
    tell("matrices", data=(matrices, trees), inputs="features")
    tell("rules alone", span_features=())
    tell("horizontal 1", horizontal=1)
    tell("horizontal None", horizontal=None)
    tell("vertical 2", data=more, vertical=2)
    tell("own rules", rules=RULES)
    tell("f1 of short ones", measure="f1", f1_words=5)
    fit = fits(mm.Parser, X, trees, C=10.0, max_passes=15)
    fit("some spans", span_features=("first", "length", "split_left"))
    fit("vertical 2 alone", data=more, vertical=2, span_features=())
    fit("flat", data=(tags, trees), few=[["N", "N", "N"], ["P", "P"]], on_failure="flat")
    fit("n best", answer=lambda model, few: model.predict_nbest(few, 2))
    fit("weights", C=0.05, given={"sample_weight": np.linspace(1, 2, len(X))})
    fit("n_jobs", n_jobs=2)
    fit("hard margin", C=inf, max_passes=40)
    fit.solvers()
    fits(mm.Parser, X, trees, answer=scored).partial([(X, trees)] * 2, C=10.0, solver="perceptron")
    fit.certify(solver="perceptron", max_passes=3)
    fit.path([1.0, 10.0])
    fit.warm(10.0, C=1.0)


@group("pcfg")
def _(fits):
    fit = fits(mm.PCFG, *sentences(), answer=scored)
    fit("default")
    fit("horizontal 0", horizontal=0)
    fit("horizontal None", horizontal=None)
    fit("vertical 2", vertical=2)
    fit("smoothed rules", smoothing=0.5, rules=RULES)
    fit("flat", on_failure="flat", few=[["N", "N", "N"]], answer=predicted)
    fit("n best", answer=lambda model, few: model.predict_nbest(few, 2))
