"""The findings of a report on assignments: measures of links, and drawings of right, wrong and missed ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.report.drawings import picture
from maxmargin.report.findings import Findings, note
from maxmargin.report.html import Element
from maxmargin.report.intervals import agreement, mean_of, share_of
from maxmargin.report.sections import table
from maxmargin.structures.assignment.frames import read_columns

MOST_ROWS = 30  # rows of the largest example that is drawn
STEP, WIDTH = 22, 280  # pixels


def link_findings(model: Any, X: Any, Y: Any) -> Findings:
    """Measure rows and links, and rank examples by the number of rows with a wrong column."""
    found = model.predict(X)
    if len(found) != len(Y):
        raise ValueError(f"X has {len(found)} examples but Y has {len(Y)}; expected one assignment per example")
    pairs = [
        (read_columns(y, len(z), None, f"The true assignment of example {i}"), np.asarray(z))
        for i, (y, z) in enumerate(zip(Y, found, strict=True))
    ]
    rows, same = np.array([len(y) for y, _ in pairs]), np.array([int(np.sum(y == z)) for y, z in pairs])
    right = [np.sum((y == z) & (y >= 0)) for y, z in pairs]
    counts = right, [np.sum(z >= 0) for _, z in pairs], [np.sum(y >= 0) for y, _ in pairs]
    measures = [share_of("rows with the right column, or rightly alone", same, rows)]
    measures += agreement(["precision of links", "recall of links", "F1 of links"], *counts)
    measures.append(mean_of("examples without a mistake", same == rows))
    wrong = rows - same
    return Findings(
        unit="example",
        measures=measures,
        wrongness=wrong.astype(float),
        said=lambda i: f"{wrong[i]} of {rows[i]} rows have a wrong column",
        drawn=lambda i: _drawn(*pairs[i]),
        legend=note(
            "Rows on the left, columns on the right: ",
            Element("span", class_="key key-a"),
            "right links, ",
            Element("span", class_="key key-bad"),
            "wrong ones; dashed ones are true links that were missed.",
        ),
    )


def _drawn(truth: Any, found: Any) -> Any:
    if max(len(truth), int(max(truth.max(initial=-1), found.max(initial=-1))) + 1) > MOST_ROWS:
        listed = np.flatnonzero(truth != found)[:MOST_ROWS]
        said = note(f"There are {len(truth)} rows; up to {MOST_ROWS} that are wrong are listed. -1 is none.")
        return [said, table(["row", "true", "predicted"], [[i, truth[i], found[i]] for i in listed], numbers=[0, 1, 2])]
    n_columns = int(max(truth.max(initial=-1), found.max(initial=-1))) + 1
    height = STEP * max(len(truth), n_columns) + STEP
    left, right = 60, WIDTH - 60

    def link(i: int, j: int, kind: str) -> Element:
        ends = {"x1": left + 8, "y1": STEP * (i + 1) - 4, "x2": right - 8, "y2": STEP * (j + 1) - 4}
        return Element("line", class_=kind, **ends)

    drawn: list[Any] = []
    for i, (y, z) in enumerate(zip(truth.tolist(), found.tolist(), strict=True)):
        if y >= 0 and y != z:
            drawn.append(link(i, y, "line-bad thin missed"))
        if z >= 0:
            drawn.append(link(i, z, "line-a" if y == z else "line-bad"))
        alone = " ∅" if z < 0 else ""
        kind = None if y == z else "wrong-text"
        drawn.append(Element("text", f"row {i}{alone}", x=left, y=STEP * (i + 1), text_anchor="end", class_=kind))
    drawn += [Element("text", f"column {j}", x=right, y=STEP * (j + 1)) for j in range(n_columns)]
    return picture(drawn, WIDTH + 20, height, "assignment")
