"""MissingLabels: examples without any label."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from maxmargin.base.arrays import Index


@runtime_checkable
class MissingLabels(Protocol):
    """A batch that may have examples without any label, which training leaves out.

    Order of calls: `informative` once, before training; then `take` with its result.
    """

    def informative(self) -> Index:
        """Return the positions of the examples whose labels carry information."""
