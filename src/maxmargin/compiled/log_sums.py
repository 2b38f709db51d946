"""Sums of numbers that are kept as logarithms, because they may be larger or smaller than any number."""

from __future__ import annotations

import math

import numpy as np

from maxmargin.compiled.kernel import kernel


@kernel
def add_log(high, total, x):
    """(high, total) of a sum total · exp(high), with exp(x) added; it begins with (-inf, 0), and x is not -inf."""
    if x <= high:
        return high, total + math.exp(x - high)
    return x, total * math.exp(high - x) + 1.0


@kernel
def log_of(high, total):
    """The logarithm of such a sum."""
    return high + math.log(total) if total > 0.0 else -np.inf
