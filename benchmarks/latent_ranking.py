"""The first k documents: latent training for precision at k against what it begins with, and against others.

Yu and Joachims, "Learning structural SVMs with latent variables" (ICML 2009), section 5.3, on the same data: OHSUMED of
LETOR 3.0, features scaled within each query, five folds. Every k has models of its own: trained for that k where the
method knows of it, and chosen on the validation part by precision at k, the middle one where several settings are
equally good. Latent training begins at the classifier that was chosen in the same way. Relevant is a grade of at least
1; queries without a relevant document count 0; documents with equal scores count in the worst order, because the files
of OHSUMED are nearly sorted by relevance.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.quality import mean_precision_at, median_best, queries
from benchmarks.ranking import Fold, PairwiseContestant, Part, Scorer, letor
from benchmarks.timing import Report, cpu_seconds

DEPTHS = (1, 3, 5, 10)
GRID = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
PUBLISHED = {"latent": (0.680, 0.573, 0.567, 0.494), "initial": (0.626, 0.557, 0.524, 0.464)}
PROBLEMS: dict[str, Callable[[bool], list[Fold]]] = {"ohsumed-latent": partial(letor, name="ohsumed")}


def precision_at(part: Part, scorer: Scorer, k: int) -> float:
    """The mean over the queries of a part."""
    return mean_precision_at(part.relevance, scorer(part.X), part.qid, k)


# --- solvers


@dataclass
class Trained:
    """One setting of a contestant, trained."""

    scorer: Scorer
    seconds: float
    model: Any = None


class Contestant:
    """A way to learn scores for the first k documents."""

    knows_k = True  # whether training depends on it

    def __init__(self, name: str):
        self.name = name
        self.models: dict[tuple[int, int | None], list[Trained]] = {}  # of a fold and k, all settings

    def train(self, fold: Fold, k: int) -> Iterator[Trained]:
        """One model for every setting to choose from."""
        raise NotImplementedError

    def chosen(self, fold: Fold, k: int) -> Trained:
        """The model that is best on the validation part."""
        key = (id(fold), k if self.knows_k else None)
        if key not in self.models:
            self.models[key] = list(self.train(fold, k))
        models, part = self.models[key], fold.validation
        return models[median_best([precision_at(part, model.scorer, k) for model in models])]


class Classifier(Contestant):
    """A linear classifier of relevant documents, the weight of a document 1 over their number in its query.

    The same problem as where Ranker(latent=True) begins by itself: ½‖w‖² + C · mean over queries of the mean squared
    hinge.
    """

    knows_k = False

    def train(self, fold: Fold, k: int) -> Iterator[Trained]:
        from sklearn.svm import LinearSVC

        part = fold.train
        sizes = np.array([rows.stop - rows.start for rows in queries(part.qid)])
        weights = np.repeat(1 / sizes, sizes) / len(sizes)
        for c in GRID:
            model = LinearSVC(C=c, dual=False, intercept_scaling=10.0)
            seconds = cpu_seconds(partial(model.fit, part.X, part.relevance >= 1, weights))[1]
            yield Trained(model.decision_function, seconds, model)


class Latent(Contestant):
    """Ranker(latent=True) from the classifier's weights."""

    def __init__(self, name: str, initial: Classifier):
        super().__init__(name)
        self.initial = initial

    def train(self, fold: Fold, k: int) -> Iterator[Trained]:
        start = self.initial.chosen(fold, k).model.coef_[0]
        return _rankers(fold, k, latent=True, start=start)


class Plain(Contestant):
    """Ranker for precision at k in which all relevant documents are to come first."""

    def train(self, fold: Fold, k: int) -> Iterator[Trained]:
        return _rankers(fold, k)


class Pairwise(Contestant):
    """RankSVM."""

    knows_k = False

    def train(self, fold: Fold, k: int) -> Iterator[Trained]:
        return (Trained(scorer, seconds) for scorer, seconds in PairwiseContestant().train(fold))


def _rankers(fold: Fold, k: int, **options: Any) -> Iterator[Trained]:
    from maxmargin import Ranker
    from maxmargin.errors import NothingLearnt

    part = fold.train
    for c in GRID:
        model = Ranker("precision_at_k", k=k, C=c, **options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NothingLearnt)  # at small C; the validation part has a say in that
            seconds = cpu_seconds(partial(model.fit, part.X, part.relevance, part.qid))[1]
        yield Trained(model.predict, seconds, model)


# --- what is measured


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """All contestants on all folds; no round is repeated, because time is not the point."""
    report("reading the data")
    folds = PROBLEMS[name](quick)
    n_queries = len({*np.concatenate([fold.test.qid for fold in folds]).tolist()})
    published = {what: "/".join(f"{100 * each:.1f}" for each in values) for what, values in PUBLISHED.items()}
    table = Table(
        title=f"{name}: {len(folds)} folds, {n_queries} test queries, {folds[0].train.X.shape[1]} features",
        caption="Precision at k: means over the test parts, in percent, and in brackets the standard deviation between "
        "folds. Rounds: outer rounds of one training, mean and maximum over all. CPU s: of one training, the mean over "
        "all settings tried. First and later round: seconds of one. Published (Yu and Joachims 2009, Table 3): "
        f"{published['latent']}, initial weights {published['initial']}.",
    )
    table.add_column("solver")
    for heading in (*(f"P@{k}" for k in DEPTHS), "rounds", "CPU s", "first round", "later round"):
        table.add_column(heading, justify="right")
    initial = Classifier("initial weights (LinearSVC)")
    for contestant in (
        Latent("Ranker(latent=True)", initial),
        initial,
        Plain("Ranker('precision_at_k')"),
        Pairwise("RankSVM (LinearSVC on pairs)"),
    ):
        cells = []
        for k in DEPTHS:
            marks = []
            for i, fold in enumerate(folds):
                report(f"{contestant.name}: precision at {k}, fold {i + 1}")
                scorer = contestant.chosen(fold, k).scorer
                marks.append(precision_at(fold.test, scorer, k))
            cells.append(f"{100 * np.mean(marks):.1f} ({100 * np.std(marks):.1f})")
        table.add_row(contestant.name, *cells, *_effort(contestant))
    return table


def _effort(contestant: Contestant) -> tuple[str, str, str, str]:
    """Rounds, CPU seconds, and seconds of the first and of later rounds."""
    trained = [each for models in contestant.models.values() for each in models]
    seconds = f"{np.mean([each.seconds for each in trained]):.2f}"
    rounds = [each.model.rounds_ for each in trained if hasattr(each.model, "rounds_")]
    if not rounds:
        return "", seconds, "", ""
    counts = [len(each) for each in rounds]
    first = np.mean([each[0].seconds for each in rounds])
    later = np.mean([one.seconds for each in rounds for one in each[1:]] or [0.0])
    return f"{np.mean(counts):.1f}, {max(counts)}", seconds, f"{first:.3f}", f"{later:.3f}"
