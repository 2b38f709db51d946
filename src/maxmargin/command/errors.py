"""Why the command line ends, and with which exit code."""

from __future__ import annotations

NOT_CONVERGED, USAGE, DATA, INTERRUPTED = 1, 2, 3, 130


class UsageError(Exception):
    """The command itself makes no sense: exit code 2. The message is one sentence."""
