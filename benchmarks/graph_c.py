"""Which C, and which edges: GraphLabeler along a path of C, on a part that was not trained on.

Small parts of the data sets of graphs.py, so that all of it takes minutes. Every row is a path of C, trained from small
to large; the best value on the validation part is then measured on the test part. Beside it are the scores of the
classifier alone, and the simplest model of neighbours: these scores and one number λ for equal neighbours, chosen on
the same validation part, with α-expansion. What counts are pixels (of snakes, one per node).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from rich.table import Table
from sklearn.base import clone

from benchmarks.graphs import WARM_UP, classifier, superpixels
from benchmarks.loaders import load_horses, load_msrc21, load_snakes, snake_grids
from benchmarks.timing import Report, cpu_seconds
from maxmargin import GraphLabeler
from maxmargin.inference import PairwiseModel, best_expansion
from maxmargin.tasks import Nodes, Weighted

PATH = (0.1, 1.0, 10.0, 100.0)
LAMBDAS = (0.0, 0.1, 0.2, 0.5, 1.0, 2.0, 4.0, 8.0)
MOST_PASSES = 60
QUICK = 12  # graphs


class Part(NamedTuple):
    """Graphs and their labels, with the weights of nodes."""

    X: list[Nodes]
    Y: list[Any]

    def taken(self, which: slice) -> Part:
        return Part(self.X[which], self.Y[which])


class Parts(NamedTuple):
    """What one data set is divided into."""

    train: Part
    validation: Part
    test: Part
    similarities: list[int]  # edge features that λ may multiply; -1 is the constant 1
    cuts: bool = False  # whether labels are two, and edge features >= 0
    path: tuple[float, ...] = PATH


def msrc21() -> Parts:
    """Every sixteenth training photograph, and C up to 1: C = 10 takes longer than all the rest together."""
    train, held_out, test = (_superpixels(load_msrc21(part)) for part in ("train", "validation", "test"))
    few = train.taken(slice(None, None, 16))
    return Parts(few, held_out, test.taken(slice(None, None, 2)), [-1, 1], path=(0.01, 0.1, 1.0))


def horses() -> Parts:
    train, test = _superpixels(load_horses("train")), _superpixels(load_horses("test"))
    return Parts(train.taken(slice(None, None, 2)), train.taken(slice(1, None, 2)), test, [-1, 1], cuts=True)


def snakes() -> Parts:
    parts = []
    for name in ("train", "test"):
        images, Y = load_snakes(name)
        parts.append(Part(snake_grids(images, False), [Weighted(y.ravel(), np.ones(y.size)) for y in Y]))
    return Parts(parts[0].taken(slice(0, 40)), parts[0].taken(slice(40, 80)), parts[1].taken(slice(0, 50)), [-1])


def _superpixels(part: Any) -> Part:
    problem = superpixels([part], part, [], quick=False)
    return Part(problem.inputs("square roots").train, problem.Y)


PROBLEMS: dict[str, Callable[[], Parts]] = {"weizmann-horses-c": horses, "snakes-c": snakes, "msrc21-c": msrc21}
ROWS: dict[str, dict[str, Any]] = {
    "features, full tables": {},
    "features, Potts": {"pairwise": "potts"},
    "stack, full tables": {"stack": classifier()},
    "stack, Potts": {"stack": classifier(), "pairwise": "potts"},
}
ATTRACTIVE = {f"{row}, attractive": {**options, "attractive": True} for row, options in ROWS.items()}


def right(found: list[np.ndarray], Y: list[Any]) -> float:
    """The share of what counts that is right, in per cent."""
    hit = total = 0.0
    for z, y in zip(found, Y, strict=True):
        known = np.array([label is not None for label in y.labels])
        hits = np.array([a == b for a, b in zip(z.ravel().tolist(), y.labels, strict=True)])
        hit, total = hit + float(np.sum(y.costs * (hits & known))), total + float(np.sum(y.costs * known))
    return 100 * hit / total


def smoothed(scored: list[Nodes], classes: list[Any], strength: float, column: int) -> list[np.ndarray]:
    """Labels by scores of nodes, and λ for equal neighbours."""
    found = []
    for x in scored:
        weight = np.ones(len(x.edges)) if column < 0 else x.edge_features[:, column]
        pair = strength * weight[:, None, None] * np.eye(len(classes))
        model = PairwiseModel.of(x.features[:, : len(classes)], x.edges, pair)
        found.append(np.array(classes, dtype=object)[best_expansion(model).labels])
    return found


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """Every path once."""
    report("reading the data")
    parts = PROBLEMS[name]()
    if quick:
        parts = Parts(*(part.taken(slice(0, QUICK)) for part in parts[:3]), *parts[3:])
    n_train, n_held_out, n_test = (len(part.X) for part in parts[:3])
    table = Table(
        title=f"{name}: right on the validation part, %, along a path of C",
        caption=f"{n_train} graphs for training, {n_held_out} for validation, {n_test} for testing. CPU s: of the "
        "whole path. Test: at the C (or λ) that is best on the validation part.",
    )
    for heading in ("model", *(f"C = {C:g}" for C in parts.path), "test", "CPU s"):
        table.add_column(heading, justify="left" if heading == "model" else "right")
    few, stacked = slice(None, None, max(1, n_train // WARM_UP)), GraphLabeler()
    for row, options in {**ROWS, **(ATTRACTIVE if parts.cuts else {})}.items():
        report(row)
        model = GraphLabeler(unlabelled="leave_out", tol=0.01, max_passes=MOST_PASSES, **options)
        clone(model).set_params(max_passes=3).fit(*parts.train.taken(few))  # compiles
        path, seconds = cpu_seconds(partial(model.fit_path, *parts.train, parts.path))
        values = [right(each.predict(parts.validation.X), parts.validation.Y) for each in path]
        best = path[int(np.argmax(values))]
        test = right(best.predict(parts.test.X), parts.test.Y)
        table.add_row(row, *(f"{v:.1f}" for v in values), f"{test:.1f}", f"{seconds:.1f}")
        stacked = best if "stack" in options else stacked
    report("a smoother of the same scores")
    held_out, new = (stacked.stack_.transform(part.X) for part in (parts.validation, parts.test))
    classes, choices = stacked.classes_, [(a, c) for c in parts.similarities for a in LAMBDAS]
    values = [right(smoothed(held_out, classes, *choice), parts.validation.Y) for choice in choices]
    simple = {"scores of the classifier alone": 0, "… and a tuned Potts smoother": int(np.argmax(values))}
    for label, k in simple.items():
        test = right(smoothed(new, classes, *choices[k]), parts.test.Y)
        table.add_row(label, f"{values[k]:.1f}", *[""] * (len(parts.path) - 1), f"{test:.1f}", "")
    return table
