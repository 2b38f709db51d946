"""Standard input, output and error of the command: encoding, and streams that are closed.

A shell can start a program with closed streams (`maxmargin predict m.mm <&- >&-`). Python then has None in their place,
`print` writes to nowhere without an error, and the next file that is opened gets the free number of the stream, so that
messages could end in it.
"""

from __future__ import annotations

import os
import sys
from errno import EBADF, EDQUOT, EFBIG, ENOSPC
from io import TextIOBase
from typing import Any

from maxmargin.command.errors import UsageError

OUTPUT = "standard output"
NO_SPACE = (ENOSPC, EFBIG, EDQUOT)  # without a name of a file they are about standard output: other errors have a name


class ClosedOutput(TextIOBase):
    """Standard output that is closed: whatever is written is an error and not lost silently."""

    encoding, errors = "utf-8", "strict"

    def write(self, text: str) -> int:
        """Raise an error, unless there is nothing to write."""
        if text:
            raise OSError(EBADF, "it is closed", OUTPUT)
        return 0


def prepare_streams() -> None:
    """Occupy the numbers of closed streams, and use UTF-8 as for files, whatever the locale is."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number
    if sys.stdout is None:
        sys.stdout = ClosedOutput()
    if sys.stderr is None:  # print(file=None) would write to standard output
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - open as long as the process
    for stream in (sys.stdin, sys.stdout):
        strict = stream is None or (_is_utf8(stream) and stream.errors == "strict")
        if hasattr(stream, "reconfigure") and not strict:
            stream.reconfigure(encoding="utf-8", errors="strict")


def standard_input() -> Any:
    """Return standard input; raise a UsageError if it is closed."""
    if sys.stdin is None or sys.stdin.closed:
        raise UsageError("standard input is closed, but - stands for it: give a file, or data in a pipe")
    return sys.stdin


def output_fails() -> bool:
    """Return whether standard output cannot be written, for example because its disk is full.

    If so, its buffered text is discarded, so that Python does not try again at the end.
    """
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        discard_output()
        return True
    return False


def discard_output() -> None:
    """Discard the text that is still buffered for standard output."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _is_utf8(stream: Any) -> bool:
    return (stream.encoding or "").lower().replace("-", "") == "utf8"
