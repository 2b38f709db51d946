"""Checks of options that many places share; errors name the option, what was found and what was expected."""

from __future__ import annotations

import os
from math import inf, isfinite
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


def refuse_complex(name: str, given: Any) -> None:
    """Raise a ValueError where an array has complex numbers, whose imaginary parts numpy would drop."""
    if getattr(getattr(given, "dtype", None), "kind", "") == "c":
        raise ValueError(
            f"Complex data not supported: there are complex numbers in {name}; expected real numbers (give "
            "real and imaginary "
            "parts as features of their own)"
        )


def check_memory(what: str, n_bytes: float, remedy: str) -> None:
    """Raise a ValueError where this much is more than the machine has, before it is asked for."""
    if n_bytes > memory_size():
        raise ValueError(
            f"{what} needs {n_bytes / 2**30:,.1f} GB of memory, but this machine has {memory_size() / 2**30:,.1f}; "
            f"{remedy}"
        )


def memory_size() -> float:
    """Bytes of memory of this machine; inf where the system does not say."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return inf
