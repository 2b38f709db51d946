"""What cross-validation adds to training for a measure: F1, break-even point of precision and recall, ROC area.

MeasureSVC as it comes, which cuts its scores by cross-validation and trains a classifier of single examples where that
has clearly better scores, against scikit-learn's LinearSVC with plain and with balanced class weights. For F1 the
threshold of LinearSVC is that of TunedThresholdClassifierCV; the break-even point and the ROC area depend on the order
of scores alone. Beside them is the bound on the measure alone: MeasureSVC(train_for="measure", cut="trained").

All contestants have the same features, and C is chosen in the same way for all: among as many values, by the mean over
folds of the measure that is reported, within the training part. That mean is what a contestant's own cross-validation
has found for its cut (`cv_scores_` of MeasureSVC, where the other folds choose the cut of a fold, and `best_score_` of
TunedThresholdClassifierCV, which has five folds and one cut for all of them); nothing else is held out. The bound alone
has the C of MeasureSVC. Results are those of the test part.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from rich.table import Table
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from benchmarks.measure_speed import b_misc
from benchmarks.measures import Binary, Result, binary, comparison, covertype, lasvm_reuters, optdigits, reuters
from benchmarks.quality import BINARY, f1, median_best
from benchmarks.timing import Report, cpu_seconds

# --- data sets


def some(problems: list[Binary], n: int) -> list[Binary]:
    """The same with the first n training examples, which are in random order."""
    return [replace(each, X=each.X[:n], y=each.y[:n]) for each in problems]


def b_misc_tokens(quick: bool) -> list[Binary]:
    """The first 20,000 tokens of measure_speed.py's Spanish ones, B-MISC against the rest."""
    tokens = b_misc(quick)
    n = 10_000 if quick else 20_000
    return [binary("B-MISC", "B-MISC", tokens.X[:n], tokens.y[:n], tokens.X_test, tokens.y_test)]


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
            problems.append(binary(f"{name}, {seed}", name, X[:6000], y[:6000], X[6000:], y[6000:]))
    return problems


DATA: dict[str, Callable[[bool], list[Binary]]] = {
    "clouds": clouds,
    "rare-topics": partial(reuters, ranks=slice(0, 30, 5)),
    "common-topics": partial(reuters, ranks=slice(30, 60, 5)),
    "money-stories": lasvm_reuters,
    "forest-kinds": lambda quick: some(covertype(quick), 8000),
    "digits": optdigits,
    "b-misc-tokens": b_misc_tokens,
}
ORDERS = ("prbep", "roc_auc")  # these measures have benchmarks of their own, with "-order" behind the name of the data
PROBLEMS = (*DATA, *(f"{name}-order" for name in DATA))

# --- solvers


class Contestant:
    """A way to train for a measure."""

    name: str

    def contest(self, problem: Binary, measure: str, found: list[Result]) -> tuple[Result, str]:
        """Choose C within the training part and measure on the test part; `found` are the results of those before.

        With the result comes what the table must not conceal.
        """
        raise NotImplementedError


class MaxmarginContestant(Contestant):
    """MeasureSVC to a gap of 1%."""

    name = "MeasureSVC"

    def contest(self, problem: Binary, measure: str, found: list[Result]) -> tuple[Result, str]:
        from maxmargin import MeasureSVC

        # C multiplies the loss, which is between 0 and 1. A table of few columns may need larger weights.
        grid = (5.0, 30.0, 200.0, 1200.0) if sparse.issparse(problem.X) else (0.3, 5.0, 80.0, 1200.0)
        models, seconds = cpu_seconds(lambda: MeasureSVC(measure).fit_path(problem.X, problem.y, grid))
        model = models[median_best([each.cv_scores_[each.trained_for_] for each in models])]
        note = f"trained for {model.trained_for_} where the measure is {measure}" * (model.trained_for_ != measure)
        mark = BINARY[measure](problem.y_test, model.decision_function(problem.X_test))
        return Result(mark, model.C, seconds), note


class BoundContestant(Contestant):
    """The bound on the measure alone, with the C of MeasureSVC."""

    name = "its bound alone"

    def contest(self, problem: Binary, measure: str, found: list[Result]) -> tuple[Result, str]:
        from maxmargin import MeasureSVC
        from maxmargin.errors import NothingLearnt

        model = MeasureSVC(measure, C=found[0].c, train_for="measure", cut="trained")
        with warnings.catch_warnings(action="ignore", category=NothingLearnt):
            _, seconds = cpu_seconds(lambda: model.fit(problem.X, problem.y))
        note = "" if model.coef_.any() else f"{self.name} has its optimum for {measure} at w = 0 within the gap"
        mark = BINARY[measure](problem.y_test, model.decision_function(problem.X_test))
        return Result(mark, model.C, seconds), note


class LiblinearContestant(Contestant):
    """LinearSVC with its default loss."""

    name = "LinearSVC"
    class_weight: str | None = None

    def contest(self, problem: Binary, measure: str, found: list[Result]) -> tuple[Result, str]:
        grid = (0.03, 0.3, 3.0, 30.0) if sparse.issparse(problem.X) else (0.0003, 0.01, 0.3, 10.0)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            tries, seconds = cpu_seconds(lambda: [self._validated(problem, measure, c) for c in grid])
        best = median_best([mark for mark, _ in tries])
        note = f"{self.name}: stopped at max_iter" * any(issubclass(w.category, ConvergenceWarning) for w in caught)
        model = tries[best][1]
        # The tuned threshold is a score from which on the class is positive, hence the next smaller number.
        threshold = np.nextafter(getattr(model, "best_threshold_", 0.0), -np.inf)
        scores = getattr(model, "estimator_", model).decision_function(problem.X_test) - threshold
        return Result(BINARY[measure](problem.y_test, scores), grid[best], seconds), note

    def _validated(self, problem: Binary, measure: str, c: float) -> tuple[float, Any]:
        """The mean of the measure over five folds, and the model of all rows."""
        from sklearn.metrics import make_scorer
        from sklearn.model_selection import StratifiedKFold, TunedThresholdClassifierCV
        from sklearn.svm import LinearSVC

        X, y, folds = problem.X, problem.y, StratifiedKFold(5, shuffle=True, random_state=0)
        model = LinearSVC(C=c, class_weight=self.class_weight, random_state=0, max_iter=1000)
        if measure == "f1":
            # scoring="f1" chooses the same, but takes longer than the trainings
            tuned = TunedThresholdClassifierCV(model, scoring=make_scorer(f1), cv=folds).fit(X, y)
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
                result, note = contestant.contest(problem, measure, found)
                found.append(result)
                notes.update([note] if note else [])
            for group in grouped:
                results.setdefault((group, measure), []).append(found)
    names = [contestant.name for contestant in CONTESTANTS]
    return comparison(name, problems, results, notes, names, OWN, "for all values of C")
