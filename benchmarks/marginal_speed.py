"""Probabilities of labels beside predictions: how many tokens per second each takes.

Of sequences that are packed, where searches and sums are all that is done, and of lists of attributes as users have
them, which must be read, and whose labels are named.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.likelihood import HINGE_C
from benchmarks.loaders import chunk_features, load_conll2000
from benchmarks.timing import Report, cpu_seconds
from maxmargin import SequenceLabeler

PROBLEMS = ("marginal-speed",)
QUICK = 500


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """Searches and sums of the test part of CoNLL-2000; features are read outside the clock."""
    sentences, tags = load_conll2000("train")
    X, Y = [chunk_features(s) for s in sentences[:QUICK]], tags[:QUICK]
    new = [chunk_features(s) for s in load_conll2000("test")[0][: QUICK if quick else None]]
    model: Any = SequenceLabeler(C=HINGE_C * len(X), calibrate=2).fit(X, Y)
    task, w = model.task_, model.w_
    scored = task.scored(new)
    ways = {
        "best labels (Viterbi)": lambda: scored.best(scored.scores(w)),
        "probabilities of all labels": lambda: scored.sums(scored.scores(w)).labels,
        "predict": lambda: model.predict(new),
        "predict_proba": lambda: model.predict_proba(new),
    }
    best = dict.fromkeys(ways, np.inf)
    for i in range(max(repeat, 3)):
        report(f"{name}: round {i + 1}")
        for way, call in ways.items():
            best[way] = min(best[way], cpu_seconds(call)[1])
    n = int(scored.bounds[-1])
    table = Table(title=f"{name}: {n:,} tokens, {task.n_labels_} labels")
    for heading in ("what", "CPU s", "tokens per second", "speed / that of predictions"):
        table.add_column(heading, justify="left" if heading == "what" else "right")
    for way, seconds in best.items():
        share = best["predict" if way.startswith("predict") else "best labels (Viterbi)"] / seconds
        table.add_row(way, f"{seconds:.3f}", f"{n / seconds:,.0f}", f"{share:.2f}")
    return table
