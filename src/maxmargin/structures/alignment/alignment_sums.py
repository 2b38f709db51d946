"""AlignmentSums: the distribution of alignments p(z | x) ∝ exp ⟨w, Ψ(x, z)⟩, for many pairs of sequences.

Every alignment is counted once: it is a set of pairs, regardless of the order in which gaps between two pairs are
written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.structures.alignment.alignments import PairwiseAlignment
from maxmargin.structures.alignment.columns import Codes
from maxmargin.structures.alignment.compiled.alignment_arrays import ScoredPair


class SummedAlignment:
    """The sums over all alignments of one pair of sequences, at given scores."""

    used: tuple[Array, Array]  # set by `spread`: the expected number of uses of every gap score

    def __init__(self, pair: ScoredPair, mode: int):
        from maxmargin.structures.alignment.compiled.alignment_sums import fill_sums

        self.given = (pair, mode, np.empty((3, len(pair.row_of), pair.profile.shape[1])))
        self.log_z = float(fill_sums(*self.given))

    def spread(self) -> tuple[Array, float]:
        """Return the (n, m) probabilities of all pairs, and the entropy."""
        from maxmargin.structures.alignment.compiled.alignment_sums import spread_sums

        states = self.given[-1]
        share, self.used = (
            np.empty_like(states),
            (np.empty((5, states.shape[1] + 1)), np.empty((5, states.shape[2] + 1))),
        )
        entropy = float(spread_sums(*self.given, self.log_z, share, *self.used))
        return np.minimum(share[0], 1.0), entropy

    def drawn(self, rng: np.random.Generator) -> Codes:
        """Draw an alignment from the distribution and return its pairs."""
        from maxmargin.structures.alignment.compiled.alignment_sums import draw_alignment

        _, n, m = self.given[-1].shape
        pairs = np.empty((min(n, m), 2), dtype=np.int64)
        count = draw_alignment(*self.given, self.log_z, rng.random(n + m + 2), pairs)
        return pairs[len(pairs) - count :]


class AlignmentSums:
    """The distributions of the alignments of pairs of sequences.

    Marginals are matrices, the probability of every aligned pair (i, j).

    lengths : the numbers of residues of the two sequences of every pair
    summed : summed(k) computes the sums of pair k of sequences, whenever they are needed
    score : score(k, pairs) returns the score of an alignment of pair k
    """

    def __init__(
        self,
        lengths: Sequence[tuple[int, int]],
        summed: Callable[[int], SummedAlignment],
        score: Callable[[int, Codes], float],
    ):
        self.lengths, self.summed, self.score = lengths, summed, score

    @cached_property
    def log_partitions(self) -> Array:
        return np.array([self.summed(k).log_z for k in range(len(self.lengths))])

    @property
    def entropies(self) -> Array:
        return np.array([entropy for _, entropy in self._spread])

    def marginals(self) -> list[Array]:
        return [shares for shares, _ in self._spread]

    def log_probabilities(self, Y: Any) -> Array:
        if len(Y) != len(self.lengths):
            raise ValueError(f"there are {len(self.lengths)} pairs of sequences but {len(Y)} alignments")
        scores = np.empty(len(Y))
        for i, (size, y) in enumerate(zip(self.lengths, Y, strict=True)):
            scores[i] = self.score(i, PairwiseAlignment.of(y, size, f"the alignment of example {i}").pairs)
        return np.minimum(scores - self.log_partitions, 0.0)  # rounding may exceed 0

    def sample(self, rng: np.random.Generator, n: int) -> list[list[PairwiseAlignment]]:
        drawn = []
        for k, size in enumerate(self.lengths):
            own = self.summed(k)
            drawn.append([PairwiseAlignment.unchecked(own.drawn(rng).copy(), size) for _ in range(n)])
        return drawn

    @cached_property
    def _spread(self) -> list[tuple[Array, float]]:
        return [self.summed(k).spread() for k in range(len(self.lengths))]
