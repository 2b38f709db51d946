"""The scale of a prior whose scores were not learnt.

A published matrix makes the same alignments at every scale, but the scale matters relative to a margin of 1: as
printed, a wrong alignment of two proteins scores hundreds more than the correct one, the loss, which is at most 1, is
negligible, and the hinge of pairs that no scores align dominates. So the prior is t w₀ with

    t = argmax over t = 2^k / ‖w₀‖∞ of  Σ_i max(0, 1 - h_i(t w₀)),      h_i(w) = max_z Δ(y_i, z) - ⟨w, δΨ_i(z)⟩     (1)

Zero scores, w = 0, have a hinge of 1, so the sum measures how much better the prior is. Pairs that it cannot align,
whose hinges grow with t without bound, do not contribute. Of equally good scales, the smallest is used.
"""

from __future__ import annotations

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.errors import warn_caller
from maxmargin.problem.contract.batch import Batch

POWERS = range(-16, 4)  # k of (1)
MOST_EXAMPLES = 64  # the most examples that are used


def with_best_length(w: Array, batch: Batch) -> Array:
    """Return the multiple of w by (1); w itself, with a warning, if none is better than zero scores on any example."""
    peak = float(np.abs(w).max(initial=0.0))
    if peak == 0:
        return w
    some = batch.take(np.unique(np.linspace(0, len(batch) - 1, MOST_EXAMPLES).astype(np.int64)))
    multiples = [2.0**k / peak for k in POWERS]
    gains = [gained(t * w, some) for t in multiples]
    best = int(np.argmax(gains))
    if gains[best] <= 0:
        warn_caller(
            f"the prior predicts none of {len(some)} examples better than zero scores, at any scale, "
            "so it is used unscaled. Check the mode and the gap costs, or leave the prior out",
            UserWarning,
        )
        return w
    return multiples[best] * w


def gained(w: Array, batch: Batch) -> float:
    """Return the sum of (1)."""
    planes = batch.planes(w)
    hinges = planes.loss - planes.dpsi @ w
    return float(np.maximum(0.0, 1.0 - hinges).sum())
