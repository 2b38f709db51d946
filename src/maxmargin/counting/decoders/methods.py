"""Names of the searches that sets with NP-hard decoders offer, and up to which sizes."""

from __future__ import annotations

METHODS = ("auto", "exact", "local", "milp")
EXACT = 20  # items up to which all subsets are tried: of n items these are tables of 2^n rows
AUTO = 15  # items up to which "auto" tries them: milliseconds, less than a local search takes


def check_method(decoder: str, n: int) -> None:
    """Whether there is this search for n items."""
    if decoder not in METHODS:
        raise ValueError(f"decoder must be one of {', '.join(map(repr, METHODS))}, got {decoder!r}")
    if decoder == "exact" and n > EXACT:
        raise ValueError(
            f"decoder='exact' tries all subsets of {n} items, which is possible up to {EXACT}; "
            f"expected decoder='milp', which is exact too, or 'local'"
        )


def tries_all(decoder: str, n: int) -> bool:
    """Whether all subsets of n items are to be tried."""
    return decoder == "exact" or (decoder == "auto" and n <= AUTO)
