"""What the live line says of a running fit: pass, objective, bound, gap, time left."""

from __future__ import annotations

from math import isfinite

from maxmargin.base.progress_line import LiveLine
from maxmargin.base.time_left import TimeLeft
from maxmargin.solvers.base import Callback, Record, Solver


def watching(line: LiveLine, solver: Solver) -> Callback | None:
    """A callback that shows on the line where the solver is, if the line shows anything."""
    return Progress(line, solver).update if line.on else None


class Progress:
    """`update` is a callback of the solvers."""

    def __init__(self, line: LiveLine, solver: Solver):
        self.line, self.left = line, TimeLeft(solver.tol, solver.max_passes)

    def update(self, record: Record) -> None:
        """Show where training is."""
        self.line.show(self.text(record))

    def text(self, record: Record) -> str:
        """What is known, in one line."""
        parts = [record.where] if record.where else []
        if record.parts > 1:
            parts.append(f"round {record.round} over {record.parts} parts")
        parts += [f"pass {record.passes:.0f}", f"objective {record.guess:.5g}"]
        if isfinite(record.dual):
            parts.append(f"bound {record.dual:.5g}")
        if isfinite(record.relative_gap):
            parts.append(f"gap {100 * record.relative_gap:.3g}%")
        parts.append(f"{record.seconds:.1f} s")
        if not record.where:  # how many rounds there will be, nobody knows
            left = self.left.seconds(record.relative_gap, record.passes, record.seconds)
            if left is not None:
                parts.append(f"about {left:.0f} s left")
        return "  ".join(parts)
