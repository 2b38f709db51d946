"""Suggestions in error messages: the known name that is most similar to a wrong one."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

CUTOFF = 0.65  # the similarity from 0 to 1 that a suggestion must have
MOST_NAMES = 20  # the most names that a message lists


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return "; did you mean 'x'?" for a wrong name that is similar to a known one, otherwise an empty text."""
    by_lower = {each.lower(): each for each in known}
    close = get_close_matches(name.lower(), by_lower, 1, CUTOFF)
    return f"; did you mean {by_lower[close[0]]!r}?" if close else ""


def listed(names: Iterable[str]) -> str:
    """Return names for a message, the first few of many."""
    names = list(names)
    more = f", … ({len(names)} in all)" if len(names) > MOST_NAMES else ""
    shown = (name if name.isprintable() else repr(name) for name in names[:MOST_NAMES])
    return ", ".join(shown) + more
