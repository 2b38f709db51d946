"""Weights as pickles and model files keep them: those that are mostly zeros, without the zeros."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
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


@contextmanager
def lent(w: Array) -> Iterator[Array]:
    """An array of zeros as long as w, for some time: where w is mostly zeros, its own, which is then w again."""
    kept = PickledWeights.of(w)
    if not isinstance(kept, PickledWeights):
        yield np.zeros(len(w))
        return
    w[kept.places] = 0.0
    try:
        yield w
    finally:  # nothing is called here, so that Ctrl-C cannot come between
        w[:] = 0.0
        w[kept.places] = kept.values
