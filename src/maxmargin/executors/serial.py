"""Everything in the calling thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from maxmargin.executors.base import Executor


class Serial(Executor):
    """One part after the other, here."""

    def map(self, fn: Callable[..., Any], placed: Sequence[Any], *shared: Any) -> Iterator[Any]:
        return (fn(part, *shared) for part in placed)

    def __repr__(self) -> str:
        return "Serial()"
