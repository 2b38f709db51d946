"""Packed examples of Correlation, and the loss-augmented searches for their clusterings."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from maxmargin.base.arrays import Array
from maxmargin.base.search import Search
from maxmargin.problem.contract.batch import Batch
from maxmargin.problem.contract.capabilities.relaxation_report import RelaxationReport
from maxmargin.problem.contract.capabilities.resumable_searches import ResumableSearches
from maxmargin.problem.planes.atoms import Atoms
from maxmargin.problem.planes.planes import Planes
from maxmargin.structures.clustering.agglomeration import PairGains
from maxmargin.structures.clustering.labels import Clusters, cluster_numbers
from maxmargin.structures.clustering.measures import mitre_loss
from maxmargin.structures.clustering.pair_table import PairTable
from maxmargin.structures.clustering.triangles import Relaxation, Triangles, checked_triangles, relaxed, rounded


class CorrelationBatch(Batch, RelaxationReport, ResumableSearches):
    """Packed sets of items with true clusters; it keeps the binding triangles of every set's last relaxation."""

    call_cost = 300.0  # scoring all pairs, merging and moving, against one visit of a plane

    def __init__(self, task: Any, table: PairTable, truths: list[Clusters]):
        super().__init__(task, len(truths))
        self.table, self.truths = table, truths
        self.inside = [
            (truth[table.first[own]] == truth[table.second[own]]).astype(float)
            for truth, own in zip(truths, map(table.rows, range(len(truths))), strict=True)
        ]
        self.weights = [pair_weight(m, n) for m, n in zip(np.diff(table.bounds), table.n_items, strict=True)]
        self.triangles: list[Triangles | None] = [None] * len(truths)  # binding ones of the last relaxation

    @property
    def method(self) -> str:
        return "LP relaxation" if self.task.method == "relaxed" else "greedy merges and moves"

    @property
    def plane_atoms(self) -> Atoms:
        return self.table.plane_atoms

    def relaxed_on(self, count: int, n: int) -> str:
        return f"fractional on {count} of {n} sets"

    def search_states(self) -> list[Any]:
        return [self.triangles[g] for g in self.ids]

    def restore_searches(self, states: list[Any]) -> None:
        for g, triangles in zip(self.ids, states, strict=True):
            self.triangles[g] = None if triangles is None else checked_triangles(triangles, int(self.table.n_items[g]))

    def planes(self, w: Array, augment: float | Array = 1.0) -> Planes:
        lam = self.loss_weights(augment)
        rows, loss, upper, fractional = [], np.empty(len(self)), np.empty(len(self)), np.zeros(len(self), dtype=bool)
        for j, (g, scores) in enumerate(zip(self.ids, self.table.scores(w, self.ids), strict=True)):
            gains = pair_gains(self.table, g, scores)
            known = self.triangles[g]
            found = best_clustering(self.task.method, self.task.measure, gains, self.truths[g], float(lam[j]), known)
            if found.solution is not None:
                self.triangles[g] = found.solution.triangles
                fractional[j] = not found.solution.whole
            rows.append((self.inside[g] - found.together) / self.weights[g])
            loss[j], upper[j] = found.loss, found.upper
        return Planes(self._combined(rows), loss, upper, fractional if self.search is Search.OVERGENERATING else None)

    def _combined(self, rows: list[Array]) -> Any:
        """Return Σ_e row[e] · x_e for one row of factors per example."""
        indices = [np.flatnonzero(row) for row in rows]
        ends = np.append(0, np.cumsum([len(each) for each in indices])).astype(np.int64)
        columns = [each + self.table.bounds[g] for each, g in zip(indices, self.ids, strict=True)]
        values = [row[each] for row, each in zip(rows, indices, strict=True)]
        none = np.empty(0)
        factors = (np.concatenate([none, *values]), np.concatenate([none.astype(np.int64), *columns]), ends)
        return self.table.combined(sparse.csr_array(factors, shape=(len(rows), int(self.table.bounds[-1]))))


class FoundClustering(NamedTuple):
    """Result of a search for one set of items."""

    labels: Clusters | None  # None if the solution is fractional
    together: Array  # (m,) for every listed pair: 1 if joined, 0 if separate, between if fractional
    loss: float  # the loss of the result; for a fractional one, the relaxed loss
    upper: float  # bound on score + λ·loss of any output, minus the score of the truth
    solution: Relaxation | None  # the solution of the relaxation, if it was solved


def best_clustering(
    method: str, measure: str, scores: PairGains, truth: Clusters | None, lam: float, known: Triangles | None = None
) -> FoundClustering:
    """Search for the output with the highest score + λ·loss, and bound how far any output exceeds the truth.

    With the measure "pairs" the loss only changes the gains: a joined pair adds to the loss if the truth separates it,
    and subtracts from it otherwise. known : triangles for a relaxation to begin with.
    """
    n, weight = scores.n_items, pair_weight(len(scores.gains), scores.n_items)
    inside = np.zeros(len(scores.gains), dtype=bool) if truth is None else scores.together(truth)
    right = float(scores.gains[inside].sum())  # the score of the truth
    if measure == "mitre":
        gains, rate = scores, lam * n * weight
        most_added = rate  # the loss is at most n
    else:
        gains, rate = scores.plus(lam * np.where(inside, -1.0, 1.0)), 0.0
        most_added = lam * np.count_nonzero(inside)  # the loss of the clustering into single items
    labels: Clusters | None
    if method == "relaxed":
        solution = relaxed(gains, known)
        labels, together, bound = rounded(gains, solution) if solution.whole else None, solution.listed, solution.bound
    else:
        solution = None
        starts = [np.arange(n)] if truth is None or lam == 0 else [np.arange(n), truth]
        climbed = [gains.climbed(start, truth, rate) for start in starts]
        labels = max(climbed, key=lambda z: gains.total(z) + (rate * mitre_loss([truth], [z]) if rate > 0 else 0))
        together, bound = gains.together(labels).astype(float), gains.bound()
    if truth is None:
        loss = 0.0
    elif measure == "mitre":
        loss = n * mitre_loss([truth], [labels])
    else:
        loss = float(np.abs(together - inside).sum()) / weight
    height = lam * loss + (float(scores.gains @ together) - right) / weight
    upper = max((bound + most_added - right) / weight, height)
    return FoundClustering(None if labels is None else cluster_numbers(labels, n, "z"), together, loss, upper, solution)


def pair_gains(table: PairTable, g: int, scores: Array) -> PairGains:
    """Return the pairs of one example with their scores as gains."""
    own = table.rows(g)
    return PairGains(int(table.n_items[g]), table.first[own], table.second[own], scores)


def pair_weight(n_pairs: int, n_items: int) -> float:
    """Return the divisor m/n of sums over pairs in Ψ and in the loss."""
    return max(n_pairs, 1) / n_items
