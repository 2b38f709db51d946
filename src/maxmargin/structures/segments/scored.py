"""ScoredSegments: sequences of tokens with features, scored by the weights of a SemiMarkov task."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.problem.contract.scored import need_truth
from maxmargin.problem.planes.atoms import AtomRows, Atoms
from maxmargin.problem.planes.compiled.plane_tables import PlaneRows
from maxmargin.problem.planes.planes import Planes
from maxmargin.structures.segments.losses import Segmented
from maxmargin.structures.segments.segment_features import FeatureTable
from maxmargin.structures.segments.segment_space import SegmentScores, SegmentSpace, TrueSegments
from maxmargin.structures.segments.spans import Codes


class ScoredSegments(SegmentSpace):
    """SegmentSpace whose scores are computed from features and weights.

    task : the SemiMarkov task, which defines the layout of w
    atoms, units : the features of all units, and the unit of every token
    """

    def __init__(
        self,
        task: Any,
        atoms: Atoms,
        table: FeatureTable,
        units: NDArray[np.int64],
        bounds: NDArray[np.int64],
        truths: TrueSegments | None = None,
    ):
        super().__init__(bounds, task.names, table, units, truths)
        self.task, self.atoms = task, atoms

    @property
    def n_features(self) -> int:
        """The number of features of segments that have weights."""
        return len(self.task.segments_)

    def scores(self, w: Array) -> SegmentScores:
        """Compute the scores of tokens, lengths, features of segments and neighbouring labels at the weights w."""
        parts = self.task.split_weights(w)
        links = (parts.transitions, parts.start, parts.end)
        return SegmentScores(self.atoms.scores(w, self.units), parts.lengths, parts.segments, *links)

    def planes_of(self, found: Codes) -> Planes:
        """Return Ψ(x, y) - Ψ(x, z) and Δ(y, z) of these segmentations."""
        from maxmargin.structures.segments.compiled import segments

        need_truth(self.truths)
        assert self.truths is not None
        (truth, loss), other = self.truths, Segmented.of(found, self.bounds)
        one, two = truth.ends.lengths, other.ends.lengths
        wrong = (one != two) | (truth.ends.labels != other.ends.labels)
        L, indptr = self.max_length, self.table.indptr
        features = 0
        for lengths in (one, two):
            at = np.flatnonzero(wrong & (lengths > 0))
            rows = self.units[at] * L + lengths[at] - 1
            features += int(np.sum(indptr[rows + 1] - indptr[rows]))
        most = 12 * len(found) + features  # per token, twice: three atoms, a length, a transition and an end
        planes, direct = PlaneRows.of(len(self), most), self.atoms.arrays.direct
        given = direct, L, self.n_types, tuple(self.table), self.units, self.bounds
        segments.differences(*given, truth.codes, one, found, two, planes)
        used = slice(planes.indptr[-1])
        entries = planes.indices[used].copy(), planes.values[used].copy()
        return Planes(AtomRows(self.atoms, planes.indptr, *entries), loss.of(truth, other))
