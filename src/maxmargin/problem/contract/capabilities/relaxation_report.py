"""RelaxationReport: the wording for the number of relaxed answers."""

from __future__ import annotations

from typing import Protocol, runtime_checkable


@runtime_checkable
class RelaxationReport(Protocol):
    """A batch that makes the certificate report on how many examples an answer was relaxed.

    Order of calls: `relaxed_on` at the end of a training, after all searches.
    """

    def relaxed_on(self, count: int, n: int) -> str:
        """Return the words for `count` of `n` examples whose answers were relaxed."""
