"""How long a prior is whose scores were not learnt.

A published matrix makes the same alignments at every multiple, but beside a margin of 1 its length matters: at the one
it is printed in, a wrong alignment of two proteins scores hundreds more than the right one, the loss, which is at most
1, is nothing beside that, and the hinge of the pairs that no scores align outweighs all others. So the prior is t w₀
with

    t = argmax over t = 2^k / ‖w₀‖∞ of  Σ_i max(0, 1 - h_i(t w₀)),      h_i(w) = max_z Δ(y_i, z) - ⟨w, δΨ_i(z)⟩     (1)

No scores at all, w = 0, have a hinge of 1: what counts is by how much the prior does better. Pairs that it cannot
align, whose hinges grow with t without end, do not decide. Of multiples that do equally well, the shortest is taken.
"""

from __future__ import annotations

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.errors import warn_caller
from maxmargin.problem.contract.batch import Batch

POWERS = range(-16, 4)  # k of (1)
MOST_EXAMPLES = 64  # that are looked at


def with_best_length(w: Array, batch: Batch) -> Array:
    """The multiple of w by (1); w itself, with a warning, where none does better than no scores on any example."""
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
    """The sum of (1)."""
    planes = batch.planes(w)
    hinges = planes.loss - planes.dpsi @ w
    return float(np.maximum(0.0, 1.0 - hinges).sum())
