"""Packed sequences whose model remembers several labels, or has features at pairs of labels, and their search."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.rounding import UNIT, gamma
from maxmargin.inputs.labels.labels import Labels
from maxmargin.problem.contract.batch import Offered
from maxmargin.problem.contract.capabilities.distribution_dual import DistributionDual
from maxmargin.problem.contract.capabilities.own_dual import OwnDual
from maxmargin.problem.contract.tangents import Softness, Tangents
from maxmargin.problem.planes.atoms import AtomRows
from maxmargin.problem.planes.planes import Planes
from maxmargin.structures.sequences.batch import ChainBatch, Unrolled
from maxmargin.structures.sequences.compiled.step_arrays import PairRows, Steps
from maxmargin.structures.sequences.histories import link_scores
from maxmargin.structures.sequences.history_sums import HistorySums, ScoredSteps


class HistoryBatch(ChainBatch):
    """Of a Chain with `histories_`; `pairs` has the features of units that have weights for pairs of labels.

    The duals of chains keep flows or distributions of pairs of neighbouring labels, which do not determine the score of
    longer histories: this batch offers neither, and its dual point is one over planes.
    """

    def __init__(self, *of_chains: Any, pairs: PairRows):
        super().__init__(*of_chains)
        self.pairs = pairs
        self.whole_losses = False  # tables over losses know pairs of labels only

    def offers(self, capability: type[Offered]) -> Offered | None:
        return None if capability in (DistributionDual, OwnDual) else super().offers(capability)

    def _keep_units(self, begin: int, end: int) -> None:
        super()._keep_units(begin, end)
        if self.pairs.n_pairs:
            of, bounds = self.pairs, self.pairs.indptr[begin : end + 1]
            own = slice(int(bounds[0]), int(bounds[-1]))
            self.pairs = PairRows(of.n_pairs, bounds - bounds[0], of.places[own], of.values[own])

    @property
    def steps(self) -> Steps:
        steps: Steps = self.task.histories_.steps
        return steps

    def scored(self, w: Array) -> ScoredSteps:
        """The scores of steps and ends, and the weights of pairs."""
        steps, begin = self.steps, self.task.histories_.dim
        ends = link_scores(w, steps.ends) + steps.closed
        return ScoredSteps(steps, link_scores(w, steps.parts), ends, self.pairs, w[begin : self.task.first_])

    def _viterbi(self, w: Array, scores: Array, view: Unrolled) -> tuple[Labels, Array]:
        from maxmargin.structures.sequences.compiled import histories

        labels, best = np.empty(len(scores), dtype=np.int32), np.empty(len(view.bounds) - 1)
        blocks, everyone = self.task.histories_.blocks, np.arange(len(self.steps.label), dtype=np.uint32)
        scratch = (
            np.empty(self.pairs.n_pairs), np.empty(self.task.n_labels_ + 2), everyone,
            np.empty(len(self.steps.source)), np.empty(blocks.size),
        )  # fmt: skip
        v = np.empty((self.longest + 1, len(everyone)))
        histories.viterbi(scores, view.units, *self.scored(w), blocks, view.bounds, scratch, v, labels, best)
        return labels, best

    def n_best(self, w: Array, n: int) -> tuple[Labels, Array]:
        from maxmargin.structures.sequences.compiled import histories

        view, steps = self.unrolled(), self.steps
        scores, scored = self.atoms.scores(w, view.units), self.scored(w)
        table = (len(scores) + 1, len(steps.label), n)
        self._check_room(n, table)
        labels, best = np.zeros((n, len(scores)), dtype=np.int32), np.zeros(n)
        scratch = (np.full(table, -np.inf), np.zeros(table, dtype=np.int32), np.zeros(table, dtype=np.int32))
        pointer = np.zeros(max(len(steps.source), len(steps.label)), dtype=np.int64)
        x = np.empty(self.pairs.n_pairs)
        found = histories.n_best(scores, view.units, *scored, x, n, *scratch, pointer, labels, best)
        return labels[:found], best[:found]

    def _planes(self, view: Unrolled, truth: Labels, found: Labels, cost: Array) -> Planes:
        from maxmargin.structures.sequences.compiled import histories

        units, bounds = view
        wrong = truth != found
        # A label takes part in the steps to itself and the next `order` positions, or to the end; each step has at most
        # `order` weights, on either side.
        order, most = self.steps.parts.shape[1], 2 * int(np.count_nonzero(wrong))
        most += most * order * (order + 1)
        if self.pairs.n_pairs:
            touched = wrong.copy()
            touched[1:] |= wrong[:-1]
            most += 2 * int(np.diff(self.pairs.indptr)[units[touched]].sum())
        of = self.atoms.arrays
        indptr = np.zeros(len(bounds), dtype=np.int32)
        indices, values, loss = np.empty(most, dtype=np.int32), np.empty(most), np.empty(len(bounds) - 1)
        rows = (indptr, indices, values)
        priced, factors = self.rows[units], self.factors[units]
        histories.differences(
            self.steps, self.pairs, self.task.histories_.dim, of.direct, of.n_labels, bounds, units, truth, found,
            priced, cost, factors, *rows, loss,
        )  # fmt: skip
        return Planes(AtomRows(self.atoms, *rows), loss)

    def sums(self, w: Array, bounds: NDArray[np.int64]) -> HistorySums:
        units = self.unrolled().units
        return HistorySums(self.task, self.atoms.scores(w, units), self.scored(w), bounds, units)

    def add_tangents(self, w: Array, weights: Array, softness: Softness, total: Array) -> Tangents:
        """By the sums of compiled/history_sums.py, at b times the scores."""
        from maxmargin.structures.sequences.compiled import chain, histories

        view, b, steps = self.unrolled(), softness.sharpness, self.steps
        at, truth, first = view.units, self.labels[view.units], view.bounds[:-1]
        lengths, scored = np.diff(view.bounds), self.scored(w)
        scores = self.atoms.scores(w, at)
        right = np.add.reduceat(scores[np.arange(len(at)), truth], first)
        histories.path_scores(*scored, at, truth, view.bounds, right)
        if softness.margin:
            chain.augment(scores, self.cost, self.rows[at], softness.margin * self.factors[at])
        scores *= b
        sums = HistorySums(self.task, scores, scored.times(b), view.bounds, at)
        expected = sums.expected(weights)
        slacks = sums.log_partitions / b - right
        # What is added: the truth, less what is expected of labels, steps, ends and pairs.
        each = np.repeat(weights, lengths)
        p = -each[:, None] * sums.labels
        p[np.arange(len(at)), truth] += each
        self.atoms.add_units(total, at, p)
        for parts, shares in ((steps.parts, expected.steps), (steps.ends, expected.ends)):
            used = parts >= 0
            np.subtract.at(total, parts[used], np.broadcast_to(shares[:, None], parts.shape)[used])
        begin = self.task.histories_.dim
        total[begin : self.task.first_] -= expected.pairs
        histories.add_paths(steps, self.pairs, begin, at, truth, view.bounds, weights, total)
        # As in ChainBatch.add_tangents, where a position has more than one link, and features of pairs.
        order, most = steps.parts.shape[1], int(np.max(np.bincount(steps.target, minlength=1)))
        of_pairs = self._pair_sizes()
        largest = self.atoms.largest(w) + float(np.max(self.cost, initial=0.0)) * softness.margin * float(
            np.max(self.factors[at], initial=0.0)
        )
        heaviest = float(np.max(np.abs(w[:begin]), initial=0.0)) * order
        heaviest += float(np.max(np.abs(scored.weights), initial=0.0)) * float(np.max(of_pairs, initial=0.0))
        paths = lengths * largest + (lengths + 1) * heaviest
        terms = self.atoms.terms + self._pair_terms()
        errors = 4 * gamma(terms + 2 * most + order + 16) * (paths + lengths / b)
        mass = float(np.dot(each, 2 * (self.atoms.lengths[at] + (of_pairs[at] if len(of_pairs) else 0.0))))
        mass += float(np.dot(weights, 2.0 * order * (lengths + 1)))
        count = 4.0 * (most + 8) * self.longest + 4 * b * float(np.max(errors, initial=0.0)) / UNIT
        return Tangents(slacks, errors, mass, count + len(at))

    def _pair_sizes(self) -> Array:
        """Σ |value| of every unit's features of pairs; nothing where there are none."""
        if self.pairs.n_pairs == 0:
            return np.zeros(0)
        owners = np.repeat(np.arange(len(self.pairs.indptr) - 1), np.diff(self.pairs.indptr))
        sizes = np.bincount(owners, np.abs(self.pairs.values), len(self.pairs.indptr) - 1)
        return np.asarray(sizes, dtype=float)

    def _pair_terms(self) -> int:
        return int(np.diff(self.pairs.indptr).max(initial=0))
