"""Records of the steps of a run: its history, and what callbacks receive."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from maxmargin.base.arrays import Array
from maxmargin.problem.dual.objective import relative_gap

HISTORY = ("passes", "seconds", "primal", "dual", "guess")  # of every step


class Record(NamedTuple):
    """One line of the history, and what a callback receives."""

    passes: float
    seconds: float
    primal: float  # inf where it was not measured
    dual: float
    guess: float  # the algorithm's own estimate of the objective, or the measured one
    w: Array
    where: str = ""  # of training in several rounds: which one
    parts: int = 1  # shards of the data, each worked on in a process of its own
    round: int = 0  # of work on them

    @property
    def relative_gap(self) -> float:
        """Return the gap between estimate and bound, as a share of the estimate."""
        return relative_gap(self.guess, self.dual)

    @property
    def line(self) -> dict[str, float]:
        """Return the line of the history."""
        return {name: getattr(self, name) for name in HISTORY}


Callback = Callable[[Record], Any]
