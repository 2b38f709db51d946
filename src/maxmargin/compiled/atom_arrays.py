"""AtomArrays: what kernels know of atoms. Without numba, so that Python can name these fields before it is loaded."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.arrays import Array


class AtomArrays(NamedTuple):
    """Coordinates of w, then the feature rows of units at each label; see compiled/atoms.py."""

    direct: int  # atoms below are coordinates
    n_labels: int
    indptr: NDArray[np.uint64]  # unit u has the entries indptr[u] : indptr[u + 1]
    places: NDArray[np.uint32]  # where in w an entry stands at label 0
    values: Array
