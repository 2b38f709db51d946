"""MemoryBudget: large arrays that are kept in memory up to a limit, and beyond it in temporary files.

Training allocates its arrays that grow with the data here. A limit affects only the time of training, not its results.
The files are in the folder for temporary files (TMPDIR). Their names are removed as soon as they are open, so that the
system deletes them when they are no longer used, even after a crash.
"""

from __future__ import annotations

import mmap
import tempfile
import weakref
from math import inf, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.checks import is_real

SMALL = 2**20  # bytes that are not worth a file
VECTORS = 6  # the most vectors as long as w that solvers and their bounds hold at the same time


class MemoryBudget:
    """A limit of memory for the large arrays of one training.

    Order of calls: `reserve` once the number of weights is known; `zeros` as often as arrays are needed. Each array
    returns its bytes to `left` when it is deleted.

    Attributes
    ----------
    memory_mb : float or None
        The limit in megabytes; None if there is no limit.
    left : float
        Bytes that are left of it; `reserve` and `zeros` set it.
    in_files : int
        Bytes of all arrays that were put into files; `zeros` sets it.
    """

    def __init__(self, memory_mb: float | None = None):
        if memory_mb is not None and not (is_real(memory_mb) and 0 < memory_mb < inf):
            raise ValueError(f"memory_mb must be None or a positive number of megabytes, got {memory_mb!r}")
        self.memory_mb = memory_mb
        self.left = inf if memory_mb is None else memory_mb * 2**20
        self.in_files = 0

    def reserve(self, dim: int) -> None:
        """Set aside the memory that vectors of this many weights take; raise ValueError if that is too much."""
        needed = 8.0 * VECTORS * dim
        if needed > self.left:
            raise ValueError(
                f"memory_mb={self.memory_mb:g} is too little for {VECTORS} vectors of {dim:,} weights, which take "
                f"{needed / 2**20:,.0f} MB; raise memory_mb, or use fewer features (hash_bits) or labels"
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
        """Return a sentence about the arrays that were put into files."""
        return (
            f"memory_mb={self.memory_mb:g}: {self.in_files / 2**20:,.0f} MB of arrays did not fit and were put into "
            "temporary files, which takes longer; the model is the same"
        )

    def of_cache(self, cache_mb: float) -> float:
        """Return the limit of a cache that is copied when it grows, and that has this limit of its own."""
        return cache_mb if self.memory_mb is None else min(cache_mb, self.memory_mb / 4)

    def __reduce__(self) -> Any:
        """Pickle a budget without a limit: in another process, memory is that process's own."""
        return MemoryBudget, ()


UNLIMITED = MemoryBudget()


def in_file(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Return an array of zeros in a file without a name."""
    count = prod(shape)
    with tempfile.TemporaryFile(prefix="maxmargin-") as stream:
        stream.truncate(count * np.dtype(dtype).itemsize)  # where nothing is written, nothing is stored
        content = mmap.mmap(stream.fileno(), 0)
    return np.frombuffer(content, dtype=dtype, count=count).reshape(shape)


def beside_packed_data(length: int, dtype: Any) -> NDArray[Any]:
    """Return an array of zeros for numbers that grow with packed data: in a file, as these are, if it is large."""
    small = length * np.dtype(dtype).itemsize <= SMALL
    return np.zeros(length, dtype=dtype) if small else in_file((length,), dtype)
