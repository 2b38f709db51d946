"""Sections of a report on labelled graphs: nodes, labels at edges, and pictures of graphs with their mistakes."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.base.errors import TaskError
from maxmargin.inputs.labels.confusion import LabelConfusion
from maxmargin.report.drawings import colour_of, picture, side_by_side
from maxmargin.report.findings import Findings, Section, note
from maxmargin.report.html import Element, short
from maxmargin.report.intervals import mean_of, share_of
from maxmargin.report.scoring.reliability import reliability
from maxmargin.report.sections import (
    LabelCounts,
    confusion_section,
    pair_section,
    reliability_section,
    scores_of_labels,
    table,
)
from maxmargin.structures.graphs.node_labels import NodeLabels, flat_labels, read_labels
from maxmargin.structures.graphs.nodes import Nodes, read_all

MOST_NODES = 60  # limit for a graph that is drawn, and for a list of wrong nodes
MOST_PIXELS = 96  # along a side of a picture
SIDE = 240  # pixels of the page


def graph_findings(model: Any, X: Any, Y: Any) -> Findings:
    """Compute the findings for nodes; graphs are ordered by the number of wrong nodes."""
    found = model.predict(X)
    if len(found) != len(Y):
        raise ValueError(f"X has {len(found)} graphs but Y has {len(Y)}")
    graphs = read_all(X)
    truth = [read_labels(y, z.size, z.shape) for y, z in zip(Y, found, strict=True)]
    right = [y.shown_by(z) for y, z in zip(truth, found, strict=True)]
    known = [y.known for y in truth]
    n_known, n_right = np.array([k.sum() for k in known]), np.array([r.sum() for r in right])
    wrong = n_known - n_right
    labels = [_named(y) for y in truth]
    others = [np.asarray(flat_labels(z)).tolist() for z in found]
    pairs = ((a, b) for y, z in zip(labels, others, strict=True) for a, b in zip(y, z, strict=True) if a is not None)
    confusion = LabelConfusion.of(pairs)
    sections = [confusion_section(confusion, "node"), scores_of_labels(LabelCounts.of(confusion), "node")]
    sections.append(_sure(model, X, labels))
    return Findings(
        unit="graph",
        measures=[share_of("right labels", n_right, n_known), mean_of("graphs without a mistake", wrong == 0)],
        wrongness=wrong.astype(float),
        said=lambda i: f"{wrong[i]} of {n_known[i]} labelled nodes are wrong",
        drawn=lambda i: _drawn(graphs[i], labels[i], others[i], known[i] & ~right[i], model.classes_),
        legend=[
            note("True labels beside predicted ones; rings, or the third picture, show where they differ."),
            _keys(model.classes_),
        ],
        sections=tuple(sections),
    )


def learnt_edges(model: Any) -> list[Section]:
    """Return tables of the weights of the labels at both ends of an edge."""
    edges = model.weights_["edges"]
    if edges.values.ndim == 1:
        rows = [[short(name), f"{value:+.4g}"] for name, value in zip(edges.names[0], edges.values, strict=True)]
        how = note("Weights of features of edges, for equal labels at both ends.")
        return [Section("Edges", [how, table(["feature", "weight"], rows, numbers=[1])])]
    names, labels = edges.names[0], edges.names[1]
    said = "Weight of the labels at the first and at the second end of an edge, times the feature."
    titles = ["Edges" if len(names) == 1 else f"Edges: {short(name, 40)}" for name in names]
    shown = zip(titles[:6], edges.values, strict=False)
    sections = [pair_section(title, said, labels, labels, values, "first ↓ second →") for title, values in shown]
    if len(names) > 6:
        last = sections[-1]
        cut = note(f"The first 6 of {len(names)} features of edges are shown; the table of weights has the others.")
        sections[-1] = Section(last.title, [last.content, cut])
    return sections


def _sure(model: Any, X: Any, labels: list[list[Any]]) -> Section:
    try:
        found = reliability(labels, model.predict_proba(X), model.classes_)
    except (ValueError, TaskError, MemoryError) as error:  # for graphs with cycles and a large treewidth
        return Section("How sure it is", note(f"There are no probabilities of these graphs: {error}"))
    return reliability_section(found, "node")


def _named(labels: NodeLabels) -> list[Any]:
    kinds = list(labels.kinds)
    return [kinds[place] for place in labels.kind_of.tolist()]


def _keys(classes: Any) -> Element:
    shown = list(classes)[:24]
    keys = [
        [Element("span", class_=f"key fill {colour_of(k)}"), short(label, 30), " "] for k, label in enumerate(shown)
    ]
    more = " … Colours repeat after eight labels." if len(classes) > 8 else ""
    return Element("p", keys, more, class_="keys")


def _drawn(graph: Nodes, truth: list[Any], found: list[Any], wrong: Any, classes: Any) -> Any:
    numbers = {label: k for k, label in enumerate(classes)}
    true, other = ([numbers.get(label, -1) for label in each] for each in (truth, found))
    if len(graph.label_shape) == 2:
        return _pixels(graph.label_shape, np.array(true), np.array(other), wrong)
    if graph.n_nodes <= MOST_NODES:
        return side_by_side({"true": _circle(graph, true, wrong), "predicted": _circle(graph, other, wrong)})
    rows = [[v, short(truth[v], 40), short(found[v], 40)] for v in np.flatnonzero(wrong)[:MOST_NODES]]
    said = note(f"The graph has {graph.n_nodes:,} nodes; up to {MOST_NODES} that are wrong are listed.")
    return [said, table(["node", "true", "predicted"], rows, numbers=[0])]


def _circle(graph: Nodes, numbers: list[int], wrong: Any) -> Element:
    """Draw the nodes on a circle; wrong ones have a ring."""
    n = graph.n_nodes
    angles = 2 * np.pi * np.arange(n) / max(n, 1) - np.pi / 2
    x, y = SIDE / 2 + 0.42 * SIDE * np.cos(angles), SIDE / 2 + 0.42 * SIDE * np.sin(angles)
    drawn: list[Any] = [
        Element("line", x1=float(x[u]), y1=float(y[u]), x2=float(x[v]), y2=float(y[v]), class_="tick")
        for u, v in graph.edges.tolist()[: 20 * MOST_NODES]
    ]
    size = 9 if n <= 24 else 6
    for v in range(n):
        at = {"cx": float(x[v]), "cy": float(y[v])}
        colour = colour_of(numbers[v]) if numbers[v] >= 0 else ""
        drawn.append(Element("circle", r=size, class_=f"fill {colour}", **at))
        if wrong[v]:
            drawn.append(Element("circle", r=size + 3, class_="cross", **at))
    return picture(drawn, SIDE, SIDE, "graph")


def _pixels(shape: tuple[int, ...], truth: Any, found: Any, wrong: Any) -> Any:
    """Draw three pictures: true labels, predicted labels, mistakes; large ones with some of their pixels."""
    step = -(-max(shape) // MOST_PIXELS)
    panels = [each.reshape(shape)[::step, ::step] for each in (truth, found, np.where(wrong, 6, -1))]
    size = SIDE / max(panels[0].shape)
    pictures = {}
    for name, panel in zip(("true", "predicted", "mistakes"), panels, strict=True):
        height, width = (size * each for each in panel.shape)
        frame = Element("rect", x=0, y=0, width=width, height=height, fill="none", class_="tick")
        runs = [
            Element("path", d=_runs(panel == k, size), class_=f"fill {colour_of(int(k))}")
            for k in np.unique(panel[panel >= 0])
        ]
        pictures[name] = picture([runs, frame], width, height, f"{name} labels")
    cut = note(f"Every {step}th pixel in each direction is shown, of {shape[0]} × {shape[1]}.") if step > 1 else None
    return [side_by_side(pictures), cut]


def _runs(mask: Any, size: float) -> str:
    """Return neighbouring pixels of a row as one rectangle each."""
    pieces = []
    for r, row in enumerate(np.pad(mask.astype(np.int8), ((0, 0), (1, 1)))):
        changes = np.flatnonzero(np.diff(row))
        for a, b in zip(changes[::2], changes[1::2], strict=True):
            pieces.append(f"M{a * size:.4g} {r * size:.4g}h{(b - a) * size:.4g}v{size:.4g}h{-(b - a) * size:.4g}z")
    return "".join(pieces)
