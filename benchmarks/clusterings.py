"""Which papers under one name are by the same person: Clusterer against a classifier of pairs with transitive closure.

The data are AMiner's, one clustering problem per name, with the pair features of ``loaders.paper_pairs``. Names are
dealt out to ten parts; every part is tested once, with the next three for choosing settings and six for training.
The settings of every contestant are chosen by the measure that is reported, the middle one where several are equally
good, and no model is trained again on more data. Measures are those of ``metrics`` over all names together, each name
tested once.

All contestants have linear scores of pairs. Most put items into one cluster that positive pairs connect: the
classifier, which is logistic regression on all pairs, with the threshold 0 or one that is chosen, and Clusterer, which
is trained for the clusters that come out. With linkage="correlation" Clusterer looks for the clusters with the highest
total score of pairs, and is trained for few wrong pairs or for a high MUC F1; "gap" is what its certificate proves.
The classifier is tried with this way to cluster too. "aminer-small" has the names of up to 40 papers, for which
relaxations are feasible.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from rich.table import Table
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from benchmarks.loaders import load_aminer, paper_pairs
from benchmarks.quality import median_best
from benchmarks.timing import Report, cpu_seconds
from maxmargin.metrics import b_cubed, muc, pair_loss, pairwise
from maxmargin.structures.clustering.agglomeration import PairGains
from maxmargin.tasks import Pairs

PROBLEMS = ("aminer", "aminer-small")
SMALL = 40  # papers
N_PARTS = 10

Labels = Sequence[Any]
Measure = Callable[[list[Labels], list[Labels]], float]

# Higher is better; MITRE loss is 1 - MUC F1.
MEASURES: dict[str, Measure] = {
    "pair F1": lambda truth, found: pairwise(truth, found).f1,
    "pair loss": lambda truth, found: -pair_loss(truth, found),
    "MUC F1": lambda truth, found: muc(truth, found).f1,
    "B³ F1": lambda truth, found: b_cubed(truth, found).f1,
    "B³ F1, mean of names": lambda truth, found: b_cubed(truth, found, "macro").f1,
}

# --- data


@dataclass
class Part:
    """Some names."""

    X: list[Pairs]
    Y: list[Labels]

    def __add__(self, other: Part) -> Part:
        return Part(self.X + other.X, self.Y + other.Y)


def aminer(small: bool, quick: bool) -> list[Part]:
    """Ten parts of the names, drawn by lot."""
    names = load_aminer()
    if small or quick:
        names = [each for each in names if len(each.papers) <= SMALL][: 40 if quick else None]
    X = paper_pairs(names)
    order = np.random.default_rng(0).permutation(len(names))
    return [Part([X[i] for i in own], [names[i].labels for i in own]) for own in np.array_split(order, N_PARTS)]


# --- contestants

Model = Callable[[list[Pairs]], list[Labels]]
Scorer = Callable[[list[Pairs]], list[np.ndarray]]  # of all pairs
Clustering = Callable[[Pairs, np.ndarray], np.ndarray]  # by scores of pairs


class Contestant:
    """A way to learn how to cluster."""

    name: str

    def __init__(self) -> None:
        self.seconds: list[float] = []  # of every training
        self.rounds: list[Any] = []  # of every latent training
        self.gaps: list[float] = []  # proved, of every training with an approximate search

    def train(self, k: int, part: Part) -> list[Model]:
        """A model for every setting to choose from, trained on this part; k names the part that is tested."""
        raise NotImplementedError


class Blind(Contestant):
    """Looks at nothing."""

    def __init__(self, name: str, cluster: Callable[[int], np.ndarray]):
        super().__init__()
        self.name, self.cluster = name, cluster

    def train(self, k: int, part: Part) -> list[Model]:
        return [lambda X: [self.cluster(len(x)) for x in X]]


class PairClassifier(Contestant):
    """Logistic regression on all pairs."""

    def __init__(
        self, name: str, grid: Sequence[float], thresholds: Sequence[float], cluster: Clustering | None = None
    ):
        super().__init__()
        self.name, self.grid, self.thresholds, self.cluster = name, grid, thresholds, cluster or closed

    def train(self, k: int, part: Part) -> list[Model]:
        from sklearn.linear_model import LogisticRegression

        rows = np.concatenate([x.features for x in part.X])
        labels = [np.asarray(y)[x.pairs] for x, y in zip(part.X, part.Y, strict=True)]
        inside = np.concatenate([of_pairs[:, 0] == of_pairs[:, 1] for of_pairs in labels])
        models: list[Model] = []
        for c in self.grid:
            model = LogisticRegression(C=c, solver="newton-cholesky")
            self.seconds.append(cpu_seconds(partial(model.fit, rows, inside))[1])

            def score(X: list[Pairs], model: Any = model) -> list[np.ndarray]:
                return [model.decision_function(x.features) for x in X]

            models += thresholded(score, self.thresholds, self.cluster)
        return models


class Trainings:
    """Clusterers that are trained when first asked for: contestants share them."""

    def __init__(self) -> None:
        self.known: dict[Any, tuple[Any, float]] = {}

    def of(self, k: int, part: Part, **options: Any) -> tuple[Any, float]:
        from maxmargin import Clusterer

        key = k, tuple(options.items())
        if key not in self.known:
            model = Clusterer(**options)
            self.known[key] = model, cpu_seconds(partial(model.fit, part.X, part.Y))[1]
        return self.known[key]


class ForestContestant(Contestant):
    """Clusterer for every C and penalty."""

    def __init__(
        self,
        name: str,
        trainings: Trainings,
        grid: Sequence[tuple[float, float]],
        start: str | None = None,
        thresholds: Sequence[float] = (0.0,),
    ):
        super().__init__()
        self.name, self.trainings, self.grid, self.start, self.thresholds = name, trainings, grid, start, thresholds

    def train(self, k: int, part: Part) -> list[Model]:
        models: list[Model] = []
        for c, penalty in self.grid:
            model, seconds = self.trainings.of(k, part, C=c, penalty=penalty, start=self.start)
            self.seconds.append(seconds)
            self.rounds.append(model.rounds_)
            spread = float(np.std(np.concatenate(model.decision_function(part.X))))
            models += thresholded(model.decision_function, [t * spread for t in self.thresholds], closed)
        return models


class CorrelationContestant(Contestant):
    """Clusterer with linkage="correlation" for every C."""

    def __init__(self, name: str, grid: Sequence[float], **options: Any):
        super().__init__()
        self.name, self.grid, self.options = name, grid, options

    def train(self, k: int, part: Part) -> list[Model]:
        from maxmargin import Clusterer

        clusterer = Clusterer(linkage="correlation", **self.options)
        trained, seconds = cpu_seconds(partial(clusterer.fit_path, part.X, part.Y, self.grid))
        self.seconds += [seconds / len(self.grid)] * len(self.grid)
        self.gaps += [model.certificate_.proved_gap for model in trained]
        return [model.predict for model in trained]


def thresholded(score: Scorer, thresholds: Sequence[float], cluster: Clustering) -> list[Model]:
    """The clusters that scores above a threshold make, for every threshold."""

    def model(threshold: float, X: list[Pairs]) -> list[Labels]:
        return [cluster(x, scores - threshold) for x, scores in zip(X, score(X), strict=True)]

    return [partial(model, threshold) for threshold in thresholds]


def correlated(x: Pairs, scores: np.ndarray) -> np.ndarray:
    """The clusters with a high total score."""
    first, second = np.ascontiguousarray(x.pairs.T, dtype=np.int32)
    return PairGains(x.n_items, first, second, scores).climbed(np.arange(x.n_items))


def closed(x: Pairs, scores: np.ndarray) -> np.ndarray:
    """The clusters that pairs with a positive score connect."""
    i, j = x.pairs[scores > 0].T
    links = sparse.csr_array((np.ones(len(i)), (i, j)), shape=(x.n_items, x.n_items))
    return np.asarray(connected_components(links, directed=False)[1])


PENALTIES = (0.01, 0.1, 1.0, 3.0, 10.0)
LOG_ODDS = tuple(np.arange(0.0, 8.1, 0.5))
SHIFTS = tuple(np.arange(-1.0, 2.1, 0.25))  # in standard deviations of the scores


def contestants(small: bool, quick: bool) -> list[Contestant]:
    """Clusterer last."""
    trainings = Trainings()
    costs = (10.0,) if quick else (1.0, 10.0, 100.0, 1000.0)
    relaxed = CorrelationContestant("correlation, C = 10, relaxed", (10.0,), method="relaxed")
    tuned = [(100.0, penalty) for penalty in ((0.1, 3.0) if quick else PENALTIES)]
    return [
        Blind("one cluster", np.zeros),
        Blind("a cluster for each item", np.arange),
        PairClassifier("classifier of pairs", (1.0,), (0.0,)),
        PairClassifier("classifier of pairs, threshold chosen", (0.01, 1.0), LOG_ODDS),
        PairClassifier("… clusters by total score", (1.0,), LOG_ODDS, correlated),
        ForestContestant("Clusterer, C = 10, start 'chain'", trainings, [(10.0, 1.0)], "chain"),
        ForestContestant("Clusterer, C = 10", trainings, [(10.0, 1.0)]),
        ForestContestant("Clusterer, C = 100", trainings, [(100.0, 1.0)]),
        ForestContestant("… and penalty chosen", trainings, tuned),
        ForestContestant("… and threshold chosen", trainings, tuned, thresholds=SHIFTS),
        CorrelationContestant("correlation, C = 10", (10.0,)),
        *([relaxed] if small else []),
        CorrelationContestant("correlation, C chosen", costs),
        CorrelationContestant("correlation for MITRE loss, C chosen", [10 * c for c in costs], measure="mitre"),
    ]


# --- what is measured


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """All contestants on all parts; no training is repeated, because time is not the point."""
    report("reading the data")
    small = name == "aminer-small"
    parts = aminer(small, quick)
    n_names, n_items = sum(len(part.X) for part in parts), sum(len(x) for part in parts for x in part.X)
    table = Table(
        title=f"{name}: {n_names} names, {n_items} papers, {parts[0].X[0].n_features} features of pairs",
        caption="In percent. CPU s: of one training, the mean over all settings tried. Rounds: the median and the "
        "largest number. First round, later round: mean seconds on the wall. Gap: what is proved, the mean.",
    )
    table.add_column("solver")
    for heading in (*MEASURES, "CPU s", "rounds", "first round", "later round", "gap"):
        table.add_column(heading, justify="right")
    tested = range(2) if quick else range(N_PARTS)
    truth = [y for k in tested for y in parts[k].Y]
    for contestant in contestants(small, quick):
        found: dict[str, list[Labels]] = {measure: [] for measure in MEASURES}
        for k in tested:
            report(f"{contestant.name}: part {k + 1}")
            turned = parts[k:] + parts[:k]
            validation, train = (sum(own, Part([], [])) for own in (turned[1:4], turned[4:]))
            models = contestant.train(k, train)
            tries = [model(validation.X) for model in models]
            for measure, mark in MEASURES.items():
                best = median_best([mark(validation.Y, each) for each in tries])
                found[measure] += models[best](parts[k].X)
        marks = [abs(100 * mark(truth, found[measure])) for measure, mark in MEASURES.items()]
        table.add_row(
            contestant.name,
            *(f"{value:.1f}" for value in marks),
            f"{np.mean(contestant.seconds):.2f}" if contestant.seconds else "",
            *_rounds(contestant.rounds),
            f"{100 * np.mean(contestant.gaps):.1f}" if contestant.gaps else "",
        )
    return table


def _rounds(trainings: list[Any]) -> tuple[str, str, str]:
    if not trainings:
        return "", "", ""
    counts = [len(rounds) for rounds in trainings]
    later = [each.seconds for rounds in trainings for each in rounds[1:]]
    first = np.mean([rounds[0].seconds for rounds in trainings])
    return f"{np.median(counts):.0f}, {max(counts)}", f"{first:.2f}", f"{np.mean(later):.2f}" if later else ""
