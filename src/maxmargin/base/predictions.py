"""Predictions: lists of outputs that NumPy, and with it scikit-learn's tools, keep whole."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")


class Predictions(list[T]):
    """A list of predictions, one per example.

    It differs from any list in what NumPy makes of it: NumPy would take lists of lists for a table, and refuse those of
    unequal length, which is what `cross_val_predict` does with the predictions of the folds. As an array, outputs that
    are no plain numbers or strings are objects, one per example.
    """

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if self and dtype is None and all(np.isscalar(z) for z in self):
            return np.array(list(self))
        array = np.empty(len(self), dtype=object)
        for i, z in enumerate(self):
            array[i] = z
        return array if dtype is None else array.astype(dtype)
