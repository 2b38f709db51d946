"""The connection between numba, which announces what it compiles, and the clock of compilation."""

from __future__ import annotations

from typing import Any

from numba.core import event

from maxmargin.base.compile_clock import COMPILING, CompileClock


class CompileListener(event.Listener):
    """A listener to numba's documented events "numba:compile". Loading a function from the cache is no such event."""

    def __init__(self, clock: CompileClock):
        self.clock = clock

    def on_start(self, event: Any) -> None:
        """Begin to count."""
        self.clock.begin()

    def on_end(self, event: Any) -> None:
        """Stop counting."""
        self.clock.end()


event.register("numba:compile", CompileListener(COMPILING))
