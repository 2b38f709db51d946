"""Weights as pickles and model files keep them: those that are mostly zeros, without the zeros."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array


class PickledWeights(NamedTuple):
    """An array that is 0 but for values[k] at places[k]."""

    places: NDArray[np.int64]
    values: Array
    length: int

    @classmethod
    def of(cls, w: Array) -> PickledWeights | Array:
        """These weights, or the array itself where that is shorter."""
        places = np.flatnonzero((w != 0) | np.signbit(w))  # -0.0 is kept, to the last bit
        return cls(places, w[places], len(w)) if 2 * len(places) < len(w) else w

    def unpacked(self) -> Array:
        """The array."""
        w = np.zeros(self.length)
        w[self.places] = self.values
        return w
