"""Ranking documents by relevance: Ranker against a pairwise RankSVM, ridge regression and LightGBM's lambdarank.

Every fold has a training, a validation and a test part: the official ones of LETOR, and for the data of LightGBM's
example five ways to set a fifth of the training queries aside, with one test part. The settings of every contestant are
chosen on the validation part by the measure that is reported, the middle one where several are equally good; the model
is not trained again. Reported are means over test queries. The measures are those of ``benchmarks.quality``: relevant
is a grade of at least 1; queries without a relevant document count 0, as in LETOR's own tool; documents with equal
scores count in the worst order, because the files of OHSUMED are nearly sorted by relevance; the discounts of NDCG are
1 / log2(1 + rank), whereas that tool divides by log2(rank) from rank 2 on, so that its numbers are not comparable.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.loaders import load_letor, load_lightgbm_rank
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
        return self.of(np.isin(self.qid, list(dict.fromkeys(self.qid.tolist()))[:n_queries]))

    def of(self, rows: np.ndarray) -> Part:
        """The rows of some queries."""
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


def lightgbm_example(quick: bool) -> list[Fold]:
    """Five ways to divide the training queries of LightGBM's example, all tested on its test part."""
    train, test = Part(*load_lightgbm_rank("train")), Part(*load_lightgbm_rank("test"))
    fold = np.random.default_rng(0).permutation(train.qid[-1] + 1) % 5
    return [
        Fold(train.of(fold[train.qid] != number), train.of(fold[train.qid] == number), test)
        for number in range(2 if quick else 5)
    ]


PROBLEMS: dict[str, Callable[[bool], list[Fold]]] = {
    "ohsumed": partial(letor, name="ohsumed"),
    "mq2008": partial(letor, name="mq2008"),
    "lightgbm-rank": lightgbm_example,
}

# --- solvers

Scorer = Callable[[np.ndarray], np.ndarray]


class Contestant:
    """A way to learn scores from one fold."""

    name: str

    def train(self, fold: Fold) -> list[tuple[Scorer, float]]:
        """What maps documents to scores, for every setting to choose from, and the CPU seconds its training took."""
        raise NotImplementedError


GRID = (0.1, 1.0, 10.0, 30.0, 100.0, 300.0, 1000.0)


class MaxmarginContestant(Contestant):
    """Ranker to a gap of 0.1%, each C started from the one before."""

    def __init__(self, measure: str, **options: Any):
        self.measure, self.options = measure, options
        self.name = f"Ranker({', '.join([repr(measure), *(f'{key}={value!r}' for key, value in options.items())])})"
        self.worst_gap = 0.0

    def train(self, fold: Fold) -> list[tuple[Scorer, float]]:
        from maxmargin import Ranker

        part = fold.train
        model = Ranker(measure=self.measure, **self.options)
        path, seconds = cpu_seconds(partial(model.fit_path, part.X, part.relevance, GRID, part.qid))
        self.worst_gap = max(self.worst_gap, *(each.certificate_.relative_gap for each in path))
        return [(each.predict, seconds / len(GRID)) for each in path]


class RidgeContestant(Contestant):
    """Ridge regression on grades, or on their gains, which knows nothing of queries; c multiplies the mean square."""

    def __init__(self, target: str):
        self.target = target
        self.name = f"ridge regression on {target}"

    def train(self, fold: Fold) -> list[tuple[Scorer, float]]:
        from sklearn.linear_model import Ridge

        part = fold.train
        wanted = 2.0**part.relevance if self.target == "gains" else part.relevance
        trained: list[tuple[Scorer, float]] = []
        for c in GRID:
            model = Ridge(alpha=len(wanted) / c)
            seconds = cpu_seconds(partial(model.fit, part.X, wanted))[1]
            trained.append((model.predict, seconds))
        return trained


