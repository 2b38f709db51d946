"""The form of weights in pickles and model files: mostly zero vectors are stored without their zeros."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array


class PickledWeights(NamedTuple):
    """A vector with values[k] at index places[k] and 0 elsewhere."""

    places: NDArray[np.int64]
    values: Array
    length: int  # the length of the vector

    @classmethod
    def of(cls, w: Array) -> PickledWeights | Array:
        """Return the weights in this form, or the array itself if that is shorter."""
        places = np.flatnonzero((w != 0) | np.signbit(w))  # keeps -0.0 as well, so that bits agree
        return cls(places, w[places], len(w)) if 2 * len(places) < len(w) else w

    def unpacked(self) -> Array:
        """Return the weights as an array."""
        w = np.zeros(self.length)
        w[self.places] = self.values
        return w
