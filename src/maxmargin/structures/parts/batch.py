"""Packed examples of Parts, and their search by the user's decoder."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.errors import TaskError
from maxmargin.kernels.atom_batch import AtomBatch
from maxmargin.problem.contract.capabilities.rescaled_search import RescaledSearch
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.planes.atoms import Atoms
from maxmargin.problem.planes.planes import Planes
from maxmargin.structures.parts.branching import PartScores, most_violated_parts, no_maximiser
from maxmargin.structures.parts.numbers import PartNumbers
from maxmargin.structures.parts.part_space import TrueParts
from maxmargin.structures.parts.scored import ScoredParts

CHECKED = 100  # examples on which the decoder is tried before training


class PackedParts(NamedTuple):
    """Packed example, whose parts are the units begin … end - 1."""

    x: Any  # the input, for the decoder
    begin: int
    end: int
    truths: TrueParts  # the true parts, with the prices of mistakes


class PartsBatch(AtomBatch, RescaledSearch):
    """Batch of examples with the rows of all their parts in one matrix."""

    def __init__(self, task: Any, atoms: Atoms, packed: list[PackedParts]):
        super().__init__(task, len(packed), atoms)
        self.packed = packed

    def scored(self) -> ScoredParts:
        """Return the score space of these examples with their truths."""
        packed = [self.packed[i] for i in self.ids]
        begins, sizes = np.array([(own.begin, own.end - own.begin) for own in packed]).reshape(-1, 2).T
        return ScoredParts(self.atoms, begins, sizes, self._best, [own.truths for own in packed])

    def planes(self, w: Array, augment: float | Array = 1.0) -> Planes:
        scored = self.scored()
        return scored.planes_of(scored.found(scored.scores(w), augment))

    def rescaled_planes(self, w: Array, formulation: Formulation) -> Planes:
        scored = self.scored()
        found, upper = [], np.empty(len(self))
        for j, scores in enumerate(np.split(scored.scores(w), scored.bounds[1:-1]) if len(self) else ()):
            truth, added = self.packed[self.ids[j]].truths
            problem = PartScores(scores, added, truth)
            try:
                answer = most_violated_parts(partial(self._best, j), problem, formulation, self.task.most_decodes)
            except TaskError as error:
                raise TaskError(f"{self.name} broke its promise on example {self.ids[j]}: {error}") from None
            found.append(truth if answer.chosen is None else answer.chosen)
            upper[j] = answer.upper
        return scored.planes_of(found)._replace(upper=upper)

    def check_decoder(self) -> None:
        """Raise a TaskError if the decoder misses an output that is known to be better.

        Known outputs are the label and the answers for the loss and for minus the loss. The truth has loss 0, so the
        answer for minus the loss must have loss 0 too.
        """
        for j, i in enumerate(self.ids[:CHECKED].tolist()):
            truth, added = self.packed[i].truths
            worst, best = self._best(j, added.copy()), self._best(j, -added)
            for found, other, scores in ((best, truth, -added), (worst, best, added)):
                by = float(scores[np.setdiff1d(other, found)].sum() - scores[np.setdiff1d(found, other)].sum())
                if by > 1e-7 * np.abs(scores).sum():
                    raise TaskError(f"{self.name} broke its promise on example {i}: {no_maximiser(found, by)}")

    def _best(self, j: int, scores: Array) -> PartNumbers:
        """Return the parts that the user's decoder finds for the example at position j."""
        i = int(self.ids[j])
        return self.task.chosen(scores, self.packed[i].x, f" on training example {i}")
