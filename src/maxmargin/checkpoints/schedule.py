"""When a checkpoint is written. The clock decides that, and nothing else."""

from __future__ import annotations

import re
import time
from typing import Any

from maxmargin.checks import is_real

PASSES = re.compile(r"\s*([0-9.]+)\s*pass(es)?\s*")
SHARE = 0.02  # of the time that writing may take, where a time is given


class Schedule:
    """Every so many seconds, or "10 passes".

    Where a file is so large that writing it takes long, seconds become more: writing takes a small share of the time.
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
        self.last, self.longest, self.last_passes = time.perf_counter(), 0.0, 0.0

    def begin(self, passes: float) -> None:
        """A training begins, or goes on, after so many passes."""
        self.last_passes = passes

    def due(self, passes: float) -> bool:
        """Whether to write after so many passes of this training."""
        if self.seconds is None:
            return passes - self.last_passes >= self.passes
        return time.perf_counter() - self.last >= max(self.seconds, self.longest / SHARE)

    def wrote(self, passes: float, took: float) -> None:
        """It was written just now, and took so many seconds."""
        self.last, self.last_passes, self.longest = time.perf_counter(), passes, took
