"""Contingency: label a whole sample at once, with a loss that depends on the contingency table of the labels."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.files.fields import OneOf, Real, Whole
from maxmargin.base.files.objects import Fields
from maxmargin.structures.ranking.contingency_batch import ContingencyBatch, SampleLosses
from maxmargin.structures.ranking.group_task import GroupTask
from maxmargin.structures.ranking.groups import Groups
from maxmargin.structures.ranking.measures import Measure, measure_of
from maxmargin.structures.ranking.row_labels import WeightedRows, binary_levels
from maxmargin.structures.ranking.weighted_sample_batch import WeightedSampleBatch, unit_costs


class Contingency(GroupTask):
    """Binary classification for a measure of the contingency table, such as F1.

    x is the matrix of a sample, and y and z are vectors of 0 and 1, one per row:

        Ψ(x, z) = κ Σ_{i: z_i = 1} x_i,      Δ(y, z) = measure(tp, fp, fn, tn)                                (1)

    κ is 1 over the number of rows for measure="error", which makes the structured hinge the mean of ordinary hinges:
    max_z Δ - ⟨w, δΨ⟩ = (1/n) Σ max(0, 1 - y_i ⟨w, x_i⟩) with y_i = ±1. For all other measures κ is 1 over the number of
    positive rows, so that C means the same for rare and for frequent positives. (Several samples share the mean of
    these numbers over the samples with both classes.) Measures at k consider predictions with k positives only; the
    truth violates nothing. A sample with one class has zero loss.

    The search is exact in O(n log n) for every measure that is linear in the true positives for a fixed number of
    predicted positives, in all four formulations; for others it is O(P·Q). A user's function is tried on all tables
    first. See compiled/contingency.py. Joachims, "A support vector method for multivariate performance measures"
    (ICML 2005), has O(n²) for margin rescaling.

    Parameters
    ----------
    measure : str or callable
        A name in measures.NAMES, or a function loss(tp, fp, fn, tn) of arrays of counts.
    k : int or None
        For "precision_at_k" and "recall_at_k"; all rows of a smaller sample are positive.
    beta : float
        For "fbeta": recall counts beta times as much as precision.
    kernel : None, str, callable or Kernel
        A kernel of rows (maxmargin.kernels), whose features replace x_i.

    Notes
    -----
    Labels may be WeightedRows if the measure is a sum over examples ("error", "balanced_error").

    See Also
    --------
    maxmargin.MeasureSVC : The estimator.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import tasks
    >>> x, y, task = np.array([[0.0], [1.0], [2.0]]), [0, 1, 1], tasks.Contingency("f1")
    >>> task.setup([x], [y])
    >>> round(task.loss(y, [0, 0, 1]), 3)  # 1 - F1
    0.333
    """

    saved: ClassVar[Fields] = {
        "k": OneOf(None, Whole(1), Real()),
        "beta": Real(),
        "unit_": Real(least=0),
        "share_": Real(),
    }

    def __init__(self, measure: Any = "f1", k: int | None = None, beta: float = 1.0, kernel: Any = None):
        self.measure = measure
        self.k = k
        self.beta = beta
        self.kernel = kernel

    @property
    def measure_(self) -> Measure:
        """The measure that the parameters name; made on access, because functions cannot be pickled."""
        return measure_of(self.measure, self.k, self.beta)

    def setup(self, X: Any, Y: Any) -> None:
        self._set_rows(X)
        levels, weights = binary_levels(X, Y, "sample")
        weights, per_positive = weights or [np.ones(len(y)) for y in levels], self.measure_.per_positive
        mixed = [(y, v) for y, v in zip(levels, weights, strict=True) if 0 < np.sum(y) < len(y)]
        if not mixed:
            raise ValueError("all labels belong to one class; expected both positive and negative examples")
        self.unit_ = len(mixed) / float(sum(np.dot(v, y if per_positive else y >= 0) for y, v in mixed))  # κ
        self.share_ = float(np.mean(np.concatenate(levels)))

    def psi(self, x: Any, z: Any) -> Array:
        self._refuse_kernel("psi(x, z)")
        labels, weights = WeightedRows.of(z)
        return np.asarray(np.multiply(labels, weights) @ x, dtype=float).reshape(-1) * self.unit_

    def loss(self, y: Any, z: Any) -> float:
        labels, weights = WeightedRows.of(y)
        y, z = np.asarray(labels, dtype=bool), np.asarray(WeightedRows.of(z).labels, dtype=bool)
        if y.all() or not y.any() or np.array_equal(y, z):
            return 0.0
        tp, fp, fn, tn = (np.dot(weights, kind) for kind in (y & z, ~y & z, y & ~z, ~y & ~z))
        return float(self.measure_.loss(tp, fp, fn, tn))

    def decode(self, w: Array, X: Any) -> list[NDArray[np.int64]]:
        """Label rows with a positive score 1; measures with a fixed number of positives label the highest scores 1.

        For "prbep" that number is the share of positives in training times the number of rows.
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

    def pack(self, X: Any, Y: Any) -> ContingencyBatch | WeightedSampleBatch:
        labels, weights = binary_levels(X, Y, "sample")
        measure, positives = self.measure_, np.array([int(np.sum(y)) for y in labels])
        if weights is not None:
            if not measure.separable:
                raise ValueError(
                    f"measure {self.measure!r} is not a sum over examples, so examples cannot have weights"
                )
            packed = self._segments(X, labels, weights)
            return WeightedSampleBatch(self, packed, positives, unit_costs(measure, labels, weights))
        packed = self._segments(X, labels)
        sizes = [(P, len(y) - P) for P, y in zip(positives.tolist(), labels, strict=True)]
        return ContingencyBatch(self, packed, positives, SampleLosses.of(measure, sizes))
