"""Checkpoint files: replaced atomically, with the previous one kept as a backup.

A new checkpoint is written to a temporary file and flushed to disk before it replaces the current one, which becomes
the previous one. Therefore the current or the previous file is complete at any moment. If a disk loses data later, the
checksum of the file shows it (container.py).
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from maxmargin.base.errors import CheckpointDamaged, warn_caller
from maxmargin.base.files.container import Tensors, read
from maxmargin.base.files.drafts import written_to_disk

PREVIOUS, DRAFT = ".previous", ".unfinished"


class CheckpointFile:
    """The checkpoint file at a path, with its backup and its temporary file."""

    def __init__(self, path: Any):
        if not isinstance(path, str | os.PathLike):
            raise TypeError(f"checkpoint must be the path of a file, got {path!r}")
        self.path = Path(os.path.realpath(path))
        self.previous, self.draft = (self.path.with_name(self.path.name + end) for end in (PREVIOUS, DRAFT))
        if not self.path.parent.is_dir():
            raise FileNotFoundError(f"there is no folder {self.path.parent} for the checkpoint {self.path.name}")
        for each in (self.path, self.previous, self.draft):
            if each.exists() and not each.is_file():
                raise ValueError(f"{each} is a folder or a device; expected the path of a checkpoint file")

    def write(self, content: Iterable[Any]) -> None:
        """Write a new checkpoint; the current one becomes the previous one."""
        with written_to_disk(self.draft, str(self.path)) as stream:
            for piece in content:
                stream.write(piece)
        if self.path.exists():
            os.replace(self.path, self.previous)
        os.replace(self.draft, self.path)
        _sync_folder(self.path.parent)

    def read(self) -> tuple[dict[str, Any], Tensors] | None:
        """Return the content of the current file, or of the previous one if it is damaged; None if neither exists."""
        if not self.path.exists():  # the process may have ended between the two renames
            return read(self.previous) if self.previous.exists() else None
        try:
            return read(self.path)
        except ValueError as error:
            if not self.previous.exists():
                raise ValueError(f"{error}. Delete it, or give another path") from None
            damaged = error
        try:
            found = read(self.previous)
        except ValueError as error:
            raise ValueError(f"{damaged}; {error}. Delete both, or give another path") from None
        warn_caller(
            f"{damaged}: training continues from the checkpoint before it, {self.previous.name}", CheckpointDamaged
        )
        return found


def _sync_folder(folder: Path) -> None:
    """Flush the renamed entries of the folder to disk, on systems that support it (Windows does not)."""
    try:
        opened = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(opened)
    except OSError:
        pass
    finally:
        os.close(opened)
