"""ResumableSearches: searches that begin where the last one of the same example ended."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class ResumableSearches(Protocol):
    """A batch whose searches keep a state per example, on which the next search depends.

    Order of calls: `search_states` whenever a checkpoint is written; `restore_searches` once, before the first search
    of a training that continues from a checkpoint.
    """

    def search_states(self) -> list[Any]:
        """Return the search state of every example, as plain data."""

    def restore_searches(self, states: list[Any]) -> None:
        """Set the search state of every example; raise ValueError if one does not fit its example."""
