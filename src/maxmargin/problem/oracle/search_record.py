"""SearchRecord: the facts that an oracle learns from the planes that its decoder finds."""

from __future__ import annotations

from copy import copy
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array, Index
from maxmargin.base.files.fields import Flag, NumberArray, OneOf
from maxmargin.base.files.objects import Fields
from maxmargin.base.search import Search
from maxmargin.problem.contract.batch import Batch
from maxmargin.problem.contract.capabilities.relaxation_report import RelaxationReport
from maxmargin.problem.oracle.learnt_planes import LearntMissedOutputs, LearntPlaneSizes
from maxmargin.problem.oracle.missed_outputs import MissedOutputs
from maxmargin.problem.oracle.placement import chunks_of
from maxmargin.problem.planes.atoms import Atoms
from maxmargin.problem.planes.plane_sizes import PlaneSizes


class SearchRecord:
    """The sizes of planes, the examples with relaxed answers, and a few planes that reveal a decoder's misses.

    Order of calls: after every search `note_relaxed`; when planes are measured, `sizes` is set to include theirs. Then
    `hidden` returns the error that rounding may hide at a point.
    """

    def __init__(self, batch: Batch):
        self.batch, self.n = batch, len(batch)
        self.sizes = PlaneSizes()  # the sizes of planes of the first pass, and of all passes with a measurement
        self.from_zero = False  # True if the first of them were found at w = 0, where they are large
        self.missed = MissedOutputs()
        self.relaxed: NDArray[np.bool_] | None = None  # examples that ever got an answer that is not a proved output
        self.hidden_in_shards: float | None = None  # the error that rounding may hide in the last pass summed by shards

    # A checkpoint keeps the state on which later answers depend, besides the data: see base/files/learnt.py.
    learnt: ClassVar[Fields] = {
        "sizes": LearntPlaneSizes(),
        "from_zero": Flag(),
        "missed": LearntMissedOutputs(),
        "relaxed": OneOf(None, NumberArray(bool, "n")),
    }

    @property
    def plane_atoms(self) -> Atoms:
        """The atoms that planes are made of."""
        return self.batch.plane_atoms

    @property
    def chunk_sizes(self) -> list[int]:
        """The number of examples in each chunk of a pass."""
        return list(map(len, chunks_of(np.arange(self.n))))

    def for_batch(self, batch: Batch) -> SearchRecord:
        """Return a copy for the same examples with other truths, whose planes are not compared with these."""
        other = copy(self)
        other.batch, other.missed = batch, MissedOutputs()
        other.relaxed = None if self.relaxed is None else self.relaxed.copy()
        return other

    def note_relaxed(self, index: Index, relaxed: NDArray[np.bool_] | None) -> None:
        """Record which of these examples got a relaxed answer; None carries no information."""
        if relaxed is not None:
            if self.relaxed is None:
                self.relaxed = np.zeros(self.n, dtype=bool)
            self.relaxed[index] |= relaxed

    @property
    def search(self) -> Search:
        """The guarantee of the search on these data; a relaxation that found only proved outputs was exact."""
        promised = self.batch.search
        if promised is Search.OVERGENERATING and self.relaxed is not None and not self.relaxed.any():
            return Search.EXACT
        return promised

    @property
    def method(self) -> str:
        """A description of the search, with the number of relaxed answers if the batch reports it."""
        method, report = self.batch.method, self.batch.offers(RelaxationReport)
        if self.relaxed is None or report is None:
            return method
        return f"{method}, {report.relaxed_on(int(np.count_nonzero(self.relaxed)), self.n)}"

    def hidden(self, w: Array) -> float:
        """Return how much of an example's largest violation at w rounding may hide, in the last pass."""
        return self.sizes.unsure(w) if self.hidden_in_shards is None else self.hidden_in_shards
