"""Exponentials of many numbers at once.

numba calls the C library for every single exponential. Here e^x = 2^n e^f with a whole n and |f| <= ½ ln 2, where e^f
is a polynomial, without branches, so that the compiler vectorises the loop. The relative error is at most
ERROR; below FLOOR results are 0, so that none is a subnormal number, which has fewer digits.
"""

from __future__ import annotations

import numpy as np

from maxmargin.base.compiled.kernel import kernel

FLOOR = -708.0  # e^x is a normal number down to here
ERROR = 4e-16
LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10  # n · LN2_HIGH has no rounding error
ROUND = 6755399441055744.0  # 1.5 · 2^52: a sum with it has the nearest whole number in its last bits
EXPONENT = 52  # the place of the exponent among a number's bits


@kernel
def exponential(x):
    """Compute e^x for x <= 700."""
    inside = max(x, FLOOR)
    shifted = inside * LOG2_E + ROUND
    n = shifted - ROUND
    f = (inside - n * LN2_HIGH) - n * LN2_LOW
    p = 1 / 6227020800.0  # Σ f^i / i! up to i = 13
    p = p * f + 1 / 479001600.0
    p = p * f + 1 / 39916800.0
    p = p * f + 1 / 3628800.0
    p = p * f + 1 / 362880.0
    p = p * f + 1 / 40320.0
    p = p * f + 1 / 5040.0
    p = p * f + 1 / 720.0
    p = p * f + 1 / 120.0
    p = p * f + 1 / 24.0
    p = p * f + 1 / 6.0
    p = p * f + 0.5
    p = p * f + 1.0
    p = p * f + 1.0
    # The exponent of p, among its bits, grows by n, which is in the last bits of `shifted`.
    bits = np.float64(p).view(np.int64) + (np.float64(shifted).view(np.int64) << EXPONENT)
    scaled = np.int64(bits).view(np.float64)
    return scaled if x >= FLOOR else 0.0


@kernel
def exponentials(x):
    """Replace every x[i] by e^x[i], for numbers up to 700."""
    for i in range(len(x)):
        x[i] = exponential(x[i])
