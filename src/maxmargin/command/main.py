"""The command `maxmargin`: runs a command, reports an error in one sentence, and returns the exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from maxmargin.command.errors import DATA, INTERRUPTED, USAGE, UsageError
from maxmargin.command.light_start import import_scikit_learn
from maxmargin.command.parser import parsed


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return the exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    settings = parsed(arguments)
    if settings.version:
        import maxmargin

        print(f"maxmargin {maxmargin.__version__}")
        return 0
    if settings.command is None:
        parsed(["--help"])
    import warnings

    try:
        with warnings.catch_warnings():
            _speak_in_sentences()
            _use_utf8()
            import_scikit_learn()
            code: int = import_module(f"maxmargin.command.{settings.command}").run(settings)
        sys.stdout.flush()
        return code
    except UsageError as error:
        return _say(error, USAGE)
    except BrokenPipeError:  # the reader of the pipe has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _say(f"{error.filename}: {error.strerror}" if error.filename else error, USAGE)
    except (ValueError, MemoryError) as error:
        return _say(error, DATA)
    except KeyboardInterrupt:
        return _say("the command was interrupted; nothing was written", INTERRUPTED)


def _speak_in_sentences() -> None:
    """Print warnings without their line of code, and hide those for programmers."""
    import warnings

    def show(message: Any, *others: Any, **more: Any) -> None:
        print(f"maxmargin: {message}", file=sys.stderr)

    warnings.showwarning = show
    warnings.simplefilter("default")
    # The names were matched when files were read.
    warnings.filterwarnings("ignore", "X does not have valid feature names")
    for kind in (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ResourceWarning):
        warnings.simplefilter("ignore", kind)


def _use_utf8() -> None:
    """Use UTF-8 for standard input and output, as for files, whatever the locale is."""
    for stream in (sys.stdin, sys.stdout):
        strict = (stream.encoding or "").lower().replace("-", "") == "utf8" and stream.errors == "strict"
        if hasattr(stream, "reconfigure") and not strict:
            stream.reconfigure(encoding="utf-8", errors="strict")


def _say(what: Any, code: int) -> int:
    print(f"maxmargin: {' '.join(str(what).split())}", file=sys.stderr)
    return code
