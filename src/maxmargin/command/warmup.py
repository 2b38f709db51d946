"""maxmargin warmup: compile the inner loops for some kinds of data ahead of their first use."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from maxmargin.command.errors import UsageError
from maxmargin.command.saying import say


def run(settings: argparse.Namespace) -> int:
    """Compile, and print what was compiled and where it is kept."""
    if settings.cache is not None:
        _use_folder(settings.cache)
    from maxmargin.base.compile_clock import COMPILING
    from maxmargin.warming import warmup

    warmed = warmup(settings.kinds or None, verbose=int(not settings.quiet))
    report = {each.kind: f"{each.compiled} functions compiled, {each.seconds:.1f} s" for each in warmed}
    if settings.json:
        report = {each.kind: {"compiled": each.compiled, "seconds": each.seconds} for each in warmed}  # type: ignore[misc]
    say({**report, "folder": COMPILING.folder or "none is writable, so that every process compiles again"}, settings)
    return 0


def _use_folder(name: str) -> None:
    """Let numba keep compiled functions in a folder, which is created if necessary."""
    if not name:
        raise UsageError("--cache is empty; expected the name of a folder")
    folder = Path(name).resolve()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--cache {name} cannot be a folder: {error.strerror}") from None
    if not os.access(folder, os.W_OK):
        raise UsageError(f"--cache {name} is not writable")
    os.environ["NUMBA_CACHE_DIR"] = str(folder)
    if "numba" in sys.modules:  # a command that was called from Python; numba has read its settings
        sys.modules["numba"].config.reload_config()
