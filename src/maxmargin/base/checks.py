"""Checks of options that are used in several folders. Errors name the option, what was found and what was expected."""

from __future__ import annotations

import os
from math import inf, isfinite
from numbers import Integral, Real
from typing import Any

import numpy as np


def is_whole(value: Any) -> bool:
    """Return whether the value is a whole number; True and False do not count as numbers."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_real(value: Any) -> bool:
    """Return whether the value is a real number; True and False do not count as numbers."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_finite(value: Any) -> bool:
    """Return whether the value is a finite real number."""
    return is_real(value) and isfinite(float(value))


def is_true(answer: Any) -> bool:
    """Return whether the answer is the Boolean True, rather than something truthy such as a number."""
    return isinstance(answer, bool | np.bool_) and bool(answer)


def check_whole(name: str, value: Any, least: int) -> int:
    """Return the value as an int; raise a ValueError unless it is a whole number >= least."""
    if not is_whole(value) or value < least:
        raise ValueError(f"{name} must be a whole number >= {least}, got {value!r}")
    return int(value)


def refuse_complex(name: str, given: Any) -> None:
    """Raise a ValueError if an array has complex numbers, because numpy would silently drop the imaginary parts."""
    if getattr(getattr(given, "dtype", None), "kind", "") == "c":
        raise ValueError(
            f"Complex data not supported: there are complex numbers in {name}; expected real numbers (give real and "
            "imaginary parts as separate features)"
        )


def check_memory(what: str, n_bytes: float, remedy: str) -> None:
    """Raise a ValueError if `n_bytes` exceed the memory of this machine; call it before allocating."""
    if n_bytes > memory_size():
        raise ValueError(
            f"{what} needs {n_bytes / 2**30:,.1f} GB of memory, but this machine has {memory_size() / 2**30:,.1f}; "
            f"{remedy}"
        )


def memory_size() -> float:
    """Return the number of bytes of memory of this machine, or inf if the system does not say."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return inf
