"""One live line about a running fit: pass, objective, bound, gap, time left."""

from __future__ import annotations

from math import isfinite, log
from typing import Any

from maxmargin.objective import Certificate
from maxmargin.solvers.base import Record, Solver


class Progress:
    """Shows itself, on standard error, only when asked to (verbose >= 1); `update` is a callback of the solvers."""

    def __init__(self, verbose: int, solver: Solver):
        self.verbose, self.tol, self.max_passes = verbose, solver.tol, solver.max_passes
        self._live: Any = None
        self._first: Record | None = None

    def __enter__(self) -> Progress:
        if self.verbose:
            from rich.console import Console
            from rich.live import Live

            console = Console(stderr=True)
            if not console.is_terminal:  # a file or a pipe has no width to wrap lines at
                console = Console(stderr=True, width=10_000)
            self._live = Live("training …", console=console, refresh_per_second=8)
            self._live.start()
        return self

    def update(self, record: Record) -> None:
        """Show where training is."""
        self._live.update(self.line(record))

    def finish(self, certificate: Certificate) -> None:
        """Leave the outcome on the line."""
        if self._live is not None:
            self._live.update(str(certificate))

    def line(self, record: Record) -> str:
        """What is known, in one line."""
        parts = [record.where] if record.where else []
        parts += [f"pass {record.passes:.0f}", f"objective {record.guess:.5g}"]
        if isfinite(record.dual):
            parts.append(f"bound {record.dual:.5g}")
        if isfinite(record.relative_gap):
            parts.append(f"gap {100 * record.relative_gap:.3g}%")
        parts.append(f"{record.seconds:.1f} s")
        left = None if record.where else self.seconds_left(record)  # how many rounds there will be, nobody knows
        if left is not None:
            parts.append(f"about {left:.0f} s left")
        return "  ".join(parts)

    def seconds_left(self, record: Record) -> float | None:
        """The gap shrinks about geometrically: extrapolate its logarithm to tol. Without a gap, count passes."""
        gap = record.relative_gap
        if not isfinite(gap):
            share = self.max_passes / record.passes if record.passes > 0 else 1.0
            return (share - 1) * record.seconds if 1 < share < float("inf") else None
        if gap <= self.tol:
            return 0.0
        if self._first is None:
            self._first = record
        fallen = log(self._first.relative_gap / gap)
        if fallen <= 0:
            return None
        return log(gap / self.tol) / fallen * (record.seconds - self._first.seconds)

    def __exit__(self, *exception: object) -> None:
        if self._live is not None:
            self._live.stop()
            if not self._live.console.is_terminal:
                self._live.console.print()  # rich ends the line on terminals only
