"""MissedOutputs: planes of earlier passes that show whether a decoder misses outputs."""

from __future__ import annotations

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.problem.planes.atoms import AtomRows
from maxmargin.problem.planes.planes import Planes


class MissedOutputs:
    """A few planes that test the decoder: at no w may they be higher than the plane that it finds there.

    Methods that average all planes remember none of them. Therefore the planes of one chunk of examples are kept for a
    while, from another chunk in every pass.

    Order of calls: in a pass, for every chunk first `heights` (of the kept planes), then `keep` (the planes found). The
    last `keep` of a pass sets `turn` to the chunk whose planes the next pass keeps.
    """

    KEPT = 3
    LONG = 100_000  # entries of planes above which only the latest are kept

    def __init__(self) -> None:
        self.kept: list[tuple[int, Planes]] = []
        self.turn = 0  # the chunk whose planes are kept next

    def heights(self, chunk: int, examples: int, w: Array) -> Array:
        """Return the highest kept plane of every example of this chunk at w, or 0."""
        heights = np.zeros(examples)
        for kept, planes in self.kept:
            if kept == chunk:
                np.maximum(heights, planes.values(w), out=heights)
        return heights

    def keep(self, chunk: int, planes: Planes, chunks: int) -> None:
        """Keep the planes found if it is this chunk's turn; the last one of `chunks` ends the pass."""
        if chunk == self.turn:
            long = AtomRows.of(planes.dpsi).indptr[-1] > self.LONG
            self.kept = [(chunk, planes), *self.kept][: 1 if long else self.KEPT]
        if chunk == chunks - 1:
            self.turn = (self.turn + 1) % chunks
