"""ContingencyBatch: search for the most violated labelling of samples, among contingency tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.problem.contract.batch import Offered
from maxmargin.problem.contract.capabilities.narrowed_search import NarrowedSearch
from maxmargin.problem.contract.capabilities.rescaled_search import RescaledSearch
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.planes.atoms import AtomRows
from maxmargin.problem.planes.planes import Planes
from maxmargin.structures.ranking.groups import Indices
from maxmargin.structures.ranking.measures import Counts, LossLines, Measure
from maxmargin.structures.ranking.segmented_batch import SegmentedBatch, Segments

WIDER = 6  # negative rows kept in a narrowed batch per row that is positive or is predicted positive now

Block = tuple[int, Array]  # the first of some rows of tables, and their losses: see Measure.blocks


class SampleLosses(NamedTuple):
    """Losses of the contingency tables of every sample, which do not depend on scores."""

    lines: SampleLines | None  # None if the losses are not linear along lines
    blocks: tuple[list[Block] | None, ...]  # without lines: all losses of a sample, or None if too many to keep

    @classmethod
    def of(cls, measure: Measure, sizes: list[tuple[int, int]]) -> SampleLosses:
        """Compute them from the numbers of positive and negative rows; samples with one class are never searched."""
        mixed = [(P, Q) for P, Q in sizes if P and Q]
        for P, Q in mixed:
            measure.check_truth(P, Q)
        if all(measure.on_lines(P, Q) for P, Q in set(mixed)):
            return cls(SampleLines.of(measure, sizes), (None,) * len(sizes))
        kept = {(P, Q): measure.kept_blocks(P, Q) for P, Q in set(mixed)}
        return cls(None, tuple(kept.get(size) for size in sizes))


class SampleLines(NamedTuple):
    """Concatenated `LossLines` of all samples: sample g has the entries bounds[g] : bounds[g + 1]."""

    bounds: Indices
    sizes: Counts  # the numbers m
    alpha: Array  # the coefficients α
    beta: Array  # the coefficients β
    most: Counts  # the largest number of false positives of every sample
    steepest: Array  # the largest increase of every sample's loss by one false positive; inf if sizes are fixed

    @classmethod
    def of(cls, measure: Measure, sizes: list[tuple[int, int]]) -> SampleLines:
        empty = LossLines(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0))
        lines = [measure.lines(P, Q) if P and Q else empty for P, Q in sizes]
        bounds = np.append(0, np.cumsum([len(each.sizes) for each in lines]))
        most = np.array([min(Q, int(each.sizes.max(initial=0))) for each, (_, Q) in zip(lines, sizes, strict=True)])
        steepest = np.array([each.steepest(P, Q) for each, (P, Q) in zip(lines, sizes, strict=True)])
        counts, alpha, beta = (np.concatenate(part) for part in zip(*lines, strict=True))
        return cls(bounds, counts, alpha, beta, most, steepest)

    def take(self, ids: NDArray[np.intp]) -> SampleLines:
        if np.array_equal(ids, np.arange(len(self.bounds) - 1)):  # the usual case
            return self
        chosen = np.concatenate([np.arange(self.bounds[g], self.bounds[g + 1]) for g in ids])
        bounds = np.append(0, np.cumsum(np.diff(self.bounds)[ids]))
        of_lines = self.sizes[chosen], self.alpha[chosen], self.beta[chosen]
        return SampleLines(bounds, *of_lines, self.most[ids], self.steepest[ids])


class SampleScores(NamedTuple):
    """Rows of some samples with κ times their scores; sample j has those from bounds[j] to bounds[j + 1] - 1."""

    positions: Indices  # in the batch's rows
    scores: Array
    bounds: Indices


class ContingencyBatch(SegmentedBatch, NarrowedSearch, RescaledSearch):
    """Batch of samples with rows of equal weight, for which only the numbers of true and false positives matter."""

    def __init__(self, task: Any, packed: Segments, positives: Counts, losses: SampleLosses):
        super().__init__(task, packed)
        self.positives, self.losses = positives, losses

    def offers(self, capability: type[Offered]) -> Offered | None:
        if capability is NarrowedSearch and self.losses.lines is None:
            return None
        return super().offers(capability)

    def planes(self, w: Array, augment: float | Array = 1.0) -> Planes:
        lam = self.loss_weights(augment)
        return self._worst(w, lam, Formulation())

    def rescaled_planes(self, w: Array, formulation: Formulation) -> Planes:
        return self._worst(w, np.ones(len(self)), formulation)

    def narrowed(self, w: Array) -> Self | None:
        """Return a batch without the negative rows that are far from being predicted positive at w."""
        assert self.losses.lines is not None
        lam, plain = np.ones(len(self)), (False, False)
        rows, positives = self._row_scores(w), self.positives[self.ids]
        _, fp, _ = self._worst_on_lines(self._candidates(rows, lam, plain), positives, lam, plain)
        few = np.where(np.isfinite(self.losses.lines.steepest), 0, self.losses.lines.most)[self.ids]
        wide = np.clip(WIDER * fp, WIDER * positives, 2 * WIDER * positives)
        near = self._nearest(rows, np.full(len(self), -np.inf), np.maximum(few, wide))
        if 2 * len(near.positions) > len(rows.positions) or len(np.unique(self.ids)) < len(self.ids):
            return None
        sizes = np.zeros(len(self.positives), dtype=np.int64)
        sizes[self.ids] = np.diff(near.bounds)
        narrow = self.take(np.arange(len(self)))
        units = self.rows[np.sort(near.positions)]  # data are read faster in their order
        narrow.atoms = self.atoms.taken(units)
        narrow.source = narrow.atoms.source
        narrow.rows = units if narrow.atoms is self.atoms else np.arange(len(units))
        narrow.bounds = np.append(0, np.cumsum(sizes))
        return narrow

    def _worst(self, w: Array, lam: Array, formulation: Formulation) -> Planes:
        from maxmargin.structures.ranking.compiled.contingency import table_differences

        kind = formulation.rescaling == "slack", formulation.squared
        scored, positives = self._candidates(self._row_scores(w), lam, kind), self.positives[self.ids]
        search = self._worst_on_lines if self.losses.lines is not None else self._worst_in_tables
        tp, fp, loss = search(scored, positives, lam, kind)
        found = int(np.sum(positives - tp + fp))
        indptr = np.zeros(len(self) + 1, dtype=np.int32)
        indices, values, unit = np.empty(found, dtype=np.int32), np.empty(found), self.task.unit_
        table_differences(self.rows[scored.positions], scored.bounds, positives, tp, fp, unit, indptr, indices, values)
        return Planes(AtomRows(self.atoms, indptr, indices, values), loss)

    def _row_scores(self, w: Array) -> SampleScores:
        """Score all rows; the positive ones of a sample come first."""
        positions = np.concatenate([np.arange(self.bounds[g], self.bounds[g + 1]) for g in self.ids])
        bounds = np.append(0, np.cumsum(np.diff(self.bounds)[self.ids]))
        return SampleScores(positions, self.atoms.scores(w, self.rows[positions])[:, 0] * self.task.unit_, bounds)

    def _candidates(self, rows: SampleScores, lam: Array, kind: tuple[bool, bool]) -> SampleScores:
        """Return all positive rows and the negative ones that a most violated labelling may contain, sorted by score.

        There are at most as many as false positives in any table. Under plain margin rescaling, one more false positive
        changes λΔ + h by its own score and at most λ · `steepest`, so that only rows which can gain are kept.
        """
        floors, most = np.full(len(self), -np.inf), np.diff(rows.bounds)
        if self.losses.lines is not None:
            lines = self.losses.lines.take(self.ids)
            most = np.minimum(most, lines.most)
            if kind == (False, False):
                free = np.isfinite(lines.steepest)
                floors[free] = -lam[free] * lines.steepest[free]
        return self._nearest(rows, floors, most)

    def _nearest(self, rows: SampleScores, floors: Array, most: Counts) -> SampleScores:
        """Return all positive rows and the `most` highest negative ones above the floor, sorted by score."""
        chosen, sizes = [], []
        for j, P in enumerate(self.positives[self.ids]):
            begin, end = rows.bounds[j], rows.bounds[j + 1]
            top, low = -rows.scores[begin : begin + P], -rows.scores[begin + P : end]
            above = np.flatnonzero(low < -floors[j]) if floors[j] > -np.inf else np.arange(len(low))
            low = low[above]
            if most[j] < len(low):
                near = np.argpartition(low, most[j] - 1)[: most[j]] if most[j] else np.zeros(0, dtype=np.intp)
                above, low = above[near], low[near]
            chosen += [begin + np.argsort(top), begin + P + above[np.argsort(low)]]
            sizes.append(P + len(low))
        which = np.concatenate(chosen)
        return SampleScores(rows.positions[which], rows.scores[which], np.append(0, np.cumsum(sizes)))

    def _worst_on_lines(
        self, scored: SampleScores, positives: Counts, lam: Array, kind: tuple[bool, bool]
    ) -> tuple[Counts, Counts, Array]:
        """Return the true and false positives and the losses of the most violated labellings."""
        from maxmargin.structures.ranking.compiled.contingency import worst_on_lines

        assert self.losses.lines is not None
        lines, found, sums = self.losses.lines.take(self.ids), self._nothing_found(), _sum_buffers(scored)
        worst_on_lines(scored.scores, scored.bounds, positives, lines, lam, *kind, *sums, *found)
        return found

    def _worst_in_tables(
        self, scored: SampleScores, positives: Counts, lam: Array, kind: tuple[bool, bool]
    ) -> tuple[Counts, Counts, Array]:
        """Return the same by trying all tables."""
        measure, sums = self.task.measure_, _sum_buffers(scored)
        tp, fp, loss = self._nothing_found()
        for j, g in enumerate(self.ids):
            scores = scored.scores[scored.bounds[j] : scored.bounds[j + 1]]
            P, blocks = int(positives[j]), self.losses.blocks[g]
            if blocks is None:  # too large to keep
                blocks = measure.blocks(P, len(scores) - P)
            tp[j], fp[j], loss[j] = _worst_cell(measure, scores, P, blocks, lam[j], kind, sums)
        return tp, fp, loss

    def _nothing_found(self) -> tuple[Counts, Counts, Array]:
        n = len(self)
        return np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64), np.empty(n)


def _sum_buffers(scored: SampleScores) -> tuple[Array, Array]:
    """Allocate scratch for the sums of scores of one sample."""
    longest = int(np.diff(scored.bounds).max())
    return np.empty(longest + 1), np.empty(longest + 1)


def _worst_cell(
    measure: Measure,
    scores: Array,
    P: int,
    blocks: Iterable[Block],
    lam: float,
    kind: tuple[bool, bool],
    sums: tuple[Array, Array],
) -> tuple[int, int, float]:
    """Return the most violated of all (P + 1)(Q + 1) tables of one sample."""
    from maxmargin.structures.ranking.compiled.contingency import cumulate, worst_in_rows

    Q = len(scores) - P
    best, at = np.zeros(1), np.array([P, 0])
    if P and Q:
        cumulate(scores, P, *sums)
        for first, table in blocks:
            worst_in_rows(table, first, lam, *kind, *sums, best, at)
    right = best[0] == 0.0
    loss = 0.0 if right else float(measure.table(at[:1], at[1:], P, Q)[0])
    return int(at[0]), int(at[1]), loss
