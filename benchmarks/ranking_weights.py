"""Which weights of pairs learn NDCG: as Ranker has them, by the ideal order, or by the current one, round after round.

Ranker("ndcg") minimises a sum of hinges over pairs of documents, weighted by the difference of their gains and divided
by the sum of these weights in the query. Tried here in its place, with the same margins γ_i - γ_j:

- the same weights divided by the ideal DCG@10 of the query: queries with much to lose count more;
- what NDCG@10 loses where the two documents change places in the ideal order (equal grades share their discounts);
- what it loses where they change places in the order by the scores of the round before, |ΔNDCG@10|: a linear
  LambdaRank (Burges, Ragno, Le, NIPS 2006; Wang et al., CIKM 2018), whose every round is a convex problem that is
  solved to a certificate. The first round is Ranker's. C and the number of rounds are chosen on the validation part.

Data, validation and measures are those of ranking.py. Differences are those of the same test queries, so that their
standard error is smaller than that of the means.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from rich.table import Table
from scipy import sparse

from benchmarks import ranking
from benchmarks.quality import median_best, ndcgs_at_10, queries
from benchmarks.ranking import GRID, Contestant, Fold, MaxmarginContestant, Part, Scorer
from benchmarks.timing import Report, cpu_seconds
from maxmargin.base.search import Search
from maxmargin.problem.contract.batch import Batch
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.problem.planes.planes import Planes
from maxmargin.solvers import OneSlack
from maxmargin.structures.ranking.orders import discounts, gains, ideal_dcg

DEPTH = 10  # of the NDCG that is measured and trained for
ROUNDS = 6
TOL = 1e-3  # relative gap, as of Ranker


class Pairs:
    """All pairs of documents of one query that differ in grade: `better`, `worse` and `query` of each."""

    def __init__(self, part: Part):
        self.part, self.rows = part, list(queries(part.qid))
        found = []
        for number, rows in enumerate(self.rows):
            better, worse = np.nonzero(part.relevance[rows, None] > part.relevance[None, rows])
            found.append((better + rows.start, worse + rows.start, np.full(len(better), number)))
        self.better, self.worse, self.query = map(np.concatenate, zip(*found, strict=True))
        self.ideal = np.array([ideal_dcg(part.relevance[rows].astype(float), DEPTH) for rows in self.rows])
        worth = gains(part.relevance)
        self.apart = (worth[self.better] - worth[self.worse]) / worth.max()

    def swapped(self, discount: np.ndarray) -> np.ndarray:
        """What NDCG loses where two documents change places, at a discount for every document; but for a factor."""
        return self.over_ideal * np.abs(discount[self.better] - discount[self.worse])

    @property
    def over_ideal(self) -> np.ndarray:
        return self.apart / self.ideal[self.query]

    def ideal_order(self) -> np.ndarray:
        """Discounts of the ideal order; documents of one grade have the mean of theirs."""
        found = np.empty(len(self.part.relevance))
        for rows in self.rows:
            grades, each = self.part.relevance[rows], discounts(rows.stop - rows.start, DEPTH)
            found[rows] = [np.mean(each[np.sort(-grades) == -grade]) for grade in grades]
        return found

    def order_by(self, w: np.ndarray) -> np.ndarray:
        """Discounts of the order by scores; of equal scores the lower grade first."""
        found, scores = np.empty(len(self.part.relevance)), self.part.X @ w
        for rows in self.rows:
            order = np.lexsort((self.part.relevance[rows], -scores[rows]))
            found[rows.start + order] = discounts(rows.stop - rows.start, DEPTH)
        return found


class WeightedPairs(Batch):
    """Queries whose loss is Σ v_ij m_ij over the pairs that are swapped, with any weights v and margins m = γ_i - γ_j.

    The structured hinge is Σ v_ij max(0, m_ij - (s_i - s_j)). Queries weigh 1 in the mean.
    """

    search, latent, name, dim = Search.EXACT, False, "WeightedPairs", 0

    def __init__(self, pairs: Pairs, weights: np.ndarray):
        each = np.bincount(pairs.query, weights, len(pairs.rows))
        super().__init__(None, len(pairs.rows))
        self.pairs, self.weights, self.dim = pairs, weights / np.mean(each[each > 0]), pairs.part.X.shape[1]

    def planes(self, w: np.ndarray, augment: float | np.ndarray = 1.0) -> Planes:
        pairs, lam = self.pairs, np.zeros(len(self.pairs.rows))
        lam[self.ids] = self.loss_weights(augment)
        scores = pairs.part.X @ w
        swap = lam[pairs.query] * pairs.apart > scores[pairs.better] - scores[pairs.worse]
        better, worse, query, weights = (a[swap] for a in (pairs.better, pairs.worse, pairs.query, self.weights))
        n = len(scores)
        coefficients = np.bincount(better, weights, n) - np.bincount(worse, weights, n)
        bounds = np.array([0, *(rows.stop for rows in pairs.rows)])
        rows = sparse.csr_array((coefficients, np.arange(n), bounds), shape=(len(pairs.rows), n)) @ pairs.part.X
        return Planes(rows[self.ids], np.bincount(query, weights * pairs.apart[swap], len(pairs.rows))[self.ids])

    def solved(self, C: float) -> tuple[np.ndarray, float]:
        """The best weights, and their proved relative gap."""
        told = np.unique(self.pairs.query)
        solution = OneSlack(tol=TOL, max_passes=1000).solve(Oracle(self.take(told)), C)
        return solution.w, solution.certificate.relative_gap


class WeightsContestant(Contestant):
    """Hinges of weighted pairs, which one convex problem learns."""

    def __init__(self, name: str, weights: Callable[[Pairs], np.ndarray]):
        self.name, self.weights, self.worst_gap = name, weights, 0.0

    def train(self, fold: Fold) -> list[tuple[Scorer, float]]:
        pairs, trained = Pairs(fold.train), []
        for C in GRID:
            models, seconds = cpu_seconds(partial(self._models, pairs, C))
            trained += [(scorer_of(w), seconds / len(models)) for w in models]
        return trained

    def _models(self, pairs: Pairs, C: float) -> list[np.ndarray]:
        return [self._solved(pairs, self.weights(pairs), C)]

    def _solved(self, pairs: Pairs, weights: np.ndarray, C: float) -> np.ndarray:
        w, gap = WeightedPairs(pairs, weights).solved(C)
        self.worst_gap = max(self.worst_gap, gap)
        return w


class RoundsContestant(WeightsContestant):
    """|ΔNDCG@10| at the scores of the round before; a model for every number of rounds."""

    def __init__(self) -> None:
        super().__init__(f"|ΔNDCG@{DEPTH}| of the current order, up to {ROUNDS} rounds", by_gains)

    def _models(self, pairs: Pairs, C: float) -> list[np.ndarray]:
        models = super()._models(pairs, C)
        for _ in range(ROUNDS):
            models.append(self._solved(pairs, pairs.swapped(pairs.order_by(models[-1])), C))
        return models


def by_gains(pairs: Pairs) -> np.ndarray:
    """As Ranker weighs pairs."""
    return pairs.apart / np.bincount(pairs.query, pairs.apart)[pairs.query]


def scorer_of(w: np.ndarray) -> Scorer:
    return lambda X: X @ w


def contestants() -> Sequence[Contestant]:
    """Ranker first, with which the others are compared."""
    return (
        MaxmarginContestant("ndcg"),
        WeightsContestant(f"gains over the ideal DCG@{DEPTH}", lambda pairs: pairs.over_ideal),
        WeightsContestant("swaps in the ideal order", lambda pairs: pairs.swapped(pairs.ideal_order())),
        RoundsContestant(),
        ranking.PairwiseContestant(),
        ranking.RidgeContestant("grades"),
        ranking.RidgeContestant("gains"),
    )


def marked(part: Part, scorer: Scorer) -> np.ndarray:
    """NDCG@10 of every query."""
    return ndcgs_at_10(part.relevance, scorer(part.X), part.qid)


PROBLEMS: dict[str, str] = {f"{name}-weights": name for name in ranking.PROBLEMS}


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """All contestants on all folds, once."""
    report("reading the data")
    folds = ranking.PROBLEMS[PROBLEMS[name]](quick)
    table = Table(
        title=f"{name}: NDCG@{DEPTH} of {len(folds)} folds, %",
        caption="Validation: the score that chose the setting. Test: the mean over test queries. Against Ranker: the "
        "mean difference of the same queries, and in brackets its standard error. CPU s: of one training, the mean "
        "over all settings tried.",
    )
    table.add_column("weights of pairs, or solver")
    for heading in ("validation", "test", "against Ranker", "CPU s", "largest gap"):
        table.add_column(heading, justify="right")
    reference: np.ndarray | None = None
    for contestant in contestants():
        marks: dict[int, list[float]] = {}  # of every query
        chosen, seconds = [], []
        for i, fold in enumerate(folds):
            report(f"{contestant.name}: fold {i + 1}")
            trained, test = contestant.train(fold), fold.test
            seconds += [taken for _, taken in trained]
            values = [float(np.mean(marked(fold.validation, scorer))) for scorer, _ in trained]
            best = median_best(values)
            chosen.append(values[best])
            names = [int(test.qid[rows.start]) for rows in queries(test.qid)]
            for query, value in zip(names, marked(test, trained[best][0]), strict=True):
                marks.setdefault(query, []).append(float(value))
        each = np.array([np.mean(values) for values in marks.values()])
        gap = getattr(contestant, "worst_gap", None)
        table.add_row(
            contestant.name,
            f"{100 * np.mean(chosen):.2f}",
            f"{100 * np.mean(each):.2f}",
            "" if reference is None else ranking.mean_and_error((each - reference).tolist()),
            f"{np.mean(seconds):.2f}",
            "" if gap is None else f"{100 * gap:.2g}%",
        )
        reference = each if reference is None else reference
    return table
