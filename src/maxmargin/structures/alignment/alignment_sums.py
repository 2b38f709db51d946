"""AlignmentSums: the distribution of alignments p(z | x) ∝ exp ⟨w, Ψ(x, z)⟩, for many pairs of sequences.

Every alignment is counted once: a set of pairs, whatever the order in which the gaps between two of them are written.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.structures.alignment.alignments import PairwiseAlignment
from maxmargin.structures.alignment.columns import Codes
from maxmargin.structures.alignment.encoded import EncodedPair
from maxmargin.structures.alignment.scored_pairs import ScoredPair


class SummedAlignment:
    """The sums of one pair of sequences, at given scores."""

    used: tuple[Array, Array]  # after `spread`: how often each entry of the tables of gap scores counts

    def __init__(self, pair: ScoredPair, mode: int):
        from maxmargin.structures.alignment.compiled.alignment_sums import fill_sums

        self.given = (*pair, mode, np.empty((3, len(pair.row_of), pair.profile.shape[1])))
        self.log_z = float(fill_sums(*self.given))

    def spread(self) -> tuple[Array, float]:
        """(n, m): the probability of every pair; and the entropy."""
        from maxmargin.structures.alignment.compiled.alignment_sums import spread_sums

        states = self.given[-1]
        share, self.used = (
            np.empty_like(states),
            (np.empty((5, states.shape[1] + 1)), np.empty((5, states.shape[2] + 1))),
        )
        entropy = float(spread_sums(*self.given, self.log_z, share, *self.used))
        return np.minimum(share[0], 1.0), entropy

    def drawn(self, rng: np.random.Generator) -> Codes:
        """The pairs of an alignment, with its probability."""
        from maxmargin.structures.alignment.compiled.alignment_sums import draw_alignment

        _, n, m = self.given[-1].shape
        pairs = np.empty((min(n, m), 2), dtype=np.int64)
        count = draw_alignment(*self.given, self.log_z, rng.random(n + m + 2), pairs)
        return pairs[len(pairs) - count :]


class AlignmentSums:
    """Pairs of sequences under the weights w. Marginals are matrices, the probability of every aligned pair (i, j)."""

    def __init__(self, task: Any, w: Array, codes: list[EncodedPair]):
        self.task, self.w, self.codes = task, w, codes
        self.weights = task.prepared(w)

    @cached_property
    def log_partitions(self) -> Array:
        return np.array([self._summed(code).log_z for code in self.codes])

    @property
    def entropies(self) -> Array:
        return np.array([entropy for _, entropy in self._spread])

    def marginals(self) -> list[Array]:
        return [shares for shares, _ in self._spread]

    def log_probabilities(self, Y: Any) -> Array:
        if len(Y) != len(self.codes):
            raise ValueError(f"there are {len(self.codes)} pairs of sequences but {len(Y)} alignments")
        scores = np.empty(len(Y))
        for i, (code, y) in enumerate(zip(self.codes, Y, strict=True)):
            pairs = PairwiseAlignment.of(y, code.lengths, f"the alignment of example {i}").pairs
            places, values = self.task.features_of(code, pairs)
            scores[i] = np.dot(self.w[places], values)
        return np.minimum(scores - self.log_partitions, 0.0)  # but for rounding

    def sample(self, rng: np.random.Generator, n: int) -> list[list[PairwiseAlignment]]:
        drawn = []
        for code in self.codes:
            summed = self._summed(code)
            drawn.append([code.alignment(summed.drawn(rng)) for _ in range(n)])
        return drawn

    @cached_property
    def _spread(self) -> list[tuple[Array, float]]:
        return [self._summed(code).spread() for code in self.codes]

    def _summed(self, code: EncodedPair) -> SummedAlignment:
        return self.task.summed(self.weights, code, None, 0.0)
