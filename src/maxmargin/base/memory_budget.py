"""MemoryBudget for large arrays: in memory as far as a limit goes, and beyond it in files that have no name.

A training asks here for arrays that grow with the data. Numbers are the same wherever they lie: a limit changes how
long training takes, and nothing else. The files are in the folder for temporary files (TMPDIR); they lose their names
as soon as they are open, so that the system takes them back when nobody holds them any more, whatever happens.
"""

from __future__ import annotations

import mmap
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.checks import is_real

SMALL = 2**20  # bytes that are not worth a file
VECTORS = 6  # of weights that solvers and their bounds hold at once, at most


class MemoryBudget:
    """What is left of a limit. Arrays give back what they took when they are gone."""

    def __init__(self, memory_mb: float | None = None, before: MemoryBudget | None = None):
        self.memory_mb = memory_mb
        self.before = before  # whose turn it is when this one is left
        self.left = inf if memory_mb is None else memory_mb * 2**20
        self.in_files = 0  # bytes

    def reserve(self, dim: int) -> None:
        """Set aside what vectors of so many weights take; ValueError where there is not so much."""
        needed = 8.0 * VECTORS * dim
        if needed > self.left:
            raise ValueError(
                f"memory_mb={self.memory_mb:g} has no room for {VECTORS} vectors of {dim:,} weights, which take "
                f"{needed / 2**20:,.0f} MB; give more, or fewer features (hash_bits) or labels"
            )
        self.left -= needed

    def zeros(self, shape: int | tuple[int, ...], dtype: Any) -> NDArray[Any]:
        """Return an array of zeros, in memory or in a temporary file."""
        sizes = shape if isinstance(shape, tuple) else (shape,)
        size = prod(sizes) * np.dtype(dtype).itemsize
        if size <= SMALL or size <= self.left:
            array = np.zeros(sizes, dtype=dtype)
            if size > SMALL and self.memory_mb is not None:
                self.left -= size
                weakref.finalize(array, self._give_back, size)
            return array
        self.in_files += size
        return in_file(sizes, dtype)

    def _give_back(self, size: int) -> None:
        self.left += size

    def said(self) -> str:
        """Of arrays that had no room."""
        return (
            f"memory_mb={self.memory_mb:g}: {self.in_files / 2**20:,.0f} MB had no room and were in temporary files, "
            "which takes longer; the model is the same"
        )

    def of_cache(self, cache_mb: float) -> float:
        """The limit of a cache that is copied when it grows, and of which another limit is known."""
        return cache_mb if self.memory_mb is None else min(cache_mb, self.memory_mb / 4)


def in_file(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """An array of zeros in a file without a name."""
    count = prod(shape)
    with tempfile.TemporaryFile(prefix="maxmargin-") as stream:
        stream.truncate(count * np.dtype(dtype).itemsize)  # where nothing is written, nothing is stored
        content = mmap.mmap(stream.fileno(), 0)
    return np.frombuffer(content, dtype=dtype, count=count).reshape(shape)


_room: ContextVar[MemoryBudget | None] = ContextVar("room", default=None)
_NO_LIMIT = MemoryBudget()


def room() -> MemoryBudget:
    """That of the training that is going on."""
    return _room.get() or _NO_LIMIT


@contextmanager
def limited(memory_mb: float | None) -> Iterator[MemoryBudget]:
    """What is asked for meanwhile, in this thread, keeps to a limit; None is none."""
    if memory_mb is not None and not (is_real(memory_mb) and 0 < memory_mb < inf):
        raise ValueError(f"memory_mb must be None or a positive number of megabytes, got {memory_mb!r}")
    own = MemoryBudget(memory_mb, before=_room.get())
    _room.set(own)
    try:
        yield own
    finally:
        _room.set(own.before)


@contextmanager
def set_aside() -> Iterator[None]:
    """While a generator that keeps to a limit waits to be asked again: others have theirs, or none.

    Two paths of models may be stepped in turn, or one may be closed where it was not opened.
    """
    own = _room.get()
    if own is None:
        yield
        return
    _room.set(own.before)
    try:
        yield
    finally:
        own.before = _room.get()  # whoever asks now
        _room.set(own)


def zeros(shape: int | tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """An array of zeros in the room that there is."""
    return room().zeros(shape, dtype)
