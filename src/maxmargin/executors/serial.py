"""Serial: the executor that runs everything in the calling thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from maxmargin.executors.base import Executor


class Serial(Executor):
    """The executor that processes one shard after the other in the calling thread.

    Examples
    --------
    >>> from maxmargin.executors import Serial
    >>> list(Serial().map(max, [1, 5], [3, 2]))
    [3, 5]

    See Also
    --------
    Threads : several shards at once.
    """

    def map(self, fn: Callable[..., Any], placed: Sequence[Any], each: Sequence[Any], *shared: Any) -> Iterator[Any]:
        return (fn(part, own, *shared) for part, own in zip(placed, each, strict=True))

    def __repr__(self) -> str:
        return "Serial()"
