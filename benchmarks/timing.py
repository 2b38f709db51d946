"""The clock of all benchmarks: CPU seconds of this process, with compilation and preparation outside it.

CPU time (of all threads together) rather than time on the wall, because other work on the machine then
disturbs less.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

Result = TypeVar("Result")
Report = Callable[[str], None]


class Contestant(Protocol):
    """A solver together with the data that it is to be trained on; what it need not do, it leaves out."""

    name: str

    def warm_up(self) -> None:
        """Cause whatever is compiled on first use; not part of the training time."""

    def prepare(self) -> None:
        """Bring the data into the solver's own form; not part of the training time."""

    def train(self) -> None:
        """What is timed."""


@dataclass
class Timing:
    """CPU seconds of one contestant."""

    warm_up: float
    rounds: list[float] = field(default_factory=list)

    @property
    def minimum(self) -> float:
        return min(self.rounds)

    @property
    def median(self) -> float:
        return statistics.median(self.rounds)


def cpu_seconds(call: Callable[[], Result]) -> tuple[Result, float]:
    """The result of a call and the CPU seconds that it took."""
    # A collection that is due now would otherwise be charged to the call.
    gc.collect()
    start = time.process_time()
    result = call()
    return result, time.process_time() - start


def race(contestants: Sequence[Contestant], repeat: int, report: Report) -> list[Timing]:
    """Train every contestant ``repeat`` times, in turn, so that a slow spell of the machine meets all."""
    timings = []
    for contestant in contestants:
        report(f"{contestant.name}: warming up")
        timings.append(Timing(warm_up=cpu_seconds(contestant.warm_up)[1]))
    for i in range(repeat):
        for contestant, timing in zip(contestants, timings, strict=True):
            report(f"{contestant.name}: round {i + 1} of {repeat}")
            contestant.prepare()
            timing.rounds.append(cpu_seconds(contestant.train)[1])
    return timings
