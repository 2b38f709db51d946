"""SegmentSums: the distribution of segmentations p(z | x) ∝ exp ⟨w, Ψ(x, z)⟩, for many sequences at once."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.structures.segments.losses import Segmented
from maxmargin.structures.segments.segment_names import SegmentNames


class PieceScores(NamedTuple):
    """Scores of the pieces of concatenated sequences, in the notation of compiled/segments.py."""

    outside: Array  # (tokens,): o, the scores of tokens outside
    segments: Array  # (tokens, L, types): S
    links: tuple[Array, Array, Array]  # A, s and f

    def of(self, some: Segmented) -> Array:
        """Compute ⟨w, Ψ⟩ of a segmentation of every sequence."""
        (A, s, f), labels = self.links, some.ends.labels + 1
        each = np.where(some.codes == 0, self.outside, 0.0)
        at = np.flatnonzero(some.ends.lengths)
        each[at] = self.segments[at, some.ends.lengths[at] - 1, some.ends.labels[at]]
        begins = (some.codes % 2 == 1) | (some.codes == 0)
        begins[some.bounds[:-1]] = False
        t = np.flatnonzero(begins)
        each[t] += A[labels[t - 1], labels[t]]
        each[some.bounds[:-1]] += s[labels[some.bounds[:-1]]]
        each[some.bounds[1:] - 1] += f[labels[some.bounds[1:] - 1]]
        return some.totals(each)


class SumTables(NamedTuple):
    """Scratch tables of compiled/segment_sums.py for one sequence: logarithms of sums over segmentations."""

    a: Array  # (longest + 1, labels): over all ways to cut the first t tokens so that a piece of this label ends there
    alpha: Array  # (longest + 1, labels): the same, so that a piece of this label follows
    b: Array  # (longest + 1, labels): over all ways to continue after a piece of this label that ends at t
    beta: Array  # (longest + 1, labels): over all ways to continue from t on with a piece of this label
    row: Array  # scratch: the larger of the numbers of labels and lengths


class SegmentMarginals(NamedTuple):
    """Marginal probabilities of one sequence of T tokens; types are in the order of classes_."""

    outside: Array  # (T,): probability that token t is in no segment
    labels: Array  # (T, types): probability that token t is in a segment of type k
    segments: Array  # (T, L, types): probability of the segment of d + 1 tokens and type k that begins at token t


class SegmentSums:
    """Sums over all segmentations of sequences with these scores, sequence j at bounds[j]:bounds[j + 1].

    The cited equations are in compiled/segment_sums.py.
    """

    def __init__(self, names: SegmentNames, scores: PieceScores, bounds: NDArray[np.int64]):
        self.names, self.scores, self.bounds = names, scores, bounds
        self.longest = int(np.max(np.diff(bounds), initial=1))

    @property
    def log_partitions(self) -> Array:
        return self._summed[0]

    @property
    def entropies(self) -> Array:
        from maxmargin.structures.segments.compiled.segment_sums import segment_entropies

        entropies = np.empty(len(self.bounds) - 1)
        segment_entropies(self.scores, self.bounds, self._scratch(), entropies)
        return entropies

    def marginals(self) -> list[SegmentMarginals]:
        from maxmargin.structures.segments.compiled.segments import token_shares

        _, outside, P = self._summed
        shares = np.zeros((len(outside), 1 + 3 * P.shape[2]))
        token_shares(P, self.bounds, shares)
        labels, found = np.minimum(shares[:, 1::3], 1.0), []
        for a, b in pairwise(self.bounds):
            by_begin = np.zeros((b - a, *P.shape[1:]))
            for d in range(min(P.shape[1], b - a)):
                by_begin[: b - a - d, d] = P[a + d : b, d]
            found.append(SegmentMarginals(outside[a:b].copy(), labels[a:b].copy(), by_begin))
        return found

    def log_probabilities(self, Y: Any) -> Array:
        """Return log p(y | x) of every y, -inf for segmentations that the model cannot predict."""
        codes, possible = self.names.read_possible(Y, self.bounds)
        filled = np.diff(self.bounds) > 0
        scores = np.zeros(len(filled))
        if filled.any():
            scores[filled] = self.scores.of(Segmented.of(codes, np.unique(self.bounds)))
        return np.where(possible, np.minimum(scores - self.log_partitions, 0.0), -np.inf)

    def sample(self, rng: np.random.Generator, n: int) -> list[list[Any]]:
        from maxmargin.structures.segments.compiled.segment_sums import sample_segments

        codes = np.zeros((n, len(self.scores.outside)), dtype=np.int32)
        uniform = rng.random((n, 2 * codes.shape[1]))
        sample_segments(self.scores, self.bounds, self._scratch(), uniform, codes)
        return [[self.names.named(drawn[a:b]) for drawn in codes] for a, b in pairwise(self.bounds)]

    def summed(self, weights: Array | None, pairs: Array | None) -> tuple[Array, Array, Array]:
        """Return log Z of every sequence, the probabilities of tokens outside, and those of segments (5).

        Σ_j weights[j] Σ_t of (6) is added to `pairs`, unless they are None.
        """
        from maxmargin.structures.segments.compiled.segment_sums import segment_sums

        o, S, _ = self.scores
        log_z, outside, P = np.empty(len(self.bounds) - 1), np.empty_like(o), np.empty_like(S)
        weights = np.zeros(0) if weights is None else weights
        pairs = np.zeros((0, 0)) if pairs is None else pairs
        segment_sums(self.scores, self.bounds, weights, self._scratch(), log_z, outside, P, pairs)
        return log_z, outside, P

    @cached_property
    def _summed(self) -> tuple[Array, Array, Array]:
        return self.summed(None, None)

    def _scratch(self) -> SumTables:
        L, m = self.scores.segments.shape[1:]
        a, alpha, b, beta = np.empty((4, self.longest + 1, m + 1))
        return SumTables(a, alpha, b, beta, np.empty(max(L, m + 1)))
