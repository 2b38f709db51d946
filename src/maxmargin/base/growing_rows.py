"""GrowingRows: a sparse matrix to which rows can be appended."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.arrays import Array


class GrowingRows:
    """Compressed sparse rows with spare capacity; a matrix of the rows so far is made without copying."""

    def __init__(self) -> None:
        self.ends = np.zeros(1, dtype=np.int32)
        self.columns, self.values = np.zeros(0, dtype=np.int32), np.zeros(0)

    def append(self, lengths: Any, columns: NDArray[Any], values: Array) -> None:
        """Append rows with these numbers of entries."""
        begin = int(self.ends[-1])
        end = begin + len(columns)
        if end > len(self.columns):
            room = 2 * end - len(self.columns)
            self.columns = np.concatenate([self.columns, np.empty(room, dtype=np.int32)])
            self.values = np.concatenate([self.values, np.empty(room)])
        self.columns[begin:end], self.values[begin:end] = columns, values
        self.ends = np.concatenate([self.ends, (begin + np.cumsum(lengths)).astype(np.int32)])

    def matrix(self, width: int) -> sparse.csr_array:
        """Return the rows so far as a CSR array with `width` columns, without copying."""
        size = self.ends[-1]
        parts = (self.values[:size], self.columns[:size], self.ends)
        return sparse.csr_array(parts, shape=(len(self.ends) - 1, width))
