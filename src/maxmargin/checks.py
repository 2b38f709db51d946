"""Checks of options that many places share; errors name the option, what was found and what was expected."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any


def is_whole(value: Any) -> bool:
    """Whether this is a whole number; True and False are not."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_real(value: Any) -> bool:
    """Whether this is a real number; True and False are not."""
    return isinstance(value, Real) and not isinstance(value, bool)


def check_whole(name: str, value: Any, least: int) -> int:
    """The value as an int, unless it is no whole number of at least that size."""
    if not is_whole(value) or value < least:
        raise ValueError(f"{name} must be a whole number >= {least}, got {value!r}")
    return int(value)
