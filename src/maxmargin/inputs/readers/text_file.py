"""Text files given by path or already open, compressed or not, with errors that name the file and the line."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from math import isfinite, nan
from pathlib import Path
from typing import Any, TextIO, TypeAlias

from maxmargin.base.files.drafts import naming
from maxmargin.inputs.readers.compressed import DAMAGE, is_damage, open_compressed, replacing_compressed

TextFile: TypeAlias = "str | os.PathLike[str] | TextIO"


LONGEST_TOKEN = 2**20  # characters; a longer line is not a token, and splitting it takes a hundred times its size
MARK = "\ufeff"  # byte order mark that some programs write first


class TextLines:
    """The lines of a text, without line ends; `number` is the number of the current line, counted from 1."""

    def __init__(self, file: TextIO, name: str, longest: int | None = None):
        self._file, self.name, self.longest = file, name, longest
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        try:
            for line in self._file:
                self.number += 1
                if not isinstance(line, str):
                    raise TypeError(f"{self.name} was opened for bytes; expected a file opened for text, mode 'rt'")
                if self.number == 1:
                    line = line.removeprefix(MARK)
                if self.longest is not None and len(line) > self.longest:
                    raise self.error(
                        f"the line has {len(line):,} characters; expected at most {self.longest:,}, because every "
                        "token has a line of its own"
                    )
                yield line.rstrip("\r\n")
        except UnicodeDecodeError as error:
            # Text is decoded in pieces; all complete lines of earlier pieces have been read.
            above = error.object[: error.start].replace(b"\r\n", b"\n").replace(b"\r", b"\n").count(b"\n")
            encoding = error.encoding.upper().replace("_", "-")
            raise self.error(f"this is not {encoding} text: {error.reason}", self.number + above + 1) from None
        except DAMAGE as error:
            if not is_damage(error):
                with naming(self.name):
                    raise
            raise ValueError(
                f"{self.name} is not compressed as its suffix says, or damaged: {error} ({self.number} lines were read)"
            ) from None

    def finite(self, text: str, what: str) -> float:
        """Return the number that a text of the current line denotes; raise an error if it is not finite."""
        number = finite(text)
        if number is None:
            raise self.error(f"{what} is {text[:40]!r}; expected a finite number")
        return number

    def error(self, message: str, number: int | None = None) -> ValueError:
        """Return an error about a line, the current one by default, to be raised."""
        number = self.number if number is None else number
        return ValueError(f"{self.name}, {f'line {number}' if number else 'which is empty'}: {message}")


def finite(text: str) -> float | None:
    """Return the number that a text denotes, or None if it is not a finite number."""
    try:
        number = nan if "_" in text else float(text)  # only Python accepts 1_000 as a number
    except ValueError:
        return None
    return number if isfinite(number) else None


@contextmanager
def reading(source: TextFile, longest: int | None = None) -> Iterator[TextLines]:
    """Open a file for reading: a path, whose suffix .gz, .xz or .bz2 shows its compression, or an open text file.

    longest : the largest number of characters of a line, or None.
    """
    if isinstance(source, str | os.PathLike):
        with open_compressed(source, "rt", encoding="utf-8") as file:
            yield TextLines(file, Path(source).name, longest)
    else:
        _check_open(source, "read")
        name = getattr(source, "name", None)
        yield TextLines(source, Path(name).name if isinstance(name, str) else "the text", longest)


@contextmanager
def writing(target: TextFile) -> Iterator[TextIO]:
    """Open a file for writing, given as a path or an open file as in `reading`; an open file stays open.

    A path gets its new content at the end, and keeps its old one if an error occurs.
    """
    if isinstance(target, str | os.PathLike):
        with replacing_compressed(target) as stream:
            file = TextIOWrapper(stream, encoding="utf-8")
            yield file
            file.detach()  # flushes; the stream is not closed yet
    else:
        _check_open(target, "write")
        yield target


def _check_open(file: Any, method: str) -> None:
    if not hasattr(file, method):
        raise ValueError(f"got {type(file).__name__}; expected a path or an open text file")
