"""Training for a measure, or training for errors and adjusting: F1, break-even point of precision and recall, ROC area.

MeasureSVC as it comes, which cuts its scores by cross-validation and trains for the ROC area where that has clearly
better scores, against scikit-learn's LinearSVC with plain and with balanced class weights. For F1 the threshold of
LinearSVC is that of TunedThresholdClassifierCV; the break-even point and the ROC area depend on the order of scores
alone. Beside them is the bound on the measure alone: MeasureSVC(train_for="measure", cut="trained").

All contestants have the same features, and C is chosen in the same way for all: among as many values, by the mean over
folds of the measure that is reported, within the training part. That mean is what a contestant's own cross-validation
has found for its cut (`cv_scores_` of MeasureSVC, `best_score_` of TunedThresholdClassifierCV, which has five folds);
nothing else is held out. The bound alone has the C of MeasureSVC. Results are those of the test part.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median_low
from typing import Any

import numpy as np
from rich.table import Table
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from benchmarks.loaders import load_covertype, load_lasvm_reuters, load_optdigits, load_reuters21578
from benchmarks.measure_speed import b_misc
from benchmarks.quality import BINARY, median_best
from benchmarks.timing import Report, cpu_seconds

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
            Binary(str(name), f"{low} to {high} positive" if high < 10_000 else f"{low} or more", X, y, X_test, y_test)
        )
    return problems


def lasvm_reuters(quick: bool) -> list[Binary]:
    """Stories on money-fx, the tf-idf of the file."""
    X, y = load_lasvm_reuters("train")
    X_test, y_test = load_lasvm_reuters("test")
    n = 1000 if quick else len(y)
    return [Binary("money-fx", "money-fx", X[:n], y[:n] > 0, X_test, y_test > 0)]


def covertype(quick: bool) -> list[Binary]:
    """Four kinds of forest, from the rarest to a common one, on 8,000 patches; a random half of all tests."""
    X, y = load_covertype()
    order = np.random.default_rng(0).permutation(len(y))
    test, train = np.array_split(order, 2)
    train = train[: 5000 if quick else 8_000]
    return [
        Binary(f"kind {kind}", f"kind {kind}", X[train], y[train] == kind, X[test], y[test] == kind)
        for kind in ((4, 1) if quick else (4, 5, 3, 1))
    ]


def optdigits(quick: bool) -> list[Binary]:
    """Every digit against the others."""
    X, y = load_optdigits("train")
    X_test, y_test = load_optdigits("test")
    digits = range(2 if quick else 10)
    return [Binary(str(digit), "all digits", X, y == digit, X_test, y_test == digit) for digit in digits]


def b_misc_tokens(quick: bool) -> list[Binary]:
    """The first 60,000 tokens of measure_speed.py's Spanish ones, B-MISC against the rest."""
    tokens = b_misc(quick)
    n = 10_000 if quick else 60_000
    return [Binary("B-MISC", "B-MISC", tokens.X[:n], tokens.y[:n], tokens.X_test, tokens.y_test)]


CLOUDS = ((20, 5, 2.0, 0.008), (20, 20, 3.0, 0.005), (60, 10, 2.5, 0.02))  # features, of use, distance, positive


def clouds(quick: bool) -> list[Binary]:
    """Two normal clouds that overlap: one in 50 to 200 examples is positive, and most features are noise."""
    problems = []
    for n_features, of_use, distance, share in CLOUDS[: 1 if quick else None]:
        for seed in range(1 if quick else 2):
            rng = np.random.default_rng([seed, n_features, of_use])
            y = rng.random(16_000) < share
            X = rng.standard_normal((len(y), n_features))
            X[y, :of_use] += distance / np.sqrt(of_use)
            name = f"{100 * share:g}% of {n_features} features"
            problems.append(Binary(f"{name}, {seed}", name, X[:6000], y[:6000], X[6000:], y[6000:]))
    return problems


DATA: dict[str, Callable[[bool], list[Binary]]] = {
    "reuters-rare": partial(reuters, ranks=slice(0, 30, 5)),
    "reuters-common": partial(reuters, ranks=slice(30, 60, 5)),
    "lasvm-reuters": lasvm_reuters,
    "covertype": covertype,
    "optdigits": optdigits,
    "b-misc-tokens": b_misc_tokens,
    "clouds": clouds,
}
ORDERS = ("prbep", "roc_auc")  # these measures have benchmarks of their own, with "-order" behind the name of the data
PROBLEMS = (*DATA, *(f"{name}-order" for name in DATA))

# --- solvers


@dataclass
class Result:
    """One contestant's on one problem, for one measure."""

    mark: float  # on the test part
    c: float
    seconds: float  # of CPU, for all values of C
    note: str = ""  # what the table must not conceal


class Contestant:
    """A way to train for a measure."""

    name: str

    def contest(self, problem: Binary, measure: str, found: list[Result]) -> Result:
        """Choose C within the training part and measure on the test part; `found` are the results of those before."""
        raise NotImplementedError


class MaxmarginContestant(Contestant):
    """MeasureSVC to a gap of 1%."""

    name = "MeasureSVC"

    def contest(self, problem: Binary, measure: str, found: list[Result]) -> Result:
        from maxmargin import MeasureSVC

        # C multiplies the loss, which is between 0 and 1. A table of few columns may need larger weights.
        grid = (5.0, 30.0, 200.0) if sparse.issparse(problem.X) else (1.0, 30.0, 1e3)
        models, seconds = cpu_seconds(lambda: MeasureSVC(measure).fit_path(problem.X, problem.y, grid))
        model = models[median_best([each.cv_scores_[each.trained_for_] for each in models])]
        note = f"trained for {model.trained_for_} where the measure is {measure}" * (model.trained_for_ != measure)
        mark = BINARY[measure](problem.y_test, model.decision_function(problem.X_test))
        return Result(mark, model.C, seconds, note)


