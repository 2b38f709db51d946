"""Names and size limits of the search methods that output sets with NP-hard decoders offer."""

from __future__ import annotations

from typing import Literal, get_args

SearchMethod = Literal["auto", "exact", "local", "milp"]
METHODS = get_args(SearchMethod)
EXACT = 20  # the most items for "exact", which needs tables of 2^n rows
AUTO = 15  # the most items for which "auto" is exact; it then takes milliseconds, less than a local search


def check_method(method: str, n: int) -> None:
    """Raise a ValueError if there is no such search method for n items."""
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(map(repr, METHODS))}, got {method!r}")
    if method == "exact" and n > EXACT:
        raise ValueError(
            f"method='exact' tries all subsets of {n} items, which is possible up to {EXACT}; "
            f"expected method='milp', which is exact too, or 'local'"
        )


def tries_all(method: str, n: int) -> bool:
    """Return whether this method compares all subsets of n items."""
    return method == "exact" or (method == "auto" and n <= AUTO)
