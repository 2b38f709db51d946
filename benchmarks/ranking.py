"""Ranking documents by relevance: Ranker against a pairwise RankSVM and LightGBM's lambdarank, on LETOR's folds.

Every fold has a training, a validation and a test part. The settings of every contestant are chosen on the validation
part by the measure that is reported, the middle one where several are equally good; the model is not trained again.
Reported are means over the test parts of five folds. The measures are those of ``benchmarks.quality``: relevant is a
grade of at least 1; queries without a relevant document count 0, as in LETOR's own tool; documents with equal scores
count in the worst order, because the files of OHSUMED are nearly sorted by relevance; the discounts of NDCG are
1 / log2(1 + rank), whereas that tool divides by log2(rank) from rank 2 on, so that its numbers are not comparable.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.loaders import load_letor
from benchmarks.quality import RANKING, median_best, queries
from benchmarks.timing import Report, cpu_seconds

# --- data sets


@dataclass
class Part:
    """Documents of some queries, those of a query in adjacent rows."""

    X: np.ndarray
    relevance: np.ndarray
    qid: np.ndarray

    def head(self, n_queries: int) -> Part:
        """The first queries only."""
        rows = np.isin(self.qid, list(dict.fromkeys(self.qid.tolist()))[:n_queries])
        return Part(self.X[rows], self.relevance[rows], self.qid[rows])


@dataclass
class Fold:
    """What is trained on, chosen by, and tested on."""

    train: Part
    validation: Part
    test: Part


def letor(quick: bool, name: str) -> list[Fold]:
    """The five official folds."""
    folds = []
    for number in range(1, 3 if quick else 6):
        parts = [Part(*load_letor(name, number, split)) for split in ("train", "validation", "test")]
        folds.append(Fold(*(part.head(20) if quick else part for part in parts)))
    return folds


PROBLEMS: dict[str, Callable[[bool], list[Fold]]] = {
    "ohsumed": partial(letor, name="ohsumed"),
    "mq2008": partial(letor, name="mq2008"),
}

# --- solvers

Scorer = Callable[[np.ndarray], np.ndarray]


class Contestant:
    """A way to learn scores from one fold."""

    name: str

    def train(self, fold: Fold) -> list[tuple[Scorer, float]]:
        """What maps documents to scores, for every setting to choose from, and the CPU seconds its training took."""
        raise NotImplementedError


class MaxmarginContestant(Contestant):
    """Ranker to a gap of 1%."""

    grid = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)

    def __init__(self, measure: str, **options: Any):
        self.measure, self.options = measure, options
        self.name = f"Ranker({', '.join([repr(measure), *(f'{key}={value}' for key, value in options.items())])})"
        self.worst_gap = 0.0

    def train(self, fold: Fold) -> list[tuple[Scorer, float]]:
        from maxmargin import Ranker

        part = fold.train
        trained: list[tuple[Scorer, float]] = []
        for c in self.grid:
            model = Ranker(measure=self.measure, C=c, tol=0.01, **self.options)
            seconds = cpu_seconds(partial(model.fit, part.X, part.relevance, part.qid))[1]
            self.worst_gap = max(self.worst_gap, model.certificate_.relative_gap)
            trained.append((model.predict, seconds))
        return trained


class PairwiseContestant(Contestant):
    """RankSVM: a squared hinge for every pair of documents of one query that differ in relevance.

    Herbrich, Graepel and Obermayer, "Large margin rank boundaries for ordinal regression" (2000), in the form of
    Chapelle and Keerthi, "Efficient algorithms for ranking with SVMs" (Information Retrieval 2010). liblinear solves it
    on the differences of the pairs; c is divided by their number, so that the grid does not depend on the fold.
    """

    name = "RankSVM (LinearSVC on pairs)"
    grid = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)

    def train(self, fold: Fold) -> list[tuple[Scorer, float]]:
        from sklearn.svm import LinearSVC

        differences, signs = pairs(fold.train)
        trained = []
        for c in self.grid:
            model = LinearSVC(C=c / len(signs), fit_intercept=False, dual=False)
            seconds = cpu_seconds(partial(model.fit, differences, signs))[1]
            trained.append((model.decision_function, seconds))
        return trained


def pairs(part: Part) -> tuple[np.ndarray, np.ndarray]:
    """Differences of all pairs of documents that differ in relevance, every other one turned round, and their signs."""
    differences = []
    for rows in queries(part.qid):
        X, relevance = part.X[rows], part.relevance[rows]
        better, worse = np.nonzero(relevance[:, None] > relevance[None, :])
        differences.append(X[better] - X[worse])
    stacked = np.concatenate(differences)
    signs = np.where(np.arange(len(stacked)) % 2, -1, 1)
    return stacked * signs[:, None], signs


class LambdarankContestant(Contestant):
    """Boosted trees; the number of leaves and of trees is chosen."""

    name = "LightGBM lambdarank"
    leaves = (4, 8, 16, 31)
    trees = tuple(range(10, 301, 10))

    def train(self, fold: Fold) -> list[tuple[Scorer, float]]:
        from lightgbm import LGBMRanker

        part = fold.train
        sizes = [rows.stop - rows.start for rows in queries(part.qid)]
        trained: list[tuple[Scorer, float]] = []
        for leaves in self.leaves:
            model = LGBMRanker(
                objective="lambdarank",
                n_estimators=self.trees[-1],
                num_leaves=leaves,
                learning_rate=0.05,
                n_jobs=1,
                random_state=0,
                verbose=-1,
            )
            seconds = cpu_seconds(partial(model.fit, part.X, part.relevance, group=sizes))[1]
            for count in self.trees:
                scorer: Scorer = partial(model.booster_.predict, num_iteration=count)  # type: ignore[assignment]
                trained.append((scorer, seconds * count / self.trees[-1]))
        return trained


def contestants() -> Sequence[Contestant]:
    """Ranker first."""
    return (
        MaxmarginContestant("map"),
        MaxmarginContestant("ndcg"),
        MaxmarginContestant("ndcg", k=10),
        MaxmarginContestant("roc_auc"),
        PairwiseContestant(),
        LambdarankContestant(),
    )


# --- what is measured


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """All contestants on all folds; no round is repeated, because time is not the point."""
    report("reading the data")
    folds = PROBLEMS[name](quick)
    n_queries = len({*np.concatenate([fold.test.qid for fold in folds]).tolist()})
    table = Table(
        title=f"{name}: {len(folds)} folds, {n_queries} test queries, {folds[0].train.X.shape[1]} features",
        caption="Means over the test parts, in percent, and in brackets the standard deviation between folds. "
        "CPU s: of one training, the mean over all settings tried (for MAP and NDCG@10 the same).",
    )
    table.add_column("solver")
    for heading in (*RANKING, "CPU s", "largest gap"):
        table.add_column(heading, justify="right")
    for contestant in contestants():
        marks: dict[str, list[float]] = {measure: [] for measure in RANKING}
        seconds = []
        for i, fold in enumerate(folds):
            report(f"{contestant.name}: fold {i + 1}")
            trained = contestant.train(fold)
            seconds += [taken for _, taken in trained]
            chosen_by = [scorer(fold.validation.X) for scorer, _ in trained]
            for measure, mark in RANKING.items():
                values = [mark(fold.validation.relevance, scores, fold.validation.qid) for scores in chosen_by]
                scorer = trained[median_best(values)][0]
                marks[measure].append(mark(fold.test.relevance, scorer(fold.test.X), fold.test.qid))
        gap = getattr(contestant, "worst_gap", None)
        table.add_row(
            contestant.name,
            *(f"{100 * np.mean(values):.2f} ({100 * np.std(values):.1f})" for values in marks.values()),
            f"{np.mean(seconds):.2f}",
            "" if gap is None else f"{100 * gap:.2g}%",
        )
    return table
