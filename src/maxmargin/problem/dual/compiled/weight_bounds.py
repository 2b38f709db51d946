"""Weights within their confines, all at once: see geometry.py."""

from __future__ import annotations

import numpy as np

from maxmargin.base.compiled.kernel import kernel
from maxmargin.base.compiled.label_vectors import weight


@kernel
def settle(sums, origin, limits, free, w):
    """free = w₀ + sums, and w that within its limits (label_vectors.py); returns ψ(sums).

    ψ(s) = ⟨s, w⟩ - ½‖w - w₀‖²; nothing is proved of it, so that plain sums will do.
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
