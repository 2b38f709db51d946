"""One live line about a running fit: pass, objective, bound, gap, time left."""

from __future__ import annotations

from math import isfinite, log
from typing import Any

from maxmargin.solvers.base import Record


class Progress:
    """Shows itself only when asked to (verbose >= 1); `update` is a callback of the solvers."""

    def __init__(self, verbose: int, tol: float):
        self.verbose, self.tol = verbose, tol
        self._live: Any = None
        self._first: Record | None = None

    def __enter__(self) -> Progress:
        if self.verbose:
            from rich.live import Live

            self._live = Live("training …", refresh_per_second=8, transient=False)
            self._live.start()
        return self

    def update(self, record: Record) -> None:
        self._live.update(self.line(record))

    def line(self, record: Record) -> str:
        gap = record.relative_gap
        left = self.seconds_left(record)
        return (
            f"pass {record.passes:.0f}  objective {record.guess:.5g}  bound {record.dual:.5g}  "
            f"gap {'unknown' if not isfinite(gap) else f'{100 * gap:.3g}%'}  {record.seconds:.1f} s"
            + ("" if left is None else f"  about {left:.0f} s left")
        )

    def seconds_left(self, record: Record) -> float | None:
        """The gap shrinks about geometrically: extrapolate its logarithm to tol."""
        gap = record.relative_gap
        if not isfinite(gap) or gap <= 0:
            return None
        if self._first is None:
            self._first = record
            return None
        fallen = log(self._first.relative_gap / gap)
        if fallen <= 0:
            return None
        return max(0.0, log(gap / self.tol)) / fallen * (record.seconds - self._first.seconds)

    def __exit__(self, *exception: object) -> None:
        if self._live is not None:
            self._live.stop()
