"""The kinds of arrays that run through the house."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Index: TypeAlias = NDArray[np.intp]  # numbers of examples


def read_only(array: NDArray) -> NDArray:
    """The same numbers for somebody else's code, which must not change them."""
    if not array.flags.writeable:
        return array
    view = array.view()
    view.flags.writeable = False
    return view
