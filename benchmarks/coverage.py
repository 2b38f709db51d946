"""Sets with a promise: how often sets of labels and of label sequences have the truth, and how large they are.

The promise is about examples like those of training, so that the sentences it is tested on are a fifth of the training
part, by lot; it is tested on the test part, too, whose texts are others. Sets of sequences have at most MOST of them,
which breaks the promise for those that would have more.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.likelihood import HINGE_C
from benchmarks.loaders import chunk_features, load_conll2000, load_conll2002_es
from benchmarks.timing import Report
from maxmargin import SequenceLabeler
from maxmargin.errors import SetCutOff

PROBLEMS = ("coverage-conll2000", "coverage-conll2002")
COVERAGE = 0.9
MOST = 2000
QUICK = 500


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """The hinge, calibrated in five parts."""
    load: Any = load_conll2000 if name.endswith("2000") else load_conll2002_es
    (X, Y), (X_test, Y_test) = (
        ([chunk_features(s) for s in sentences[: QUICK if quick else None]], tags[: QUICK if quick else None])
        for sentences, tags in map(load, ("train", "test"))
    )
    order = np.random.default_rng(0).permutation(len(X))
    learnt, fresh = np.split(order, [4 * len(X) // 5])
    model = SequenceLabeler(C=HINGE_C * len(learnt), forbidden="BIO", invalid="repair", calibrate=5)
    report(f"{name}: training")
    model.fit([X[i] for i in learnt], [Y[i] for i in learnt])
    table = Table(title=f"{name}: sets that promise {COVERAGE:.0%}, {len(learnt):,} training sentences")
    for heading in ("sentences", "labels: share", "size", "sequences: share", "mean size", "median", "cut off"):
        table.add_column(heading, justify="left" if heading == "sentences" else "right")
    for title, new, truth in (
        (f"{len(fresh):,} of the same texts", [X[i] for i in fresh], [Y[i] for i in fresh]),
        (f"{len(X_test):,} of the test part", X_test, Y_test),
    ):
        report(f"{name}: {title}")
        table.add_row(title, *_sets(model, new, truth))
    return table


def _sets(model: SequenceLabeler, X: Any, Y: Any) -> list[str]:
    labels = model.predict_set(X, COVERAGE, of="label")
    inside = [np.mean([k in some for k, some in zip(y, each, strict=True)]) for y, each in zip(Y, labels, strict=True)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SetCutOff)
        wholes = model.predict_set(X, COVERAGE, most=MOST)
    found = np.mean([list(y) in some for y, some in zip(Y, wholes, strict=True)])
    sizes = np.array([len(some) for some in wholes])
    return [
        f"{100 * np.mean(inside):.1f}%",
        f"{np.mean([len(some) for each in labels for some in each]):.2f}",
        f"{100 * found:.1f}%",
        f"{sizes.mean():.1f}",
        f"{np.median(sizes):.0f}",
        str(int(np.sum(sizes == MOST))),
    ]
