"""The findings of a report on segments: measures of segments, and sentences with their mistakes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import Any

import numpy as np

from maxmargin.inputs.labels.confusion import LabelConfusion
from maxmargin.inputs.labels.labels import in_order
from maxmargin.report.findings import Findings, Section, counted
from maxmargin.report.intervals import agreement, mean_of, share_of
from maxmargin.report.scoring.reliability import reliability_of
from maxmargin.report.sections import (
    LabelCounts,
    confusion_section,
    reliability_section,
    scores_of_labels,
    weights_section,
)
from maxmargin.report.tokens import TokenMark, legend, sentence, words_of
from maxmargin.structures.segments.spans import OUTSIDE, TokenSpan, read_segmentation


def segment_findings(model: Any, X: Any, Y: Any) -> Findings:
    """Measure segments and tokens, and rank sequences by the number of missed and wrong segments."""
    predicted = model.predict(X)
    if len(predicted) != len(Y):
        raise ValueError(f"X has {len(predicted)} sequences but Y has {len(Y)}; expected one segmentation per sequence")
    words = [words_of(x) for x in X]
    truth, found = (
        [read_segmentation(y, len(x), f"Y[{i}]").spans for i, (y, x) in enumerate(zip(each, words, strict=True))]
        for each in (Y, predicted)
    )
    right = np.array([len(set(y) & set(z)) for y, z in zip(truth, found, strict=True)])
    n_true, n_found = np.array([len(y) for y in truth]), np.array([len(z) for z in found])
    labels = [(_labels(y, len(x)), _labels(z, len(x))) for y, z, x in zip(truth, found, words, strict=True)]
    same = [sum(a == b for a, b in zip(*pair, strict=True)) for pair in labels]
    measures = agreement(["precision of segments", "recall of segments", "F1 of segments"], right, n_found, n_true)
    measures.append(share_of("tokens with the right label", same, [len(x) for x in words]))
    measures.append(mean_of("sequences without a mistake", (right == n_true) & (right == n_found)))
    confusion = LabelConfusion.of(each for pair in labels for each in zip(*pair, strict=True))
    kinds = in_order(label for spans in (*truth, *found) for *_, label in spans)
    times = (
        Counter(label for y, z in zip(truth, found, strict=True) for *_, label in set(y) & set(z)),
        Counter(label for z in found for *_, label in z),
        Counter(label for y in truth for *_, label in y),
    )
    sure = [each for chances in model.predict_confidence(X) for each in chances]
    hits = [span in spans for spans, z in zip(map(set, truth), found, strict=True) for span in z]
    missed = n_true - right + n_found - right
    return Findings(
        unit="sequence",
        measures=measures,
        wrongness=missed.astype(float),
        said=lambda i: f"{counted(n_true[i] - right[i], 'missed segment')}, {n_found[i] - right[i]} wrong",
        drawn=lambda i: sentence(words[i], _marks(truth[i], found[i], len(words[i]))),
        legend=legend(),
        sections=(
            confusion_section(confusion, "token"),
            scores_of_labels(
                LabelCounts(kinds, *[[each[k] for k in kinds] for each in times]), "segment", "Segments by label"
            ),
            reliability_section(
                reliability_of(np.array([each.probability for each in sure]), np.array(hits, dtype=bool)),
                "predicted segment",
            ),
        ),
    )


def learnt_lengths_and_transitions(model: Any) -> list[Section]:
    """Show the weights of lengths and of neighbouring segments."""
    weights, outside = model.weights_, f"Weight of a segment after another; {OUTSIDE} is a token outside."
    return [
        weights_section("Lengths", "Weight of a segment by its number of tokens.", weights["lengths"], "tokens ↓"),
        weights_section("Transitions", outside, weights["transitions"], "before ↓ after →"),
    ]


def _labels(spans: list[TokenSpan], length: int) -> list[Hashable]:
    labels: list[Hashable] = [OUTSIDE] * length
    for begin, end, label in spans:
        labels[begin:end] = [label] * (end - begin)
    return labels


def _marks(truth: list[TokenSpan], found: list[TokenSpan], length: int) -> list[TokenMark]:
    """Mark each token with its segment, and with the true one if the segment is not exactly right."""
    true, other = _owners(truth, length), _owners(found, length)
    return [
        TokenMark(_said(z, t), None if y == z else _said(y, t))
        for t, (y, z) in enumerate(zip(true, other, strict=True))
    ]


def _owners(spans: list[TokenSpan], length: int) -> list[TokenSpan | None]:
    """Return the segment of every token."""
    owners: list[TokenSpan | None] = [None] * length
    for span in spans:
        owners[span[0] : span[1]] = [span] * (span[1] - span[0])
    return owners


def _said(span: Any, t: int) -> str:
    return "" if span is None else f"{span[2]}" if span[0] == t else f"…{span[2]}"
