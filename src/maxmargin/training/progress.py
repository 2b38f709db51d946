"""The progress of a fit on one line: pass, objective, bound, gap and remaining time."""

from __future__ import annotations

from math import isfinite
from typing import Any

from maxmargin.base.checks import is_true
from maxmargin.base.progress_line import LiveLine
from maxmargin.base.time_left import TimeLeft
from maxmargin.solvers.base import Solver
from maxmargin.solvers.history import Callback, Record


def watching(line: LiveLine, solver: Solver) -> Callback | None:
    """Return a callback that shows the progress of the solver on a line, or None if the line is silent."""
    return Progress(line, solver).update if line.on else None


def all_of(callbacks: list[Callback | None], where: str) -> Callback | None:
    """Return one callback that calls all of these, and that stops training if one of them does.

    where : the name of this training among several, for Record.where; "" if there is only one.
    """
    called = [callback for callback in callbacks if callback is not None]
    if not called:
        return None

    def call(record: Record) -> bool:
        record = record._replace(where=where) if where else record
        answers: list[Any] = [callback(record) for callback in called]
        return any(is_true(answer) for answer in answers)

    return call


class Progress:
    """The text of a progress line; `update` is a callback for solvers."""

    def __init__(self, line: LiveLine, solver: Solver):
        self.line, self.left = line, TimeLeft(solver.tol, solver.max_passes)

    def update(self, record: Record) -> None:
        """Show the state of training."""
        self.line.show(self.text(record))

    def text(self, record: Record) -> str:
        """Return a line about the state of training."""
        parts = [record.where] if record.where else []
        if record.parts > 1:
            parts.append(f"round {record.round} over {record.parts} parts")
        parts += [f"pass {record.passes:.0f}", f"objective {record.guess:.5g}"]
        if isfinite(record.dual):
            parts.append(f"bound {record.dual:.5g}")
        if isfinite(record.relative_gap):
            parts.append(f"gap {100 * record.relative_gap:.3g}%")
        parts.append(f"{record.seconds:.1f} s")
        if not record.where:  # the number of rounds is not known in advance
            left = self.left.seconds(record.relative_gap, record.passes, record.seconds)
            if left is not None:
                parts.append(f"about {left:.0f} s left")
        return "  ".join(parts)
