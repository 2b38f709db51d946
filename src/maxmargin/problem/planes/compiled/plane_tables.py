"""Named tuples for the tables of the block dual, for kernels (compiled/plane_dual.py) and for Python.

This file does not import numba, which is loaded only when a kernel is called. At every call from Python, numba needs a
microsecond to recognise a named tuple, and a fraction of that for a plain one: calls that are made for every few
examples pass plain tuples, which the kernel names again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array

MEMO = 512  # the number of atom scores remembered within a visit (a power of 2); planes of an example share most atoms

ENTRIES, SLOTS, CELLS = range(3)  # the counters in PlaneTables.tops: sparse entries, slots, Gram entries

# The numbers that a visit reports: Σ cap · penalty of the heights seen, planes added, gain of the dual, an example
# whose dual is unbounded (or -1), with a kernel function the missing row (see kernels/compiled/plane_dual.py), and how
# much higher a remembered plane of the first example is than the decoder's (-1 if no example was visited).
PENALTY, ADDED, GAIN, UNBOUNDED, AWAITED, MISSED = range(6)


class PlaneTables(NamedTuple):
    """The cached planes of all examples, and their weights α.

    Example i owns the slots base[i] .. base[i] + filled[i] - 1 and a block of capacity[i]² Gram entries from
    gram_base[i]. A slot's plane is the combination of atoms indices/values[start : start + length] with offset b.
    The tables grow only at their ends, which are in `tops`; dropped planes stay as garbage until the next compaction.
    """

    # for each example
    base: NDArray[np.int64]
    filled: NDArray[np.int64]
    capacity: NDArray[np.int64]
    gram_base: NDArray[np.int64]
    # used so far: ENTRIES, SLOTS and CELLS
    tops: NDArray[np.int64]
    # for each slot
    start: NDArray[np.int64]
    length: NDArray[np.int32]
    offset: Array
    alpha: Array  # the weight α of the plane in each slot
    idle: NDArray[np.int32]  # visits since α was last above 0
    folds: NDArray[np.int32]  # how often its plane was rounded, by merging planes or by moving it
    # for each entry
    indices: NDArray[np.int32]
    values: Array
    # for each pair of planes of one example
    gram: Array
    # the largest Σ |value| of all planes that were ever added
    longest: Array

    @classmethod
    def empty(cls, examples: int, slots: int, entries: int, cells: int) -> PlaneTables:
        """Return tables without planes that have space for these numbers of slots, sparse entries and Gram entries."""
        return cls(
            base=np.zeros(examples, dtype=np.int64),
            filled=np.zeros(examples, dtype=np.int64),
            capacity=np.zeros(examples, dtype=np.int64),
            gram_base=np.zeros(examples, dtype=np.int64),
            tops=np.zeros(3, dtype=np.int64),
            start=np.zeros(slots, dtype=np.int64),
            length=np.zeros(slots, dtype=np.int32),
            offset=np.zeros(slots),
            alpha=np.zeros(slots),
            idle=np.zeros(slots, dtype=np.int32),
            folds=np.zeros(slots, dtype=np.int32),
            indices=np.zeros(entries, dtype=np.int32),
            values=np.zeros(entries),
            gram=np.zeros(cells),
            longest=np.zeros(1),
        )

    def grown(self, slots: int, entries: int, cells: int) -> PlaneTables:
        """Return tables with space for this many more; an array that must grow doubles, so that growth is rare."""
        needed = {
            **dict.fromkeys(("start", "length", "offset", "alpha", "idle", "folds"), int(self.tops[SLOTS]) + slots),
            **dict.fromkeys(("indices", "values"), int(self.tops[ENTRIES]) + entries),
            "gram": int(self.tops[CELLS]) + cells,
        }
        return self._replace(**{name: _longer(getattr(self, name), size) for name, size in needed.items()})


class PlaneRows(NamedTuple):
    """Planes of several examples as sparse rows over atoms; row j has the entries indptr[j] : indptr[j + 1]."""

    indptr: NDArray[np.int32]
    indices: NDArray[np.int32]  # the atom of each entry
    values: Array  # the coefficient of each entry
    offset: Array  # the loss of each plane

    @classmethod
    def of(cls, n: int, entries: int) -> PlaneRows:
        """Allocate n rows with a capacity of this number of entries."""
        indptr, indices = np.zeros(n + 1, dtype=np.int32), np.empty(entries, dtype=np.int32)
        return cls(indptr, indices, np.empty(entries), np.empty(n))


NO_ROWS = PlaneRows(np.zeros(1, dtype=np.int32), np.zeros(0, dtype=np.int32), np.zeros(0), np.zeros(0))


class VisitLimits(NamedTuple):
    """Limits on the work of a visit."""

    cap: Array  # the bound on Σ α of every example
    squared: bool  # slacks are squared; cap is then the inverse of a ridge
    steps: int  # ascent steps for one example
    slots: int  # planes of one example
    patience: int  # visits after which a plane without weight is dropped
    epsilon: float  # a new plane must cut deeper than the others by this


class VisitWeights(NamedTuple):
    """The weights during a visit: heights are read from `seen`, changes are added to `w`.

    Both are the same vector, unless there is a kernel function or w has bounds: then `seen` is w clipped to them.
    """

    seen: Array
    w: Array
    bounds: Any  # None or a pair, as in base/compiled/label_vectors.py


class Memo(NamedTuple):
    """Scores remembered by atom: scores[slot] belongs to atom tags[slot] if it was written in this epoch."""

    tags: NDArray[np.int64]
    epochs: NDArray[np.int64]  # the epoch in which each slot was written
    scores: Array


class Hashed(NamedTuple):
    """A hash table of atoms: places[k] is the position of the atom keys[k]."""

    keys: NDArray[np.int64]
    places: NDArray[np.int64]

    @classmethod
    def of_size(cls, size: int) -> Hashed:
        """Return a table for `size` atoms."""
        return cls(np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64))


class Scratch(NamedTuple):
    """Work arrays for a visit."""

    work: Array  # a vector like w, all zero between calls
    heights: Array  # the heights of the planes of an example
    delta: Array  # the changes of their α
    memo: Memo  # the scores of atoms in this visit
    hashed: Hashed  # for merging planes

    def plain(self) -> tuple[Any, ...]:
        """Return plain tuples instead of named ones, at every level."""
        return self.work, self.heights, self.delta, tuple(self.memo), tuple(self.hashed)

    @classmethod
    def of(cls, dim: int, slots: int) -> Scratch:
        """Return work arrays for vectors of length dim and examples with this many planes."""
        memo = Memo(np.full(MEMO, -1), np.zeros(MEMO, dtype=np.int64), np.zeros(MEMO))
        return cls(np.zeros(dim), np.zeros(slots + 1), np.zeros(slots + 1), memo, Hashed.of_size(MEMO))


def _longer(array: NDArray, needed: int) -> NDArray:
    if needed <= len(array):
        return array
    longer = np.zeros(2 * needed, dtype=array.dtype)
    longer[: len(array)] = array
    return longer
