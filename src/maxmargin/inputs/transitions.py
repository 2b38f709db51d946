"""Transitions between labels that may not happen."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from maxmargin.arrays import Array


def allowed_transitions(forbidden: Any, numbers: dict[Hashable, int]) -> Array:
    """0 where a transition, start or end is allowed, -inf where it is not, in the layout of w."""
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


def _pairs(forbidden: Any, numbers: dict[Hashable, int]) -> Iterable[tuple[Any, Any]]:
    if not (isinstance(forbidden, str) and forbidden == "BIO"):
        try:
            return [(before, after) for before, after in forbidden]
        except (TypeError, ValueError):
            raise ValueError(f"forbidden must be 'BIO' or a list of (before, after) pairs, got {forbidden!r}") from None
    labels = list(numbers)
    inside = [label for label in labels if isinstance(label, str) and label.startswith("I-")]
    return [
        (before, after)
        for after in inside
        for before in [None, *labels]
        if not (isinstance(before, str) and before[1:] == after[1:] and before[0] in "BI")
    ]
