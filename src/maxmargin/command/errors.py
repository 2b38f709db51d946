"""Exit codes of the command line."""

from __future__ import annotations

NOT_CONVERGED, USAGE, DATA, INTERRUPTED = 1, 2, 3, 130


class UsageError(Exception):
    """An error in the command itself: exit code 2. The message is one sentence."""
