"""Where the oracle runs. An executor places parts of the data once and maps a function over them, in order."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any


class Executor:
    """Run here, in threads, or elsewhere: whoever calls it cannot tell, except by the clock.

    The functions are importable by their names, so that other processes find them. What one may send along, in `each`
    and `shared`, is small: the data are in the parts.
    """

    workers: int = 1  # how many parts are worked on at once
    sums_there: bool = False  # whether what parts come to is summed up among them, so that one answer returns
    shares_memory: bool = True  # whether a part is worked on where it is, so that nothing needs a place of its own

    def collected(self, data: Any) -> Any:
        """Data that are spread over this executor's places as a list or an array; others as they are."""
        return data

    def place(self, parts: Sequence[Any]) -> list[Any]:
        """Keep the parts where they will be worked on; returns handles for `map`, which free them at their end."""
        return list(parts)

    def map(self, fn: Callable[..., Any], placed: Sequence[Any], each: Sequence[Any], *shared: Any) -> Iterator[Any]:
        """fn(part, each, *shared) for every part, results in that order.

        `each` has one entry per part; one that is itself a handle stands for its part, which must be in the same place.
        """
        raise NotImplementedError

    def reduce(
        self,
        join: Callable[[Any, Any], Any],
        fn: Callable[..., Any],
        placed: Sequence[Any],
        each: Sequence[Any],
        *shared: Any,
    ) -> Any:
        """What `map` returns, joined in a tree that depends on the number of parts alone: neighbours first."""
        return joined_in_a_tree(join, list(self.map(fn, placed, each, *shared)))[0]

    def derive(self, fn: Callable[..., Any], placed: Sequence[Any], *shared: Any) -> list[Any]:
        """Keep fn(part, *shared) of every part where it is, and return handles for these."""
        return [fn(part, *shared) for part in placed]

    def alive(self, placed: Sequence[Any]) -> bool:
        """Whether these parts are still where they were placed."""
        return True

    def close(self) -> None:
        """Give back threads, processes or connections. They are there again when they are needed."""


def joined_in_a_tree(join: Callable[[Any, Any], Any], found: list[Any], until: int = 1) -> list[Any]:
    """Neighbours joined, and neighbours of these, until no more than so many are left."""
    while len(found) > until:
        found = [join(*found[k : k + 2]) if k + 1 < len(found) else found[k] for k in range(0, len(found), 2)]
    return found


def n_workers(workers: int) -> int:
    """The number of workers that is meant: -1 stands for one per core."""
    if workers == 0 or workers < -1:
        raise ValueError(f"workers must be a positive number or -1 for all cores, got {workers}")
    return os.cpu_count() or 1 if workers == -1 else workers


def check_deadline(deadline: float) -> float:
    """Seconds, or an error."""
    if not deadline > 0:
        raise ValueError(f"deadline must be a positive number of seconds, got {deadline!r}")
    return deadline


def late_parts(names: Sequence[str], n_parts: int, deadline: float) -> str:
    """Says who did not answer in time."""
    which = ", ".join(names[:8]) + (f" and {len(names) - 8} others" if len(names) > 8 else "")
    return (
        f"of {n_parts} parts, {which} did not answer within the deadline of {deadline:g} s. If that is too short for a "
        "pass over a part, set the executor's deadline"
    )
