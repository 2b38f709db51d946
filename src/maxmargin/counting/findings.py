"""Sections of a report on counting-based models: exact outputs, labels one by one, routes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from maxmargin.base.named_weights import Weights
from maxmargin.counting.least_squares import as_rows
from maxmargin.counting.moments import Moments
from maxmargin.counting.sets.output_set import DecodedOutput
from maxmargin.report.drawings import both, chips
from maxmargin.report.findings import Findings, Section, note
from maxmargin.report.html import Element, short
from maxmargin.report.intervals import mean_of, share_of
from maxmargin.report.sections import LabelCounts, scores_of_labels, weights_section


def output_findings(output_set: Any, sets: Sequence[Any], decoded: Sequence[DecodedOutput], Y: Any) -> Findings:
    """Compute the findings for outputs and their features; outputs are ordered by the number of wrong features.

    output_set : that of the model; each example has one of `sets`, in which `decoded` was found.
    """
    moments = Moments(sets, len(decoded))
    truth, _ = as_rows(moments, Y, several=False)
    found, _ = as_rows(moments, [each.y for each in decoded], several=False)
    wrong = np.sum(truth != found, axis=1)
    proved = [each.exact for each in decoded]
    measures = [
        mean_of("outputs that are wholly right", wrong == 0),
        share_of("features of outputs that agree", truth.shape[1] - wrong, np.full(len(wrong), truth.shape[1])),
    ]
    if not all(proved):
        measures.append(mean_of("outputs that are proved the best of the set", proved))
    return Findings(
        unit="example",
        measures=measures,
        wrongness=wrong.astype(float),
        said=lambda i: f"{wrong[i]} of {truth.shape[1]} features of the output differ",
        drawn=lambda i: both(_text(Y[i]), _text(decoded[i].y)),
        legend=note(f"Outputs of {short(repr(output_set), 200)}, as Python writes them."),
    )


def multilabel_findings(model: Any, X: Any, Y: Any) -> Findings:
    """Compute the findings for labels one by one; rows are ordered by the number of wrong labels."""
    model.score(X, Y)  # raises an error if Y is invalid
    found = np.asarray(model.predict(X), dtype=bool)
    truth = np.asarray(Y.todense() if hasattr(Y, "todense") else Y, dtype=bool)
    wrong = np.sum(found != truth, axis=1)
    counts = LabelCounts(range(truth.shape[1]), *[each.sum(axis=0) for each in (found & truth, found, truth)])

    def drawn(i: int) -> Any:
        shown = np.flatnonzero(found[i] | truth[i])
        kinds = ["right" if found[i, k] and truth[i, k] else "wrong" if found[i, k] else "missed" for k in shown]
        return chips([(f"label {k}", kind) for k, kind in zip(shown, kinds, strict=True)])

    return Findings(
        unit="row",
        measures=[
            share_of("right labels", truth.shape[1] - wrong, np.full(len(wrong), truth.shape[1])),
            share_of("F1 of labels", 2 * (found & truth).sum(axis=1), found.sum(axis=1) + truth.sum(axis=1)),
            mean_of("rows without a mistake", wrong == 0),
        ],
        wrongness=wrong.astype(float),
        said=lambda i: f"{wrong[i]} of {truth.shape[1]} labels are wrong",
        drawn=drawn,
        legend=note("Labels with a red border are wrong, dashed ones are missed."),
        sections=(scores_of_labels(counts, "row"),),
    )


def route_findings(model: Any, X: Any, Y: Any, start: Any = None, end: Any = None, length: Any = None) -> Findings:
    """Compute the findings for points and their order.

    Routes of which few points were found, and then routes with few pairs in the right order, come first.
    """
    model.score(X, Y, start, end, length)  # raises an error if the routes are invalid
    asked = [length] * len(Y) if X is None and not isinstance(length, list | tuple) else length
    found = [list(route) for route in model.predict(X, start, end, asked)]
    truth = [list(route) for route in Y]
    points = np.array([_f1(set(y), set(z)) for y, z in zip(truth, found, strict=True)])
    pairs = np.array([_f1(set(combinations(y, 2)), set(combinations(z, 2))) for y, z in zip(truth, found, strict=True)])
    exact = [y == z for y, z in zip(truth, found, strict=True)]

    def drawn(i: int) -> Any:
        mine, other = set(truth[i]), set(found[i])
        return [
            Element("p", "true"),
            chips([(point, "" if point in other else "missed") for point in truth[i]]),
            Element("p", "predicted"),
            chips([(point, "right" if point in mine else "wrong") for point in found[i]]),
        ]

    return Findings(
        unit="route",
        measures=[
            mean_of("F1 of points (mean)", points),
            mean_of("F1 of pairs in order (mean)", pairs),
            mean_of("routes that are wholly right", exact),
        ],
        wrongness=(1 - points) + 1e-3 * (1 - pairs),
        said=lambda i: f"F1 of points {points[i]:.2f}, of pairs {pairs[i]:.2f}",
        drawn=drawn,
        legend=note("Points in the order of the route; red ones are not in the true one, dashed ones were missed."),
    )


def learnt_steps(weights: Mapping[str, Weights]) -> list[Section]:
    """Return the scores of stepping from one point to another, for a trip whose features are 0."""
    if "intercept_steps" not in weights:
        return []
    steps = weights["intercept_steps"]
    said = "Weight of a step from one point to another, without the features of the trip."
    return [weights_section("Steps", said, steps, "from ↓ to →")]


def _f1(mine: set[Any], other: set[Any]) -> float:
    return 2 * len(mine & other) / (len(mine) + len(other)) if mine or other else 1.0


def _text(output: Any) -> str:
    return output if isinstance(output, str) else repr(output)
