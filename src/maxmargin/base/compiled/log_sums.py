"""Sums of numbers that are stored as logarithms, without overflow, and draws with probabilities stored in this way."""

from __future__ import annotations

import math

import numpy as np

from maxmargin.base.compiled.kernel import kernel

NOTHING = -40.0  # e^NOTHING is below half a unit in the last place of 1


@kernel
def log_sum(x):
    """Compute log Σ exp(x)."""
    high = -np.inf
    for k in range(len(x)):
        high = max(high, x[k])
    if high == -np.inf:
        return high
    total = 0.0
    for k in range(len(x)):
        total += math.exp(x[k] - high)
    return high + math.log(total)


@kernel
def log_add(a, b):
    """Compute log(exp(a) + exp(b))."""
    high, low = max(a, b), min(a, b)
    if low == -np.inf or low - high < NOTHING:
        return high
    return high + math.log1p(math.exp(low - high))


@kernel
def draw(row, uniform):
    """Draw an index with probability in proportion to exp(row), from a uniform number between 0 and 1."""
    high, total = -np.inf, 0.0
    for k in range(len(row)):
        high = max(high, row[k])
    for k in range(len(row)):
        total += math.exp(row[k] - high)
    left, last = uniform * total, 0
    for k in range(len(row)):
        mass = math.exp(row[k] - high)
        if mass > 0.0:
            last = k
            if left < mass:
                return k
            left -= mass
    return last  # reached only by rounding errors


@kernel
def add_log(high, total, x):
    """Add exp(x) to the sum total · exp(high), and return the new high and total.

    A sum begins with high = -inf and total = 0; x must be greater than -inf.
    """
    if x <= high:
        return high, total + math.exp(x - high)
    return x, total * math.exp(high - x) + 1.0


@kernel
def log_of(high, total):
    """Compute the logarithm of the sum total · exp(high)."""
    return high + math.log(total) if total > 0.0 else -np.inf
