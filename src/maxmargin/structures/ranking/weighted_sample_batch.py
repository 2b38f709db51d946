"""WeightedSampleBatch: samples whose rows have weights, for measures that are sums over rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.problem.planes.planes import Planes
from maxmargin.structures.ranking.measures import Counts, Measure
from maxmargin.structures.ranking.segmented_batch import SegmentedBatch, Segments


class WeightedSampleBatch(SegmentedBatch):
    """Batch of samples whose most violated labelling is found row by row, for margin rescaling only."""

    def __init__(self, task: Any, packed: Segments, positives: Counts, costs: Array):
        super().__init__(task, packed)
        assert packed.weights is not None
        self.positives, self.weights = positives, packed.weights
        self.costs = costs  # (n, 2) costs per unit of weight of a wrong positive and of a wrong negative row

    def planes(self, w: Array, augment: float | Array = 1.0) -> Planes:
        """Label those rows wrongly for which λ times their cost exceeds κ times their margin."""
        lam = self.loss_weights(augment)
        scored, unit = self.scored(w), self.task.unit_
        weights = self.weights[scored.positions]
        group = np.repeat(np.arange(len(self)), np.diff(scored.bounds))
        positive = np.arange(len(group)) - scored.bounds[group] < self.positives[self.ids][group]
        costs = self.costs[self.ids]
        cost = np.where(positive, costs[group, 0], costs[group, 1])
        sign = np.where(positive, 1.0, -1.0)
        wrong = (cost > 0) & (lam[group] * cost - sign * unit * scored.scores > 0)
        coefficients = np.where(wrong, sign * weights * unit, 0.0)
        losses: Any = np.bincount(group, np.where(wrong, weights * cost, 0.0), minlength=len(self))
        return Planes(self.combined(scored, coefficients), losses)


def unit_costs(measure: Measure, labels: list[Array], weights: list[Array]) -> Array:
    """Return the (n, 2) costs per unit of weight of wrong positive and wrong negative rows of every sample."""
    costs = np.zeros((len(labels), 2))
    for g, (y, v) in enumerate(zip(labels, weights, strict=True)):
        if 0 < np.sum(y) < len(y):  # samples with one class have zero loss
            positive, negative = float(np.dot(v, y)), float(np.dot(v, 1 - y))
            costs[g, 0] = measure.loss(positive - 1, 0.0, 1.0, negative)
            costs[g, 1] = measure.loss(positive, 1.0, 0.0, negative - 1)
    return costs
