"""The time that this process has spent on compiling kernels, and a clock of work that stands still meanwhile.

Kernels are compiled by numba on their first call and kept on disk (base/compiled/). That time says nothing about
training, so certificates and histories do not count it, and a progress line says what the process is doing. This module
does not import numba: base/compiled/compile_events.py tells it when numba begins and ends to compile a function.
"""

from __future__ import annotations

import time
from threading import Lock
from typing import NamedTuple


class CompileTimes(NamedTuple):
    """The state of the clock at one moment."""

    begun: int = 0  # functions whose compilation has begun
    seconds: float = 0.0  # seconds spent on compiling
    cpu_seconds: float = 0.0  # processor seconds of the process meanwhile
    running: bool = False  # whether a function is being compiled now


class CompileClock:
    """Counts compiled functions and the time for them; `begin` and `end` may be nested and come from any thread.

    folder : where compiled functions are kept; None if they are not, so that every process compiles them again.
    """

    def __init__(self) -> None:
        self.folder: str | None = None
        self._lock, self._depth, self._begun = Lock(), 0, 0
        self._spent = self._since = (0.0, 0.0)
        self._worked = (0.0, 0.0)

    def begin(self) -> None:
        """Note that a function is about to be compiled."""
        with self._lock:
            if self._depth == 0:
                self._since = time.perf_counter(), time.process_time()
            self._depth += 1
            self._begun += 1

    def end(self) -> None:
        """Note that the last function that was begun is compiled, or that this failed."""
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                self._spent = self._now()

    def times(self) -> CompileTimes:
        """Return the counts and times so far, including those of a function that is being compiled."""
        with self._lock:
            return CompileTimes(self._begun, *(self._now() if self._depth else self._spent), self._depth > 0)

    def worked(self) -> tuple[float, float]:
        """Return clocks of elapsed and of processor seconds that stand still while something is compiled."""
        with self._lock:
            now = self._since if self._depth else (time.perf_counter(), time.process_time())
            # Rounding must not turn the clocks back.
            self._worked = (
                max(self._worked[0], now[0] - self._spent[0]),
                max(self._worked[1], now[1] - self._spent[1]),
            )
            return self._worked

    def _now(self) -> tuple[float, float]:
        (wall, cpu), (since, cpu_since) = self._spent, self._since
        return wall + time.perf_counter() - since, cpu + time.process_time() - cpu_since


COMPILING = CompileClock()


def work_seconds() -> float:
    """Return a clock of elapsed seconds that stands still while kernels are compiled in this process."""
    return COMPILING.worked()[0]


def work_cpu_seconds() -> float:
    """Return a clock of processor seconds that stands still while kernels are compiled in this process."""
    return COMPILING.worked()[1]
