"""The command `maxmargin`: runs a command, reports an error in one sentence, and returns the exit code."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

from maxmargin.command.command_parser import with_help
from maxmargin.command.errors import DATA, INTERRUPTED, USAGE, UsageError
from maxmargin.command.light_start import collect_rarely, import_scikit_learn
from maxmargin.command.parser import asked_command, parsed
from maxmargin.command.streams import NO_SPACE, OUTPUT, discard_output, output_fails, prepare_streams


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return the exit code."""
    prepare_streams()
    if arguments is None:  # this process belongs to the command
        collect_rarely()
    try:
        code = _run(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
        return code
    except UsageError as error:
        return _say(with_help(str(error), asked_command(sys.argv[1:] if arguments is None else arguments)), USAGE)
    except BrokenPipeError:  # the reader of the pipe has closed it
        discard_output()
        return 0
    except OSError as error:
        fails = output_fails()  # always called, so that Python does not try to write the rest at exit
        name = error.filename or (OUTPUT if fails or error.errno in NO_SPACE else None)
        return _say(f"{name}: {error.strerror}" if name else error, USAGE)
    except MemoryError as error:
        return _say(str(error) or "there is not enough memory for these data", DATA)
    except ValueError as error:
        return _say(error, DATA)
    except KeyboardInterrupt:
        return _say("the command was interrupted; nothing was written", INTERRUPTED)


def _run(arguments: Sequence[str]) -> int:
    settings = parsed(arguments)
    if settings.version:
        import maxmargin

        print(f"maxmargin {maxmargin.__version__}")
        return 0
    if settings.command is None:
        parsed(["--help"])
    import warnings

    with warnings.catch_warnings():
        _speak_in_sentences()
        import_scikit_learn()
        code: int = import_module(f"maxmargin.command.{settings.command}").run(settings)
    return code


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


def _say(what: Any, code: int) -> int:
    with suppress(OSError):  # if standard error cannot be written, the exit code is the only report
        print(f"maxmargin: {' '.join(str(what).split())}", file=sys.stderr)
    return code
