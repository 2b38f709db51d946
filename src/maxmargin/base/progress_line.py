"""Progress on standard error: a live line on a terminal or in a notebook, elsewhere a plain line now and then."""

from __future__ import annotations

import sys
import time
from importlib.util import find_spec
from threading import Event, Thread
from typing import Any

from maxmargin.base.checks import is_true, is_whole
from maxmargin.base.compile_clock import COMPILING, CompileTimes

FIRST = 2.0  # seconds until the first plain line
SLOWEST = 300.0  # the most seconds between two plain lines; the interval doubles up to there


class LiveLine:
    """A progress line, silent unless it is requested (verbose is True or 1).

    `doing` announces a new activity, shown with the time since then; `show` sets a text until the next activity; `say`
    prints a line that stays. While kernels are compiled, the line says so. A thread redraws the line, so these methods
    need not be called often.
    """

    def __init__(self, verbose: Any, doing: str):
        self.on = _checked(verbose)
        self._told = COMPILING.times()  # compilation that this line need not mention
        self._live: Any = None
        self._thread: Thread | None = None
        self._ended = Event()
        self.doing(doing)

    def doing(self, what: str) -> None:
        """Announce a new activity."""
        self._doing, self._since, self._text = what, time.perf_counter(), ""

    def show(self, text: str) -> None:
        """Set the text about the current state."""
        self._text = text

    def say(self, text: str) -> None:
        """Print a line that stays."""
        self._tell_compiled()
        self._print(text)

    def _print(self, text: str) -> None:
        if self._live is not None:
            self._live.console.print(text, markup=False, highlight=False, soft_wrap=True)
        elif self.on:
            print(text, file=sys.stderr, flush=True)

    @property
    def text(self) -> str:
        """The text that is shown now."""
        compiled = COMPILING.times()
        if compiled.running or (not self._text and compiled.begun > self._told.begun):
            return f"compiling, {_how_often()} …  {self._since_told(compiled)}"
        return self._text or f"{self._doing} …  {time.perf_counter() - self._since:.1f} s"

    def __enter__(self) -> LiveLine:
        if not self.on:
            return self
        from rich.console import Console
        from rich.live import Live
        from rich.text import Text

        console = Console(stderr=True)
        if find_spec("ipywidgets") is not None if console.is_jupyter else console.is_terminal:
            self._live = Live(
                console=console,
                refresh_per_second=8,
                transient=True,
                get_renderable=lambda: Text(self.text, no_wrap=True, overflow="ellipsis"),
            )
            self._live.start()
        else:
            self._thread = Thread(target=self._now_and_then, name="maxmargin progress", daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._tell_compiled()
        if self._live is not None:
            self._live.stop()
            self._live = None
        if self._thread is not None:
            self._ended.set()
            self._thread.join()

    def _tell_compiled(self) -> None:
        """Print once what was compiled, so that nobody takes it for training."""
        compiled = COMPILING.times()
        if self.on and not compiled.running and compiled.begun > self._told.begun:
            kept = f"; they are kept in {COMPILING.folder}" if COMPILING.folder is not None else ""
            self._print(f"compiled {self._since_told(compiled)}, {_how_often()}{kept}")
            self._told = compiled

    def _since_told(self, compiled: CompileTimes) -> str:
        functions, seconds = compiled.begun - self._told.begun, compiled.seconds - self._told.seconds
        return f"{functions} function{'' if functions == 1 else 's'}, {seconds:.1f} s"

    def _now_and_then(self) -> None:
        wait, elapsed = FIRST, 0.0
        while not self._ended.wait(wait):
            self._print(self.text)
            elapsed += wait
            wait = min(elapsed, SLOWEST)


def _how_often() -> str:
    """Return how often kernels are compiled: once, unless there is no folder to keep them in."""
    return "once only" if COMPILING.folder is not None else "because NUMBA_CACHE_DIR names no writable folder"


def _checked(verbose: Any) -> bool:
    if is_true(verbose) or verbose is False or (is_whole(verbose) and verbose in (0, 1)):
        return bool(verbose)
    raise ValueError(
        f"verbose must be True or 1 (progress on standard error), or False or 0 (silence), got {verbose!r}"
    )
