"""ScoredAlignments: pairs of sequences with features, scored by the weights of an Alignment task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.problem.contract.scored import BestOutputs, need_truth
from maxmargin.problem.planes.planes import Planes
from maxmargin.structures.alignment.alignment_space import AlignmentScores, AlignmentSpace
from maxmargin.structures.alignment.columns import Codes
from maxmargin.structures.alignment.compiled.alignment_arrays import ScoredPair
from maxmargin.structures.alignment.encoded import EncodedPair, PreparedWeights, TrueAlignment
from maxmargin.structures.alignment.plane_rows import difference, stacked


class ScoredAlignments(AlignmentSpace):
    """An AlignmentSpace whose scores come from features and weights.

    task : the Alignment, which knows the coordinates of all weights
    codes : the pairs of sequences, encoded
    alignments : the true alignments with their features; None if they are not known
    """

    def __init__(self, task: Any, codes: Sequence[EncodedPair], alignments: Sequence[TrueAlignment] | None = None):
        truths = None if alignments is None else [own.right for own in alignments]
        super().__init__([code.lengths for code in codes], task.mode_, truths)
        self.task, self.codes, self.alignments = task, codes, alignments

    def scores(self, w: Array) -> list[AlignmentScores]:
        """Return the scores of all pairs of residues and of gaps at the weights w."""
        weights, scores = self.task.prepared(w), []
        for code in self.codes:
            rows, row_of = self.task.score_rows(weights, code)
            of_a, of_b = self.task.gap_scores(weights, code)
            scores.append(AlignmentScores(rows[row_of], of_a[:4], of_b[:4]))
        return scores

    def best_at(self, weights: PreparedWeights, augment: float | Array = 0.0) -> BestOutputs:
        """Return the best alignments at prepared weights.

        Residues of a with the same features share a row of scores, so the tables of `scores` are not needed.
        """
        lam = np.full(len(self), augment, dtype=float)
        if lam.any():
            need_truth(self.truths)
        return self.searched(self._pairs(weights, lam), lam)

    def planes_of(self, found: Sequence[Codes]) -> Planes:
        """Return Ψ(x, y) - Ψ(x, z) and Δ(y, z) of these alignments."""
        need_truth(self.alignments)
        assert self.alignments is not None
        rows = [
            difference(truth.psi, self.task.features_of(code, pairs), self.task.dim)
            for code, truth, pairs in zip(self.codes, self.alignments, found, strict=True)
        ]
        return Planes(stacked(rows, self.task.dim), self.losses(found))

    def _pairs(self, weights: PreparedWeights, lam: Array) -> Iterator[ScoredPair]:
        for k, code in enumerate(self.codes):
            truth = None if self.alignments is None else self.alignments[k]
            yield self.task.scored_pair(weights, code, truth, float(lam[k]))
