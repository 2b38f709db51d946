"""Rows with any number of labels each, as files hold them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


class MultilabelRows(NamedTuple):
    """Rows of a file: X, and Y with a column of zeros and ones per label.

    Attributes
    ----------
    X : sparse (n, features) array.
    Y : (n, labels) array of zeros and ones.
    labels : the names of the labels.
    names : the names of the columns of X.
    """

    X: sparse.csr_array
    Y: NDArray[np.int64]
    labels: list[str]
    names: Sequence[str]  # names of the columns of X


class NumberedNames(Sequence[str]):
    """The numbers of columns as their names, created on demand because there may be billions."""

    def __init__(self, n: int, first: int):
        self.numbers = range(first, first + n)

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, k: Any) -> Any:
        found = self.numbers[k]
        return list(map(str, found)) if isinstance(found, range) else str(found)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    def __repr__(self) -> str:
        return f"NumberedNames({len(self)}, {self.numbers.start})"
