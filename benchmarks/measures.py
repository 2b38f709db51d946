"""Training for a measure, or training for errors and adjusting: F1, break-even point of precision and recall, ROC area.

MeasureSVC(train_for="measure", cut="trained"), which minimises a bound on the measure itself and does no more, against
scikit-learn's LinearSVC with balanced and with plain class weights and the decision threshold that is best for F1 on
validation data (TunedThresholdClassifierCV), and against LinearSVC as it is; and MeasureSVC with such a threshold. The
break-even point and the ROC area depend on the order of the scores alone, so that there is no threshold to tune for
them. What MeasureSVC does by default is in measure_cuts.py.

All contestants have the same features. C of every contestant is chosen among eleven values, by the measure that is
reported, on the same third of the training part (drawn at random with the share of positive examples kept); where
several values are equally good, the middle one is taken. The model is then trained on the whole training part and
measured on the test part. Where the threshold is tuned, it is the best on that third for the model of the other two.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import median_low
from typing import Any

import numpy as np
from rich.table import Table
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from benchmarks.loaders import load_covertype, load_lasvm_reuters, load_optdigits, load_reuters21578
from benchmarks.quality import BINARY, best_threshold_f1, median_best
from benchmarks.timing import Report, cpu_seconds
from maxmargin.errors import NothingLearnt

# --- data sets


@dataclass
class Binary:
    """One class against all others."""

    name: str
    group: str  # results are averaged over the binary problems of a group
    X: Any
    y: np.ndarray  # truth values
    X_test: Any
    y_test: np.ndarray
    held_out: np.ndarray  # the rows of X on which C and the threshold are chosen
    kept: np.ndarray  # the others
    paths: dict[str, list[Any]] = field(default_factory=dict)  # MeasureSVC's, by the measure


def binary(name: str, group: str, X: Any, y: np.ndarray, X_test: Any, y_test: np.ndarray) -> Binary:
    """A problem with a third of its training part held out."""
    from sklearn.model_selection import train_test_split

    kept, held_out = train_test_split(np.arange(len(y)), test_size=1 / 3, stratify=y, random_state=0)
    return Binary(name, group, X, y, X_test, y_test, np.sort(held_out), np.sort(kept))


BINS = ((10, 19), (20, 49), (50, 199), (200, 10_000))


def reuters(quick: bool, ranks: slice) -> list[Binary]:
    """Reuters topics as tf-idf, grouped by their frequency.

    The topics with at least ten training stories and one test story, the rarest first: 60, of which ``ranks`` chooses.
    Logarithmic counts of words that occur in two training stories or more, rows of length 1.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts, topics = load_reuters21578("train")
    texts_test, topics_test = load_reuters21578("test")
    vectorizer = TfidfVectorizer(sublinear_tf=True, min_df=2)
    X, X_test = vectorizer.fit_transform(texts), vectorizer.transform(texts_test)
    names, counts = np.unique([name for story in topics for name in story], return_counts=True)
    tested = {name for story in topics_test for name in story}
    usable = [(count, name) for count, name in zip(counts, names, strict=True) if count >= 10 and name in tested]
    problems = []
    for count, name in sorted(usable)[ranks][: 2 if quick else None]:
        low, high = next(limits for limits in BINS if limits[0] <= count <= limits[1])
        y, y_test = (np.array([name in story for story in part]) for part in (topics, topics_test))
        problems.append(
            binary(str(name), f"{low} to {high} positive" if high < 10_000 else f"{low} or more", X, y, X_test, y_test)
        )
    return problems


def lasvm_reuters(quick: bool) -> list[Binary]:
    """Stories on money-fx, the tf-idf of the file."""
    X, y = load_lasvm_reuters("train")
    X_test, y_test = load_lasvm_reuters("test")
    n = 1000 if quick else len(y)
    return [binary("money-fx", "money-fx", X[:n], y[:n] > 0, X_test, y_test > 0)]


def covertype(quick: bool) -> list[Binary]:
    """Four kinds of forest, from the rarest to a common one, on a random half of the patches; the other half tests."""
    X, y = load_covertype()
    order = np.random.default_rng(0).permutation(len(y))
    test, train = np.array_split(order, 2)
    if quick:
        train = train[:5000]
    return [
        binary(f"kind {kind}", f"kind {kind}", X[train], y[train] == kind, X[test], y[test] == kind)
        for kind in ((4, 1) if quick else (4, 5, 3, 1))
    ]


def optdigits(quick: bool) -> list[Binary]:
    """Every digit against the others."""
    X, y = load_optdigits("train")
    X_test, y_test = load_optdigits("test")
    digits = range(2 if quick else 10)
    return [binary(str(digit), "all digits", X, y == digit, X_test, y_test == digit) for digit in digits]


PROBLEMS: dict[str, Callable[[bool], list[Binary]]] = {
    "reuters-rare": partial(reuters, ranks=slice(0, 30)),
    "reuters-common": partial(reuters, ranks=slice(30, 60)),
    "lasvm-reuters": lasvm_reuters,
    "covertype": covertype,
    "optdigits": optdigits,
}

# --- solvers


