"""Checks of options that many places share; errors name the option, what was found and what was expected."""

from __future__ import annotations

from math import isfinite
from numbers import Integral, Real
from typing import Any

import numpy as np


def is_whole(value: Any) -> bool:
    """Whether this is a whole number; True and False are not."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_real(value: Any) -> bool:
    """Whether this is a real number; True and False are not."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_finite(value: Any) -> bool:
    """Whether this is a real number that is finite."""
    return is_real(value) and isfinite(float(value))


def is_true(answer: Any) -> bool:
    """Whether this is True itself, not only something that counts as true, such as a number."""
    return isinstance(answer, bool | np.bool_) and bool(answer)


def check_whole(name: str, value: Any, least: int) -> int:
    """The value as an int, unless it is no whole number of at least that size."""
    if not is_whole(value) or value < least:
        raise ValueError(f"{name} must be a whole number >= {least}, got {value!r}")
    return int(value)
