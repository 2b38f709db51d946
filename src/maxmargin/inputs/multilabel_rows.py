"""Rows with any number of labels each, as files hold them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


class MultilabelRows(NamedTuple):
    """Rows of a file: X, and Y with a column of zeros and ones per label."""

    X: sparse.csr_array
    Y: NDArray[np.int64]
    labels: list[str]
    names: list[str]  # of the columns of X
