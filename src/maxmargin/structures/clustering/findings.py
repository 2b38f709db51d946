"""The findings of a report on clusterings: pairs and items in the right cluster, and clusters with their mistakes."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.report.findings import Findings, Section, note
from maxmargin.report.html import Element
from maxmargin.report.intervals import ReportedMeasure, mean_of
from maxmargin.report.sections import table
from maxmargin.structures.clustering.labels import cluster_numbers
from maxmargin.structures.clustering.measures import COUNTED, f1_of_sums, overlaps_of

MOST_ITEMS = 200  # items drawn per set
MOST_LINKS = 12  # wrong links listed per set
NAMES = {"b_cubed": "B³", "pairwise": "pairs in one cluster", "muc": "MUC"}


def cluster_findings(model: Any, X: Any, Y: Any) -> Findings:
    """Measure B³, pairs and MUC, and rank the sets by the number of wrongly joined or separated pairs."""
    predicted = model.predict(X)
    if len(predicted) != len(Y):
        raise ValueError(f"X has {len(predicted)} sets but Y has {len(Y)}; expected one clustering per set")
    truth = [cluster_numbers(y, len(z), f"example {i}") for i, (y, z) in enumerate(zip(Y, predicted, strict=True))]
    found = [cluster_numbers(z, len(z), f"example {i}") for i, z in enumerate(predicted)]
    overlaps = [overlaps_of(y, z) for y, z in zip(truth, found, strict=True)]
    measures = []
    for name, said in NAMES.items():
        counts = np.array([COUNTED[name](each) for each in overlaps], dtype=float).reshape(-1, 4)
        measures.append(ReportedMeasure(f"F1 of {said}", len(counts), f1_of_sums, counts))
    measures.append(mean_of("sets without a mistake", [len(o.shared) == len(o.true) == len(o.found) for o in overlaps]))
    pairs = np.array([COUNTED["pairwise"](each) for each in overlaps], dtype=float).reshape(-1, 4)
    separated, joined = pairs[:, 3] - pairs[:, 2], pairs[:, 1] - pairs[:, 0]
    sizes = [[len(np.unique(y)), len(np.unique(z))] for y, z in zip(truth, found, strict=True)]
    return Findings(
        unit="set",
        measures=measures,
        wrongness=separated + joined,
        said=lambda i: (
            f"{len(truth[i])} items; {separated[i]:.0f} pairs are wrongly separated, {joined[i]:.0f} wrongly joined; "
            f"{sizes[i][1]} predicted and {sizes[i][0]} true clusters"
        ),
        drawn=lambda i: _drawn(model, X, i, truth[i], found[i]),
        legend=note("Boxes are predicted clusters; items have the colour and the number of their true cluster."),
        sections=(_sizes(truth, found),),
    )


def _sizes(truth: list[Any], found: list[Any]) -> Section:
    """Tabulate the number and the sizes of true and predicted clusters."""

    def row(name: str, clusterings: list[Any]) -> list[Any]:
        each = [np.bincount(clusters) for clusters in clusterings]
        sizes = np.concatenate(each) if each else np.zeros(0, dtype=int)
        mean = f"{sizes.mean():.2f}" if len(sizes) else "–"
        largest = f"{int(sizes.max(initial=0)):,}"
        return [name, f"{len(sizes):,}", mean, largest, f"{int(np.sum(sizes == 1)):,}"]

    head = ["", "clusters", "mean size", "largest size", "clusters of one item"]
    return Section(
        "Sizes of clusters", table(head, [row("true", truth), row("predicted", found)], numbers=[1, 2, 3, 4])
    )


def _drawn(model: Any, X: Any, i: int, truth: Any, found: Any) -> Any:
    shown = np.flatnonzero(np.arange(len(truth)) < MOST_ITEMS)
    groups = [[k for k in shown if found[k] == c] for c in dict.fromkeys(found[shown].tolist())]
    boxes = [
        Element(
            "div",
            [
                Element(
                    "span",
                    Element("span", class_=f"key fill label{truth[k] % 8}"),
                    f"item {k} (true cluster {truth[k]})",
                    class_="chip" if truth[k] == np.bincount(truth[group]).argmax() else "chip wrong",
                )
                for k in group
            ],
            class_="group",
        )
        for group in groups
    ]
    cut = f"The first {MOST_ITEMS} of {len(truth)} items are shown." if len(truth) > MOST_ITEMS else None
    wrong = [link for link in model.links([X[i]])[0] if truth[link.first] != truth[link.second]][:MOST_LINKS]
    rows = [[link.first, link.second, f"{link.score:.4g}"] for link in wrong]
    linked = [Element("h4", "Strongest links between true clusters"), table(["item", "item", "score"], rows, [0, 1, 2])]
    return [Element("div", boxes, class_="chips"), note(cut) if cut else None, linked if rows else None]
