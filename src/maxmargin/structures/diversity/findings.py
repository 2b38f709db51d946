"""The findings of a report on chosen documents: the subtopics that they cover and those that are missed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from maxmargin.report.charts import Axis, Series, chart, fitted_axis
from maxmargin.report.drawings import chips
from maxmargin.report.findings import Findings, Section, note
from maxmargin.report.html import Element, short
from maxmargin.report.intervals import mean_of
from maxmargin.structures.diversity.documents import Documents
from maxmargin.structures.diversity.measures import coverage_curves, random_coverage, subtopic_recall
from maxmargin.structures.diversity.subtopics import Subtopics


def document_findings(model: Any, X: Any, Y: Any) -> Findings:
    """Measure the subtopics covered, and rank queries by the share that k documents could have covered in addition."""
    found = model.predict(X)
    covered = subtopic_recall(Y, found, None, model.subtopic_weights)
    equal = subtopic_recall(Y, found, None, "equal")
    topics = [y if isinstance(y, Subtopics) else Subtopics(y, model.subtopic_weights) for y in Y]
    best = np.array([t.most(model.k) / t.total if t.total else 1.0 for t in topics])
    lost = np.maximum(best - covered, 0.0)
    lost[lost < 1e-9] = 0.0
    weighted = "weighted by their documents" if model.subtopic_weights == "documents" else "all alike"
    return Findings(
        unit="query",
        measures=[
            mean_of(
                f"subtopics covered, {weighted}", covered, note=f"the best {model.k} documents have {best.mean():.3g}"
            ),
            mean_of("subtopics covered, each counted once", equal),
            mean_of("queries that no other documents cover better", lost == 0),
        ],
        wrongness=lost,
        said=lambda i: f"{covered[i]:.1%} of the subtopics are covered; {best[i]:.1%} could be",
        drawn=lambda i: _drawn(X[i], found[i], topics[i]),
        legend=note("Chosen documents in their order, with the subtopics that each adds; then those that are missed."),
        sections=(_curve(model, X, Y),),
    )


def _curve(model: Any, X: Any, Y: Any) -> Section:
    """Chart the coverage of the first 1, 2, … documents, against random documents."""
    orders = model.rank(X)
    n = max(1, min(min(len(each) for each in orders), 4 * int(model.k)))
    curves = np.mean([curve[: n + 1] for curve in coverage_curves(Y, orders)], axis=0)
    chance = np.mean([curve[: n + 1] for curve in random_coverage(Y, n)], axis=0)
    x = np.arange(n + 1, dtype=float)
    series = [Series(x, chance, "random documents", "line", "faint"), Series(x, curves, "this model", "line", "a")]
    axes = fitted_axis("documents shown", x, from_zero=True), Axis("subtopics covered", 0, 1, percent=True)
    return Section(
        "Coverage",
        [
            chart(series, *axes, "subtopics covered by the first documents"),
            note("Means over queries; every subtopic counts once."),
        ],
    )


def _drawn(x: Any, found: Any, topics: Subtopics) -> Any:
    texts, seen, rows = _texts(x, len(topics)), set[Any](), []
    for d in found:
        new = [name for name in topics.names if name in topics.sets[d] and name not in seen]
        seen |= set(topics.sets[d])
        marks = chips([(name, "right") for name in new] or [("nothing new", "")])
        rows.append(Element("li", Element("strong", f"document {d} "), short(texts[d], 160), marks))
    missed = [name for name in topics.names if name not in seen]
    lacking = [Element("p", "Not covered:"), chips([(name, "missed") for name in missed[:30]])] if missed else None
    more = note(f"{len(missed) - 30} more are not covered.") if len(missed) > 30 else None
    return [Element("ol", rows, class_="ranking"), lacking, more]


def _texts(x: Any, n: int) -> list[str]:
    """Return the texts of documents, or empty ones if they are word counts."""
    documents = x.documents if isinstance(x, Documents) else x
    if not isinstance(documents, list | tuple):
        return [""] * n
    return [" · ".join(map(str, d.values())) if isinstance(d, Mapping) else str(d) for d in documents]
