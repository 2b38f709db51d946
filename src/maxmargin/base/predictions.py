"""Predictions: lists of outputs that NumPy and scikit-learn do not take apart."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")


class Predictions(list[T]):
    """A list of predictions, one per example.

    It differs from a plain list only in its conversion to an array. NumPy would turn a list of lists into a table, and
    refuse lists of unequal length, which breaks `cross_val_predict`. Outputs that are not plain numbers or strings
    become an array of objects instead, one per example.
    """

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if self and dtype is None and all(np.isscalar(z) for z in self):
            return np.array(list(self))
        array = np.empty(len(self), dtype=object)
        for i, z in enumerate(self):
            array[i] = z
        return array if dtype is None else array.astype(dtype)
