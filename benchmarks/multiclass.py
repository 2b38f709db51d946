"""Multiclass classification: scikit-learn's LinearSVC(multi_class="crammer_singer") against MulticlassSVC.

Both minimise the same function: liblinear's c times a sum is maxmargin's C = c·n times a mean, and both treat
the intercept as the weight of one more feature that is always 1. LinearSVC runs at its default tolerance and
number of iterations, which do not always suffice; the table says so. The objective is computed by
``benchmarks.objective``.

c was chosen among 0.001, 0.003, … 0.3, 1 by the accuracy of LinearSVC on a random fifth of the training part
that was held out, never by the test part. On 20newsgroups the largest was the best.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.loaders import load_20newsgroups, load_mnist, load_usps
from benchmarks.objective import crammer_singer
from benchmarks.timing import Contestant, Report, Timing, race

# --- data sets


@dataclass
class Problem:
    """One training and test part, with liblinear's c."""

    X: Any
    y: np.ndarray  # 0 … K-1
    X_test: Any
    y_test: np.ndarray
    c: float


def mnist(quick: bool, c: float, n: int) -> Problem:
    """The first n training images; all test images."""
    X, y = load_mnist("train")
    n = 1000 if quick else n
    return Problem(X[:n].copy(), y[:n], *load_mnist("test"), c)


def usps(quick: bool, c: float) -> Problem:
    """All images."""
    X, y = load_usps("train")
    n = 1000 if quick else len(y)
    return Problem(X[:n].copy(), y[:n], *load_usps("test"), c)


def newsgroups(quick: bool, c: float) -> Problem:
    """All posts as sparse tf-idf with logarithmic counts, rows of length 1."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts, labels = load_20newsgroups("train")
    texts_test, labels_test = load_20newsgroups("test")
    if quick:
        # The files are sorted by group, so the first ones alone would show one class only.
        texts, labels = texts[::10], labels[::10]
    names = sorted(set(labels))
    vectorizer = TfidfVectorizer(sublinear_tf=True)
    return Problem(
        vectorizer.fit_transform(texts),
        np.searchsorted(names, labels),
        vectorizer.transform(texts_test),
        np.searchsorted(names, labels_test),
        c,
    )


PROBLEMS: dict[str, Callable[[bool], Problem]] = {
    "mnist-10k": partial(mnist, c=0.01, n=10_000),
    "mnist-60k": partial(mnist, c=0.03, n=60_000),
    "usps": partial(usps, c=0.03),
    "20newsgroups": partial(newsgroups, c=1.0),
}

# --- solvers


class LiblinearContestant(Contestant):
    name = "scikit-learn LinearSVC (liblinear)"

    def __init__(self, problem: Problem):
        self.problem = problem
        self.note = ""

    def train(self) -> None:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.svm import LinearSVC

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            model = LinearSVC(multi_class="crammer_singer", C=self.problem.c, random_state=0)
            self.model = model.fit(self.problem.X, self.problem.y)
        if any(issubclass(warning.category, ConvergenceWarning) for warning in caught):
            self.note = f"stopped at max_iter = {model.max_iter}"


class MaxmarginContestant(Contestant):
    name = "maxmargin MulticlassSVC"

    def __init__(self, problem: Problem):
        self.problem = problem

    def _fit(self, X: Any, y: np.ndarray) -> Any:
        from maxmargin import MulticlassSVC

        return MulticlassSVC(C=self.problem.c * len(y), tol=1e-3).fit(X, y)

    def warm_up(self) -> None:
        # Two examples of every class, since the kind of the data, not its size, decides what is compiled.
        X, y = self.problem.X, self.problem.y
        few = np.concatenate([np.flatnonzero(y == label)[:2] for label in np.unique(y)])
        self._fit(X[few], y[few])

    def train(self) -> None:
        self.model = self._fit(self.problem.X, self.problem.y)

    @property
    def note(self) -> str:
        end = self.model.certificate_
        return f"relative gap {end.relative_gap:.2g} ({end.stop_reason}), {end.passes:.1f} passes"


# --- what is measured


@dataclass
class Scores:
    """How good a trained model is."""

    objective: float
    test_accuracy: float


def score(problem: Problem, model: Any) -> Scores:
    """The objective on the training part and the accuracy on the test part, both from the weights alone."""
    coef, intercept = np.asarray(model.coef_), np.asarray(model.intercept_)
    guesses = np.argmax(np.asarray(problem.X_test @ coef.T) + intercept, axis=1)
    objective = crammer_singer(coef, intercept, problem.X, problem.y, problem.c)
    return Scores(objective, float(np.mean(guesses == problem.y_test)))


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """Race both solvers on one problem."""
    report("reading the data")
    problem = PROBLEMS[name](quick)
    contestants: list[MaxmarginContestant | LiblinearContestant] = [
        MaxmarginContestant(problem),
        LiblinearContestant(problem),
    ]
    timings = race(contestants, repeat, report)
    scores = [score(problem, contestant.model) for contestant in contestants]
    return _table(name, problem, contestants, timings, scores)


def _table(
    name: str,
    problem: Problem,
    contestants: list[MaxmarginContestant | LiblinearContestant],
    timings: list[Timing],
    scores: list[Scores],
) -> Table:
    n, n_features = problem.X.shape
    sizes = f"{n} training examples, {n_features} features"
    table = Table(
        title=f"{name}: {sizes}, c = {problem.c:g}, C = {problem.c * n:g}",
        caption="Ratios are of minima. An objective ratio below 1 is better than maxmargin's.",
    )
    table.add_column("solver")
    for heading in (
        "training CPU s\nmin / median",
        "compiling\nCPU s",
        "objective",
        "test\naccuracy %",
        "training time\n/ maxmargin's",
        "objective\n/ maxmargin's",
    ):
        table.add_column(heading, justify="right")
    table.add_column("end")
    for contestant, timing, found in zip(contestants, timings, scores, strict=True):
        table.add_row(
            contestant.name,
            f"{timing.minimum:.2f} / {timing.median:.2f}",
            f"{timing.warm_up:.2f}",
            f"{found.objective:.6g}",
            f"{100 * found.test_accuracy:.2f}",
            f"{timing.minimum / timings[0].minimum:.2f}",
            f"{found.objective / scores[0].objective:.6f}",
            contestant.note,
        )
    return table
