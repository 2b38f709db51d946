"""Forbidden transitions between labels."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.errors import InvalidLabels, warn_caller
from maxmargin.inputs.tokens.chunk_schemes import ANY, SCHEMES, ChunkScheme


def allowed_transitions(forbidden: Any, numbers: dict[Hashable, int]) -> Array:
    """Return 0 if a transition, start or end is allowed and -inf if it is not, in the layout of w."""
    n = len(numbers)
    allowed = np.zeros(n * n + 2 * n)
    for before, after in _pairs(forbidden, numbers):
        for label in (before, after):
            if label is not None and label not in numbers:
                raise ValueError(f"forbidden names the label {label!r}, which is not one of the classes")
        if before is None and after is None:
            raise ValueError("forbidden contains (None, None); at most one side can be the start or the end")
        if before is None:
            allowed[n * n + numbers[after]] = -np.inf
        elif after is None:
            allowed[n * n + n + numbers[before]] = -np.inf
        else:
            allowed[numbers[before] * n + numbers[after]] = -np.inf
    return allowed


def chunk_scheme(forbidden: Any) -> ChunkScheme | None:
    """Return the chunk scheme that is named, or None."""
    return SCHEMES.get(forbidden) if isinstance(forbidden, str) else None


def warn_of_other_labels(forbidden: Any, labels: Iterable[Hashable]) -> None:
    """Warn if a chunk scheme is named, but no label is a chunk of it, or some are chunks of another scheme."""
    scheme = chunk_scheme(forbidden)
    if scheme is None:
        return
    strange = [label for label in labels if not scheme.knows(label)]
    if not any(scheme.knows(label) and label != "O" for label in labels):
        some = ", ".join(map(repr, strange[:3]))
        warn_caller(
            f"forbidden={forbidden!r} has no effect: no label is a chunk such as B-x or I-x (the labels are {some}"
            f"{', …' if len(strange) > 3 else ''})",
            InvalidLabels,
        )
    elif foreign := [label for label in strange if ANY.knows(label)]:
        warn_caller(
            f"forbidden={forbidden!r} does not know the label {foreign[0]!r}, which may then follow any other one; "
            f"is {' or '.join(repr(name) for name in SCHEMES if name != forbidden)} meant?",
            InvalidLabels,
        )


def _pairs(forbidden: Any, numbers: dict[Hashable, int]) -> Iterable[tuple[Any, Any]]:
    scheme = chunk_scheme(forbidden)
    if scheme is None:
        try:
            if isinstance(forbidden, str):  # a string of two letters would look like a pair of labels
                raise ValueError
            return [(before, after) for before, after in forbidden]
        except (TypeError, ValueError):
            names = ", ".join(map(repr, SCHEMES))
            raise ValueError(
                f"forbidden must be one of {names}, or a list of (before, after) pairs, got {forbidden!r}"
            ) from None
    ends = [None, *numbers]
    return [(a, b) for a in ends for b in ends if not scheme.may_follow(a, b)]
