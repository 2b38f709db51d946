"""Handling of Ctrl-C: the first one ends the current training run and keeps its model; a second one ends the program.

Otherwise a search over many fits would continue with the next one. No signal handler is installed: code that catches a
KeyboardInterrupt asks here whether it is the second one.
"""

from __future__ import annotations

import time
from math import inf

from maxmargin.base.errors import TrainingInterrupted, warn_caller

AGAIN = 2.0  # a Ctrl-C within this many seconds of the last one, or of the end of its training, is the second

_last = -inf  # when that was


def first_only(pressed: KeyboardInterrupt, stopping: bool = False) -> None:
    """Return if this is the first Ctrl-C, and raise it if it is the second.

    stopping : whether training was already ending because of an earlier Ctrl-C.
    """
    global _last
    before, _last = _last, time.monotonic()
    if stopping or _last - before < AGAIN:
        raise pressed


def say_interrupted(which: str = "best") -> None:
    """Warn that Ctrl-C has ended training, with the best or the last model so far."""
    global _last
    warn_caller(
        f"training was interrupted; the model is the {which} one so far (press Ctrl-C twice to end the program)",
        TrainingInterrupted,
    )
    _last = time.monotonic()
