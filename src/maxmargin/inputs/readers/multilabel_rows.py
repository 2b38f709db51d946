"""Rows with any number of labels each, as read from a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


class MultilabelRows(NamedTuple):
    """Features and labels of the rows of a file.

    Attributes
    ----------
    X : sparse array of shape (n, features)
        The matrix of features.
    Y : array of shape (n, labels)
        Zeros and ones: whether each row has each label.
    labels : list of str
        The names of the labels.
    names : sequence of str
        The names of the columns of X.
    """

    X: sparse.csr_array
    Y: NDArray[np.int64]
    labels: list[str]
    names: Sequence[str]


class NumberedNames(Sequence[str]):
    """Column numbers as names of columns, created on demand because there may be billions of columns."""

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
