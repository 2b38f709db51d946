"""e^x of many numbers at once.

Left to itself, numba calls the C library for every single number. Here e^x = 2^n e^f with a whole n and |f| <= ½ ln 2,
where e^f is a polynomial, and nothing branches: the compiler makes vectors of the loop. Results are off by at most
ERROR, relatively; below FLOOR they are 0, so that none is too small to have all of its digits.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from maxmargin.base.compiled.kernel import kernel

FLOOR = -708.0  # e^x is a normal number down to here
ERROR = 4e-16
LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10  # n · LN2_HIGH has no rounding error
ROUND = 6755399441055744.0  # 1.5 · 2^52: a sum with it has the nearest whole number in its last bits
EXPONENT = 52  # bits before a number's exponent


def _bits_of(number: Any) -> Any:
    return np.float64(number).view(np.int64)


def _number_of(bits: Any) -> Any:
    return np.int64(bits).view(np.float64)


def _cast(before: Any, after: Any, kind: Any) -> Any:
    """An instruction that takes the same 64 bits for something else."""

    @intrinsic
    def cast(context: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.bitcast(arguments[0], kind)

        return after(before), generate

    return cast


_settings: Any = numba.config
bits_of: Any = _bits_of if _settings.DISABLE_JIT else _cast(types.float64, types.int64, ir.IntType(64))
number_of: Any = _number_of if _settings.DISABLE_JIT else _cast(types.int64, types.float64, ir.DoubleType())


@kernel
def exponential(x):
    """e^x for x <= 700."""
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
    scaled = number_of(bits_of(p) + (bits_of(shifted) << EXPONENT))
    return scaled if x >= FLOOR else 0.0


@kernel
def exponentials(x):
    """x[i] becomes e^x[i], for numbers up to 700."""
    for i in range(len(x)):
        x[i] = exponential(x[i])
