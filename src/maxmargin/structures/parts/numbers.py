"""Sets of parts, given as numbers, as a mask, or with prices of their own."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

PartNumbers = NDArray[np.int64]  # numbers of parts, ascending


class PricedParts(NamedTuple):
    """Label of a Parts task with prices of its own for wrong and for missing parts.

    Attributes
    ----------
    parts : sequence
        The numbers of the true parts, or a mask.
    extra : float or array of shape (P,)
        The price of choosing each part wrongly.
    missing : float or array of shape (P,)
        The price of missing each part.

    See Also
    --------
    Parts : The task.

    Examples
    --------
    >>> from maxmargin import tasks
    >>> task = tasks.Parts(lambda scores, x: scores > 0)
    >>> task.loss(tasks.PricedParts([0, 1], missing=3.0), [1, 2])  # part 2 is wrong, part 0 is missing
    4.0
    """

    parts: Any
    extra: Any = 1.0
    missing: Any = 1.0


def as_numbers(chosen: Any, name: str, size: int | None = None) -> PartNumbers:
    """Return a set of parts, given as numbers or as a mask, as ascending numbers."""
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
        wrong = numbers[0] if numbers[0] < 0 else numbers[-1]
        raise ValueError(f"{name} has the part {wrong}; there are {parts}, numbered from 0")
    if len(numbers) < len(given):
        raise ValueError(f"{name} names a part twice: {chosen!r}; expected every part at most once")
    return numbers.astype(np.int64)
