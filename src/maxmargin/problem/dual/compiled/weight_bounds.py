"""Clip all weights to their bounds at once; see geometry.py."""

from __future__ import annotations

import numpy as np

from maxmargin.base.compiled.kernel import kernel
from maxmargin.base.compiled.label_vectors import weight


@kernel
def settle(sums, origin, limits, free, w):
    """Set free = origin + sums and w = free within its limits (label_vectors.py); return ψ(sums).

    ψ(s) = ⟨s, w⟩ - ½‖w - w₀‖² with w₀ = origin. No certificate depends on it, so plain summation is accurate enough.
    """
    first, second = 0.0, 0.0
    for j in range(len(w)):
        free[j] = origin[j] + sums[j]
        x = weight(free, limits, np.uint64(j))
        w[j] = x
        away = x - origin[j]
        first += sums[j] * x
        second += away * away
    return first - 0.5 * second