class Contestant:
    """A way to train for a measure."""

    name: str
    grid: tuple[float, ...]
    adjusts = False  # whether, for F1, the threshold is tuned on the rows held out
    warning: type[Warning]  # to look out for in training
    meaning: str  # of that warning

    def __init__(self, problem: Binary):
        self.problem = problem
        self.notes: list[str] = []  # what the table must not conceal

    def model(self, measure: str, c: float) -> Any:
        """A classifier that is still to be trained."""
        raise NotImplementedError

    def path(self, measure: str) -> list[Any]:
        """A model of the kept rows for every C of the grid."""
        raise NotImplementedError

    def fit(self, model: Any, X: Any, y: np.ndarray) -> Any:
        """The model, trained; a note if there was the warning to look out for."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", self.warning)
            model.fit(X, y)
        if any(issubclass(each.category, self.warning) for each in caught):
            self.notes.append(f"{self.name}: {self.meaning}")
        return model

    def tunes(self, measure: str) -> bool:
        """Whether a threshold is tuned for this measure."""
        return self.adjusts and measure == "f1"

    def mark(self, measure: str, y: np.ndarray, scores: np.ndarray) -> float:
        """What C is chosen by."""
        return best_threshold_f1(y, scores) if self.tunes(measure) else BINARY[measure](y, scores)

    def train(self, measure: str, c: float) -> tuple[Any, float]:
        """A model of all rows, and the CPU seconds that its training took."""
        from sklearn.model_selection import TunedThresholdClassifierCV

        X, y = self.problem.X, self.problem.y
        if self.tunes(measure):
            split = [(self.problem.kept, self.problem.held_out)]
            tuned = TunedThresholdClassifierCV(self.model(measure, c), scoring="f1", cv=split, thresholds=300)
            try:
                return cpu_seconds(lambda: self.fit(tuned, X, y))
            except ValueError as error:
                if "constant predictions" not in str(error):
                    raise
                self.notes.append(f"{self.name}: nothing to tune, because all scores are equal")
        return cpu_seconds(lambda: self.fit(self.model(measure, c), X, y))

    def scores(self, model: Any, X: Any) -> np.ndarray:
        """Positive where the positive class is predicted."""
        # The tuned threshold is a score from which on the class is positive, hence the next smaller number.
        threshold = np.nextafter(getattr(model, "best_threshold_", 0.0), -np.inf)
        return np.asarray(getattr(model, "estimator_", model).decision_function(X)) - threshold


class LiblinearContestant(Contestant):
    """LinearSVC with its default loss; fits are kept where they do not depend on the measure."""

    name = "LinearSVC"
    grid = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
    class_weight: str | None = None
    warning, meaning = ConvergenceWarning, "stopped at max_iter"

    def __init__(self, problem: Binary):
        super().__init__(problem)
        self.kept: list[Any] = []
        self.trained: dict[float, tuple[Any, float]] = {}

    def model(self, measure: str, c: float) -> Any:
        from sklearn.svm import LinearSVC

        return LinearSVC(C=c, class_weight=self.class_weight, random_state=0, max_iter=10_000)

    def path(self, measure: str) -> list[Any]:
        if not self.kept:
            X, y = self.problem.X[self.problem.kept], self.problem.y[self.problem.kept]
            self.kept = [self.fit(self.model(measure, c), X, y) for c in self.grid]
        return self.kept

    def train(self, measure: str, c: float) -> tuple[Any, float]:
        if self.tunes(measure):
            return super().train(measure, c)
        if c not in self.trained:
            self.trained[c] = super().train(measure, c)
        return self.trained[c]


class AdjustedLiblinearContestant(LiblinearContestant):
    """LinearSVC with, for F1, a tuned threshold."""

    name = "LinearSVC, threshold tuned"
    adjusts = True


class BalancedContestant(AdjustedLiblinearContestant):
    """The same with balanced class weights."""

    name = "LinearSVC, balanced, threshold tuned"
    class_weight = "balanced"


class MaxmarginContestant(Contestant):
    """MeasureSVC to a gap of 1%."""

    name = "MeasureSVC"
    warning, meaning = NothingLearnt, "w = 0 is the optimum"

    def __init__(self, problem: Binary):
        super().__init__(problem)
        # C multiplies the loss, which is between 0 and 1. On separable data, such as rare topics, the model no longer
        # changes beyond 2000; a table of few columns needs larger weights.
        texts = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0)
        tables = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1e3, 3e3, 1e4, 3e4, 1e5)
        self.grid = texts if sparse.issparse(problem.X) else tables

    def model(self, measure: str, c: float) -> Any:
        from maxmargin import MeasureSVC

        return MeasureSVC(measure=measure, C=c, tol=0.01, train_for="measure", cut="trained")

    def path(self, measure: str) -> list[Any]:
        if measure not in self.problem.paths:
            X, y = self.problem.X[self.problem.kept], self.problem.y[self.problem.kept]
            with warnings.catch_warnings(action="ignore", category=NothingLearnt):  # it matters at the chosen C only
                # Each training begins where the last one ended.
                models = self.model(measure, self.grid[0]).fit_path(X, y, self.grid)
            self.problem.paths[measure] = models
        return self.problem.paths[measure]

    def train(self, measure: str, c: float) -> tuple[Any, float]:
        tuned, seconds = super().train(measure, c)
        model = getattr(tuned, "estimator_", tuned)
        if model.certificate_.relative_gap > 0.01:
            self.notes.append(f"{self.name}, {measure}: gap above 1% ({model.certificate_.stop_reason})")
        return tuned, seconds


class AdjustedMaxmarginContestant(MaxmarginContestant):
    """MeasureSVC with, for F1, a tuned threshold."""

    name = "MeasureSVC, threshold tuned"
    adjusts = True


# Each stands before its form with an adjusted threshold, which is the same where there is nothing to adjust.
CONTESTANTS: tuple[type[Contestant], ...] = (
    MaxmarginContestant,
    AdjustedMaxmarginContestant,
    LiblinearContestant,
    AdjustedLiblinearContestant,
    BalancedContestant,
)
ADJUSTED = (AdjustedMaxmarginContestant, AdjustedLiblinearContestant)
PLAIN = CONTESTANTS.index(LiblinearContestant)  # our own stand before it

# --- what is measured


@dataclass
class Result:
    """One contestant's on one problem, for one measure."""

    mark: float  # on the test part
    c: float
    seconds: float


