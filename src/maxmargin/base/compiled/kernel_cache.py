"""The folder in which numba keeps compiled kernels: one for each state of the package's kernels.

numba stores compiled functions on disk and stamps each with the source file of the function. A kernel's
machine code also contains the kernels that it calls, so after a change to a callee in another file numba would go on
running the old code. Kernels are therefore kept in a folder that is named after the contents of all folders named
`compiled` in the package: kernels live there and nowhere else, and call only each other. The name also covers the
versions of Python, numba and llvmlite and the processor, so that no entry is ever replaced by a different one.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import llvmlite.binding
import numba

KEPT = 6  # folders of other states that are kept: other versions, processors or branches


def source_digest(package_dir: Path) -> str | None:
    """Hash the names and contents of all Python files in the folders named `compiled` of a package.

    Returns None if there are no such files, as in a package imported from an archive.
    """
    paths = sorted(path for path in package_dir.rglob("*.py") if path.parent.name == "compiled" and path.is_file())
    digest = hashlib.sha256()
    for path in paths:
        for part in (path.relative_to(package_dir).as_posix().encode(), path.read_bytes()):
            digest.update(len(part).to_bytes(8, "little"))
            digest.update(part)
    for version in (sys.version, numba.__version__, llvmlite.__version__, llvmlite.binding.get_host_cpu_name()):
        digest.update(version.encode())
    return digest.hexdigest()[:32] if paths else None


@functools.cache
def cache_folder(package_dir: Path) -> Path | None:
    """Return the folder for the compiled kernels of a package as it is now, and create it if necessary.

    It lies in the folder NUMBA_CACHE_DIR if that is set; otherwise in the package's own __pycache__, or in the user's
    cache folder if that one is not writable. Returns None if nothing is writable, or if there are no source files.
    """
    digest = source_digest(package_dir)
    if digest is None:
        return None
    settings: Any = numba.config
    chosen = [Path(settings.CACHE_DIR) / package_dir.name] if settings.CACHE_DIR else []
    usual = [package_dir / "__pycache__" / "kernels", _user_cache() / package_dir.name / "kernels"]
    for root in chosen or usual:
        folder = root / digest
        with contextlib.suppress(OSError, RuntimeError):
            if not folder.exists():
                folder.mkdir(parents=True, exist_ok=True)  # another process may be faster
                with contextlib.suppress(OSError):  # or may be removing the same folders
                    _remove_old(root, folder)
            tempfile.TemporaryFile(dir=folder).close()
            return folder
    return None


@contextlib.contextmanager
def caching_in(folder: Path) -> Iterator[None]:
    """Make numba store the functions that are decorated within this context in a folder."""
    settings: Any = numba.config
    before, settings.CACHE_DIR = settings.CACHE_DIR, str(folder)
    try:
        yield
    finally:
        settings.CACHE_DIR = before


def _user_cache() -> Path:
    """Return the user's cache folder."""
    home = Path.home()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local"))
    if sys.platform == "darwin":
        return home / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME", home / ".cache"))


def _remove_old(root: Path, new: Path) -> None:
    """Remove all folders except the new one and the latest few."""
    others = [path for path in root.iterdir() if path != new and path.is_dir()]
    for path in sorted(others, key=lambda path: path.stat().st_mtime, reverse=True)[KEPT:]:
        shutil.rmtree(path, ignore_errors=True)
