"""RowCache: the cache of kernel rows as kernels read it. This file does not import numba, so that it loads fast."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array

NOTHING, NO_ROOM = -1, -2  # what a visit may wait for, besides the kernel row of a unit


class RowCache(NamedTuple):
    """The arrays of KernelRows (kernels/rows.py): row u is store[slot_of[u]], if that is complete."""

    store: Array
    slot_of: NDArray[np.int64]  # by unit, -1 for none
    complete: NDArray[np.bool_]  # by row of the store
    last_use: NDArray[np.int64]  # by row of the store: the clock at its last use
    clock: NDArray[np.int64]  # one number: how often rows were used
