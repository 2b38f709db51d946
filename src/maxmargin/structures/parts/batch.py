"""Packed examples of parts, and their search through the user's decoder."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.errors import TaskError
from maxmargin.kernels.atom_batch import AtomBatch
from maxmargin.problem.contract.capabilities.rescaled_search import RescaledSearch
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.planes.atoms import AtomRows, Atoms
from maxmargin.problem.planes.planes import Planes
from maxmargin.structures.parts.branching import PartScores, most_violated_parts, no_maximiser
from maxmargin.structures.parts.numbers import PartNumbers

CHECKED = 100  # examples on which the decoder is tried before training


class PackedParts(NamedTuple):
    """One example: its parts are the units begin … end - 1."""

    x: Any
    begin: int
    end: int
    truth: PartNumbers  # numbers of the right parts
    added: Array  # (P,) what choosing a part adds to the loss: its price, or minus the price of missing it


class PartsBatch(AtomBatch, RescaledSearch):
    """Examples with the rows of all their parts in one matrix."""

    def __init__(self, task: Any, atoms: Atoms, packed: list[PackedParts]):
        super().__init__(task, len(packed), atoms)
        self.packed = packed

    def planes(self, w: Array, augment: float | Array = 1.0) -> Planes:
        lam = self.loss_weights(augment)
        found = [
            self._best(i, scores + lam[j] * self.packed[i].added if lam[j] else scores)
            for j, (i, scores) in enumerate(self._scored(w))
        ]
        return self._planes(found)

    def rescaled_planes(self, w: Array, formulation: Formulation) -> Planes:
        found, upper = [], np.empty(len(self))
        for j, (i, scores) in enumerate(self._scored(w)):
            own = self.packed[i]
            problem = PartScores(scores, own.added, own.truth)
            try:
                answer = most_violated_parts(partial(self._best, i), problem, formulation, self.task.most_decodes)
            except TaskError as error:
                raise TaskError(f"{self.name} broke its promise on example {i}: {error}") from None
            found.append(own.truth if answer.chosen is None else answer.chosen)
            upper[j] = answer.upper
        return self._planes(found)._replace(upper=upper)

    def check_decoder(self) -> None:
        """Outputs are known before training: the label, and what the decoder finds for a loss and for its opposite.

        The truth has no loss, so nothing may be found at the opposite that has one.
        """
        for i in self.ids[:CHECKED].tolist():
            own = self.packed[i]
            dear, cheap = self._best(i, own.added.copy()), self._best(i, -own.added)
            for found, other, scores in ((cheap, own.truth, -own.added), (dear, cheap, own.added)):
                by = float(scores[np.setdiff1d(other, found)].sum() - scores[np.setdiff1d(found, other)].sum())
                if by > 1e-7 * np.abs(scores).sum():
                    raise TaskError(f"{self.name} broke its promise on example {i}: {no_maximiser(found, by)}")

    def _scored(self, w: Array) -> list[tuple[int, Array]]:
        """The number of every example, and the scores of its parts."""
        units = [np.arange(self.packed[i].begin, self.packed[i].end) for i in self.ids]
        scores = self.atoms.scores(w, np.concatenate([*units, np.zeros(0, dtype=np.int64)]))[:, 0]
        ends = np.cumsum([len(each) for each in units])[:-1]
        return list(zip(self.ids.tolist(), np.split(scores, ends), strict=True))

    def _best(self, i: int, scores: Array) -> PartNumbers:
        """The user's decoder on example i."""
        return self.task.chosen(scores, self.packed[i].x, f" on training example {i}")

    def _planes(self, found: list[PartNumbers]) -> Planes:
        """+1 for right parts that were left out, -1 for wrong ones that were chosen."""
        indices, values, loss = [], [], np.empty(len(self))
        for j, (i, chosen) in enumerate(zip(self.ids, found, strict=True)):
            own = self.packed[i]
            left, wrong = np.setdiff1d(own.truth, chosen), np.setdiff1d(chosen, own.truth)
            indices.append(own.begin + np.concatenate([left, wrong]))
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
