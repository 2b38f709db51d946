"""RowCache: the cache of kernel rows as kernels read it. This file does not import numba, so that it loads fast."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array

NOTHING, NO_ROOM = -1, -2  # values of report[AWAITED] other than the unit of a kernel row


class RowCache(NamedTuple):
    """The arrays of KernelRows (kernels/rows.py): row u is store[slot_of[u]], if that is complete."""

    store: Array  # (slots, units): the cached rows
    slot_of: NDArray[np.int64]  # (units,): the slot of each unit's row, -1 if it is not cached
    complete: NDArray[np.bool_]  # (slots,): whether the row is complete
    last_use: NDArray[np.int64]  # (slots,): the clock at the last use of the row
    clock: NDArray[np.int64]  # (1,): the number of uses of rows so far
