"""Encoded pairs of sequences with their true alignments, and their search."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.rounding import UNIT, gamma
from maxmargin.problem.contract.batch import Batch, Offered
from maxmargin.problem.contract.capabilities.rescaled_search import RescaledSearch
from maxmargin.problem.contract.capabilities.smooth import Smooth
from maxmargin.problem.contract.tangents import Softness, Tangents
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.planes.planes import Planes
from maxmargin.structures.alignment.columns import Codes
from maxmargin.structures.alignment.encoded import EncodedPair, PreparedWeights, TrueAlignment
from maxmargin.structures.alignment.scored import ScoredAlignments

LOSS_TABLE = 4_000_000  # entries of the table (n × m × losses) up to which slack rescaling is exact


class AlignmentBatch(Batch, RescaledSearch, Smooth):
    """Pairs of sequences and their true alignments."""

    call_cost = 100.0  # the table of an alignment is much larger than a plane

    def __init__(self, task: Any, codes: list[EncodedPair], truths: list[TrueAlignment]):
        super().__init__(task, len(codes))
        self.codes, self.truths = codes, truths
        sizes = [np.prod(code.lengths) * (truth.right.size + 1) for code, truth in zip(codes, truths, strict=True)]
        self.countable = bool(max(sizes, default=0) <= LOSS_TABLE)  # slack rescaling can be exact

    def __iter__(self) -> Iterator[tuple[EncodedPair, TrueAlignment]]:
        return ((self.codes[i], self.truths[i]) for i in self.ids)

    def offers(self, capability: type[Offered]) -> Offered | None:
        if capability is RescaledSearch and not self.countable:
            return None
        return super().offers(capability)

    def scored(self) -> ScoredAlignments:
        """Return these pairs of sequences with their truths, ready for scoring and search."""
        return ScoredAlignments(self.task, [self.codes[i] for i in self.ids], [self.truths[i] for i in self.ids])

    def planes(self, w: Array, augment: float | Array = 1.0) -> Planes:
        scored = self.scored()
        return scored.planes_of(scored.best_at(self.task.prepared(w), augment).found)

    def rescaled_planes(self, w: Array, formulation: Formulation) -> Planes:
        """Search exactly, with the best score for every possible number of correct pairs."""
        weights = self.task.prepared(w)
        return self.scored().planes_of([self._most_violated(weights, code, truth, formulation) for code, truth in self])

    def add_tangents(self, w: Array, weights: Array, softness: Softness, total: Array) -> Tangents:
        """Add the tangents, computed by the sums of compiled/alignment_sums.py at b times the scores."""
        task, b = self.task, softness.sharpness
        prepared, parts = task.prepared(b * w), [slice(a, z) for a, z in pairwise((0, *task.ends_))]
        slacks, size = np.empty(len(self)), np.empty((len(self), 3))
        for k, (code, truth) in enumerate(self):
            summed = task.summed(prepared, code, truth, b * softness.margin)
            slacks[k] = summed.log_z / b - float(np.dot(w[truth.psi[0]], truth.psi[1])) + softness.margin
            shares, _ = summed.spread()
            for part, expected in zip(parts, task.expected(code, shares, summed.used), strict=True):
                total[part] -= weights[k] * expected
            np.add.at(total, truth.psi[0], weights[k] * truth.psi[1])
            size[k] = self._sizes(w, code, softness)
        errors, lengths, steps = size.T
        most = float(np.max(steps + 4 * b * errors / UNIT, initial=0.0))
        return Tangents(slacks, errors, float(np.dot(weights, lengths)), most + len(self))

    def _sizes(self, w: Array, code: EncodedPair, softness: Softness) -> tuple[float, float, float]:
        """Return bounds on the rounding error of a slack and on ‖Ψ(x, y)‖ + ‖Ψ(x, z)‖, and the number of summands.

        An alignment goes through at most n + m states, each a sum of at most four terms, and ends at one of n m pairs.
        """
        (n, m), b, gaps = code.lengths, softness.sharpness, self.task.gaps_
        sizes, longest = self.task.sizes(w, code), gaps.longest(code.gaps)
        of_gaps = longest * float(np.linalg.norm(w[: gaps.size]))  # a bound on the score of one skipped residue
        scores = min(n, m) * sizes.score + (n + m) * of_gaps + softness.margin
        steps = sizes.terms + gaps.shape[2] + 16 * (n + m + 2)
        error = 2 * gamma(steps) * (scores + 2 * (n + m) / b) + gamma(4 * n * m + steps) / b
        length = 2 * min(n, m) * sizes.length + 4 * (n + m) * longest
        return error, length, float(n * m + steps)

    def _most_violated(
        self, weights: PreparedWeights, code: EncodedPair, truth: TrueAlignment, formulation: Formulation
    ) -> Codes:
        """Return the pairs with the highest violation, found with a table over all losses."""
        from maxmargin.structures.alignment.compiled import alignment

        task, (n, m) = self.task, code.lengths
        table, best = np.empty((3, n, m, truth.right.size + 1)), np.empty(truth.right.size + 1)
        scores: tuple[Array, Codes] = task.score_rows(weights, code)
        gaps: tuple[Array, Array] = task.gap_scores(weights, code)
        alignment.best_per_right(*scores, truth.right.low, truth.right.high, *gaps, task.mode_, table, best)
        possible = np.flatnonzero(np.isfinite(best))
        losses = 1.0 - possible / truth.right.size
        margins = float(np.dot(weights.w[truth.psi[0]], truth.psi[1])) - best[possible]
        right = possible[np.argmax(formulation.value(losses, margins))]
        pairs = np.empty((min(n, m), 2), dtype=np.int64)
        count = alignment.trace_right(truth.right.low, truth.right.high, *gaps, task.mode_, table, right, pairs)
        return pairs[len(pairs) - count :]
