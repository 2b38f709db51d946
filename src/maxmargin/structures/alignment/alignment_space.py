"""AlignmentSpace: alignments of pairs of sequences, searched by the scores of aligned pairs and of gaps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.problem.contract.score_capabilities import SoftOutputs
from maxmargin.problem.contract.scored import BestOutputs, checked_scores, inner, need_truth
from maxmargin.structures.alignment.alignment_sums import AlignmentSums, SummedAlignment
from maxmargin.structures.alignment.columns import Codes
from maxmargin.structures.alignment.compiled.alignment_arrays import ScoredPair
from maxmargin.structures.alignment.scored_pairs import best_alignments

Mode = Literal["global", "overlap", "local"]
MODES = get_args(Mode)  # as numbered in compiled/alignment.py


class AlignmentScores(NamedTuple):
    """Scores of the alignments of sequences a and b, of n and m residues.

    Rows of `of_a`: skipping residue i as the first of a gap, and as a further one (entry n is not used); and the
    additions for the first, and for every further, skipped residue of b in a gap before residue i of a (n: at the end).
    Those of `of_b` are the same with the sequences exchanged.
    """

    pairs: Array  # (n, m): the score of aligning residue i of a with residue j of b
    of_a: Array  # (4, n + 1)
    of_b: Array  # (4, m + 1)

    @classmethod
    def of(cls, pairs: Any, first: float = 0.0, further: float = 0.0) -> AlignmentScores:
        """Make scores from a table of pairs, with the same scores for the first and further residues of all gaps."""
        n, m = np.shape(pairs)
        of_a, of_b = (np.zeros((4, length + 1)) for length in (n, m))
        for table in (of_a, of_b):
            table[0, :-1], table[1, :-1] = first, further
        return cls(np.asarray(pairs, dtype=float), of_a, of_b)


class TruePairs(NamedTuple):
    """A true alignment; j is right for residue i of a if low[i] <= j < high[i]."""

    pairs: Codes  # (k, 2): the aligned positions (i, j)
    low: Codes  # (n,)
    high: Codes  # (n,)
    size: int  # number of trusted pairs

    @classmethod
    def of(cls, pairs: Codes, trusted: Codes, lengths: tuple[int, int], max_shift: int) -> TruePairs:
        """Make a truth from all pairs and the trusted ones; a pair may miss by max_shift and still be right."""
        low, high = (np.zeros(lengths[0], dtype=np.int64) for _ in range(2))
        low[trusted[:, 0]] = np.maximum(trusted[:, 1] - max_shift, 0)
        high[trusted[:, 0]] = np.minimum(trusted[:, 1] + max_shift + 1, lengths[1])
        return cls(pairs, low, high, len(trusted))

    def loss(self, found: Codes) -> float:
        """Return the share of trusted pairs that an alignment misses."""
        i, j = found[:, 0], found[:, 1]
        return 1.0 - np.count_nonzero((self.low[i] <= j) & (j < self.high[i])) / self.size


class AlignmentSpace:
    """The alignments of n pairs of sequences, as a ScoreSpace (problem/contract/scored.py).

    Scores are a list of AlignmentScores, one for every pair of sequences. Found outputs are a list of int64 arrays
    (k, 2), the aligned positions (i, j) of every pair of sequences, increasing in both.

    Parameters
    ----------
    lengths : sequence of pairs
        The numbers of residues of the two sequences of every pair.
    mode : int
        The score of residues before the first and after the last aligned pair: 0 as in all gaps, 1 nothing for the
        longer end, 2 nothing ("global", "overlap", "local").
    truths : sequence of TruePairs or None
        The true alignments; None if they are not known.
    """

    def __init__(self, lengths: Sequence[tuple[int, int]], mode: int, truths: Sequence[TruePairs] | None = None):
        self.lengths, self.mode, self.truths = lengths, mode, truths

    @classmethod
    def of_lengths(
        cls, lengths: Any, mode: str = "overlap", truth: Sequence[Any] | None = None, max_shift: int = 0
    ) -> AlignmentSpace:
        """Make the space of pairs of sequences with these numbers of residues, (n, m) each.

        mode : "global", "overlap" or "local"
        truth : None, or the true alignment of every pair of sequences, the list of its aligned positions (i, j)
        max_shift : by how many positions a pair may miss and still be right
        """
        if mode not in MODES:
            raise ValueError(f"mode must be one of {', '.join(map(repr, MODES))}, got {mode!r}")
        sizes = [(int(n), int(m)) for n, m in lengths]
        if truth is None:
            return cls(sizes, MODES.index(mode))
        truths = []
        for k, (size, y) in enumerate(zip(sizes, truth, strict=True)):
            pairs = np.array(y, dtype=np.int64).reshape(-1, 2)
            inside = len(pairs) > 0 and pairs.min() >= 0 and (pairs < size).all() and (np.diff(pairs, axis=0) > 0).all()
            if not inside:
                raise ValueError(f"truth[{k}] is {y!r}; expected positions (i, j) below {size}, increasing in both")
            truths.append(TruePairs.of(pairs, pairs, size, max_shift))
        return cls(sizes, MODES.index(mode), truths)

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def truth(self) -> list[Codes] | None:
        """The aligned positions of the true alignments."""
        return None if self.truths is None else [own.pairs for own in self.truths]

    def best(self, scores: Sequence[AlignmentScores], augment: float | Array = 0.0) -> BestOutputs:
        """Return the alignment with the highest score + augment · loss of every pair of sequences."""
        lam = np.full(len(self), augment, dtype=float)
        return self.searched([self._pair(k, own, lam[k]) for k, own in enumerate(self._checked(scores))], lam)

    def searched(self, pairs: Any, lam: Array) -> BestOutputs:
        """Return the best alignments of ScoredPairs, whose right pairs score less by lam / size."""
        found = list(best_alignments(pairs, self.mode))
        values = np.array([each.score for each in found], dtype=float)
        return BestOutputs([each.pairs for each in found], values if self.truths is None else values + lam)

    def losses(self, found: Sequence[Codes]) -> Array:
        """Return the loss of every alignment."""
        need_truth(self.truths)
        assert self.truths is not None
        return np.array([own.loss(pairs) for own, pairs in zip(self.truths, found, strict=True)], dtype=float)

    def indicator(self, found: Sequence[Codes], weights: Array | None = None) -> list[AlignmentScores]:
        """Return how often each score is used; pair k of sequences counts weights[k] times."""
        from maxmargin.structures.alignment.compiled.alignment import paid_gaps

        counts = []
        for k, ((n, m), own) in enumerate(zip(self.lengths, found, strict=True)):
            each, pairs = 1.0 if weights is None else float(weights[k]), np.array(own, dtype=np.int64)
            used = AlignmentScores(np.zeros((n, m)), np.zeros((4, n + 1)), np.zeros((4, m + 1)))
            used.pairs[pairs[:, 0], pairs[:, 1]] = each
            paid = np.empty((n + m, 4), dtype=np.int64)
            paid = paid[: paid_gaps(pairs, n, m, self.mode, paid)]
            for sequence, table, other in ((0, used.of_a, used.of_b), (1, used.of_b, used.of_a)):
                _, residues, at, kinds = paid[paid[:, 0] == sequence].T
                np.add.at(table, (kinds, residues), each)
                np.add.at(other, (2 + kinds, at), each)
            counts.append(used)
        return counts

    def sums(self, scores: Sequence[AlignmentScores]) -> AlignmentSums:
        """Return the distributions of the alignments of every pair of sequences."""
        given = self._checked(scores)

        def score(k: int, pairs: Codes) -> float:
            space = AlignmentSpace([self.lengths[k]], self.mode)
            [used] = space.indicator([pairs])
            return sum(float(np.vdot(counts, each)) for counts, each in zip(used, given[k], strict=True))

        return AlignmentSums(self.lengths, lambda k: SummedAlignment(self._pair(k, given[k], 0.0), self.mode), score)

    def totals(self, scores: Sequence[AlignmentScores], found: Sequence[Codes]) -> Array:
        """Return the score of every alignment."""
        used = self.indicator(found)
        return np.array([inner(counts, own) for counts, own in zip(used, scores, strict=True)], dtype=float)

    def soft_best(
        self,
        scores: Sequence[AlignmentScores],
        augment: float | Array = 0.0,
        sharpness: float = 1.0,
        weights: Array | None = None,
    ) -> SoftOutputs:
        """Return the smooth maxima over alignments, and the expected number of uses of every score."""
        lam, b, values, counts = np.full(len(self), augment, dtype=float), sharpness, np.empty(len(self)), []
        for k, own in enumerate(self._checked(scores)):
            raised = AlignmentScores(*(b * each for each in own))
            summed = SummedAlignment(self._pair(k, raised, b * lam[k]), self.mode)
            shares, _ = summed.spread()
            each = 1.0 if weights is None else float(weights[k])
            values[k] = summed.log_z / b + lam[k]
            counts.append(AlignmentScores(each * shares, *(each * used[:4] for used in summed.used)))
        return SoftOutputs(values, counts)

    # --- helpers

    def _checked(self, scores: Sequence[AlignmentScores]) -> list[AlignmentScores]:
        return [
            checked_scores(own, ((n, m), (4, n + 1), (4, m + 1)))
            for own, (n, m) in zip(scores, self.lengths, strict=True)
        ]

    def _pair(self, k: int, scores: AlignmentScores, lam: float) -> ScoredPair:
        """Return the arrays that compiled code reads for pair k of sequences, with lam times the loss in the scores."""
        n = self.lengths[k][0]
        if lam:
            need_truth(self.truths)
        low, high, size = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64), 1
        if self.truths is not None:
            _, low, high, size = self.truths[k]
        gaps = with_totals(scores.of_a), with_totals(scores.of_b)
        return ScoredPair(scores.pairs, np.arange(n), low, high, lam / size, *gaps)


def with_totals(table: Array) -> Array:
    """Append a row of running sums of further residues to gap scores, as compiled/alignment.py needs it."""
    filled = np.zeros((5, table.shape[1]))
    filled[:4] = table
    np.cumsum(table[1, :-1], out=filled[4, 1:])
    return filled
