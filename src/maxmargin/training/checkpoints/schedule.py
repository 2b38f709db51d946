"""Schedule: the times at which checkpoints are written. Nothing else in a fit depends on the clock."""

from __future__ import annotations

import re
import time
from typing import Any

from maxmargin.base.checks import is_real

PASSES = re.compile(r"\s*([0-9.]+)\s*pass(es)?\s*")
SHARE = 0.02  # the share of the time that writing may take, if the interval is given in seconds
SPEED = 1e8  # the bytes hashed and written per second that are assumed before the first file, as for a slow disk


class Schedule:
    """The interval between two checkpoints, in seconds or as "10 passes".

    If a file is so large that writing it takes long, the interval in seconds becomes longer, so that writing takes a
    small share of the time. This holds for the first file, too.
    """

    def __init__(self, every: Any):
        self.seconds: float | None = None
        self.passes = 0.0
        match = PASSES.fullmatch(every) if isinstance(every, str) else None
        try:
            if match:
                self.passes = float(match[1])
            elif is_real(every):
                self.seconds = float(every)
        except ValueError:
            pass
        if not (self.passes > 0 or (self.seconds is not None and self.seconds > 0)):
            raise ValueError(
                f"checkpoint_every must be a positive number of seconds, or passes as in '10 passes'; got {every!r}"
            )
        self.last, self.wait = time.perf_counter(), self.seconds or 0.0
        self.size, self.took = 0, 0.0  # the bytes of the last file, and the seconds it took to write them
        self.since, self.counted = 0.0, 0.0  # passes since the last file, and those of the current training among them

    def begin(self) -> None:
        """Begin to count the passes of another training; passes since the last file remain counted."""
        self.counted = 0.0

    def due(self, passes: float) -> bool:
        """Return whether to write after this number of passes of the training."""
        self.since, self.counted = self.since + passes - self.counted, passes
        if self.seconds is None:
            return self.since >= self.passes
        return time.perf_counter() - self.last >= self.wait

    def affords(self, size: int) -> bool:
        """Return whether a file of this size may be written now; if not, no file is due until it may."""
        if self.seconds is None:
            return True
        expected = self.took + max(size - self.size, 0) / SPEED
        self.wait = max(self.seconds, expected / SHARE)
        return time.perf_counter() - self.last >= self.wait

    def wrote(self, size: int, took: float) -> None:
        """Record that a file of this size was written just now, and how many seconds that took."""
        self.last, self.since, self.size, self.took = time.perf_counter(), 0.0, size, took
        self.wait = max(self.seconds or 0.0, took / SHARE)
