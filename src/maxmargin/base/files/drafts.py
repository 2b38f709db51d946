"""Write files completely or not at all: to a draft beside the file, which replaces it at the end.

All files that the library writes are written here: models, checkpoints, tables, pages and pictures. If anything goes
wrong before the end (an error, Ctrl-C, a full disk), the draft is removed and the old file is as it was. So a file can
also be read while its successor is being written. Errors of the system name the file and not the draft.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from errno import EACCES
from io import BufferedRandom, BufferedWriter, FileIO
from pathlib import Path
from typing import Any, BinaryIO

BUFFER = 2**17  # bytes
OPEN_STREAMS = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/")  # names of files that are open already


class NamedFile(FileIO):
    """A file whose errors name another one, because users know only that one."""

    def __init__(self, path: str | os.PathLike[str], mode: str, said: str):
        self.said = said
        with naming(said):
            super().__init__(path, mode)

    def write(self, content: Any) -> int:
        with naming(self.said):
            return super().write(content)


@contextmanager
def naming(said: str) -> Iterator[None]:
    """Convert an error of the system into one that names this file."""
    try:
        yield
    except OSError as error:
        if error.filename == said or error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, said) from None


def open_draft(path: str | os.PathLike[str], said: str) -> BufferedRandom:
    """Open a new temporary file for writing and reading; its errors name the file `said`."""
    return BufferedRandom(NamedFile(path, "x+", said), BUFFER)


def draft_beside(target: Path) -> Path:
    """Return the path of a draft of a file or folder, which no other call returns, not even in another thread."""
    return target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}")


@contextmanager
def written_to_disk(path: str | os.PathLike[str], said: str) -> Iterator[BinaryIO]:
    """Open a file for writing bytes; at the end they are on the disk, or there is an error and no file."""
    try:
        with BufferedWriter(NamedFile(path, "w", said), BUFFER) as stream:
            yield stream
            stream.flush()
            with naming(said):
                os.fsync(stream.fileno())
    except BaseException:
        Path(path).unlink(missing_ok=True)
        raise


@contextmanager
def replacing(path: str | os.PathLike[str], devices: bool = False) -> Iterator[BinaryIO]:
    """Open a file for writing bytes. The old file, if there is one, is replaced at the end, unless an error occurs.

    A symbolic link is kept, and the file it points to is replaced; the new file has the permissions of the old one.
    Folders are refused, and so are devices and pipes unless `devices` is true: then they are written to directly.
    """
    said = os.fspath(path)
    if devices and _is_stream(said):
        with BufferedWriter(NamedFile(said, "w", said), BUFFER) as stream:
            yield stream
        return
    target = Path(os.path.realpath(said))
    if target.exists() and not target.is_file():
        what = "a folder" if devices else "a folder or a device"
        raise ValueError(f"{said} is {what}; expected the path of a file to write")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {target.parent} to write {target.name} to")
    if target.exists() and not os.access(target, os.W_OK):  # a rename would go around its protection
        raise PermissionError(EACCES, "the file is write-protected", said)
    if not os.access(target.parent, os.W_OK):
        raise PermissionError(EACCES, "its folder is write-protected, but new files are drafted there", said)
    draft = draft_beside(target)
    with written_to_disk(draft, said) as stream:
        yield stream
    try:
        with naming(said):
            if target.exists():
                shutil.copymode(target, draft)
            os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)


def write_file(path: str | os.PathLike[str], content: bytes, devices: bool = False) -> None:
    """Write a file completely or not at all; see `replacing`."""
    with replacing(path, devices) as stream:
        stream.write(content)


def remove_folder(folder: Path, closing: list[Callable[[], None]]) -> None:
    """Remove the draft of a folder with all its files, after these calls, which close them, whatever they raise."""
    for close in closing:
        with suppress(OSError):  # the last bytes do not fit on the disk either
            close()
    shutil.rmtree(folder, ignore_errors=True)


def _is_stream(path: str) -> bool:
    """Return whether a path names a device, a pipe or an open stream, which no other file can replace."""
    if os.path.abspath(path).startswith(OPEN_STREAMS):
        return True
    found = Path(path)
    return found.exists() and not found.is_file() and not found.is_dir()
