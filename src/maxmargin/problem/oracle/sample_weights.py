"""Sample weights as the objective uses them."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.base.arrays import Array


def normalised_weights(sample_weight: Any, n: int) -> Array:
    """Return sample weights scaled to sum to n, so that C keeps multiplying a mean."""
    if sample_weight is None:
        return np.ones(n)
    weights = np.asarray(sample_weight, dtype=float)
    if weights.shape != (n,):
        raise ValueError(f"sample_weight has shape {weights.shape}; expected ({n},), one weight per example")
    if not np.isfinite(weights).all() or (weights < 0).any():
        i = int(np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))[0])
        raise ValueError(f"sample_weight[{i}] is {weights[i]}; weights must be finite and >= 0")
    if weights.sum() == 0:
        raise ValueError("all sample weights are zero: there is nothing to learn from")
    weights = weights / weights.max()  # so that the sum neither overflows nor underflows
    return weights * (n / weights.sum())
