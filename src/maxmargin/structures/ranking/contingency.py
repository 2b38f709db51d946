"""Contingency: label a whole sample at once, and pay for the contingency table of the labels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.arrays import Array
from maxmargin.atoms import AtomRows
from maxmargin.objective import Formulation
from maxmargin.planes import Planes
from maxmargin.structures.ranking.groups import GroupBatch, Groups, GroupTask, WeightedRows, binary_levels, pack_groups
from maxmargin.structures.ranking.measures import Counts, Lines, Measure, measure_of


class Contingency(GroupTask):
    """x is the matrix of a sample, y and z are vectors of 0 and 1, one per row.

        Ψ(x, z) = κ Σ_{i: z_i = 1} x_i,      Δ(y, z) = measure(tp, fp, fn, tn)                                (1)

    κ is 1 over the number of rows for measure="error", which makes the structural hinge the mean of ordinary hinges:
    max_z Δ - ⟨w, δΨ⟩ = (1/n) Σ max(0, 1 - y_i ⟨w, x_i⟩) with y_i = ±1. For all other measures κ is 1 over the number of
    positive rows, so that C means the same for rare and for frequent positives. (Where there are several samples, those
    with both kinds of labels share the mean of these numbers.) Measures at k compare the predictions with k positives
    only; the truth violates nothing. A sample with labels of one kind only has nothing to tell and costs nothing.

    The search is exact in O(n log n) for every measure that is linear along the lines of equally many predicted
    positives, in all four formulations; for others it is O(P·Q). A user's function is tried on all tables first. See
    compiled/contingency.py. Joachims, "A support vector method for multivariate performance measures" (ICML 2005), has
    O(n²) for margin rescaling.

    measure : a name in measures.NAMES, or a function loss(tp, fp, fn, tn) that works on arrays of counts.
    k : for precision_at_k and recall_at_k; a smaller sample is shown whole.   beta : for fbeta.
    kernel : None, or a kernel of rows (maxmargin.kernels), whose features take the place of x_i.
    Labels may be WeightedRows where the measure is a sum over examples ("error", "balanced_error").
    """

    def __init__(self, measure: Any = "f1", k: int | None = None, beta: float = 1.0, kernel: Any = None):
        self.measure = measure
        self.k = k
        self.beta = beta
        self.kernel = kernel

    @property
    def measure_(self) -> Measure:
        """The measure that the parameters name; made when asked for, because functions cannot be pickled."""
        return measure_of(self.measure, self.k, self.beta)

    def setup(self, X: Any, Y: Any) -> None:
        self._set_rows(X)
        levels, weights = binary_levels(X, Y, "sample")
        weights, per_positive = weights or [np.ones(len(y)) for y in levels], self.measure_.per_positive
        both = [(y, v) for y, v in zip(levels, weights, strict=True) if 0 < np.sum(y) < len(y)]
        if not both:
            raise ValueError("all labels are of one class; a measure needs both positive and negative examples")
        self.unit_ = len(both) / float(sum(np.dot(v, y if per_positive else y >= 0) for y, v in both))  # κ
        self.share_ = float(np.mean(np.concatenate(levels)))

    def psi(self, x: Any, z: Any) -> Array:
        self._refuse_kernel("psi(x, z)")
        labels, weights = (z.labels, z.weights) if isinstance(z, WeightedRows) else (z, np.ones(len(z)))
        return np.asarray(np.multiply(labels, weights) @ x, dtype=float).reshape(-1) * self.unit_

    def loss(self, y: Any, z: Any) -> float:
        labels, weights = (y.labels, y.weights) if isinstance(y, WeightedRows) else (y, np.ones(len(y)))
        y, z = np.asarray(labels, dtype=bool), np.asarray(z.labels if isinstance(z, WeightedRows) else z, dtype=bool)
        if y.all() or not y.any() or np.array_equal(y, z):
            return 0.0
        tp, fp, fn, tn = (np.dot(weights, kind) for kind in (y & z, ~y & z, y & ~z, ~y & ~z))
        return float(self.measure_.loss(tp, fp, fn, tn))

    def decode(self, w: Array, X: Any) -> list[NDArray[np.int64]]:
        """Rows with a positive score; for measures at a fixed number of positives, so many rows of highest score.

        "prbep", whose number is that of the true positives, expects as large a share of them as in training.
        """
        groups = Groups.of(X)
        scores = groups.of_rows(self.row_scores(w, groups.matrix))
        size = self.measure_.size
        if size is None:
            return [(s > 0).astype(np.int64) for s in scores]
        sizes = [min(size(round(self.share_ * len(s))), len(s)) for s in scores]
        return [
            np.isin(np.arange(len(s)), np.argsort(-s)[:m]).astype(np.int64) for s, m in zip(scores, sizes, strict=True)
        ]

    def pack(self, X: Any, Y: Any) -> GroupBatch:
        levels, weights = binary_levels(X, Y, "sample")
        if weights is not None and not self.measure_.separable:
            raise ValueError(f"measure {self.measure!r} is not a sum over examples, so that they cannot have weights")
        batch = pack_groups(self, X, levels, weights)
        batch.about = _tables(self.measure_, levels, weights)
        return batch

    def planes(self, w: Array, batch: GroupBatch, augment: float | Array = 1.0) -> Planes:
        lam = np.array(np.broadcast_to(np.asarray(augment, dtype=float), len(batch)))
        return self._weighted(w, batch, lam) if batch.weights is not None else self._worst(w, batch, lam, Formulation())

    def rescaled_planes(self, w: Array, batch: GroupBatch, formulation: Formulation) -> Planes | None:
        return self._worst(w, batch, np.ones(len(batch)), formulation) if batch.weights is None else None

    def _worst(self, w: Array, batch: GroupBatch, lam: Array, formulation: Formulation) -> Planes:
        from maxmargin.structures.ranking.compiled.contingency import table_differences, worst_on_lines

        scored = batch.scored(w)
        np.multiply(scored.scores, self.unit_, out=scored.scores)
        tables: Tables = batch.about.take(batch.ids)
        kind = formulation.rescaling == "slack", formulation.squared
        n, longest = len(batch), int(np.diff(scored.bounds).max())
        lost, won = np.empty(longest + 1), np.empty(longest + 1)
        tp, fp, loss = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64), np.empty(n)
        if tables.lines is not None:
            bounds, sizes, alpha, beta = tables.lines
            worst_on_lines(
                scored.scores,
                scored.bounds,
                tables.positives,
                bounds,
                sizes,
                alpha,
                beta,
                lam,
                *kind,
                lost,
                won,
                tp,
                fp,
                loss,
            )
        else:
            for j in range(n):
                part = scored.scores[scored.bounds[j] : scored.bounds[j + 1]]
                P, blocks = int(tables.positives[j]), tables.blocks[j]
                if blocks is None:  # too large to keep
                    blocks = self.measure_.blocks(P, len(part) - P)
                tp[j], fp[j], loss[j] = self._worst_cell(part, P, blocks, lam[j], kind, lost, won)
        found = int(np.sum(tables.positives - tp + fp))
        indptr = np.zeros(n + 1, dtype=np.int32)
        indices, values = np.empty(found, dtype=np.int32), np.empty(found)
        rows = batch.rows[scored.places]
        table_differences(rows, scored.bounds, tables.positives, tp, fp, self.unit_, indptr, indices, values)
        return Planes(AtomRows(batch.atoms, indptr, indices, values), loss)

    def _worst_cell(
        self, scores: Array, P: int, blocks: Any, lam: float, kind: tuple[bool, bool], lost: Array, won: Array
    ) -> tuple[int, int, float]:
        """The most violated table of one sample, out of all (P + 1)(Q + 1)."""
        from maxmargin.structures.ranking.compiled.contingency import cumulate, worst_in_rows

        Q = len(scores) - P
        best, at = np.zeros(1), np.array([P, 0])
        if P and Q:
            cumulate(scores, P, lost, won)
            for first, table in blocks:
                worst_in_rows(table, first, lam, *kind, lost, won, best, at)
        right = best[0] == 0.0
        loss = 0.0 if right else float(self.measure_.table(at[:1], at[1:], P, Q)[0])
        return int(at[0]), int(at[1]), loss

    def _weighted(self, w: Array, batch: GroupBatch, lam: Array) -> Planes:
        """Row i is wrong in the most violated prediction where λ times its cost exceeds κ times its margin."""
        scored, tables = batch.scored(w), batch.about.take(batch.ids)
        weights: Array = batch.weights[scored.places]  # type: ignore[index]
        group = np.repeat(np.arange(len(batch)), np.diff(scored.bounds))
        place = np.arange(len(group)) - scored.bounds[group]
        positive = place < tables.positives[group]
        cost = np.where(positive, tables.costs[group, 0], tables.costs[group, 1])
        sign = np.where(positive, 1.0, -1.0)
        wrong = (cost > 0) & (lam[group] * cost - sign * self.unit_ * scored.scores > 0)
        coefficients = np.where(wrong, sign * weights * self.unit_, 0.0)
        losses: Any = np.bincount(group, np.where(wrong, weights * cost, 0.0), minlength=len(batch))
        return Planes(batch.combined(scored, coefficients), losses)


class Tables(NamedTuple):
    """What the search knows of every sample before it sees scores."""

    positives: Counts
    lines: tuple[Any, ...] | None  # bounds, and the Lines of all samples one after the other
    blocks: tuple[Any, ...]  # without lines: all losses of a sample, or None where they are too many to keep
    costs: Array  # (n, 2): of a unit of weight on a wrong positive and on a wrong negative, for weighted samples

    def take(self, ids: NDArray[np.intp]) -> Tables:
        if np.array_equal(ids, np.arange(len(self.positives))):  # the usual case
            return self
        lines = None
        if self.lines is not None:
            bounds, *parts = self.lines
            chosen = np.concatenate([np.arange(bounds[g], bounds[g + 1]) for g in ids])
            lines = (np.append(0, np.cumsum(np.diff(bounds)[ids])), *(part[chosen] for part in parts))
        return Tables(self.positives[ids], lines, tuple(self.blocks[g] for g in ids), self.costs[ids])


def _tables(measure: Measure, levels: list[Array], weights: list[Array] | None) -> Tables:
    positives = np.array([int(np.sum(y)) for y in levels])
    sizes = [(int(P), len(y) - int(P)) for P, y in zip(positives, levels, strict=True)]
    told = [(P, Q) for P, Q in sizes if P and Q]  # the others are never searched
    for P, Q in told:
        measure.check_truth(P, Q)
    costs, none = np.zeros((len(levels), 2)), (None,) * len(levels)
    if weights is not None:
        for g, (y, v) in enumerate(zip(levels, weights, strict=True)):
            if all(sizes[g]):
                heavy, light = float(np.dot(v, y)), float(np.dot(v, 1 - y))
                costs[g] = measure.loss(heavy - 1, 0.0, 1.0, light), measure.loss(heavy, 1.0, 0.0, light - 1)
        return Tables(positives, None, none, costs)
    if all(measure.on_lines(P, Q) for P, Q in set(told)):
        empty = Lines(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0))
        lines = [measure.lines(P, Q) if P and Q else empty for P, Q in sizes]
        bounds = np.append(0, np.cumsum([len(each.sizes) for each in lines]))
        parts = (np.concatenate(part) for part in zip(*lines, strict=True))
        return Tables(positives, (bounds, *parts), none, costs)
    kept = {(P, Q): measure.kept_blocks(P, Q) for P, Q in set(told)}
    return Tables(positives, None, tuple(kept.get(size) for size in sizes), costs)
