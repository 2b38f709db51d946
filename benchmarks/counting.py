"""Counting-based training: subsets of labels, and labels in a tree.

``yeast-multilabel`` is the experiment of Gärtner and Vembu 2009, Figure 1: 14 functions of 1500 genes, polynomial
kernels (⟨x, z⟩ + 1)^d of degree 2 to 9. CountingMultilabel with the paper's λ and with one chosen beside one SVM per
label (scikit-learn's SVC) with the same kernel, one C for all labels. λ and C are chosen on a random third of the
training genes, for each of the two measures by that measure, among multiples of k(x, x) = 2^d and its inverse. Hamming
loss is the share of wrong labels; ranking loss the share of wrongly ordered pairs of a label that a gene has and one
that it has not.

``imclef07a-counting`` are the radiographs of ``benchmarks.taxonomy``: CountingClassifier without and with the tree
(counting.HierarchyLabels), linear on all images and with Gaussian kernels on 3000 random ones, because training takes
time cubic in their number; beside them MulticlassSVC, TaxonomySVC and SVC. All choose their regularisation, and the
width of the kernel, for the tree loss on a random quarter of their training images. Losses: 0/1; nodes, in how many
nodes of the tree the two paths differ; ℓ_H, in how many nodes that have no such node above them (Gärtner and Vembu
2009, Sect. 6.2); tree, the height of the first common ancestor. Where all leaves are at one depth, as here, the second
is twice the last, and the third twice the first.

``counting-penalties`` is what one gets without choosing anything: the paper's λ (alpha=None) beside the default, which
is chosen by leave-one-out, and the same for similarities. Three of Mulan's sets (Hamming loss, and the share of rows
with a wrong label; features standardised, linear and the default kernel) and the radiographs with and without their
tree (0/1 and tree loss; linear on all, the default kernel on 2000).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.loaders import load_imclef07a, load_mulan
from benchmarks.quality import first_common_ancestor, median_best
from benchmarks.timing import Report, cpu_seconds

# --- subsets of labels


def hamming_loss(Y: np.ndarray, scores: np.ndarray) -> float:
    """The share of labels on the wrong side of 0."""
    return float(np.mean((scores > 0) != (Y > 0)))


def ranking_loss(Y: np.ndarray, scores: np.ndarray) -> float:
    """The share of pairs, one label of the row and one that is not, in the wrong order, mean over rows.

    Equal scores are half wrong; rows without such a pair count as 0.
    """
    losses = []
    for y, f in zip(Y > 0, scores, strict=True):
        lead = np.subtract.outer(f[y], f[~y])
        losses.append(float(np.mean((lead < 0) + (lead == 0) / 2)) if lead.size else 0.0)
    return float(np.mean(losses))


class Counting:
    """CountingMultilabel; the kernel matrix is precomputed, as it is for the SVMs."""

    name = "CountingMultilabel"

    def grid(self, scale: float) -> list[float]:
        """λ to choose from, for kernel values of this size."""
        return [factor * scale for factor in (1e-3, 1e-2, 3e-2, 1e-1, 3e-1, 1.0, 10.0)]

    def path(self, K: np.ndarray, Y: np.ndarray, penalties: Iterable[float]) -> list[Any]:
        """Models for all penalties."""
        from maxmargin import CountingMultilabel

        return CountingMultilabel(kernel="precomputed").fit_path(K, Y, list(penalties))


class OneAgainstTheRest:
    """An SVC for every label."""

    name = "SVC per label"

    def grid(self, scale: float) -> list[float]:
        """C to choose from, for kernel values of this size."""
        return [factor / scale for factor in (0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)]

    def __init__(self, K: np.ndarray | None = None, Y: np.ndarray | None = None, c: float = 1.0):
        from sklearn.svm import SVC

        self.models = [SVC(C=c, kernel="precomputed", cache_size=500).fit(K, y) for y in ([] if Y is None else Y.T)]

    def path(self, K: np.ndarray, Y: np.ndarray, penalties: Iterable[float]) -> list[Any]:
        """Models for all C."""
        return [OneAgainstTheRest(K, Y, c) for c in penalties]

    def decision_function(self, K: np.ndarray) -> np.ndarray:
        """(n, labels)."""
        return np.column_stack([model.decision_function(K) for model in self.models])


def yeast_multilabel(name: str, quick: bool, report: Report) -> Table:
    """Figure 1 of the paper as a table."""
    report("reading the data")
    X, Y, labels = load_mulan("yeast", "train")
    X_test, Y_test, _ = load_mulan("yeast", "test")
    rows = np.random.default_rng(0).permutation(len(X))[: 450 if quick else None]
    kept, held_out = np.split(rows, [len(rows) * 2 // 3])
    table = Table(title=f"{name}: {len(rows)} training genes, {len(labels)} labels, {len(X_test)} test genes")
    for heading in ("degree", "solver"):
        table.add_column(heading)
    for heading in ("Hamming\nloss %", "λ or C", "ranking\nloss %", "λ or C", "CPU s of\none training"):
        table.add_column(heading, justify="right")
    for degree in (2, 5) if quick else range(2, 10):
        K, K_test = ((Z @ X.T + 1) ** degree for Z in (X, X_test))

        def tested(model: Any, K_test: np.ndarray = K_test) -> tuple[float, float]:
            scores = model.decision_function(K_test[:, rows])
            return hamming_loss(Y_test, scores), ranking_loss(Y_test, scores)

        for contestant in (Counting(), OneAgainstTheRest()):
            report(f"degree {degree}: {contestant.name}")
            grid = contestant.grid(2.0**degree)
            tried = contestant.path(K[np.ix_(kept, kept)], Y[kept], grid)
            scores = [model.decision_function(K[np.ix_(held_out, kept)]) for model in tried]
            chosen = [
                grid[median_best([-loss(Y[held_out], found) for found in scores])]
                for loss in (hamming_loss, ranking_loss)
            ]
            train = partial(contestant.path, K[np.ix_(rows, rows)], Y[rows])
            models, seconds = zip(*(cpu_seconds(partial(train, [each])) for each in chosen), strict=True)
            found = [tested(model)[k] for k, (model,) in enumerate(models)]
            table.add_row(
                str(degree),
                contestant.name,
                f"{100 * found[0]:.2f}",
                f"{chosen[0]:.2g}",
                f"{100 * found[1]:.2f}",
                f"{chosen[1]:.2g}",
                f"{seconds[0]:.2f}",
            )
            if isinstance(contestant, Counting):
                (model,), seconds_once = cpu_seconds(partial(train, [1.0]))
                found = list(tested(model))
                row = (f"{100 * found[0]:.2f}", "1", f"{100 * found[1]:.2f}", "1", f"{seconds_once:.2f}")
                table.add_row(str(degree), "… with the paper's λ", *row)
    return table


# --- labels in a tree


def nodes_above(label: str) -> set[str]:
    """The nodes of a path, the leaf included, the root not."""
    steps = label.split("/")
    return {"/".join(steps[: k + 1]) for k in range(len(steps))}


def first_differences(a: str, b: str) -> int:
    """The nodes in which two paths differ while they agree in all nodes above: ℓ_H."""
    different = nodes_above(a) ^ nodes_above(b)
    return sum(not (nodes_above(node) - {node}) & different for node in different)


TREE_LOSSES: dict[str, Callable[[str, str], float]] = {
    "0/1\nloss %": lambda a, b: 100.0 * (a != b),
    "nodes": lambda a, b: len(nodes_above(a) ^ nodes_above(b)),
    "ℓ_H": first_differences,
    "tree\nloss": first_common_ancestor,
}


def mean_loss(loss: Callable[[str, str], float], y: np.ndarray, predicted: np.ndarray) -> float:
    """Over all images."""
    return float(np.mean([loss(a, b) for a, b in zip(y.tolist(), predicted.tolist(), strict=True)]))


@dataclass
class Contestant:
    """A name, how many training images it gets (None: all), and how it is trained for a setting and penalties."""

    name: str
    n: int | None
    settings: tuple[float, ...]  # of the width γ of the kernel; (0,) where there is none
    penalties: tuple[float, ...]
    path: Callable[[float, tuple[float, ...], np.ndarray, np.ndarray], list[Any]]


def contestants(leaves: list[str]) -> list[Contestant]:
    """All of them; leaves are the labels that may occur."""
    from sklearn.svm import SVC

    from maxmargin import CountingClassifier, MulticlassSVC, TaxonomySVC
    from maxmargin.counting import Classes, HierarchyLabels

    lams, rbf_lams, cs = (1e-3, 1e-2, 1e-1, 1.0, 10.0), (1e-5, 1e-4, 1e-3, 1e-2), (1e3, 1e4, 1e5)
    gammas = (0.03, 0.1, 0.3)
    sets = {"flat": Classes(leaves), "tree": HierarchyLabels("/", leaves)}

    def counting(kind: str, kernel: str) -> Any:
        return lambda gamma, penalties, X, y: CountingClassifier(
            sets[kind], kernel=kernel, gamma=gamma or None, tol=1e-6
        ).fit_path(X, y, penalties)

    return [
        *(Contestant(f"CountingClassifier, {kind}", None, (0.0,), lams, counting(kind, "linear")) for kind in sets),
        Contestant(
            "MulticlassSVC", None, (0.0,), cs, lambda _, cs, X, y: [MulticlassSVC(C=c, tol=0.01).fit(X, y) for c in cs]
        ),
        Contestant(
            "TaxonomySVC, tree loss",
            None,
            (0.0,),
            cs,
            lambda _, cs, X, y: [TaxonomySVC("/", C=c, tol=0.01).fit(X, y) for c in cs],
        ),
        *(
            Contestant(f"CountingClassifier, {kind}, rbf", 3000, gammas, rbf_lams, counting(kind, "rbf"))
            for kind in sets
        ),
        Contestant(
            "SVC, one against one, rbf",
            3000,
            gammas,
            (1.0, 10.0, 100.0),
            lambda gamma, cs, X, y: [SVC(C=c, gamma=gamma).fit(X, y) for c in cs],
        ),
    ]


def imclef07a_counting(name: str, quick: bool, report: Report) -> Table:
    """All contestants on the radiographs."""
    report("reading the data")
    X, labels = load_imclef07a("train")
    X_test, labels_test = load_imclef07a("test")
    y, y_test = np.array(labels), np.array(labels_test)
    leaves = sorted({*labels, *labels_test})
    order = np.random.default_rng(0).permutation(len(y))[: 600 if quick else None]
    X, y, X_test = X[order] / 7, y[order], X_test / 7
    table = Table(title=f"{name}: {X.shape[1]} features, {len(leaves)} classes, {len(y_test)} test images")
    table.add_column("solver")
    for heading in ("training\nimages", *TREE_LOSSES, "γ", "λ or C", "CPU s of\none training"):
        table.add_column(heading, justify="right")
    for each in contestants(leaves):
        report(each.name)
        rows = np.arange(len(y))[: each.n and (300 if quick else each.n)]
        kept, held_out = np.split(rows, [len(rows) * 3 // 4])
        tried = list(product(each.settings[:1] if quick else each.settings, each.penalties))
        marks = []
        for gamma in dict.fromkeys(gamma for gamma, _ in tried):
            for model in each.path(gamma, each.penalties, X[kept], y[kept]):
                marks.append(-mean_loss(first_common_ancestor, y[held_out], model.predict(X[held_out])))
        gamma, penalty = tried[median_best(marks)]
        (model,), seconds = cpu_seconds(partial(each.path, gamma, (penalty,), X[rows], y[rows]))
        found = model.predict(X_test)
        losses = (f"{mean_loss(loss, y_test, found):.3f}" for loss in TREE_LOSSES.values())
        width = f"{gamma:g}" if gamma else ""
        table.add_row(each.name, str(len(rows)), *losses, width, f"{penalty:g}", f"{seconds:.2f}")
    return table


# --- which λ

CHOICES: dict[str, dict[str, Any]] = {
    "the paper's λ": {"alpha": None},
    "λ by leave-one-out": {},
    "similarities, λ by leave-one-out": {"target": "similarity"},
}


def counting_penalties(name: str, quick: bool, report: Report) -> Table:
    """Losses on test rows for every choice of λ."""
    from maxmargin import CountingClassifier, CountingMultilabel
    from maxmargin.counting import Classes, HierarchyLabels

    table = Table(title=f"{name}: losses in percent (tree loss: edges), λ and CPU s of one training")
    for heading in ("data", "kernel"):
        table.add_column(heading)
    for heading in ("rows", *CHOICES):
        table.add_column(heading, justify="right")

    def add(data: str, kernel: str, rows: int, fitted: Callable[[dict[str, Any]], tuple[Any, str]]) -> None:
        cells = []
        for choice, options in CHOICES.items():
            report(f"{data}, {kernel}: {choice}")
            (model, losses), seconds = cpu_seconds(partial(fitted, {"kernel": kernel, "tol": 1e-6, **options}))
            cells.append(f"{losses}\n{model.alpha_:.2g}, {seconds:.1f} s")
        table.add_row(data, kernel, str(rows), *cells)

    for data in ("emotions",) if quick else ("emotions", "scene", "yeast"):
        (X, Y, _), (X_test, Y_test, _) = (load_mulan(data, split) for split in ("train", "test"))
        mean, scale = X.mean(0), np.where(X.std(0) > 0, X.std(0), 1.0)

        def labelled(
            options: dict[str, Any],
            A: Any = (X - mean) / scale,
            B: Any = (X_test - mean) / scale,
            Y: Any = Y,
            truth: Any = Y_test,
        ) -> tuple[Any, str]:
            model = CountingMultilabel(**options).fit(A, Y)
            wrong = model.predict(B) != truth
            return model, f"{100 * wrong.mean():.2f} / {100 * wrong.any(1).mean():.1f}"

        for kernel in ("linear", "rbf"):
            add(data, kernel, len(X), labelled)
    X, labels = load_imclef07a("train")
    X_test, labels_test = load_imclef07a("test")
    y, y_test = np.array(labels), np.array(labels_test)
    leaves = sorted({*labels, *labels_test})
    order = np.random.default_rng(0).permutation(len(y))
    for data, outputs in {"radiographs": Classes(leaves), "… in a tree": HierarchyLabels("/", leaves)}.items():
        for kernel, n in (("linear", 500 if quick else len(y)), ("rbf", 300 if quick else 2000)):

            def classified(options: dict[str, Any], rows: Any = order[:n], outputs: Any = outputs) -> tuple[Any, str]:
                model = CountingClassifier(outputs, **options).fit(X[rows] / 7, y[rows])
                found = model.predict(X_test / 7)
                tree = mean_loss(first_common_ancestor, y_test, found)
                return model, f"{100 * np.mean(found != y_test):.2f} / {tree:.3f}"

            add(data, kernel, n, classified)
    return table


PROBLEMS: dict[str, Callable[[str, bool, Report], Table]] = {
    "counting-penalties": counting_penalties,
    "yeast-multilabel": yeast_multilabel,
    "imclef07a-counting": imclef07a_counting,
}


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """One problem; nothing is repeated, because time is not the point."""
    return PROBLEMS[name](name, quick, report)
