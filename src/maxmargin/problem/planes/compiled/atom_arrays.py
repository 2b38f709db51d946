"""AtomArrays: what kernels know of atoms. Without numba, so that Python can name these fields before it is loaded."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array

EACH = np.uint64(2**64 - 1)


class AtomArrays(NamedTuple):
    """Coordinates of w, then the feature rows of units at each label; see compiled/atoms.py."""

    direct: int  # atoms below are coordinates
    n_labels: int
    indptr: NDArray[np.uint64]  # unit u has the entries indptr[u] : indptr[u + 1]
    columns: NDArray[np.uint32]  # the feature of an entry
    values: Array  # of every entry, or one number that all of them have
    every: np.uint64  # entry p has values[p & every]: EACH, or 0 where there is one number
