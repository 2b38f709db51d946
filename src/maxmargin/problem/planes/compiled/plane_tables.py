"""The tables of the block dual by name, for kernels and for the Python around them; see compiled/plane_dual.py.

Without numba, which is loaded only when a kernel is called. At every call from Python numba needs a microsecond to
recognise a named tuple, and a fraction of that for a plain one: calls that are made for every few examples pass
plain ones, which the kernel names again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array

MEMO = 512  # atom scores remembered within a visit (a power of 2); planes of one example share most of their atoms

ENTRIES, SLOTS, CELLS = range(3)  # what PlaneTables.tops counts: sparse entries, slots, Gram entries

# What a visit reports: Σ cap · penalty of the heights seen, planes added, what the dual gained, an example whose dual
# has no upper limit (or -1), with a kernel what it waits for (see kernels/compiled/plane_dual.py), and by how much
# a remembered plane of the first example is higher than the decoder's (or -1, as long as nobody was visited).
PENALTY, ADDED, GAIN, UNBOUNDED, AWAITED, MISSED = range(6)


class PlaneTables(NamedTuple):
    """The cached planes of all examples, and their weights α.

    Example i owns the slots base[i] .. base[i] + filled[i] - 1 and a block of capacity[i]² Gram entries from
    gram_base[i]. A slot's plane is the combination of atoms indices/values[start : start + length] with offset b.
    The tables only grow at their end, which `tops` tells; what is dropped is garbage until it is compacted.
    """

    # of an example
    base: NDArray[np.int64]
    filled: NDArray[np.int64]
    capacity: NDArray[np.int64]
    gram_base: NDArray[np.int64]
    # used so far, by ENTRIES, SLOTS and CELLS
    tops: NDArray[np.int64]
    # of a slot
    start: NDArray[np.int64]
    length: NDArray[np.int32]
    offset: Array
    alpha: Array
    idle: NDArray[np.int32]  # visits since α was last above 0
    folds: NDArray[np.int32]  # how often its plane was rounded: planes are folded into one, or moved
    # of an entry
    indices: NDArray[np.int32]
    values: Array
    # of a pair of planes of one example
    gram: Array
    # of all planes that ever came: the largest Σ |value|
    longest: Array

    @classmethod
    def empty(cls, examples: int, slots: int, entries: int, cells: int) -> PlaneTables:
        """No planes, but room for so many slots, sparse entries and Gram entries."""
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

    def with_room(self, slots: int, entries: int, cells: int) -> PlaneTables:
        """The same with room for so many more; what has to grow gets twice that, so that it seldom has to."""
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
        """Allocate n rows with room for this number of entries."""
        indptr, indices = np.zeros(n + 1, dtype=np.int32), np.empty(entries, dtype=np.int32)
        return cls(indptr, indices, np.empty(entries), np.empty(n))


NO_ROWS = PlaneRows(np.zeros(1, dtype=np.int32), np.zeros(0, dtype=np.int32), np.zeros(0), np.zeros(0))


class VisitLimits(NamedTuple):
    """What a visit may do."""

    cap: Array  # of Σ α of every example
    squared: bool  # slacks are, and cap is the inverse of a ridge instead
    steps: int  # of the ascent of one example
    slots: int  # planes of one example
    patience: int  # visits that a plane stays without weight
    epsilon: float  # a new plane must cut deeper by this


class VisitWeights(NamedTuple):
    """The weights of a visit: heights are read from `seen`, changes are added to `w`.

    These are one vector, unless a kernel function takes part, or the weights have bounds: `seen` is w within them then.
    """

    seen: Array
    w: Array
    bounds: Any  # None or a pair, as in base/compiled/label_vectors.py


class Memo(NamedTuple):
    """Numbers remembered by atom: scores[place] belongs to atom tags[place], if it was written in this epoch."""

    tags: NDArray[np.int64]
    epochs: NDArray[np.int64]
    scores: Array


class Hashed(NamedTuple):
    """A hash table of atoms: places[k] is where the atom keys[k] stands."""

    keys: NDArray[np.int64]
    places: NDArray[np.int64]

    @classmethod
    def of_size(cls, size: int) -> Hashed:
        """MemoryBudget for so many."""
        return cls(np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64))


class Scratch(NamedTuple):
    """What a visit works in."""

    work: Array  # a vector like w, all zero between calls
    heights: Array  # of the planes of an example
    delta: Array  # the changes of their α
    memo: Memo
    hashed: Hashed  # for folding

    def plain(self) -> tuple[Any, ...]:
        """Without the names, all the way down."""
        return self.work, self.heights, self.delta, tuple(self.memo), tuple(self.hashed)

    @classmethod
    def of(cls, dim: int, slots: int) -> Scratch:
        """For vectors of this length and examples with so many planes."""
        memo = Memo(np.full(MEMO, -1), np.zeros(MEMO, dtype=np.int64), np.zeros(MEMO))
        return cls(np.zeros(dim), np.zeros(slots + 1), np.zeros(slots + 1), memo, Hashed.of_size(MEMO))


def _longer(array: NDArray, needed: int) -> NDArray:
    if needed <= len(array):
        return array
    longer = np.zeros(2 * needed, dtype=array.dtype)
    longer[: len(array)] = array
    return longer
