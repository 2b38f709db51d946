"""Records of the steps of a run: its history, and the argument of callbacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from maxmargin.base.arrays import Array
from maxmargin.problem.dual.objective import relative_gap

HISTORY = ("passes", "seconds", "primal", "dual", "guess")  # columns, one row per step


class Record(NamedTuple):
    """One line of the history, which callbacks receive."""

    passes: float  # oracle calls so far, divided by the number of examples
    seconds: float  # the training time so far
    primal: float  # the objective at w; inf if it was not measured
    dual: float  # a lower bound on the optimum
    guess: float  # the solver's own estimate of the objective, or the measured objective
    w: Array
    where: str = ""  # the current round, if training has several
    parts: int = 1  # number of shards, each processed by a worker of its own
    round: int = 0  # number of calls of the workers so far

    @property
    def relative_gap(self) -> float:
        """The gap between estimate and bound, relative to the estimate."""
        return relative_gap(self.guess, self.dual)

    @property
    def line(self) -> dict[str, float]:
        """The line of the history."""
        return {name: getattr(self, name) for name in HISTORY}


Callback = Callable[[Record], Any]
