"""ContingencyBatch: samples whose most violated labelling is searched for among contingency tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.arrays import Array
from maxmargin.atoms import AtomRows
from maxmargin.objective import Formulation
from maxmargin.planes import Planes
from maxmargin.structures.ranking.groups import Indices
from maxmargin.structures.ranking.measures import Counts, LossLines, Measure
from maxmargin.structures.ranking.segmented_batch import ScoredRows, SegmentedBatch, Segments

Block = tuple[int, Array]  # the losses of some rows of tables, and the number of the first of them: see Measure.blocks


class SampleLosses(NamedTuple):
    """What is known of the losses of every sample before there are scores."""

    lines: SampleLines | None  # None where they are not linear along lines
    blocks: tuple[list[Block] | None, ...]  # without lines: all losses of a sample, or None if too many to keep

    @classmethod
    def of(cls, measure: Measure, sizes: list[tuple[int, int]]) -> SampleLosses:
        """For samples of so many positive and negative rows; those of one kind only are never searched."""
        mixed = [(P, Q) for P, Q in sizes if P and Q]
        for P, Q in mixed:
            measure.check_truth(P, Q)
        if all(measure.on_lines(P, Q) for P, Q in set(mixed)):
            return cls(SampleLines.of(measure, sizes), (None,) * len(sizes))
        kept = {(P, Q): measure.kept_blocks(P, Q) for P, Q in set(mixed)}
        return cls(None, tuple(kept.get(size) for size in sizes))


class SampleLines(NamedTuple):
    """The `LossLines` of all samples one after the other: sample g has those from bounds[g] to bounds[g + 1] - 1."""

    bounds: Indices
    sizes: Counts
    alpha: Array
    beta: Array

    @classmethod
    def of(cls, measure: Measure, sizes: list[tuple[int, int]]) -> SampleLines:
        empty = LossLines(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0))
        lines = [measure.lines(P, Q) if P and Q else empty for P, Q in sizes]
        bounds = np.append(0, np.cumsum([len(each.sizes) for each in lines]))
        return cls(bounds, *(np.concatenate(part) for part in zip(*lines, strict=True)))

    def take(self, ids: NDArray[np.intp]) -> SampleLines:
        if np.array_equal(ids, np.arange(len(self.bounds) - 1)):  # the usual case
            return self
        chosen = np.concatenate([np.arange(self.bounds[g], self.bounds[g + 1]) for g in ids])
        bounds = np.append(0, np.cumsum(np.diff(self.bounds)[ids]))
        return SampleLines(bounds, self.sizes[chosen], self.alpha[chosen], self.beta[chosen])


class ContingencyBatch(SegmentedBatch):
    """Samples whose rows all count the same, so that only the numbers of true and false positives are searched."""

    def __init__(self, task: Any, packed: Segments, positives: Counts, losses: SampleLosses):
        super().__init__(task, packed)
        self.positives, self.losses = positives, losses

    def planes(self, w: Array, augment: float | Array = 1.0) -> Planes:
        lam = self.each(augment)
        return self._worst(w, lam, Formulation())

    def rescaled_planes(self, w: Array, formulation: Formulation) -> Planes:
        return self._worst(w, np.ones(len(self)), formulation)

    def _worst(self, w: Array, lam: Array, formulation: Formulation) -> Planes:
        from maxmargin.structures.ranking.compiled.contingency import table_differences

        scored, positives, unit = self.scored(w), self.positives[self.ids], self.task.unit_
        np.multiply(scored.scores, unit, out=scored.scores)
        kind = formulation.rescaling == "slack", formulation.squared
        search = self._worst_on_lines if self.losses.lines is not None else self._worst_in_tables
        tp, fp, loss = search(scored, positives, lam, kind)
        found = int(np.sum(positives - tp + fp))
        indptr = np.zeros(len(self) + 1, dtype=np.int32)
        indices, values = np.empty(found, dtype=np.int32), np.empty(found)
        table_differences(self.rows[scored.places], scored.bounds, positives, tp, fp, unit, indptr, indices, values)
        return Planes(AtomRows(self.atoms, indptr, indices, values), loss)

    def _worst_on_lines(
        self, scored: ScoredRows, positives: Counts, lam: Array, kind: tuple[bool, bool]
    ) -> tuple[Counts, Counts, Array]:
        """True and false positives and the loss of the most violated labellings."""
        from maxmargin.structures.ranking.compiled.contingency import worst_on_lines

        assert self.losses.lines is not None
        lines, found, sums = self.losses.lines.take(self.ids), self._nothing_found(), _room_for_sums(scored)
        worst_on_lines(scored.scores, scored.bounds, positives, *lines, lam, *kind, *sums, *found)
        return found

    def _worst_in_tables(
        self, scored: ScoredRows, positives: Counts, lam: Array, kind: tuple[bool, bool]
    ) -> tuple[Counts, Counts, Array]:
        """The same where all tables have to be tried."""
        measure, sums = self.task.measure_, _room_for_sums(scored)
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


def _room_for_sums(scored: ScoredRows) -> tuple[Array, Array]:
    """Scratch for the sums of scores of one sample."""
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
    """The most violated table of one sample, out of all (P + 1)(Q + 1)."""
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
