"""ScoredParts: parts with features, scored by the weights of a Parts task."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.problem.contract.scored import need_truth
from maxmargin.problem.planes.atoms import AtomRows, Atoms
from maxmargin.problem.planes.planes import Planes
from maxmargin.structures.parts.numbers import PartNumbers
from maxmargin.structures.parts.part_space import PartDecoder, PartSpace, TrueParts


class ScoredParts(PartSpace):
    """PartSpace whose scores are computed from features and weights.

    atoms, begins : the features of all parts of the data, and the first part of every input
    """

    def __init__(
        self,
        atoms: Atoms,
        begins: NDArray[np.int64],
        sizes: NDArray[np.int64],
        decode: PartDecoder,
        truths: Sequence[TrueParts] | None = None,
    ):
        super().__init__(np.append(0, np.cumsum(sizes)).astype(np.int64), decode, truths)
        self.atoms, self.begins = atoms, begins

    def scores(self, w: Array) -> Array:
        """Return the scores of all parts at the weights w."""
        sizes = np.diff(self.bounds)
        units = np.arange(self.bounds[-1]) + np.repeat(self.begins - self.bounds[:-1], sizes)
        return np.ascontiguousarray(self.atoms.scores(w, units)[:, 0])

    def planes_of(self, found: Sequence[PartNumbers]) -> Planes:
        """Return Ψ(x, y) - Ψ(x, z), +1 for missing parts and -1 for wrong ones, and Δ(y, z)."""
        need_truth(self.truths)
        assert self.truths is not None
        indices, values, loss = [], [], np.empty(len(self))
        for j, (own, chosen) in enumerate(zip(self.truths, found, strict=True)):
            left, wrong = np.setdiff1d(own.truth, chosen), np.setdiff1d(chosen, own.truth)
            indices.append(self.begins[j] + np.concatenate([left, wrong]))
            values.append(np.concatenate([np.ones(len(left)), -np.ones(len(wrong))]))
            loss[j] = own.added[wrong].sum() - own.added[left].sum()
        indptr = np.append(0, np.cumsum([len(row) for row in indices])).astype(np.int32)
        rows = AtomRows(
            self.atoms,
            indptr,
            np.concatenate([*indices, np.zeros(0, dtype=np.int64)]).astype(np.int32),
            np.concatenate([*values, np.zeros(0)]),
        )
        return Planes(rows, loss)
