"""What training for a measure costs: one search as the sample grows, and whole trainings beside LinearSVC.

oracle: CPU time of one search for the most violated labelling or ranking, from 10,000 to 1,000,000 examples with five
dense features, and the slope of its logarithm over that of the sample size (1 is linear). One in 40 is positive.

sci-space: 20 newsgroups, sci.space against the rest, the tf-idf of multiclass.py's 20newsgroups.
b-misc: the tokens of CoNLL-2002's Spanish training part, B-MISC against the rest. Features are the words from two
before to two after in lower case, what is capital or a digit in the word and its neighbours, and three letters of
either end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.loaders import load_20newsgroups, load_conll2002_es
from benchmarks.quality import BINARY
from benchmarks.timing import Contestant, Report, cpu_seconds, race

# --- one search


def search_times(repeat: int, quick: bool, report: Report) -> Table:
    """The time of one search, and how it grows."""
    from maxmargin.tasks import Contingency, Ranking

    tasks: dict[str, Any] = {
        "f1": Contingency("f1"),
        "precision_at_k": Contingency("precision_at_k", k=100),
        "roc_auc": Ranking("roc_auc"),
    }
    sizes = [int(n) for n in np.logspace(4, 5 if quick else 6, 3 if quick else 5)]
    table = Table(
        title="oracle: CPU ms of one search", caption=f"The fastest of {repeat + 2} searches, scores included."
    )
    table.add_column("measure")
    for n in sizes:
        table.add_column(f"n = {n:,}", justify="right")
    table.add_column("slope", justify="right")
    rng = np.random.default_rng(0)
    for name, task in tasks.items():
        seconds = []
        for n in sizes:
            report(f"{name}, {n} examples")
            X = rng.standard_normal((n, 5))
            y = (X[:, 0] + rng.standard_normal(n) > 2.77).astype(int)
            task.setup([X], [y])
            batch, w = task.pack([X], [y]), 3 * np.array([1.0, 0.3, -0.2, 0.1, 0.0])
            seconds.append(min(cpu_seconds(partial(batch.planes, w))[1] for _ in range(repeat + 2)))
        slope = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
        table.add_row(name, *(f"{1000 * s:.2f}" for s in seconds), f"{slope:.2f}")
    return table


# --- whole trainings


@dataclass
class Problem:
    """A binary problem whose positives are rare."""

    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray
    C: dict[str, float]  # of MeasureSVC


def sci_space(quick: bool) -> Problem:
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer()
    texts, groups = load_20newsgroups("train")
    texts_test, groups_test = load_20newsgroups("test")
    X, X_test = vectorizer.fit_transform(texts), vectorizer.transform(texts_test)
    rows = slice(None, None, 10 if quick else 1)
    y, y_test = (np.array(each) == "sci.space" for each in (groups, groups_test))
    return Problem(X[rows], y[rows], X_test, y_test, {"f1": 1000.0, "prbep": 1000.0, "roc_auc": 1000.0})


def b_misc(quick: bool) -> Problem:
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer(analyzer=lambda attributes: attributes, dtype=float)
    attributes, tags = token_attributes("train", 1000 if quick else None)
    attributes_test, tags_test = token_attributes("test", None)
    X, X_test = vectorizer.fit_transform(attributes), vectorizer.transform(attributes_test)
    return Problem(X, tags == "B-MISC", X_test, tags_test == "B-MISC", {"f1": 300.0, "prbep": 300.0, "roc_auc": 1000.0})


def token_attributes(split: str, n_sentences: int | None) -> tuple[list[list[str]], np.ndarray]:
    """The attributes of every token of a part of CoNLL-2002, and its tag."""
    sentences, tags = load_conll2002_es(split)
    attributes = []
    for sentence in sentences[:n_sentences]:
        words = ["", "", *(word for word, _ in sentence), "", ""]
        for t in range(2, len(words) - 2):
            word = words[t]
            capitals = [(w[:1].isupper(), w.isupper(), w[:1].isdigit()) for w in words[t - 1 : t + 2]]
            attributes.append(
                [f"{d}={words[t + d].lower()}" for d in range(-2, 3)]
                + [f"shape{d}={shape}" for d, shape in enumerate(capitals)]
                + [f"begin={word[:3]}", f"end={word[-3:]}"]
            )
    return attributes, np.array([tag for sentence in tags[:n_sentences] for tag in sentence])


class MaxmarginContestant(Contestant):
    def __init__(self, problem: Problem, measure: str):
        self.problem, self.measure = problem, measure
        self.name = f"MeasureSVC({measure!r}, C={problem.C[measure]:g})"

    def _fit(self, X: Any, y: np.ndarray) -> Any:
        from maxmargin import MeasureSVC

        return MeasureSVC(self.measure, C=self.problem.C[self.measure], tol=0.01).fit(X, y)

    def warm_up(self) -> None:
        few = np.concatenate([np.flatnonzero(self.problem.y)[:20], np.flatnonzero(~self.problem.y)[:200]])
        self._fit(self.problem.X[few], self.problem.y[few])

    def train(self) -> None:
        self.model = self._fit(self.problem.X, self.problem.y)

    @property
    def note(self) -> str:
        end = self.model.certificate_
        return f"gap {end.relative_gap:.2%}, {end.passes:.0f} passes"


class LiblinearContestant(Contestant):
    name, note = "LinearSVC()", ""

    def __init__(self, problem: Problem):
        self.problem = problem

    def train(self) -> None:
        from sklearn.svm import LinearSVC

        self.model = LinearSVC().fit(self.problem.X, self.problem.y)


def trainings(name: str, make: Callable[[bool], Problem], repeat: int, quick: bool, report: Report) -> Table:
    """MeasureSVC for three measures beside one LinearSVC."""
    report("reading the data")
    problem = make(quick)
    contestants: list[Any] = [LiblinearContestant(problem), *(MaxmarginContestant(problem, m) for m in problem.C)]
    timings = race(contestants, repeat, report)
    n, n_features = problem.X.shape
    table = Table(title=f"{name}: {n} examples, {np.count_nonzero(problem.y)} positive, {n_features} features")
    table.add_column("solver")
    for heading in ("CPU s\nmin / median", "/ LinearSVC's", "test F1 %", "test ROC area %"):
        table.add_column(heading, justify="right")
    table.add_column("end")
    for contestant, timing in zip(contestants, timings, strict=True):
        scores = contestant.model.decision_function(problem.X_test)
        table.add_row(
            contestant.name,
            f"{timing.minimum:.2f} / {timing.median:.2f}",
            f"{timing.minimum / timings[0].minimum:.1f}",
            *(f"{100 * BINARY[measure](problem.y_test, scores):.2f}" for measure in ("f1", "roc_auc")),
            contestant.note,
        )
    return table


PROBLEMS: dict[str, Callable[[int, bool, Report], Table]] = {
    "oracle": search_times,
    "sci-space": partial(trainings, "sci-space", sci_space),
    "b-misc": partial(trainings, "b-misc", b_misc),
}


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """One of the three."""
    return PROBLEMS[name](repeat, quick, report)