class BoundContestant(Contestant):
    """The bound on the measure alone, with the C of MeasureSVC."""

    name = "its bound alone"

    def contest(self, problem: Binary, measure: str, found: list[Result]) -> Result:
        from maxmargin import MeasureSVC
        from maxmargin.errors import NothingLearnt

        model = MeasureSVC(measure, C=found[0].c, train_for="measure", cut="trained")
        with warnings.catch_warnings(action="ignore", category=NothingLearnt):
            _, seconds = cpu_seconds(lambda: model.fit(problem.X, problem.y))
        note = "" if model.coef_.any() else f"{self.name} has its optimum for {measure} at w = 0 within the gap"
        mark = BINARY[measure](problem.y_test, model.decision_function(problem.X_test))
        return Result(mark, model.C, seconds, note)


class LiblinearContestant(Contestant):
    """LinearSVC with its default loss."""

    name = "LinearSVC"
    class_weight: str | None = None

    def contest(self, problem: Binary, measure: str, found: list[Result]) -> Result:
        grid = (0.1, 1.0, 10.0) if sparse.issparse(problem.X) else (0.001, 0.03, 1.0)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            tries, seconds = cpu_seconds(lambda: [self._validated(problem, measure, c) for c in grid])
        best = median_best([mark for mark, _ in tries])
        note = f"{self.name}: stopped at max_iter" * any(issubclass(w.category, ConvergenceWarning) for w in caught)
        model = tries[best][1]
        # The tuned threshold is a score from which on the class is positive, hence the next smaller number.
        threshold = np.nextafter(getattr(model, "best_threshold_", 0.0), -np.inf)
        scores = getattr(model, "estimator_", model).decision_function(problem.X_test) - threshold
        return Result(BINARY[measure](problem.y_test, scores), grid[best], seconds, note)

    def _validated(self, problem: Binary, measure: str, c: float) -> tuple[float, Any]:
        """The mean of the measure over five folds, and the model of all rows."""
        from sklearn.model_selection import StratifiedKFold, TunedThresholdClassifierCV
        from sklearn.svm import LinearSVC

        X, y, folds = problem.X, problem.y, StratifiedKFold(5, shuffle=True, random_state=0)
        model = LinearSVC(C=c, class_weight=self.class_weight, random_state=0, max_iter=1000)
        if measure == "f1":
            tuned = TunedThresholdClassifierCV(model, scoring="f1", cv=folds, thresholds=300).fit(X, y)
            return tuned.best_score_, tuned
        marks = []
        for kept, held_out in folds.split(X, y):
            scores = model.fit(X[kept], y[kept]).decision_function(X[held_out])
            marks.append(BINARY[measure](y[held_out], scores))
        return float(np.mean(marks)), model.fit(X, y)


class BalancedContestant(LiblinearContestant):
    """The same with balanced class weights."""

    name = "LinearSVC, balanced"
    class_weight = "balanced"


CONTESTANTS = (MaxmarginContestant(), BoundContestant(), LiblinearContestant(), BalancedContestant())
OWN = 2  # so many of them are ours

# --- what is measured


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """All contestants and binary problems of one data set; nothing is repeated: time is not the point."""
    report("reading the data")
    data = name.removesuffix("-order")
    problems = DATA[data](quick)
    results: dict[tuple[str, str], list[list[Result]]] = {}  # group and measure -> problems -> contestants
    notes: Counter[str] = Counter()
    for problem in problems:
        grouped = [problem.group] if len({other.group for other in problems}) == 1 else [problem.group, "all"]
        for measure in ("f1",) if name == data else ORDERS:
            found: list[Result] = []
            for contestant in CONTESTANTS:
                report(f"{problem.name}: {measure}: {contestant.name}")
                found.append(contestant.contest(problem, measure, found))
            for group in grouped:
                results.setdefault((group, measure), []).append(found)
            notes.update(each.note for each in found if each.note)
    return _table(name, problems, results, notes)


def _table(
    name: str,
    problems: Sequence[Binary],
    results: dict[tuple[str, str], list[list[Result]]],
    notes: Counter[str],
) -> Table:
    first = problems[0]
    names = [contestant.name for contestant in CONTESTANTS]
    title = f"{name}: {len(first.y)} training examples, {first.X.shape[1]} features, {len(first.y_test)} test examples"
    caption = [
        "Means over the binary problems, in percent; the median of the chosen C; CPU s for all values of C.",
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
        peer = OWN + int(np.argmax(marks[:, OWN:].mean(axis=0)))
        own, other = marks[:, 0], marks[:, peer]
        outcome = [np.count_nonzero(test) for test in (own > other, own == other, own < other)]
        table.add_row(
            f"{group} ({len(found)})" if len(found) > 1 else group,
            f"{100 * np.mean([np.mean(problem.y) for problem in chosen]):.2g}",
            measure,
            *(f"{100 * mark:.2f}" for mark in marks.mean(axis=0)),
            " / ".join(map(str, outcome)),
            f"{median_low(row[0].c for row in found):g}",
            " / ".join(f"{np.mean([row[k].seconds for row in found]):.2f}" for k in (0, OWN)),
        )
    return table
