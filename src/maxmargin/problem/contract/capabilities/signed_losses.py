"""SignedLosses: losses that may be negative."""

from __future__ import annotations

from typing import Protocol, runtime_checkable


@runtime_checkable
class SignedLosses(Protocol):
    """A batch whose losses may be negative, so that slacks can be neither rescaled by them nor squared.

    Solvers refuse such a batch unless the formulation is the plain one (solvers/requirements.py).

    Order of calls: `why_signed`, once, for the message. Nothing is set.
    """

    def why_signed(self) -> str:
        """Return the reason why losses may be negative, as a clause to follow "because"."""
