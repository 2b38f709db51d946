"""Named entities of CoNLL-2002 (Spanish): segments with features of their own beside chains of tags.

All have the same features of tokens (loaders.chunk_features). C is the one of CS, times the number of sentences, whose
model has the highest F1 of entities on the validation part; the test part is looked at once, with that model. Time is
that of fit at that C, all input read included. The one for 1 - F1, whose search takes long, has fewer sentences.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.loaders import chunk_features, load_conll2002_es
from benchmarks.timing import Report, cpu_seconds
from maxmargin import SegmentLabeler, SequenceLabeler
from maxmargin.errors import InvalidLabels, LossReplaced
from maxmargin.metrics import chunk_f1
from maxmargin.tasks import SegmentText

PROBLEMS = ("segments-conll2002", "segments-conll2002-f1")
CS = (0.01, 0.03, 0.1, 0.3)
CS_F1 = (0.1, 0.3, 1.0)  # a loss of at most 1, where the others count
QUICK, FEW = 300, 2000  # training sentences, of a quick run, and where 1 - F1 is compared


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """Choose C of each on the validation part; then train each once a round, of which the fastest counts."""
    parts = {split: load_conll2002_es(split) for split in ("train", "validation", "test")}
    most = {"train": FEW if name.endswith("f1") else None}
    parts = {
        split: tuple(each[: QUICK if quick else most.get(split)] for each in part) for split, part in parts.items()
    }
    (X, Y), (X_dev, Y_dev), (X_new, Y_new) = (
        ([chunk_features(sentence) for sentence in sentences], tags) for sentences, tags in parts.values()
    )
    warnings.simplefilter("ignore", InvalidLabels)
    warnings.simplefilter("ignore", LossReplaced)
    table = Table(title=f"{name}: {len(X):,} training sentences, {sum(map(len, X_new)):,} test tokens")
    headings = ("model", "C / sentences", "F1, validation", "F1, test", "precision", "recall", "CPU s", "predicts, s")
    for heading in headings:
        table.add_column(heading, justify="left" if heading == headings[0] else "right")
    for title, model, Cs in _models(name):
        model.fit(X[:20], Y[:20])  # compiles
        report(f"{title}: choosing C")
        found = [
            (chunk_f1(Y_dev, each.predict(X_dev)).f1, C)
            for C, each in zip(Cs, model.path(X, Y, [C * len(X) for C in Cs]), strict=True)
        ]
        dev, C = max(found, key=lambda pair: pair[0])
        model.set_params(C=C * len(X))
        seconds, predicting = np.inf, np.inf
        for i in range(repeat):
            report(f"{title}: C = {C:g} n, round {i + 1} of {repeat}")
            seconds = min(seconds, cpu_seconds(lambda model=model: model.fit(X, Y))[1])
            tags, taken = cpu_seconds(lambda model=model: model.predict(X_new))
            predicting = min(predicting, taken)
        score = chunk_f1(Y_new, tags)
        shown = [f"{100 * each:.2f}" for each in (dev, score.f1, score.precision, score.recall)]
        row = (title, f"{C:g}", *shown, f"{seconds:.1f}", f"{predicting:.1f}")
        table.add_row(*row)
        report(" | ".join(row))
    return table


def _models(name: str) -> list[tuple[str, Any, Sequence[float]]]:
    text = SegmentText("w[0]")
    if name.endswith("f1"):
        return [
            ("SegmentLabeler, segments, SegmentText", SegmentLabeler(measure="segments", segment_features=text), CS),
            ("SegmentLabeler, f1, SegmentText", SegmentLabeler(measure="f1", segment_features=text), CS_F1),
        ]
    return [
        ("SequenceLabeler, BIO", SequenceLabeler(forbidden="BIO", invalid="repair"), CS),
        ("SegmentLabeler, tokens, features of tokens alone", SegmentLabeler(), CS),
        ("SegmentLabeler, segments, features of tokens alone", SegmentLabeler(measure="segments"), CS),
        ("SegmentLabeler, tokens, SegmentText", SegmentLabeler(segment_features=text), CS),
        ("SegmentLabeler, segments, SegmentText", SegmentLabeler(measure="segments", segment_features=text), CS),
    ]