def contest(contestant: Contestant, measure: str) -> Result:
    """Choose C on the rows held out, train on all, and measure on the test part."""
    problem = contestant.problem
    X, y = problem.X[problem.held_out], problem.y[problem.held_out]
    marks = [contestant.mark(measure, y, contestant.scores(model, X)) for model in contestant.path(measure)]
    c = contestant.grid[median_best(marks)]
    model, seconds = contestant.train(measure, c)
    return Result(BINARY[measure](problem.y_test, contestant.scores(model, problem.X_test)), c, seconds)


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """All contestants, measures and binary problems of one data set; nothing is repeated: time is not the point."""
    report("reading the data")
    problems = PROBLEMS[name](quick)
    results: dict[tuple[str, str], list[list[Result]]] = {}  # group and measure -> problems -> contestants
    notes: Counter[str] = Counter()
    for problem in problems:
        contestants = [make(problem) for make in CONTESTANTS]
        grouped = [problem.group] if len({other.group for other in problems}) == 1 else [problem.group, "all"]
        for measure in BINARY:
            found = []
            for contestant in contestants:
                report(f"{problem.name}: {measure}: {contestant.name}")
                same = not contestant.tunes(measure) and type(contestant) in ADJUSTED
                found.append(found[-1] if same else contest(contestant, measure))
            for group in grouped:
                results.setdefault((group, measure), []).append(found)
        for contestant in contestants:
            notes.update(contestant.notes)
    names = [contestant.name for contestant in CONTESTANTS]
    return comparison(name, problems, results, notes, names, PLAIN, "of the last training")


def comparison(
    name: str,
    problems: Sequence[Binary],
    results: dict[tuple[str, str], list[list[Result]]],  # group and measure -> problems -> contestants
    notes: Counter[str],
    names: Sequence[str],  # of the contestants
    n_own: int,  # so many of them, the first ones, are ours
    trained: str,  # what the seconds are
) -> Table:
    """The means of groups, and how often the first contestant wins against the best of the others."""
    first = problems[0]
    title = f"{name}: {len(first.y)} training examples, {first.X.shape[1]} features, {len(first.y_test)} test examples"
    caption = [
        f"Means over the binary problems, in percent; the median of the chosen C; CPU s {trained}.",
        f"Won: how often {names[0]} is better than, equal to, worse than the LinearSVC with the best mean.",
        *(f"{note} ({times} times)." for note, times in notes.items()),
    ]
    table = Table(title=title, caption=" ".join(caption))
    table.add_column("binary problems")
    table.add_column("positive\n%", justify="right")
    table.add_column("measure")
    for contestant in names:
        table.add_column(contestant.replace(", ", ",\n"), justify="right")
    table.add_column("won", justify="right")
    table.add_column("C of\nMeasureSVC", justify="right")
    table.add_column("CPU s, MeasureSVC\n/ LinearSVC", justify="right")
    # "all" comes last.
    for (group, measure), found in sorted(results.items(), key=lambda item: item[0][0] == "all"):
        chosen = [problem for problem in problems if group in (problem.group, "all")]
        marks = np.array([[result.mark for result in row] for row in found])
        peer = n_own + int(np.argmax(marks[:, n_own:].mean(axis=0)))
        own, other = marks[:, 0], marks[:, peer]
        outcome = [np.count_nonzero(test) for test in (own > other, own == other, own < other)]
        table.add_row(
            f"{group} ({len(found)})" if len(found) > 1 else group,
            f"{100 * np.mean([np.mean(problem.y) for problem in chosen]):.2g}",
            measure,
            *(f"{100 * mark:.2f}" for mark in marks.mean(axis=0)),
            " / ".join(map(str, outcome)),
            f"{median_low(row[0].c for row in found):g}",
            " / ".join(f"{np.mean([row[k].seconds for row in found]):.2f}" for k in (0, n_own)),
        )
    return table
