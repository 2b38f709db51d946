"""AtomArrays: the arrays of atoms that kernels read. This file does not import numba, so that it loads fast."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array

EACH = np.uint64(2**64 - 1)


class AtomArrays(NamedTuple):
    """Coordinates of w, followed by the feature rows of units at each label; see compiled/atoms.py."""

    direct: int  # atoms below this number are coordinates
    n_labels: int  # K, the number of labels of a unit
    indptr: NDArray[np.uint64]  # unit u has the entries indptr[u] : indptr[u + 1]
    columns: NDArray[np.uint32]  # the feature of an entry
    values: Array  # one value for each entry, or a single one that all entries share
    every: np.uint64  # entry p has values[p & every]: EACH, or 0 for a single value
