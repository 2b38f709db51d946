"""The sections of a report on a parser: brackets, rules, and trees with their errors."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from maxmargin.report.drawings import both, picture
from maxmargin.report.findings import Findings, Section, counted, note
from maxmargin.report.html import Element, short
from maxmargin.report.intervals import agreement, mean_of, share_of
from maxmargin.report.scoring.reliability import reliability_of
from maxmargin.report.sections import MOST_ROWS, LabelCounts, reliability_section, scores_of_labels, searchable, table
from maxmargin.structures.parsing.display import TreeDisplay
from maxmargin.structures.parsing.parseval import sentence_counts
from maxmargin.structures.parsing.tree_drawing import Colours, drawn
from maxmargin.structures.parsing.tree_errors import node_errors
from maxmargin.structures.parsing.trees import Tree

MOST_WORDS = 60  # the most words of a tree that is drawn
COLOURS = Colours("var(--ink)", "var(--faint)", "var(--bad)", "var(--paper)")


def tree_findings(model: Any, X: Any, truth: list[Tree], found: list[Tree]) -> Findings:
    """Compare brackets of true and predicted trees as EVALB does.

    Sentences with more missed and wrong brackets are worse.
    """
    counts = sentence_counts(truth, found)
    columns = {name: np.array([getattr(each, name) for each in counts]) for name in counts[0]._fields} if counts else {}
    measures = agreement(
        ["precision of brackets", "recall of brackets", "F1 of brackets"],
        *(columns.get(name, np.zeros(0)) for name in ("right", "found", "true")),
    )
    if counts:
        measures += [
            share_of("sentences without a wrong bracket", columns["exact"], columns["sentences"]),
            share_of("words with the right tag", columns["right_tags"], columns["words"]),
            mean_of(
                "crossing brackets per sentence", columns["crossing"], best=0.0, worst=float(columns["crossing"].max())
            ),
        ]
    errors = [node_errors(z, y) for y, z in zip(truth, found, strict=True)]
    missed = [len(TreeDisplay(z, y).missed) for y, z in zip(truth, found, strict=True)]
    made_up = np.array([sum(each) for each in errors])
    return Findings(
        unit="sentence",
        measures=measures,
        wrongness=made_up + np.array(missed, dtype=float),
        said=lambda i: f"{counted(made_up[i], 'wrong node')}, {counted(missed[i], 'missed bracket')}",
        drawn=lambda i: _both(truth[i], found[i], errors[i]),
        legend=note("The predicted tree, with wrong nodes on red, and the true one."),
        sections=(_labels(truth, found), *_sure(model, X, truth, found)),
    )


def learnt_rules(model: Any) -> list[Section]:
    """Return a section with the grammar, the rules with the highest weights first, in a table that can be searched."""
    rules = model.weights_["rules"]
    order = np.argsort(-np.where(np.isfinite(rules.values), rules.values, -np.inf), kind="stable")[:MOST_ROWS]
    rows = [[short(rules.names[0][k], 160), f"{rules.values[k]:+.4g}"] for k in order]
    total = len(rules.values)
    said = f"{total:,} rules" if len(rows) == total else f"The {len(rows)} rules of highest weight, of {total:,}"
    content = [note(f"{said}, the highest weight first."), searchable(table(["rule", "weight"], rows, [1]), len(rows))]
    return [Section("Grammar", content)]


def _both(truth: Tree, found: Tree, errors: list[bool]) -> Any:
    if len(truth) > MOST_WORDS:
        said = note(f"The sentence has {len(truth)} words; trees of more than {MOST_WORDS} are not drawn.")
        return [said, both(truth, found, 4000)]
    return [
        Element("h4", "predicted"),
        picture(*drawn(found, errors, COLOURS), "predicted tree"),
        Element("h4", "true"),
        picture(*drawn(truth, None, COLOURS), "true tree"),
    ]


def _labels(truth: list[Tree], found: list[Tree]) -> Section:
    right, n_found, n_true = Counter[str](), Counter[str](), Counter[str]()
    for y, z in zip(truth, found, strict=True):
        true, predicted = Counter(y.brackets()), Counter(z.brackets())
        for total, each in ((right, true & predicted), (n_found, predicted), (n_true, true)):
            for (label, _, _), times in each.items():
                total[label] += times
    labels = sorted({*n_true, *n_found})
    counts = LabelCounts(labels, *[[each[label] for label in labels] for each in (right, n_found, n_true)])
    return scores_of_labels(counts, "bracket", "Phrases by label")


def _sure(model: Any, X: Any, truth: list[Tree], predicted: list[Tree]) -> list[Section]:
    """Return a section on the reliability of probabilities, for parsers that have probabilities of phrases."""
    if not hasattr(model, "predict_confidence"):
        return []
    chances = [each.probability for spans in model.predict_confidence(X) for each in spans]
    true = [set(y.brackets()) for y in truth]
    right = [bracket in brackets for brackets, z in zip(true, predicted, strict=True) for bracket in z.brackets()]
    found = reliability_of(np.array(chances, dtype=float), np.array(right, dtype=bool))
    return [reliability_section(found, "predicted phrase")]
