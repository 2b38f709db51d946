"""WeightedSampleBatch: samples whose rows have weights, for measures that are sums over rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.problem.planes.planes import Planes
from maxmargin.structures.ranking.measures import Counts, Measure
from maxmargin.structures.ranking.segmented_batch import SegmentedBatch, Segments


class WeightedSampleBatch(SegmentedBatch):
    """The most violated labelling is found row by row; slack rescaling and squared slacks have no such search."""

    def __init__(self, task: Any, packed: Segments, positives: Counts, costs: Array):
        super().__init__(task, packed)
        assert packed.weights is not None
        self.positives, self.weights = positives, packed.weights
        self.costs = costs  # (n, 2): of a unit of weight on a wrong positive, and on a wrong negative

    def planes(self, w: Array, augment: float | Array = 1.0) -> Planes:
        """Row i is wrong in the most violated labelling where λ times its cost exceeds κ times its margin."""
        lam = self.loss_weights(augment)
        scored, unit = self.scored(w), self.task.unit_
        weights = self.weights[scored.places]
        group = np.repeat(np.arange(len(self)), np.diff(scored.bounds))
        place = np.arange(len(group)) - scored.bounds[group]
        positive = place < self.positives[self.ids][group]
        costs = self.costs[self.ids]
        cost = np.where(positive, costs[group, 0], costs[group, 1])
        sign = np.where(positive, 1.0, -1.0)
        wrong = (cost > 0) & (lam[group] * cost - sign * unit * scored.scores > 0)
        coefficients = np.where(wrong, sign * weights * unit, 0.0)
        losses: Any = np.bincount(group, np.where(wrong, weights * cost, 0.0), minlength=len(self))
        return Planes(self.combined(scored, coefficients), losses)


def unit_costs(measure: Measure, labels: list[Array], weights: list[Array]) -> Array:
    """(n, 2): what a unit of weight on a wrong positive and on a wrong negative row costs in every sample."""
    costs = np.zeros((len(labels), 2))
    for g, (y, v) in enumerate(zip(labels, weights, strict=True)):
        if 0 < np.sum(y) < len(y):  # the others cost nothing
            positive, negative = float(np.dot(v, y)), float(np.dot(v, 1 - y))
            costs[g, 0] = measure.loss(positive - 1, 0.0, 1.0, negative)
            costs[g, 1] = measure.loss(positive, 1.0, 0.0, negative - 1)
    return costs
