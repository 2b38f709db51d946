"""Digests of Diversifier."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from structures.diversity.searches import searches

import maxmargin as mm
from digest_groups.fits import group
from maxmargin import tasks


def ranked(model, few):
    return [model.predict(few), model.rank(few)]


@group("diversifier")
def _(fits):
    X, Y = searches(6, documents_each=12)
    fields, _ = searches(6, documents_each=12, fields=True)
    counts = [sparse.csr_array(CountVectorizer().fit_transform(documents)) for documents in X]
    full = [
        tasks.Documents(x, query=f"common0 q{q}t0w1", features=np.linspace(1, 0, len(x))[:, None])
        for q, x in enumerate(X)
    ]
    tell = fits(mm.Diversifier, X, Y, answer=ranked, k=3, max_passes=60)
    fits(mm.Diversifier, X, Y, answer=ranked)("default", max_passes=60)
    tell("thresholds", thresholds=(0.0, 0.1, 0.3))
    tell("fields", data=(fields, Y))
    tell("levels", data=(fields, Y), levels=["title", ("body", 1), ("any", 2)])
    tell("equal", subtopic_weights="equal")
    tell("vectorizer", vectorizer=TfidfVectorizer(ngram_range=(1, 2)))
    tell("counts", data=(counts, Y))
    tell("documents", data=(full, Y))
    tell.solvers(max_passes=20)
    tell.formulations(C=1.0, max_passes=20)
    fits(mm.Diversifier, X, Y, few=X, answer=ranked).partial([(X, Y), (X, Y)], k=3, solver="subgradient")
    fit = fits(mm.Diversifier, X, Y, k=3, max_passes=60)
    fit("weights", given={"sample_weight": [1, 2, 1, 2, 1, 2]})
    fit("n_jobs", n_jobs=2)
    fit.certify()
    fit.path([0.01, 0.1])
    fit.warm(0.2, C=0.05)
