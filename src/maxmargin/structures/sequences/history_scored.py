"""ScoredHistories: sequences of models with several labels of memory, or with features at pairs of labels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.inputs.labels.compiled.labelled_units import LabelledUnits
from maxmargin.inputs.labels.labels import Labels
from maxmargin.problem.contract.scored import checked_scores, need_truth
from maxmargin.problem.planes.atoms import AtomRows, Atoms
from maxmargin.problem.planes.compiled.plane_tables import PlaneRows
from maxmargin.problem.planes.planes import Planes
from maxmargin.structures.sequences.chain_space import ChainSpace, TrueLabels, check_listed, finite_sizes
from maxmargin.structures.sequences.compiled.step_arrays import PairRows, ScoredSteps, Steps
from maxmargin.structures.sequences.histories import Histories, link_scores
from maxmargin.structures.sequences.history_sums import HistorySums
from maxmargin.structures.sequences.label_names import LabelNames


class HistoryScores(NamedTuple):
    """Scores of label sequences by their histories (histories.py); -inf forbids."""

    unary: Array  # (positions, K): the score of each label at each position, with all sequences concatenated
    steps: Array  # the score of each step from one history to the next
    ends: Array  # the score of each history as the last one
    pairs: Array  # weights of the features of positions at pairs of labels, one for each feature and pair


class ScoredHistories(ChainSpace):
    """The label sequences of a Chain with histories, as a Scored; scores are HistoryScores.

    atoms, units : the features of all units, and the unit of every position
    pairs : the features of units that have weights for pairs of labels
    first : the number of weights before those of units
    """

    # first-order chains alone have these capabilities, so that they are not inherited
    best_lists = totals = soft_best = most_violated = None  # type: ignore[assignment]

    def __init__(
        self,
        atoms: Atoms,
        units: NDArray[np.int64],
        histories: Histories,
        pairs: PairRows,
        first: int,
        bounds: NDArray[np.int64],
        names: LabelNames,
        truths: TrueLabels | None = None,
    ):
        super().__init__(bounds, names, truths)
        self.atoms, self.units, self.histories, self.pairs, self.first = atoms, units, histories, pairs, first

    @property
    def steps(self) -> Steps:
        """The steps between histories."""
        return self.histories.steps

    def scores(self, w: Array) -> HistoryScores:
        """Return the scores of labels, steps, ends and features of pairs at the weights w."""
        steps = self.steps
        ends = link_scores(w, steps.ends) + steps.closed
        of_pairs = w[self.histories.dim : self.first]
        return HistoryScores(self.atoms.scores(w, self.units), link_scores(w, steps.parts), ends, of_pairs)

    def scored_steps(self, scores: HistoryScores) -> ScoredSteps:
        """Return the scores of links in the form that compiled code reads."""
        return ScoredSteps(self.steps, scores.steps, scores.ends, self.pairs, scores.pairs)

    def indicator(self, found: Labels, weights: Array | None = None) -> HistoryScores:
        """Return how often each score is used; sequence j counts weights[j] times."""
        from maxmargin.structures.sequences.compiled.histories import count_paths

        each = np.ones(len(self)) if weights is None else np.asarray(weights, dtype=float)
        unary = np.zeros((len(found), self.n_labels))
        unary[np.arange(len(found)), found] = np.repeat(each, np.diff(self.bounds))
        counts = [np.zeros(len(self.steps.source)), np.zeros(len(self.steps.label)), np.zeros(self._n_pair_scores)]
        filled = np.diff(self.bounds) > 0
        bounds = self.bounds[np.append(True, filled)]
        count_paths(self.steps, self.pairs, self.units, found, bounds, each[filled], *counts)
        return HistoryScores(unary, *counts)

    def sums(self, scores: Any) -> HistorySums:
        """Return the distributions of the label sequences. An empty sequence has one output, the empty one."""
        scores = self._checked(scores)
        return HistorySums(self.names, scores.unary, self.scored_steps(scores), self.bounds, self.units)

    def n_best(self, scores: Any, n: int) -> tuple[Labels, Array]:
        """Return the n best label sequences of a space of one sequence, or fewer, best first, and their scores."""
        from maxmargin.structures.sequences.compiled import histories

        scores, steps = self._checked(scores), self.steps
        table = (len(scores.unary) + 1, len(steps.label), n)
        check_listed(n, table)
        labels, best = np.zeros((n, len(scores.unary)), dtype=np.int32), np.zeros(n)
        scratch = (np.full(table, -np.inf), np.zeros(table, dtype=np.int32), np.zeros(table, dtype=np.int32))
        pointer = np.zeros(max(len(steps.source), len(steps.label)), dtype=np.int64)
        x, scored = np.empty(self.pairs.n_pairs), self.scored_steps(scores)
        found = histories.n_best(scores.unary, self.units, scored, x, n, *scratch, pointer, labels, best)
        return labels[:found], best[:found]

    def best_through(self, scores: Any) -> Array:
        """Return (positions, K): the highest score of a label sequence that has this label at this position."""
        from maxmargin.structures.sequences.compiled.best_through import histories_best_through

        scores = self._checked(scores)
        through, scored, blocks = np.empty_like(scores.unary), self.scored_steps(scores), self.histories.blocks
        v, u = np.empty((2, self._longest + 1, len(self.steps.label)))
        histories_best_through(scores.unary, self.units, scored, blocks, self.bounds, self._scratch(), v, u, through)
        return through

    def magnitudes(self, scores: Any) -> Array:
        """Return, for every sequence, a number that no sum of the absolute values of its scores exceeds."""
        of_steps, of_ends, of_pairs = (finite_sizes(each).max(initial=0.0) for each in scores[1:])
        each = finite_sizes(scores.unary).max(axis=1, initial=0.0) + of_steps
        if self.pairs.n_pairs:
            values = np.append(0.0, np.cumsum(np.abs(self.pairs.values)))[self.pairs.indptr]
            each += of_pairs * np.diff(values)[self.units]
        return self._totals(each) + of_ends

    def planes_of(self, found: Labels) -> Planes:
        """Return Ψ(x, y) - Ψ(x, z) and Δ(y, z) of these labels."""
        from maxmargin.structures.sequences.compiled import histories

        need_truth(self.truths)
        assert self.truths is not None
        (truth, priced, cost, factors), bounds = self.truths, self.bounds
        wrong = truth != found
        # A label is part of the steps to its own and the next `order` positions, or to the end; each step has at most
        # `order` weights, on either side.
        order, most = self.steps.parts.shape[1], 2 * int(np.count_nonzero(wrong))
        most += most * order * (order + 1)
        if self.pairs.n_pairs:
            touched = wrong.copy()
            touched[1:] |= wrong[:-1]
            most += 2 * int(np.diff(self.pairs.indptr)[self.units[touched]].sum())
        of, rows = self.atoms.arrays, PlaneRows.of(len(bounds) - 1, most)
        given = LabelledUnits(of.direct, of.n_labels, bounds, self.units, truth, priced, cost, factors)
        histories.differences(self.steps, self.pairs, self.histories.dim, given, found, rows)
        return Planes(AtomRows(self.atoms, rows.indptr, rows.indices, rows.values), rows.offset)

    # --- helpers

    @property
    def _n_pair_scores(self) -> int:
        return self.first - self.histories.dim

    def _checked(self, scores: Any) -> Any:
        of_links = ((len(self.steps.source),), (len(self.steps.label),), (self._n_pair_scores,))
        return checked_scores(scores, ((int(self.bounds[-1]), self.n_labels), *of_links))

    def _search(self, scores: Any, bounds: NDArray[np.int64], longest: int, labels: Labels, values: Array) -> None:
        from maxmargin.structures.sequences.compiled import histories

        scored, blocks = self.scored_steps(scores), self.histories.blocks
        v = np.empty((longest + 1, len(self.steps.label)))
        histories.viterbi(scores.unary, self.units, scored, blocks, bounds, self._scratch(), v, labels, values)

    def _scratch(self) -> tuple[Any, ...]:
        """Return the scratch arrays of the search, as compiled code reads them."""
        everyone = np.arange(len(self.steps.label), dtype=np.uint32)
        return (
            np.empty(self.pairs.n_pairs), np.empty(self.n_labels + 2), everyone,
            np.empty(len(self.steps.source)), np.empty(self.histories.blocks.size),
        )  # fmt: skip
