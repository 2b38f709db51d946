"""Sections of a report on label sequences: positions, chunks, transitions, sentences with their mistakes."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from maxmargin.inputs.labels.weighted import Weighted
from maxmargin.inputs.tokens.chunk_schemes import ANY, SCHEMES
from maxmargin.report.findings import Findings, Section
from maxmargin.report.intervals import ReportedMeasure, agreement, mean_of, share_of
from maxmargin.report.scoring.reliability import reliability
from maxmargin.report.sections import (
    LabelCounts,
    confusion_section,
    pair_section,
    reliability_section,
    scores_of_labels,
)
from maxmargin.report.tokens import TokenMark, legend, sentence, words_of
from maxmargin.structures.sequences.confusion import label_confusion
from maxmargin.structures.sequences.measures import chunks
from maxmargin.structures.sequences.partial_labels import as_choice, is_partial
from maxmargin.structures.sequences.transition_display import TransitionDisplay


def sequence_findings(model: Any, X: Any, Y: Any) -> Findings:
    """Compute the findings for positions and chunks; sequences are ordered by the number of wrong labels."""
    found = model.predict(X)
    if len(found) != len(Y):
        raise ValueError(f"X has {len(found)} sequences but Y has {len(Y)}")
    truth = [list(map(as_choice, y.labels if isinstance(y, Weighted) else y)) for y in Y]
    for i, (y, z) in enumerate(zip(truth, found, strict=True)):
        if len(y) != len(z):
            raise ValueError(f"sequence {i} has {len(z)} positions but {len(y)} labels")
    wrong = [[not _right(a, b) for a, b in zip(y, z, strict=True)] for y, z in zip(truth, found, strict=True)]
    known = np.array([sum(label is not None for label in y) for y in truth])
    mistakes = np.array([sum(each) for each in wrong])
    measures = [
        share_of("right labels", known - mistakes, known),
        mean_of("sequences without a mistake", mistakes == 0),
    ]
    measures = _chunk_measures(truth, found) + measures
    confusion = label_confusion(truth, found)
    plain = [[None if label is None or is_partial(label) else label for label in y] for y in truth]
    sure = reliability(plain, model.predict_proba(X), model.classes_)
    return Findings(
        unit="sequence",
        measures=measures,
        wrongness=mistakes.astype(float),
        said=lambda i: f"{mistakes[i]} of {known[i]} labels are wrong",
        drawn=lambda i: sentence(words_of(X[i]), _marks(truth[i], found[i], wrong[i])),
        legend=legend(),
        sections=(
            confusion_section(confusion, "position"),
            scores_of_labels(LabelCounts.of(confusion), "position"),
            reliability_section(sure, "label"),
        ),
    )


def learnt_transitions(model: Any) -> list[Section]:
    """Return a table of the weights of neighbouring labels, empty for forbidden pairs."""
    shown = TransitionDisplay.from_estimator(model)
    names = list(shown.labels)
    said = "Weight of a label after another; the first row is for the first label, the last column for the last one."
    return [pair_section("Transitions", said, ["start", *names], [*names, "end"], shown.table, "before ↓ after →")]


def _chunk_measures(truth: list[list[Any]], found: list[list[Hashable]]) -> list[ReportedMeasure]:
    """Return chunk measures for labels in any chunk scheme; broken chunks are read as conlleval reads them."""
    labels = {label for each in (*truth, *found) for label in each}
    if not all(isinstance(label, str) and ANY.knows(label) for label in labels) or labels <= {"O"}:
        return []
    bio = SCHEMES["BIO"]
    pairs = [(set(chunks(bio.rewritten(y))), set(chunks(bio.rewritten(z)))) for y, z in zip(truth, found, strict=True)]
    counts = [[len(a & b) for a, b in pairs], [len(b) for _, b in pairs], [len(a) for a, _ in pairs]]
    return agreement(["precision of chunks", "recall of chunks", "F1 of chunks"], *counts)


def _marks(truth: list[Any], found: list[Hashable], wrong: list[bool]) -> list[TokenMark]:
    return [
        TokenMark("" if label == "O" else str(label), _said(true) if is_wrong else None)
        for true, label, is_wrong in zip(truth, found, wrong, strict=True)
    ]


def _said(true: Any) -> str:
    return " or ".join(sorted(map(str, true))) if is_partial(true) else str(true)


def _right(true: Any, label: Hashable) -> bool:
    """Return whether the label is right; an unknown true label makes any label right."""
    return true is None or bool(label in true if is_partial(true) else label == true)
