"""Weights α within their caps: Σₖ αᵢₖ <= capᵢ."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array


def caps(weights: Array, C: float) -> Array:
    """Return C vᵢ / n of every example; an example of weight 0 has no budget even under a hard margin."""
    return np.where(weights > 0, C * np.maximum(weights, 1e-300) / len(weights), 0.0)


def largest_multiple(sums: Array, caps: Array) -> float:
    """Return the largest factor of α that respects the caps, given Σₖ αᵢₖ of every example in `sums`."""
    used = sums > 0
    return float(np.min(caps[used] / sums[used], initial=np.inf))


def within_caps(alpha: Array, owners: NDArray[np.intp], caps: Array) -> Array:
    """Return these weights, scaled down if rounding may have raised their sum, in any order, above the cap."""
    sums, counts = np.bincount(owners, alpha, len(caps)), np.bincount(owners, minlength=len(caps))
    most = caps * (1.0 - (counts + 2) * np.finfo(float).eps)
    factors = np.where(sums > most, most / np.where(sums > 0, sums, 1.0), 1.0)
    return np.asarray(alpha * factors[owners])
