"""AveragePrecisionBatch: search for the most violated ranking of queries if the loss is 1 - average precision."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.problem.planes.planes import Planes
from maxmargin.structures.ranking.segmented_batch import SegmentedBatch, Segments


class AveragePrecisionBatch(SegmentedBatch):
    """Batch of queries whose loss is 1 - average precision; the search places every irrelevant row on its own."""

    def __init__(self, task: Any, packed: Segments):
        super().__init__(task, packed)
        longest = int(np.diff(self.bounds).max(initial=0))
        self.harmonic = np.append(0.0, np.cumsum(1 / np.arange(1, longest + 1)))  # harmonic numbers

    def planes(self, w: Array, augment: float | Array = 1.0) -> Planes:
        from maxmargin.structures.ranking.compiled.ranking import swap_for_average_precision

        lam = self.loss_weights(augment)
        scored = self.scored(w)
        longest = int(np.diff(scored.bounds).max()) + 2
        coefficients, losses = np.zeros(len(scored.scores)), np.empty(len(self))
        suffix, above = np.empty(longest), np.empty(longest, dtype=np.int64)
        segments = scored.segments, scored.segment_bounds
        swap_for_average_precision(lam, scored.scores, *segments, self.harmonic, suffix, above, coefficients, losses)
        return Planes(self.combined(scored, coefficients), losses)
