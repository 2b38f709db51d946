"""Classes of rows: the confusion matrix, and the features that contributed to a mistake."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.named_weights import column_names
from maxmargin.inputs.labels.confusion import LabelConfusion
from maxmargin.inputs.labels.labels import plain
from maxmargin.report.findings import Findings, note
from maxmargin.report.html import Element
from maxmargin.report.intervals import mean_of
from maxmargin.report.rows import row_of, spoken_by
from maxmargin.report.sections import LabelCounts, confusion_section, scores_of_labels, word


def class_findings(
    model: Any, X: Any, y: Any, linear: bool, cost: Callable[[Hashable, Hashable], float] | None = None
) -> Findings:
    """Return accuracy, costs and confusion; a mistake is worse the higher the wrong class scores above the true one.

    model : has `predict`, `decision_function` and `classes_`; `linear` says that its scores are sums over features.
    cost : a function of a true label and the predicted one.
    """
    truth, found = [plain(each) for each in y], [plain(each) for each in model.predict(X)]
    if len(truth) != len(found):
        raise ValueError(f"X has {len(found)} rows but y has {len(truth)} labels")
    scores = class_scores(model, X)
    numbers = {plain(label): k for k, label in enumerate(model.classes_)}
    own = np.array([numbers.get(label, -1) for label in truth])
    best = np.array([numbers[label] for label in found])
    wrong = np.array([a != b for a, b in zip(truth, found, strict=True)], dtype=bool)
    lead = scores[np.arange(len(best)), best] - scores[np.arange(len(own)), own]
    # The true class does not occur in the training data.
    lead[own < 0] = scores[own < 0].max(axis=1) - scores[own < 0].min(axis=1)
    confusion = LabelConfusion.of(zip(truth, found, strict=True))
    measures = [mean_of("right classes", ~wrong)]
    if cost is not None:
        costs = [cost(a, b) if w else 0.0 for a, b, w in zip(truth, found, wrong, strict=True)]
        if any(each not in (0.0, 1.0) for each in costs):
            measures.append(mean_of("mean cost of a row", costs, best=0.0, worst=max(costs)))

    def drawn(i: int) -> Any:
        said = ["Predicted ", word(found[i]), ", but it is ", word(truth[i])]
        if own[i] < 0:
            return Element("p", said, ", which training has not seen.")
        content = [Element("p", said, f". The wrong class scores {lead[i]:.4g} higher.")]
        if not linear:
            return [*content, note("With a kernel, features have no part of their own in a score.")]

        def score(rows: Any) -> Array:
            each = class_scores(model, rows)
            return np.asarray(each[:, best[i]] - each[:, own[i]])

        return [*content, spoken_by(score, row_of(X, i), column_names(model), "part in the lead")]

    return Findings(
        unit="row",
        measures=measures,
        wrongness=np.where(wrong, np.maximum(lead, 0) + 1e-300, 0.0),
        said=lambda i: f"{truth[i]} taken for {found[i]}",
        drawn=drawn,
        sections=(confusion_section(confusion, "row"), scores_of_labels(LabelCounts.of(confusion), "row")),
    )


def class_scores(model: Any, X: Any) -> Array:
    """Return (n, K) scores, also for two classes."""
    scores = np.asarray(model.decision_function(X), dtype=float)
    return np.column_stack([np.zeros(len(scores)), scores]) if scores.ndim == 1 else scores
