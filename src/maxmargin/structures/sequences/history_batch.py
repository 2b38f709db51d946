"""Packed sequences of models with several labels of memory, or with features at pairs of labels, and their search."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.rounding import UNIT, gamma
from maxmargin.problem.contract.batch import Offered
from maxmargin.problem.contract.capabilities.distribution_dual import DistributionDual
from maxmargin.problem.contract.capabilities.own_dual import OwnDual
from maxmargin.problem.contract.tangents import Softness, Tangents
from maxmargin.structures.sequences.batch import ChainBatch
from maxmargin.structures.sequences.compiled.step_arrays import PairRows
from maxmargin.structures.sequences.history_scored import ScoredHistories
from maxmargin.structures.sequences.history_sums import HistorySums


class HistoryBatch(ChainBatch):
    """The batch of a Chain with `histories_`; `pairs` has the features of units that have weights for pairs of labels.

    The duals of chains store flows or distributions of pairs of neighbouring labels, which do not determine the score
    of longer histories: this batch offers neither, and its dual point stores planes.
    """

    def __init__(self, *of_chains: Any, pairs: PairRows):
        super().__init__(*of_chains)
        self.pairs = pairs
        self.whole_losses = False  # tables over losses cover pairs of labels only

    def offers(self, capability: type[Offered]) -> Offered | None:
        return None if capability in (DistributionDual, OwnDual) else super().offers(capability)

    def _keep_units(self, begin: int, end: int) -> None:
        super()._keep_units(begin, end)
        if self.pairs.n_pairs:
            of, bounds = self.pairs, self.pairs.indptr[begin : end + 1]
            own = slice(int(bounds[0]), int(bounds[-1]))
            self.pairs = PairRows(of.n_pairs, bounds - bounds[0], of.places[own], of.values[own])

    def scored(self) -> ScoredHistories:
        """Return these sequences with their truths, ready to be scored and searched."""
        view, task = self.unrolled(), self.task
        own = (self.atoms, view.units, task.histories_, self.pairs, task.first_)
        return ScoredHistories(*own, view.bounds, task.names, self._truths(view.units))

    def add_tangents(self, w: Array, weights: Array, softness: Softness, total: Array) -> Tangents:
        """Compute tangents by the sums of compiled/history_sums.py, at b times the scores."""
        from maxmargin.structures.sequences.compiled import chain, histories

        view, b = self.scored(), softness.sharpness
        steps, at, truth, first = view.steps, view.units, view.truth, view.bounds[:-1]
        given, lengths = view.scores(w), np.diff(view.bounds)
        scores, scored = given.unary, view.scored_steps(given)
        right = np.add.reduceat(scores[np.arange(len(at)), truth], first)
        histories.path_scores(scored, at, truth, view.bounds, right)
        if softness.margin:
            chain.augment(scores, self.cost, self.rows[at], softness.margin * self.factors[at])
        scores *= b
        sums = HistorySums(self.task.names, scores, scored.times(b), view.bounds, at)
        expected = sums.expected(weights)
        slacks = sums.log_partitions / b - right
        # Add the truth, minus the expectation of labels, steps, ends and pairs.
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
        # As in ChainBatch.add_tangents, but a position has several links, and features of pairs.
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
        """Return Σ |value| of every unit's features of pairs; an empty array if there are none."""
        if self.pairs.n_pairs == 0:
            return np.zeros(0)
        owners = np.repeat(np.arange(len(self.pairs.indptr) - 1), np.diff(self.pairs.indptr))
        sizes = np.bincount(owners, np.abs(self.pairs.values), len(self.pairs.indptr) - 1)
        return np.asarray(sizes, dtype=float)

    def _pair_terms(self) -> int:
        return int(np.diff(self.pairs.indptr).max(initial=0))
