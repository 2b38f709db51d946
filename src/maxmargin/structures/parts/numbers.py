"""PartNumbers parts: as numbers, as a mask, or with prices of their own."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

PartNumbers = NDArray[np.int64]  # numbers of parts, ascending


class PricedParts(NamedTuple):
    """A label whose parts have prices of their own: what each costs if it is chosen wrongly, or left out wrongly."""

    parts: Any  # numbers, or a mask
    extra: Any = 1.0  # a number, or one for each part of x
    missing: Any = 1.0


def as_numbers(chosen: Any, name: str, size: int | None = None) -> PartNumbers:
    """PartNumbers parts as numbers, ascending; a mask is read as one."""
    own = chosen.parts if isinstance(chosen, PricedParts) else chosen
    parts = "parts" if size is None else f"{size} parts"
    try:
        given = np.asarray(own)
    except ValueError:  # lists of different lengths
        given = np.asarray(None)
    if given.dtype == bool and given.ndim == 1 and size in (None, len(given)):
        return np.flatnonzero(given).astype(np.int64)
    if given.size == 0 and given.dtype != bool:
        return np.zeros(0, dtype=np.int64)
    if given.ndim != 1 or not np.issubdtype(given.dtype, np.integer):
        raise ValueError(f"{name} is {chosen!r}; expected numbers of parts, or a mask of {parts}")
    numbers = np.unique(given)
    if numbers[0] < 0 or (size is not None and numbers[-1] >= size):
        raise ValueError(f"{name} has the part {numbers[0] if numbers[0] < 0 else numbers[-1]}; there are {parts}")
    if len(numbers) < len(given):
        raise ValueError(f"{name} names a part twice: {chosen!r}")
    return numbers.astype(np.int64)
