"""Sections of reports on hierarchies and orders of classes, besides the sections that all classifiers have."""

from __future__ import annotations

from typing import Any

from maxmargin.report.findings import Section, note
from maxmargin.report.html import short
from maxmargin.report.sections import MOST_ROWS, table


def learnt_tree(model: Any) -> list[Section]:
    """List the nodes of the tree with the classes that share their weights and the norms of these."""
    task, nodes = model.task_, model.nodes_.tolist()
    indptr, indices, _ = task.table_
    below: list[list[Any]] = [[] for _ in nodes]
    for k, label in enumerate(task.classes_):
        for node in indices[indptr[k] : indptr[k + 1]]:
            below[node].append(label)
    lengths = (task.weights(model.w_) ** 2).sum(axis=0) ** 0.5 if model.kernel is None else [None] * len(nodes)
    order = sorted(range(len(nodes)), key=lambda v: (-len(below[v]), v))[:MOST_ROWS]
    rows = [
        [
            short(nodes[v]),
            f"{len(below[v])}: {short(', '.join(short(label, 30) for label in below[v][:12]), 160)}"
            f"{', …' if len(below[v]) > 12 else ''}",
            "" if lengths[v] is None else f"{lengths[v]:.4g}",
        ]
        for v in order
    ]
    cut = f" The {MOST_ROWS} of most classes are shown, of {len(nodes):,}." if len(nodes) > MOST_ROWS else ""
    said = note(f"A class has the weights of its own node and of all nodes above it.{cut}")
    head = ["node", "classes that have its weights", "length of these"]
    return [Section("Tree of classes", [said, table(head, rows, numbers=[2])])]


def learnt_steps(model: Any) -> list[Section]:
    """List the thresholds of the steps from each class to the next."""
    rows = [
        [short(a), short(b), f"{threshold:.4g}"]
        for a, b, threshold in zip(model.classes_, model.classes_[1:], model.thresholds_, strict=False)
    ]
    return [Section("Steps between classes", table(["from", "to", "threshold"], rows, numbers=[2]))]
