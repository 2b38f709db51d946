"""Outputs that are sequences of different items."""

from __future__ import annotations

from typing import Any

from maxmargin.counting.sets.items import Items


def ordered_numbers(items: Items, y: Any, kind: str, all_of_them: bool = False) -> list[int]:
    """Return the numbers of the items of y in their order; raise a ValueError if y is invalid."""
    if isinstance(y, set | frozenset):
        raise ValueError(f"the {kind} is {y!r}, but a set has no order; expected a tuple or list of items")
    numbers = items.numbers(y, kind)
    if all_of_them and len(numbers) < len(items):
        missing = next(items.names[k] for k in range(len(items)) if k not in set(numbers))
        raise ValueError(f"found {len(numbers)} items without {missing!r}; expected all {len(items)} items")
    return numbers
