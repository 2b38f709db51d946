"""Classes in a tree: what weights shared along paths and a loss that knows the tree are worth.

TaxonomySVC, flat, with half and with fully shared weights, times loss 1 per mistake or tree loss, and LinearSVC with
one class against the rest. C of every contestant is chosen among seven values on a random quarter of the training
images, for the accuracy by accuracy and for the tree loss by tree loss, the middle one where several are equally good;
then all training images are used. The tree loss, of ``benchmarks.quality``, is how many levels above the true class the
first common ancestor with the predicted class is: 0 to 3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.loaders import load_imclef07a
from benchmarks.quality import first_common_ancestor, median_best
from benchmarks.timing import Report, cpu_seconds

# --- data sets


@dataclass
class Problem:
    """One training and test part; labels are paths."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def imclef07a(quick: bool, n: int | None, draws: int) -> list[Problem]:
    """Edge histograms of radiographs scaled to [0, 1]: all training images, or several random draws of n of them."""
    X, labels = load_imclef07a("train")
    X_test, labels_test = load_imclef07a("test")
    y, y_test = np.array(labels), np.array(labels_test)
    problems = []
    for draw in range(1 if quick else draws):
        rows = np.random.default_rng(draw).permutation(len(y))[: 300 if quick else n]
        problems.append(Problem(X[rows] / 7, y[rows], X_test / 7, y_test))
    return problems


PROBLEMS: dict[str, Callable[[bool], list[Problem]]] = {
    "imclef07a": partial(imclef07a, n=None, draws=1),
    "imclef07a-few": partial(imclef07a, n=500, draws=5),
}

# --- solvers


class MaxmarginContestant:
    """TaxonomySVC to a gap of 1%."""

    grid = (30.0, 100.0, 300.0, 1e3, 3e3, 1e4, 3e4)

    def __init__(self, sharing: float, measure: str):
        self.sharing, self.measure = sharing, measure
        self.name = f"TaxonomySVC, sharing {sharing:g}, {'tree loss' if measure == 'tree' else '0/1 loss'}"
        self.gaps: list[float] = []

    def fit(self, c: float, X: np.ndarray, y: np.ndarray) -> Any:
        """A model for this C."""
        from maxmargin import TaxonomySVC

        model = TaxonomySVC(taxonomy="/", sharing=self.sharing, measure=self.measure, C=c, tol=0.01).fit(X, y)
        self.gaps.append(model.certificate_.relative_gap)
        return model


class LiblinearContestant:
    """LinearSVC, one class against the rest."""

    name = "LinearSVC, one against the rest"
    grid = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
    gaps: tuple[float, ...] = ()

    def fit(self, c: float, X: np.ndarray, y: np.ndarray) -> Any:
        """A model for this C."""
        from sklearn.svm import LinearSVC

        return LinearSVC(C=c, dual=False).fit(X, y)


# --- what is measured


def accuracy(y: np.ndarray, predicted: np.ndarray) -> float:
    """The share of right classes."""
    return float(np.mean(y == predicted))


def tree_loss(y: np.ndarray, predicted: np.ndarray) -> float:
    """The mean height of the first common ancestor."""
    return float(np.mean([first_common_ancestor(a, b) for a, b in zip(y.tolist(), predicted.tolist(), strict=True)]))


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """All contestants on one problem; nothing is repeated, because time is not the point."""
    report("reading the data")
    problems = PROBLEMS[name](quick)
    n, n_features = problems[0].X.shape
    draws = f" ({len(problems)} random draws)" if len(problems) > 1 else ""
    table = Table(
        title=f"{name}: {n} training images{draws}, {n_features} features, {len(problems[0].y_test)} test images"
    )
    table.add_column("solver")
    for heading in ("test\naccuracy %", "C", "test\ntree loss", "C", "CPU s of\nlast training", "largest gap"):
        table.add_column(heading, justify="right")
    contestants: list[MaxmarginContestant | LiblinearContestant] = [
        *(MaxmarginContestant(sharing, measure) for sharing in (0, 0.5, 1) for measure in ("error", "tree")),
        LiblinearContestant(),
    ]
    for contestant in contestants:
        found: list[tuple[float, float, float, float, float]] = []
        for i, problem in enumerate(problems):
            report(f"{contestant.name}: {i + 1} of {len(problems)}")
            found.append(_contest(contestant, problem))
        right, c_right, loss, c_loss, seconds = zip(*found, strict=True)
        table.add_row(
            contestant.name,
            f"{100 * np.mean(right):.2f}",
            f"{np.median(c_right):g}",
            f"{np.mean(loss):.3f}",
            f"{np.median(c_loss):g}",
            f"{np.mean(seconds):.2f}",
            f"{100 * max(contestant.gaps):.2g}%" if contestant.gaps else "",
        )
    return table


def _contest(contestant: Any, problem: Problem) -> tuple[float, float, float, float, float]:
    """Accuracy and its C, tree loss and its C, and CPU seconds of the training with the last."""
    kept, held_out = np.split(np.random.default_rng(0).permutation(len(problem.y)), [len(problem.y) * 3 // 4])
    predicted = []
    for c in contestant.grid:
        predicted.append(contestant.fit(c, problem.X[kept], problem.y[kept]).predict(problem.X[held_out]))
    truth = problem.y[held_out]
    c_right = contestant.grid[median_best([accuracy(truth, guess) for guess in predicted])]
    c_loss = contestant.grid[median_best([-tree_loss(truth, guess) for guess in predicted])]
    right = accuracy(problem.y_test, contestant.fit(c_right, problem.X, problem.y).predict(problem.X_test))
    model, seconds = cpu_seconds(partial(contestant.fit, c_loss, problem.X, problem.y))
    return right, c_right, tree_loss(problem.y_test, model.predict(problem.X_test)), c_loss, seconds
