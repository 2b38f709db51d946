"""Files whose suffix .gz, .xz or .bz2 says how they are compressed; those with another suffix are not."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import zlib
from collections.abc import Callable
from io import UnsupportedOperation
from pathlib import Path
from typing import Any

_OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}

# What reading compressed data that are damaged may raise, among other things; see is_damage.
DAMAGE = (OSError, EOFError, lzma.LZMAError, zlib.error)


def open_compressed(path: str | os.PathLike[str], mode: str, encoding: str | None = None) -> Any:
    """The file, opened for text or for bytes as `open` would do it."""
    return _OPENERS.get(Path(path).suffix.lower(), open)(path, mode, encoding=encoding)


def is_damage(error: Exception) -> bool:
    """Whether one of DAMAGE speaks of the compressed data, not of the system or of the mode."""
    return getattr(error, "errno", None) is None and not isinstance(error, UnsupportedOperation)


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """All that is in a file, decompressed."""
    try:
        with open_compressed(path, "rb") as file:
            content: bytes = file.read()
            return content
    except DAMAGE as error:
        if not is_damage(error):
            raise
        raise ValueError(f"{Path(path).name} is not compressed as its suffix says, or damaged: {error}") from None
