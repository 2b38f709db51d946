"""What earlier searches of one graph found: where the next one can begin, and what it need not find again."""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from maxmargin.arrays import Array

MOST = 32  # outputs that are remembered: as many as a solver does


class FoundBefore:
    """Of one graph: the messages of its last relaxation, and its last planes.

    A plane is written over the weights of edges, one after another, followed by the scores of all labels at all nodes.
    """

    def __init__(self) -> None:
        self.messages: Array | None = None
        self._planes: deque[tuple[NDArray[np.int64], Array, float]] = deque(maxlen=MOST)

    def highest(self, direct: Array, scores: Array) -> float:
        """The largest violation that is known at these weights of edges and scores, 0 at least (that of the truth).

        It is inf where nothing is known, so that no news are expected of a first search.
        """
        if not self._planes:
            return np.inf
        table = np.concatenate([direct, scores.ravel()])
        heights = [loss - float(np.dot(values, table[indices])) for indices, values, loss in self._planes]
        return max(0.0, *heights)

    def add(self, indices: NDArray[np.int64], values: Array, loss: float) -> None:
        """Remember a plane."""
        self._planes.append((indices, values, loss))
