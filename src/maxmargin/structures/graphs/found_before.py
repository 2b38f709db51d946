"""The results of earlier searches of one graph: a starting point for the next search, and known planes."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.files.fields import NumberArray

MOST = 32  # the most outputs that are remembered, which is also the number that a solver keeps


class FoundBefore:
    """The messages of the last relaxation of a graph, and its last planes.

    A plane is stored over the weights of edges, followed by the scores of all labels at all nodes.
    """

    def __init__(self) -> None:
        self.messages: Array | None = None
        self._planes: deque[tuple[NDArray[np.int64], Array, float]] = deque(maxlen=MOST)

    @property
    def plain(self) -> list[Any]:
        """The state as plain data: messages, and the concatenated planes with their ends."""
        indices, values, losses = (
            (list(each) for each in zip(*self._planes, strict=True)) if self._planes else ([],) * 3
        )
        ends = np.cumsum([len(each) for each in indices], dtype=np.int64)
        joined = np.concatenate([np.zeros(0, dtype=np.int64), *indices]), np.concatenate([np.zeros(0), *values])
        return [self.messages, ends, *joined, np.array(losses, dtype=float)]

    @classmethod
    def read(cls, found: Any, messages: tuple[int, ...], size: int) -> FoundBefore:
        """Read the state from a file, for a graph with messages of this shape and this many edge weights and scores."""
        if not isinstance(found, list) or len(found) != 5:
            raise ValueError("expected the planes found by earlier searches of a graph")
        made = cls()
        made.messages = None if found[0] is None else NumberArray(float, *messages).read(found[0], None)
        ends = NumberArray(np.int64, None, least=0).read(found[1], None)
        indices = NumberArray(np.int64, None, least=0, below=size).read(found[2], None)
        values = NumberArray(float, len(indices)).read(found[3], None)
        losses = NumberArray(float, len(ends)).read(found[4], None)
        if len(ends) > MOST or (np.diff(ends, prepend=0) < 0).any() or (ends[-1:] != len(indices)).any():
            raise ValueError(f"expected at most {MOST} planes")
        for begin, end, loss in zip([0, *ends], ends, losses, strict=False):
            made.add(indices[begin:end], values[begin:end], float(loss))
        return made

    def highest(self, direct: Array, scores: Array) -> float:
        """Return the largest known violation at these edge weights and scores; it is at least 0, because of the truth.

        It is inf if nothing is known, so that a first search is not expected to find anything new.
        """
        if not self._planes:
            return np.inf
        table = np.concatenate([direct, scores.ravel()])
        heights = [loss - float(np.dot(values, table[indices])) for indices, values, loss in self._planes]
        return max(0.0, *heights)

    def add(self, indices: NDArray[np.int64], values: Array, loss: float) -> None:
        """Store a plane."""
        self._planes.append((indices, values, loss))
