"""Files that are compressed as their suffix .gz, .xz or .bz2 says; files with another suffix are not.

The amount of decompressed data is limited, because a small file may hold more than any disk.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BufferedReader, RawIOBase, TextIOWrapper, UnsupportedOperation
from pathlib import Path
from typing import Any

from maxmargin.base.files.drafts import replacing

_OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}

# Errors that damaged compressed data may cause; other causes are possible, see is_damage.
DAMAGE = (OSError, EOFError, lzma.LZMAError, zlib.error)


MOST_TIMES = 200  # the largest ratio of content to file size; text has about 10, tables of zeros 100
ALWAYS = 2**23  # bytes; smaller contents are always allowed


def open_compressed(path: str | os.PathLike[str], mode: str, encoding: str | None = None) -> Any:
    """Open a file for reading text or bytes as `open` does, compressed or not."""
    opener = _OPENERS.get(Path(path).suffix.lower())
    if opener is None:
        return open(path, mode, encoding=encoding)
    most = max(ALWAYS, MOST_TIMES * os.path.getsize(path))
    limited = BufferedReader(_Limited(opener(path, "rb"), most, Path(path).name))
    return TextIOWrapper(limited, encoding=encoding) if mode == "rt" else limited


@contextmanager
def replacing_compressed(path: str | os.PathLike[str]) -> Iterator[Any]:
    """Open a file for writing bytes, compressed or not; it replaces an old one at the end, unless an error occurs."""
    with replacing(path, devices=True) as stream:
        match Path(path).suffix.lower():
            case ".gz":
                with gzip.GzipFile(Path(path).name, "wb", fileobj=stream) as file:
                    yield file
            case ".xz" | ".bz2" as suffix:
                with _OPENERS[suffix](stream, "wb") as file:
                    yield file
            case _:
                yield stream


class _Limited(RawIOBase):
    """The content of a compressed file, up to a limit in bytes."""

    def __init__(self, file: Any, most: int, name: str):
        self._file, self._left, self._most, self._name = file, most, most, name

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        read: int = self._file.readinto(buffer)
        self._left -= read
        if self._left < 0:
            raise ValueError(
                f"{self._name} holds more than {self._most:,} bytes, {MOST_TIMES} times its own size. If that is "
                "intended, decompress it first"
            )
        return read

    def close(self) -> None:
        self._file.close()
        super().close()


def is_damage(error: Exception) -> bool:
    """Return whether an error of the types in DAMAGE is about the compressed data, not about the system or the mode."""
    return getattr(error, "errno", None) is None and not isinstance(error, UnsupportedOperation)


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return the whole content of a file, decompressed."""
    try:
        with open_compressed(path, "rb") as file:
            content: bytes = file.read()
            return content
    except DAMAGE as error:
        if not is_damage(error):
            raise
        raise ValueError(f"{Path(path).name} is not compressed as its suffix says, or damaged: {error}") from None
