"""Text files given by path or already open, compressed or not, and errors that name the file and the line."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import UnsupportedOperation
from pathlib import Path
from typing import IO, Any, TextIO, TypeAlias

TextFile: TypeAlias = "str | os.PathLike[str] | TextIO"

_OPENERS: dict[str, Callable[..., IO[Any]]] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}


class Lines:
    """The lines of a text, without their ends; `number` is that of the current one, counted from 1."""

    def __init__(self, file: TextIO, name: str):
        self._file, self.name = file, name
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        try:
            for line in self._file:
                self.number += 1
                if not isinstance(line, str):
                    raise TypeError(f"{self.name} was opened for bytes; expected a file opened for text, mode 'rt'")
                yield line.rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise ValueError(f"{self.name} is not UTF-8 text after line {self.number}: {error}") from None
        except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
            if getattr(error, "errno", None) is not None or isinstance(error, UnsupportedOperation):
                raise  # of the system or the mode, not of compressed data
            raise ValueError(
                f"{self.name} is not compressed as its suffix says, or damaged: {error} ({self.number} lines were read)"
            ) from None

    def error(self, message: str, number: int | None = None) -> ValueError:
        """What to raise about a line: the current one, unless another is named."""
        number = self.number if number is None else number
        return ValueError(f"{self.name}, {f'line {number}' if number else 'which is empty'}: {message}")


@contextmanager
def reading(source: TextFile) -> Iterator[Lines]:
    """The lines of a file: a path, whose suffix .gz, .xz or .bz2 says how it is compressed, or an open text file."""
    if isinstance(source, str | os.PathLike):
        with _open(source, "rt") as file:
            yield Lines(file, Path(source).name)
    else:
        _check_open(source, "read")
        name = getattr(source, "name", None)
        yield Lines(source, Path(name).name if isinstance(name, str) else "the text")


@contextmanager
def writing(target: TextFile) -> Iterator[TextIO]:
    """A file to write to, of either kind that `reading` takes; one that was given open stays open."""
    if isinstance(target, str | os.PathLike):
        with _open(target, "wt") as file:
            yield file
    else:
        _check_open(target, "write")
        yield target


def _check_open(file: Any, method: str) -> None:
    if not hasattr(file, method):
        raise ValueError(f"got {type(file).__name__}; expected a path or an open text file")


def _open(path: str | os.PathLike[str], mode: str) -> TextIO:
    return _OPENERS.get(Path(path).suffix.lower(), open)(path, mode, encoding="utf-8")
