"""Names of the searches that sets with NP-hard decoders offer, and up to which sizes."""

from __future__ import annotations

METHODS = ("auto", "exact", "local", "milp")
EXACT = 20  # items up to which all subsets are tried: of n items these are tables of 2^n rows
AUTO = 15  # items up to which "auto" tries them: milliseconds, less than a local search takes


def check_method(method: str, n: int) -> None:
    """Whether there is this search for n items."""
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(map(repr, METHODS))}, got {method!r}")
    if method == "exact" and n > EXACT:
        raise ValueError(
            f"method='exact' tries all subsets of {n} items, which is possible up to {EXACT}; "
            f"expected method='milp', which is exact too, or 'local'"
        )


def tries_all(method: str, n: int) -> bool:
    """Whether all subsets of n items are to be tried."""
    return method == "exact" or (method == "auto" and n <= AUTO)
