"""SoftLabels: label a sample by numbers between 0 and 1, which makes the structured hinge a squared hinge of rows."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.files.fields import Real
from maxmargin.base.files.objects import Fields
from maxmargin.problem.planes.atoms import AtomRows
from maxmargin.problem.planes.planes import Planes
from maxmargin.structures.ranking.group_task import GroupTask
from maxmargin.structures.ranking.groups import Groups, Indices
from maxmargin.structures.ranking.row_labels import WeightedRows, binary_levels
from maxmargin.structures.ranking.segmented_batch import SegmentedBatch, Segments


class SoftLabels(GroupTask):
    """Binary classification of single rows by the modified Huber loss, written as a structured problem.

    x is the matrix of a sample, y a vector of 0 and 1, one per row, and outputs z are vectors of numbers from 0 to 1.
    With rows of weight v_i, whose sum over the positive ones is 1/κ, and scores s_i = ⟨w, x_i⟩,

        Ψ(x, z) = 4κ Σ_i v_i z_i x_i,      Δ(y, z) = 4κ Σ_i v_i z_i (1 - z_i)                                  (1)

    so that the most violated z_i is (1 + s_i)/2, clipped to [0, 1], and with y_i = ±1

        max_z Δ - ⟨w, δΨ⟩ = κ Σ_i v_i h(y_i s_i),   h(m) = max(0, 1 - m)² for m >= -1, and -4m below           (2)

    is the squared hinge, continued linearly for m < -1 (scikit-learn's "modified_huber"). While scores are within ±1,
    this is LinearSVC(C=κC). Its minimum over all functions is s = 2 P(positive | x) - 1 (Zhang, "Statistical behavior
    and consistency of classification methods based on convex risk minimization", Annals of Statistics 2004), and a
    threshold on P(positive | x) is optimal for F1 and every other ratio of linear functions of the contingency table
    (Koyejo et al., NIPS 2014). w = 0 is its optimum only if no feature distinguishes the classes. κ is the constant of
    Contingency, so that C has a similar meaning: at the truth a false positive adds 1/(2n₊) to 1 - F1, and here at most
    1/n₊ to Δ.

    kernel : None, or a kernel of rows (maxmargin.kernels), whose features replace x_i.
    """

    saved: ClassVar[Fields] = {"unit_": Real(least=0)}

    def __init__(self, kernel: Any = None):
        self.kernel = kernel

    def setup(self, X: Any, Y: Any) -> None:
        self._set_rows(X)
        levels, weights = binary_levels(X, Y, "sample")
        weights = weights or [np.ones(len(y)) for y in levels]
        positive = sum(float(np.dot(v, y)) for y, v in zip(levels, weights, strict=True))
        if positive == 0 or all(np.all(y == 1) for y in levels):
            raise ValueError("all labels belong to one class; a classifier needs both positive and negative examples")
        self.unit_ = len(levels) / positive  # κ

    def psi(self, x: Any, z: Any) -> Array:
        self._refuse_kernel("psi(x, z)")
        labels, weights = WeightedRows.of(z)
        return np.asarray((4 * self.unit_ * np.multiply(labels, weights)) @ x, dtype=float).reshape(-1)

    def loss(self, y: Any, z: Any) -> float:
        labels, weights = (np.asarray(each, dtype=float) for each in WeightedRows.of(z))
        return float(4 * self.unit_ * np.dot(weights, labels * (1 - labels)))

    def decode(self, w: Array, X: Any) -> list[NDArray[np.int64]]:
        """Return 1 for rows with a positive score, 0 for others."""
        groups = Groups.of(X)
        return [(s > 0).astype(np.int64) for s in groups.of_rows(self.row_scores(w, groups.matrix))]

    def pack(self, X: Any, Y: Any) -> SoftLabelBatch:
        labels, weights = binary_levels(X, Y, "sample")
        weights = weights or [np.ones(len(y)) for y in labels]
        return SoftLabelBatch(self, self._segments(X, labels, weights), np.array([int(np.sum(y)) for y in labels]))


class SoftLabelBatch(SegmentedBatch):
    """Batch of samples whose most violated labels follow from the scores, row by row."""

    call_cost = 2.0

    def __init__(self, task: Any, packed: Segments, positives: Indices):
        super().__init__(task, packed)
        assert packed.weights is not None
        self.weights = packed.weights
        number = np.arange(len(packed.rows)) - np.repeat(packed.bounds[:-1], np.diff(packed.bounds))  # in the sample
        self.truth = (number < np.repeat(positives, np.diff(packed.bounds))).astype(float)

    @property
    def method(self) -> str:
        return "; ".join(each for each in ("soft labels", super().method) if each)

    def planes(self, w: Array, augment: float | Array = 1.0) -> Planes:
        """Return planes of z = (1 + s/λ)/2, clipped to [0, 1], which maximises λz(1 - z) + zs."""
        chosen = np.concatenate([np.arange(self.bounds[g], self.bounds[g + 1]) for g in self.ids])
        sizes = np.diff(self.bounds)[self.ids]
        bounds, lam = np.append(0, np.cumsum(sizes)), np.repeat(self.loss_weights(augment), sizes)
        scores = self.atoms.scores(w, self.rows[chosen])[:, 0]
        ratio = np.sign(scores)
        np.divide(scores, lam, out=ratio, where=np.abs(scores) < lam)
        z, costs = (1 + ratio) / 2, 4 * self.task.unit_ * self.weights[chosen]
        coefficients = costs * (self.truth[chosen] - z)
        used = np.flatnonzero(coefficients)
        indptr = np.searchsorted(used, bounds).astype(np.int32)
        rows = AtomRows(self.atoms, indptr, self.rows[chosen[used]].astype(np.int32), coefficients[used])
        return Planes(rows, np.add.reduceat(costs * z * (1 - z), bounds[:-1]))
