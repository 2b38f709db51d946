"""The findings of reports on measures and rankings: measures, curves of scores, and queries in their order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from maxmargin.base.arrays import Array, Index
from maxmargin.base.named_weights import column_names
from maxmargin.inputs.labels.confusion import LabelConfusion
from maxmargin.inputs.labels.labels import plain
from maxmargin.report.charts import Axis, Series, chart
from maxmargin.report.findings import Findings, Section, note
from maxmargin.report.html import Element
from maxmargin.report.intervals import ReportedMeasure, agreement, mean_of, share_of
from maxmargin.report.rows import row_of, spoken_by
from maxmargin.report.sections import confusion_section, table, word
from maxmargin.structures.ranking.groups import Groups, query_ids
from maxmargin.structures.ranking.objectives import score_measure
from maxmargin.structures.ranking.orders import concordance, worst_order
from maxmargin.structures.ranking.query_scores import query_scores
from maxmargin.structures.ranking.score_measure import measured

MOST_ROWS = 15  # rows shown per ranking


def measure_findings(model: Any, X: Any, y: Any, scored: Callable[[Any], Array], positive_class: Any) -> Findings:
    """Measure two-class predictions, and rank wrong rows by the size of their scores.

    scored : returns the scores of the positive class for rows like X.
    """
    truth_labels, found = [plain(each) for each in y], [plain(each) for each in model.predict(X)]
    if len(truth_labels) != len(found):
        raise ValueError(f"X has {len(found)} rows but y has {len(truth_labels)} labels; expected one per row")
    model.score(X, y)  # raises an error if y is not valid
    positive = plain(positive_class)
    scores = np.asarray(scored(X), dtype=float)
    truth = np.array([label == positive for label in truth_labels])
    chosen = np.array([label == positive for label in found])
    name = str(model.measure) if isinstance(model.measure, str) else getattr(model.measure, "__name__", "measure")
    name = name if model.k is None else f"{name}, k = {model.k}"

    def own(index: Index) -> float:
        chosen_truth = truth[index]
        if chosen_truth.all() or not chosen_truth.any():
            return np.nan
        return float(measured(score_measure(model), chosen_truth, scores[index], np.ones(len(index))))

    def area(index: Index) -> float:
        chosen_truth = truth[index]
        one_class = chosen_truth.all() or not chosen_truth.any()
        return np.nan if one_class else concordance(chosen_truth.astype(float), scores[index])

    measures = [
        ReportedMeasure(name, len(truth), of_choice=own, note="as the method score returns it; losses are negative"),
        *agreement(["precision", "recall", "F1"], truth & chosen, chosen, truth),
        ReportedMeasure("area under the ROC curve", len(truth), of_choice=area, worst=0.5),
        mean_of("right classes", truth == chosen),
    ]
    wrong = truth != chosen

    def drawn(i: int) -> Any:
        said = Element(
            "p", "It is ", word(truth_labels[i]), ", predicted ", word(found[i]), f", with the score {scores[i]:.4g}."
        )
        if model.kernel is not None:
            return [said, note("With a kernel, a score is not a sum over features.")]
        return [said, spoken_by(scored, row_of(X, i), column_names(model), "contribution to the score")]

    return Findings(
        unit="row",
        measures=measures,
        wrongness=np.where(wrong, np.abs(scores) + 1e-300, 0.0),
        said=lambda i: f"{truth_labels[i]} taken for {found[i]}",
        drawn=drawn,
        legend=note(f"Rows with positive scores are predicted as {positive}."),
        sections=(
            confusion_section(LabelConfusion.of(zip(truth_labels, found, strict=True)), "row"),
            _curves(truth, scores),
        ),
    )


def query_findings(model: Any, X: Any, y: Any, qid: Any = None) -> Findings:
    """Measure the ranking of every query, and rank queries by it."""
    scores, levels = np.asarray(model.predict(X), dtype=float), np.asarray(y, dtype=float)
    values = query_scores(levels, scores, qid, model.measure, model.k, model.relevant)
    groups, names = Groups.by(scores[:, None], query_ids(qid, len(scores)))
    known = np.isfinite(values)
    named = model.measure if model.k is None else f"{model.measure} (k = {model.k})"
    measures = [_over(f"mean {named}", values)]
    if model.measure != "roc_auc":
        measures.append(_over("pairs in the right order (mean)", query_scores(levels, scores, qid, "roc_auc")))
    if model.measure != "map":
        measures.append(
            _over("average precision (mean)", query_scores(levels, scores, qid, "map", None, model.relevant))
        )
    undefined = int(np.sum(~known))
    said = f" {undefined} queries have no relevant rows, so that the measure is not defined." if undefined else ""

    def drawn(g: int) -> Any:
        rows = groups.members(g)
        order, best = rows[worst_order(levels[rows], scores[rows])], np.sort(levels[rows])[::-1]
        listed = [
            [
                position,
                row,
                Element("span", f"{levels[row]:g}", class_="bad" if levels[row] < ideal else "good"),
                f"{ideal:g}",
                f"{scores[row]:.4g}",
            ]
            for position, (row, ideal) in enumerate(zip(order[:MOST_ROWS], best, strict=False), 1)
        ]
        cut = note(f"The first {MOST_ROWS} of {len(rows)} rows are shown.") if len(rows) > MOST_ROWS else None
        return [table(["position", "row", "relevance", "ideal", "score"], listed, numbers=range(5)), cut]

    return Findings(
        unit="query",
        measures=measures,
        wrongness=np.where(known, 1 - np.nan_to_num(values), 0.0),
        said=lambda g: f"qid {plain(names[g])}: {named} {values[g]:.3f}",
        drawn=drawn,
        legend=note(
            f"Rows in the order of their scores; red ones are less relevant than the ideal row at that position.{said}"
        ),
        sections=(_spread(values),),
    )


def _over(name: str, values: Array) -> ReportedMeasure:
    """Average values over the queries for which they are defined."""
    known = np.isfinite(values)
    return share_of(name, np.where(known, values, 0.0), known)


def _spread(values: Array) -> Section:
    """Chart the values of all queries from the lowest to the highest."""
    known = np.sort(values[np.isfinite(values)])
    if not len(known):
        return Section("Queries one by one", note("No query has a value."))
    shares = (np.arange(len(known)) + 0.5) / len(known)
    axes = Axis("share of queries", 0, 1, percent=True), Axis("value", 0, 1)
    kind = "steps" if len(known) > 1 else "points"
    content = chart([Series(shares, known, kind=kind)], *axes, "values of queries, sorted")
    return Section("Queries one by one", [note("Values of all queries, from the lowest to the highest."), content])


def _curves(truth: Any, scores: Array) -> Section:
    """Chart precision against recall, and the ROC curve."""
    order = np.argsort(-scores, kind="stable")
    last = np.append(np.diff(scores[order]) != 0, True)  # tied rows are one step of a curve
    hits, taken = np.cumsum(truth[order])[last], np.flatnonzero(last) + 1
    recall, precision = hits / max(int(truth.sum()), 1), hits / taken
    false = (taken - hits) / max(int((~truth).sum()), 1)
    share = float(truth.mean())
    ends = np.array([0.0, 1.0])
    axes = Axis("recall", 0, 1, percent=True), Axis("precision", 0, 1, percent=True)
    first = chart(
        [Series(ends, np.array([share, share]), "by chance", style="faint"), Series(recall, precision, "this model")],
        *axes,
        "precision against recall",
        square=True,
    )
    axes = Axis("false positives", 0, 1, percent=True), Axis("true positives", 0, 1, percent=True)
    roc = Series(np.append(0.0, false), np.append(0.0, recall), "this model")
    second = chart([Series(ends, ends, "by chance", style="faint"), roc], *axes, "ROC curve", square=True)
    return Section("Curves", Element("div", first, second, class_="two"), wide=True)
