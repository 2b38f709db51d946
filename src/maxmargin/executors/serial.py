"""Everything in the calling thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from maxmargin.executors.base import Executor


class Serial(Executor):
    """One part after the other, here."""

    def map(self, fn: Callable[..., Any], placed: Sequence[Any], each: Sequence[Any], *shared: Any) -> Iterator[Any]:
        return (fn(part, own, *shared) for part, own in zip(placed, each, strict=True))

    def __repr__(self) -> str:
        return "Serial()"
