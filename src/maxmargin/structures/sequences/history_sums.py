"""HistorySums: the distribution of label sequences of chains with histories, for many sequences at once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.structures.sequences.chain_sums import ChainSums, Stretch
from maxmargin.structures.sequences.compiled.step_arrays import HistoryScratch, ScoredSteps, StepSums
from maxmargin.structures.sequences.label_names import LabelNames


class HistorySums(ChainSums):
    """The distributions of label sequences, given scores of units and steps; sequence j is at bounds[j]:bounds[j + 1].

    The cited equations are in compiled/history_sums.py.
    """

    def __init__(
        self, names: LabelNames, scores: Array, scored: ScoredSteps, bounds: NDArray[np.int64], units: NDArray[np.int64]
    ):
        self.names, self.scores, self.scored, self.bounds, self.units = names, scores, scored, bounds, units
        self.longest = int(np.max(np.diff(bounds), initial=1))

    @property
    def entropies(self) -> Array:
        from maxmargin.structures.sequences.compiled.history_sums import history_entropy

        found = np.zeros(len(self.bounds) - 1)
        for j in range(len(found)):
            e, units, log_z, masses = self._masses_of(j)
            if len(e) and np.isfinite(log_z):
                found[j] = history_entropy(e, units, self.scored, log_z, masses)
        return found

    def sample(self, rng: np.random.Generator, n: int) -> list[list[Any]]:
        from maxmargin.structures.sequences.compiled.history_sums import sample_histories

        drawn = []
        row = np.empty(len(self.scored.each) + len(self.scored.ends))
        for j, (begin, end) in enumerate(pairwise(self.bounds)):
            labels = np.empty((n, end - begin), dtype=np.int32)
            if begin < end:
                e, units, _, masses = self._masses_of(j)
                sample_histories(e, units, self.scored, masses, row, rng.random(labels.shape), labels)
            drawn.append([self.names.named(each) for each in labels])
        return drawn

    def transitions(self, j: int) -> Array:
        from maxmargin.structures.sequences.compiled.history_sums import step_shares

        e, units, log_z, masses = self._masses_of(j)
        K, steps, shares = e.shape[1], self.scored.steps, masses.rows[2]
        pairs = np.zeros((max(len(e) - 1, 0), K, K))
        for t in range(len(pairs)):
            some = slice(*step_shares(t + 1, e, units, self.scored, log_z, masses))
            np.add.at(pairs[t], (steps.label[steps.source[some]], steps.label[steps.target[some]]), shares[some])
        return pairs

    def stretches(self, j: int, stretches: Sequence[Stretch]) -> Array:
        """Return the probability of each stretch, by a sum over all label sequences that contain it."""
        if not stretches:
            return np.zeros(0)
        here = slice(self.bounds[j], self.bounds[j + 1])
        length, n = here.stop - here.start, len(stretches)
        scores = np.tile(self.scores[here], (n, 1, 1))
        for own, (begin, end, labels, before, after) in zip(scores, stretches, strict=True):
            right = own[np.arange(begin, end), labels]
            own[begin:end] = -np.inf
            own[np.arange(begin, end), labels] = right
            if begin > 0:
                own[begin - 1, ~before] = -np.inf
            if end < length:
                own[end, ~after] = -np.inf
        bounds, units = np.arange(0, n * length + 1, length), np.tile(self.units[here], n)
        each = HistorySums(self.names, scores.reshape(n * length, -1), self.scored, bounds, units).log_partitions
        return np.minimum(np.exp(each - self.log_partitions[j]), 1.0)

    def expected(self, rates: Array) -> StepSums:
        """Return the sums of (4), of ends and of features of pairs, where sequence j counts rates[j] times."""
        expected = StepSums(*map(np.zeros_like, (self.scored.each, self.scored.ends, self.scored.weights)))
        self._summed = self._run(rates, expected)
        return expected

    @cached_property
    def _summed(self) -> tuple[Array, Array]:
        return self._run(np.zeros(0), StepSums(np.zeros(0), np.zeros(0), np.zeros(0)))

    def _run(self, rates: Array, expected: StepSums) -> tuple[Array, Array]:
        from maxmargin.structures.sequences.compiled.history_sums import history_sums

        log_z, labels = np.empty(len(self.bounds) - 1), np.empty_like(self.scores)
        scratch = HistoryScratch.of(self.scored, self.longest)
        history_sums(self.scores, self.units, self.scored, self.bounds, rates, scratch, log_z, labels, expected)
        return log_z, labels

    def _masses_of(self, j: int) -> tuple[Array, NDArray[np.int64], float, HistoryScratch]:
        """Return the scores and units of sequence j, log Z, and (1) and (2) in the arrays a and b."""
        from maxmargin.structures.sequences.compiled.history_sums import log_backward, log_forward

        here = slice(self.bounds[j], self.bounds[j + 1])
        e, units = self.scores[here], self.units[here]
        masses = HistoryScratch.of(self.scored, self.longest)
        if len(e) == 0:
            return e, units, 0.0, masses
        log_z = log_forward(e, units, self.scored, masses)
        log_backward(e, units, self.scored, masses)
        return e, units, log_z, masses

    def _log_labels(self, j: int) -> Array:
        e, _, log_z, masses = self._masses_of(j)
        a, b = masses.a, masses.b
        steps, found = self.scored.steps, np.full(e.shape, -np.inf)
        for t in range(len(e)):
            level = min(t + 1, len(steps.rows) - 1)
            some = slice(steps.levels[level], steps.levels[level + 1])
            np.logaddexp.at(found[t], steps.label[some], a[t + 1, some] + b[t + 1, some] - log_z)
        return found

    def _restricted(self, scores: Array) -> HistorySums:
        return HistorySums(self.names, scores, self.scored, self.bounds, self.units)
