"""Where the oracle runs. An executor places parts of the data once and maps a function over them, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any


class Executor:
    """Run here, in threads, or elsewhere: whoever calls it cannot tell, except by the clock."""

    workers: int = 1  # how many parts are worked on at once

    def place(self, parts: Sequence[Any]) -> list[Any]:
        """Keep the parts where they will be worked on; returns handles for `map`."""
        return list(parts)

    def map(self, fn: Callable[..., Any], placed: Sequence[Any], *shared: Any) -> Iterator[Any]:
        """fn(part, *shared) for every part, results in the order of the parts."""
        raise NotImplementedError

    def close(self) -> None:
        """Give back threads or connections."""
