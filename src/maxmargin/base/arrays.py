"""Type aliases for the arrays of the library, and a read-only view."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Index: TypeAlias = NDArray[np.intp]  # indices of examples


def read_only(array: NDArray) -> NDArray:
    """Return a view of the array that cannot be written to, for code that must not change it."""
    if not array.flags.writeable:
        return array
    view = array.view()
    view.flags.writeable = False
    return view
