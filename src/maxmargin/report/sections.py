"""Sections that several structures share: confusion, reliability, tables of numbers, weights."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.named_weights import NamedWeight, Weights
from maxmargin.inputs.labels.confusion import LabelConfusion
from maxmargin.report.charts import Axis, Series, chart
from maxmargin.report.findings import Section, counted, note, plural
from maxmargin.report.html import Element, short
from maxmargin.report.scoring.reliability import Reliability

MOST_LABELS = 30  # the most labels of a table of all pairs; with more, the largest pairs are listed
WIDE = 7  # a table of pairs with more labels takes the whole width of a screen
MOST_PAIRS = 40
MOST_ROWS = 400  # the most rows of a searchable table
PRINTED_ROWS = 60  # the most rows in print; style.py has the same number


def table(head: Sequence[Any], rows: Iterable[Sequence[Any]], numbers: Sequence[int] = (), **more: Any) -> Element:
    """Return a table that scrolls if it is wide; columns in `numbers` are right-aligned."""
    right = set(numbers)

    def cells(row: Sequence[Any], tag: str) -> list[Any]:
        return [
            each
            if isinstance(each, Element) and each.tag in ("td", "th")
            else Element(tag, each, class_="number" if k in right else None, scope="col" if tag == "th" else None)
            for k, each in enumerate(row)
        ]

    return scrolling(
        Element(
            "table",
            Element("thead", Element("tr", cells(head, "th"))),
            Element("tbody", [Element("tr", cells(row, "td")) for row in rows]),
            **more,
        )
    )


def scrolling(*content: Any) -> Element:
    """Return a box that scrolls if its content is wider than a phone."""
    return Element("div", *content, class_="scroll")


def word(value: Any) -> Element:
    """Return text of the data for use inside a sentence; right-to-left text does not affect the rest."""
    return Element("bdi", short(value))


def confusion_section(confusion: LabelConfusion, unit: str) -> Section:
    """Return a section with the confusion matrix."""
    title = "Confusion"
    if not len(confusion.labels):
        return Section(title, note(f"There is no labelled {unit}."))
    mistakes = confusion.mistakes(MOST_PAIRS)
    listed = (
        table(["true", "predicted", "times"], [[short(a), short(b), f"{n:,}"] for a, b, n in mistakes], numbers=[2])
        if mistakes
        else Element("p", f"No {unit} has a wrong label.")
    )
    if len(confusion.labels) > MOST_LABELS:
        said = f"There are {len(confusion.labels)} labels; the {len(mistakes)} most frequent mistakes are shown."
        return Section(title, [note(said), listed])
    shares = confusion.counts / np.maximum(confusion.counts.sum(axis=1, keepdims=True), 1)
    shades = np.where(np.eye(len(shares), dtype=bool), shares, -shares)
    grid = matrix(confusion.labels, confusion.labels, confusion.counts, "true ↓ predicted →", shades, "{:,d}".format)
    how = note(f"Rows are true labels, columns predicted ones; cells count {plural(unit)}, shades are shares of a row.")
    most = Element("details", Element("summary", "The most frequent mistakes"), listed) if mistakes else listed
    return Section(title, [how, grid, most], wide=len(confusion.labels) > WIDE)


def matrix(
    rows: Sequence[Any],
    columns: Sequence[Any],
    values: Any,
    corner: str = "",
    shades: Array | None = None,
    written: Callable[[Any], str] | None = None,
) -> Element:
    """Return a table of numbers with names of rows and columns, shaded by sign and size; -inf and NaN are empty."""
    values = np.asarray(values)
    if shades is None:
        known = np.where(np.isfinite(values), values, 0.0)
        shades = known / (np.abs(known).max(initial=0) or 1.0)
    largest = float(np.abs(np.where(np.isfinite(values), values, 0.0)).max(initial=0))
    digits = 2 if largest >= 0.5 or largest == 0 else 3 if largest >= 0.05 else 4
    say = written or f"{{:z.{digits}f}}".format

    def cell(i: int, j: int) -> Element:
        known = bool(np.isfinite(values[i, j]))
        text = say(values[i, j]) if known and values[i, j] != 0 else "·" if known else ""
        return Element("td", text, class_="heat", shade=float(shades[i, j]) if known else 0.0)

    return scrolling(
        Element(
            "table",
            Element("thead", Element("tr", Element("th", corner), [Element("th", short(c, 24)) for c in columns])),
            Element(
                "tbody",
                [
                    Element("tr", Element("th", short(r, 24), scope="row"), [cell(i, j) for j in range(len(columns))])
                    for i, r in enumerate(rows)
                ],
            ),
            class_="matrix",
        )
    )


def pair_section(
    title: str, said: str, rows: Sequence[Any], columns: Sequence[Any], values: Array, corner: str = ""
) -> Section:
    """Return a section with a matrix of weights, or with its largest pairs if it is large."""
    if max(len(rows), len(columns)) <= MOST_LABELS:
        return Section(title, [note(said), matrix(rows, columns, values, corner)], wide=len(columns) > WIDE)
    known = np.where(np.isfinite(values), values, 0.0)
    order = np.argsort(-np.abs(known), axis=None, kind="stable")[:MOST_PAIRS]
    pairs = [(i, j) for i, j in zip(*np.unravel_index(order, known.shape), strict=True) if known[i, j]]
    listed = [[short(rows[i]), short(columns[j]), f"{values[i, j]:+.3f}"] for i, j in pairs]
    limits = f" It is {len(rows)} × {len(columns)}: the {len(listed)} heaviest pairs are shown."
    return Section(title, [note(said + limits), table(["first", "second", "weight"], listed, numbers=[2])])


def weights_section(title: str, said: str, weights: Weights, corner: str = "") -> Section:
    """Return a section with a matrix of named weights."""
    rows, columns = weights.names
    return pair_section(title, said, rows, columns, weights.values, corner)


def reliability_section(found: Reliability, unit: str) -> Section:
    """Return a section with the reliability diagram."""
    title, filled = "How sure it is", found.counts > 0
    if not filled.any():
        return Section(title, note(f"There is no labelled {unit}."))
    line = Series(np.array([0.0, 1.0]), np.array([0.0, 1.0]), style="faint")
    sizes = 3 + 7 * np.sqrt(found.counts[filled] / found.counts.max())
    points = Series(
        found.confidence[filled], found.accuracy[filled], f"{plural(unit)} in bins", "points", "a", sizes=sizes
    )
    axes = (
        Axis("how sure it is", 0, 1, percent=True),
        Axis("how often it is right", 0, 1, percent=True),
    )
    said = (
        f"Points on the line are right just as often as the model is sure. Expected calibration error: "
        f"{100 * found.error:.2g} points, over {counted(int(found.counts.sum()), unit)}."
    )
    return Section(title, [note(said), chart([line, points], *axes, "reliability diagram", square=True)])


def weights_table(weights: Sequence[NamedWeight], total: int) -> list[Any]:
    """Return the largest weights in a searchable table."""
    longest = max((abs(each.weight) for each in weights), default=1.0) or 1.0
    rows = [
        [short(each.name, 160), Element("td", f"{each.weight:+.4g}", class_="number heat", shade=each.weight / longest)]
        for each in weights
    ]
    said = (
        f"All {total:,} weights that are not 0." if len(rows) == total else f"The {len(rows):,} heaviest of {total:,}."
    )
    return [note(said), searchable(table(["weight of", "weight"], rows, numbers=[1]), len(rows))]


def searchable(content: Element, n_rows: int) -> Element:
    """Return a table with a search box, which a script shows; without scripts the whole table is visible."""
    box = Element(
        "input", type="search", placeholder=f"search {n_rows:,} rows", aria_label="search the table", hidden=True
    )
    long = " long" if n_rows > PRINTED_ROWS else ""
    return Element("div", box, content, class_=f"searchable{long}")


class LabelCounts(NamedTuple):
    """Counts of every label, one entry per label."""

    labels: Sequence[Hashable]  # the labels
    right: Any  # how often the label was predicted correctly
    found: Any  # how often it was predicted
    true: Any  # how often it is the true label

    @classmethod
    def of(cls, confusion: LabelConfusion) -> LabelCounts:
        """Return the counts of a confusion matrix."""
        counts = confusion.counts
        return cls(confusion.labels, np.diag(counts), counts.sum(axis=0), counts.sum(axis=1))


def scores_of_labels(counts: LabelCounts, unit: str, title: str = "Labels one by one") -> Section:
    """Return a section with precision, recall and F1 of every label."""
    labels, right, found, true = counts

    def share(a: float, b: float) -> str:
        return f"{a / b:.3f}" if b else "–"

    order = np.argsort(-np.asarray(true), kind="stable")[:MOST_ROWS]
    rows = [
        [
            short(labels[k]),
            share(right[k], found[k]),
            share(right[k], true[k]),
            share(2 * right[k], found[k] + true[k]),
            f"{int(true[k]):,}",
        ]
        for k in order
    ]
    cut = f" The {MOST_ROWS} most frequent of {len(labels):,} are shown." if len(labels) > MOST_ROWS else ""
    head = ["label", "precision", "recall", "F1", plural(unit)]
    return Section(title, [note(f"The most frequent first.{cut}"), table(head, rows, numbers=[1, 2, 3, 4])])