class PairwiseContestant(Contestant):
    """RankSVM: a squared hinge for every pair of documents of one query that differ in relevance.

    Herbrich, Graepel and Obermayer, "Large margin rank boundaries for ordinal regression" (2000), in the form of
    Chapelle and Keerthi, "Efficient algorithms for ranking with SVMs" (Information Retrieval 2010). liblinear solves it
    on the differences of the pairs; c is divided by their number, so that the grid does not depend on the fold.
    """

    name = "RankSVM (LinearSVC on pairs)"

    def train(self, fold: Fold) -> list[tuple[Scorer, float]]:
        from sklearn.svm import LinearSVC

        differences, signs = pairs(fold.train)
        trained = []
        for c in GRID:
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
    settings: Sequence[dict[str, Any]] = tuple(
        {"num_leaves": leaves, "learning_rate": 0.05} for leaves in (4, 8, 16, 31)
    )
    trees = tuple(range(20, 301, 20))

    def train(self, fold: Fold) -> list[tuple[Scorer, float]]:
        from lightgbm import LGBMRanker

        part = fold.train
        sizes = [rows.stop - rows.start for rows in queries(part.qid)]
        trained: list[tuple[Scorer, float]] = []
        for setting in self.settings:
            model = LGBMRanker(
                objective="lambdarank", n_estimators=self.trees[-1], n_jobs=1, random_state=0, verbose=-1, **setting
            )
            seconds = cpu_seconds(partial(model.fit, part.X, part.relevance, group=sizes))[1]
            for count in self.trees:
                scorer: Scorer = partial(model.booster_.predict, num_iteration=count)  # type: ignore[assignment]
                trained.append((scorer, seconds * count / self.trees[-1]))
        return trained


class ExampleLambdarankContestant(LambdarankContestant):
    """With the settings of LightGBM's own example, of which the number of trees is chosen, up to the example's 100."""

    name = "LightGBM lambdarank, as its example"
    settings = (
        {
            "num_leaves": 31,
            "learning_rate": 0.1,
            "min_child_samples": 50,
            "min_child_weight": 5.0,
            "subsample": 0.9,
            "subsample_freq": 1,
        },
    )
    trees = tuple(range(10, 101, 10))


def contestants(name: str) -> Sequence[Contestant]:
    """Ranker first. Whole rankings of long queries take minutes to search, so that there is no such row for OHSUMED."""
    listwise = [] if name == "ohsumed" else [MaxmarginContestant("ndcg", surrogate="listwise")]
    example = [ExampleLambdarankContestant()] if name == "lightgbm-rank" else []
    return (
        MaxmarginContestant("ndcg"),
        *listwise,
        MaxmarginContestant("map"),
        MaxmarginContestant("roc_auc"),
        PairwiseContestant(),
        RidgeContestant("grades"),
        RidgeContestant("gains"),
        LambdarankContestant(),
        *example,
    )


# --- what is measured


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """All contestants on all folds; no round is repeated, because time is not the point."""
    report("reading the data")
    folds = PROBLEMS[name](quick)
    n_queries = len({*np.concatenate([fold.test.qid for fold in folds]).tolist()})
    table = Table(
        title=f"{name}: {len(folds)} folds, {n_queries} test queries, {folds[0].train.X.shape[1]} features",
        caption="Means over test queries, in percent, and in brackets their standard error. "
        "CPU s: of one training, the mean over all settings tried (for MAP and NDCG@10 the same).",
    )
    table.add_column("solver")
    for heading in (*RANKING, "CPU s", "largest gap"):
        table.add_column(heading, justify="right")
    for contestant in contestants(name):
        marks: dict[str, dict[int, list[float]]] = {measure: {} for measure in RANKING}  # of every query
        seconds = []
        for i, fold in enumerate(folds):
            report(f"{contestant.name}: fold {i + 1}")
            trained = contestant.train(fold)
            seconds += [taken for _, taken in trained]
            chosen_by = [scorer(fold.validation.X) for scorer, _ in trained]
            names = [fold.test.qid[rows.start] for rows in queries(fold.test.qid)]
            for measure, mark in RANKING.items():
                values = [
                    float(np.mean(mark(fold.validation.relevance, scores, fold.validation.qid))) for scores in chosen_by
                ]
                scorer = trained[median_best(values)][0]
                found = mark(fold.test.relevance, scorer(fold.test.X), fold.test.qid)
                for query, value in zip(names, found, strict=True):
                    marks[measure].setdefault(int(query), []).append(float(value))
        gap = getattr(contestant, "worst_gap", None)
        table.add_row(
            contestant.name,
            *(mean_and_error([float(np.mean(each)) for each in values.values()]) for values in marks.values()),
            f"{np.mean(seconds):.2f}",
            "" if gap is None else f"{100 * gap:.2g}%",
        )
    return table


def mean_and_error(values: Sequence[float]) -> str:
    """In percent; a query that several folds test has one value, their mean."""
    return f"{100 * np.mean(values):.2f} ({100 * np.std(values, ddof=1) / np.sqrt(len(values)):.1f})"
