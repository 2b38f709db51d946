"""Correlation: clusters whose pairs of items have a high total score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.arrays import Array
from maxmargin.batch import Batch
from maxmargin.objective import Formulation
from maxmargin.planes import Planes
from maxmargin.structures.clustering.agglomeration import Labels, PairGains, partitions
from maxmargin.structures.clustering.clusterings import cluster_numbers, mitre_loss
from maxmargin.structures.clustering.pairs import Pairs, PairTable, read_all, read_clustered
from maxmargin.structures.clustering.triangles import Relaxation, Triangles, relaxed, rounded
from maxmargin.task import Task

MEASURES = ("pairs", "mitre")
METHODS = {"greedy": "undergenerating", "relaxed": "overgenerating"}
MOST_RELAXED = 100  # items of a set whose relaxation takes seconds, not minutes


class Clustered(NamedTuple):
    """A clustering of the items of x; of a relaxation, how far each pair is together."""

    x: Pairs
    together: Array  # (m,) of every listed pair, 1 in one cluster and 0 apart, or between where labels is None
    labels: Labels | None  # (n,) clusters 0, 1, … in order of appearance


class Correlation(Task):
    """x is a set of items with features x_e of pairs e, y a cluster label for each item; an output z is a clustering.

        Ψ(x, z) = n/m Σ_{e in one cluster of z} x_e,      n items, m pairs

    (Finley and Joachims, "Supervised clustering with support vector machines", ICML 2005): the best clustering is that
    with the highest total score of the pairs that it puts together. All pairs of a cluster count: it holds together
    where most of its pairs are alike, and one strong link does not join two clusters.

    Ψ and the loss are n times a mean over pairs. A pair then needs the same margin in sets of any size, and a set
    weighs as much as it has items; with plain sums the pairs of the largest set would outweigh all others.

    Finding the best clustering is NP-hard; `method` says how it is searched:

    "greedy" : clusters of one item each are merged, then single items moved, as long as that gains anything, and the
        best of this and of the same search from the true clusters is taken. It may miss the best clustering
        (undergenerating), but comes with an upper bound: every pair decided on its own, less what triangles forbid.
    "relaxed" : a linear program over e in [0, 1] with triangle inequalities (overgenerating). Clusterings may then be
        fractional in training; predictions are rounded. For sets of up to 100 items.

    measure : the loss. "pairs" is n times the share of pairs that are together in one clustering and apart in the
        other: the sum over items of the share of an item's pairs that are wrong, if all are listed. "mitre" is n times
        1 - F1 of the MUC score (clusterings.mitre_loss), which is not linear in the pairs: for "greedy" only.
    intercept : whether pairs have one more feature, 1, without which a score could not have a threshold but 0.

    Where x lists candidate pairs only, the others have no score, and the loss "pairs" does not count them.
    """

    def __init__(self, method: str = "greedy", measure: str = "pairs", intercept: bool = True):
        self.method = method
        self.measure = measure
        self.intercept = intercept

    n_features_: int

    def setup(self, X: Sequence[Any], Y: Sequence[Any]) -> None:
        if self.method not in METHODS:
            raise ValueError(f"the search must be one of {', '.join(map(repr, METHODS))}, got {self.method!r}")
        if self.measure not in MEASURES:
            raise ValueError(f"the loss must be one of {', '.join(map(repr, MEASURES))}, got {self.measure!r}")
        if self.method == "relaxed" and self.measure == "mitre":
            raise ValueError(
                "the MITRE loss is not linear in the pairs, so the search 'relaxed' cannot have it; use the search "
                "'greedy', or the loss 'pairs'"
            )
        self.search = METHODS[self.method]
        self.n_features_ = read_clustered(X, Y)
        self.dim = self.n_features_ + bool(self.intercept)

    # --- the plain form: one example at a time

    def psi(self, x: Any, z: Any) -> Any:
        (x,) = read_all([x])
        together = self._clustered(x, z).together
        total = np.zeros(self.dim)
        if len(x.pairs):  # an example without pairs does not know how many features they would have
            total[: self.n_features_] = x.features.T @ together
        if self.intercept:
            total[-1] = together.sum()
        total /= _weight(len(x.pairs), x.n_items)
        if not sparse.issparse(x.features):
            return total
        indices = np.flatnonzero(total)
        return indices, total[indices]

    def loss(self, y: Any, z: Any) -> float:
        """Of z as the searches return it, or as labels: all pairs then count as listed."""
        if not isinstance(z, Clustered):
            n_items = len(z)
            pairs = np.column_stack(np.triu_indices(n_items, 1))
            z = self._clustered(Pairs(n_items, pairs, np.zeros((len(pairs), 1))), z)
        numbers = cluster_numbers(y, z.x.n_items, "y")
        if self.measure == "mitre":
            return z.x.n_items * mitre_loss([numbers], [z.labels])
        return float(np.abs(z.together - z.x.inside(numbers)).sum() / _weight(len(z.x.pairs), z.x.n_items))

    def argmax(self, w: Array, x: Any, y: Any = None) -> Clustered:
        (x,) = read_all([x])
        numbers = None if y is None else cluster_numbers(y, x.n_items, "y")
        table = self._table([x])
        found = self._found(_scored(table, 0, table.scores(w, np.arange(1))[0]), numbers, float(y is not None))
        return Clustered(x, found.together, found.labels)

    def label(self, z: Clustered) -> Labels:
        """The cluster of every item, numbered 0, 1, … in order of appearance."""
        if z.labels is None:
            raise ValueError("a fractional clustering has no labels; decode returns one that is rounded")
        return z.labels

    def outputs(self, x: Any) -> Iterator[Clustered]:
        (x,) = read_all([x])
        return (self._clustered(x, labels) for labels in partitions(x.n_items))

    def decode(self, w: Array, X: Sequence[Any]) -> list[Clustered]:
        examples = read_all(X)
        table = self._table(examples)
        found = []
        for g, scores in enumerate(table.scores(w, np.arange(len(table)))):
            gains = _scored(table, g, scores)
            if self.method == "relaxed":
                labels = rounded(gains, relaxed(gains))
            else:
                labels = gains.climbed(np.arange(gains.n_items))
            found.append(self._clustered(examples[g], labels))
        return found

    # --- all examples at a time

    def pack(self, X: Sequence[Any], Y: Sequence[Any]) -> CorrelationBatch:
        examples = read_all(X)
        truths = [
            cluster_numbers(y, x.n_items, f"example {i}") for i, (x, y) in enumerate(zip(examples, Y, strict=True))
        ]
        return CorrelationBatch(self._table(examples), truths, self.method == "relaxed")

    def planes(self, w: Array, batch: CorrelationBatch, augment: float | Array = 1.0) -> Planes:
        lam = np.broadcast_to(np.asarray(augment, dtype=float), len(batch))
        rows, loss, upper = [], np.empty(len(batch)), np.empty(len(batch))
        for j, (g, scores) in enumerate(zip(batch.ids, batch.table.scores(w, batch.ids), strict=True)):
            known = batch.triangles[g] if batch.relaxed else None
            found = self._found(_scored(batch.table, g, scores), batch.truths[g], float(lam[j]), known)
            if found.solution is not None:
                batch.triangles[g] = found.solution.triangles
                batch.fractional[g] |= not found.solution.whole
            rows.append((batch.inside[g] - found.together) / batch.weights[g])
            loss[j], upper[j] = found.loss, found.upper
        return Planes(batch.combined(rows), loss, upper)

    def rescaled_planes(self, w: Array, batch: CorrelationBatch, formulation: Formulation) -> Planes | None:
        """None: only `planes` can search."""
        return None

    # --- inside

    def _table(self, examples: list[Pairs]) -> PairTable:
        if self.method == "relaxed":
            for i, x in enumerate(examples):
                if x.n_items > MOST_RELAXED:
                    raise ValueError(
                        f"example {i} has {x.n_items} items; the search 'relaxed' takes up to {MOST_RELAXED}, because "
                        "every pair is a variable of a linear program. Use the search 'greedy'"
                    )
        return PairTable(examples, self.n_features_, bool(self.intercept))

    def _clustered(self, x: Pairs, z: Any) -> Clustered:
        """Labels as the output that they are."""
        if isinstance(z, Clustered):
            return z
        numbers = cluster_numbers(z, x.n_items, "z")
        return Clustered(x, x.inside(numbers).astype(float), numbers)

    def _found(self, scores: PairGains, truth: Labels | None, lam: float, known: Triangles | None = None) -> _Found:
        """The best output for score + λ·loss that the method finds, and how much better others can be than the truth.

        With the loss "pairs" this is again a clustering by totals of pairs: each that is together adds to the loss if
        it is apart in the truth, and takes from it otherwise.
        """
        n, weight = scores.n_items, _weight(len(scores.gains), scores.n_items)
        inside = np.zeros(len(scores.gains), dtype=bool) if truth is None else scores.together(truth)
        right = float(scores.gains[inside].sum())  # the score of the truth
        if self.measure == "mitre":
            gains, rate = scores, lam * n * weight
            most_added = rate  # of the loss it is known that it is at most n
        else:
            gains, rate = scores.plus(lam * np.where(inside, -1.0, 1.0)), 0.0
            most_added = lam * np.count_nonzero(inside)  # what the loss is where all are apart
        solution = relaxed(gains, known) if self.method == "relaxed" else None
        labels: Labels | None = None
        if solution is None:
            starts = [np.arange(n)] if truth is None or lam == 0 else [np.arange(n), truth]
            climbed = [gains.climbed(start, truth, rate) for start in starts]
            labels = max(climbed, key=lambda z: gains.total(z) + (rate * mitre_loss([truth], [z]) if rate > 0 else 0))
            together, bound = gains.together(labels).astype(float), gains.bound()
        else:
            together, bound = solution.listed, solution.bound
            if solution.whole:
                labels = rounded(gains, solution)
        if truth is None:
            loss = 0.0
        elif self.measure == "mitre":
            loss = n * mitre_loss([truth], [labels])
        else:
            loss = float(np.abs(together - inside).sum()) / weight
        height = lam * loss + (float(scores.gains @ together) - right) / weight
        upper = max((bound + most_added - right) / weight, height)
        return _Found(None if labels is None else cluster_numbers(labels, n, "z"), together, loss, upper, solution)


class _Found(NamedTuple):
    """What a search found for one example."""

    labels: Labels | None  # None where it is fractional
    together: Array
    loss: float
    upper: float  # no output is higher above the truth, in score + λ·loss
    solution: Relaxation | None


def _scored(table: PairTable, g: int, scores: Array) -> PairGains:
    """The pairs of one example with their scores."""
    own = table.rows(g)
    return PairGains(int(table.n_items[g]), table.first[own], table.second[own], scores)


class CorrelationBatch(Batch):
    """Pairs with their true clusters, and what relaxations remember."""

    call_cost = 300.0  # scoring all pairs, merging and moving, against one visit of a plane

    def __init__(self, table: PairTable, truths: list[Labels], relaxed: bool):
        self.table, self.truths, self.relaxed = table, truths, relaxed
        self.ids = np.arange(len(truths))
        self.inside = [
            (truth[table.first[own]] == truth[table.second[own]]).astype(float)
            for truth, own in zip(truths, map(table.rows, range(len(truths))), strict=True)
        ]
        self.weights = [_weight(m, n) for m, n in zip(np.diff(table.bounds), table.n_items, strict=True)]
        self.triangles: list[Triangles | None] = [None] * len(truths)  # where the last relaxation ended
        self.fractional = np.zeros(len(truths), dtype=bool)  # whether any was

    @property
    def search(self) -> str | None:  # type: ignore[override]
        """A relaxation that was never fractional was exact."""
        return "exact" if self.relaxed and not self.fractional.any() else None

    @property
    def method(self) -> str:  # type: ignore[override]
        """How the worst clusterings are searched, for the certificate."""
        if not self.relaxed:
            return "greedy merges and moves"
        return f"LP relaxation, fractional on {np.count_nonzero(self.fractional)} of {len(self.truths)} sets"

    def take(self, index: NDArray[np.intp]) -> CorrelationBatch:
        part = copy(self)
        part.ids = self.ids[index]
        return part

    def combined(self, rows: list[Array]) -> Any:
        """Σ_e row[e] · x_e for one row of factors per example."""
        indices = [np.flatnonzero(row) for row in rows]
        ends = np.append(0, np.cumsum([len(each) for each in indices])).astype(np.int64)
        columns = [each + self.table.bounds[g] for each, g in zip(indices, self.ids, strict=True)]
        values = [row[each] for row, each in zip(rows, indices, strict=True)]
        none = np.empty(0)
        factors = (np.concatenate([none, *values]), np.concatenate([none.astype(np.int64), *columns]), ends)
        return self.table.combined(sparse.csr_array(factors, shape=(len(rows), int(self.table.bounds[-1]))))


def _weight(n_pairs: int, n_items: int) -> float:
    """What sums over pairs are divided by, in Ψ and in the loss."""
    return max(n_pairs, 1) / n_items
