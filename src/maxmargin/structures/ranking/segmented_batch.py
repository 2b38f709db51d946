"""SegmentedBatch: groups of rows, in segments of equal level, the highest level first.

The searches of this folder need each segment sorted by score.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.files.array_folder import ArrayFolder, Excerpt
from maxmargin.inputs.packed.packed_rows import verify_rows
from maxmargin.kernels.atom_batch import AtomBatch
from maxmargin.problem.planes.atoms import AtomRows, Atoms
from maxmargin.structures.ranking.groups import Groups, Indices


class Segments(NamedTuple):
    """Rows of groups, sorted by level."""

    atoms: Atoms  # the features of all rows
    rows: Indices  # group g owns rows[bounds[g] : bounds[g + 1]]
    bounds: Indices  # (groups + 1,): where the rows of each group begin
    segments: Indices  # group g owns the segments number segments[g] … segments[g + 1] - 1
    starts: Indices  # the position in `rows` at which each segment begins
    weights: Array | None  # the weights of the rows, in the order of `rows`; None if all are 1

    @classmethod
    def of(cls, atoms: Atoms, groups: Groups, levels: Sequence[Array], weights: Sequence[Array] | None) -> Segments:
        """Sort the rows of every group by their levels."""
        rows, segments, starts = groups.rows.copy(), [0], []
        sorted_weights = np.ones(len(rows))
        for g, values in enumerate(levels):
            begin, end = int(groups.bounds[g]), int(groups.bounds[g + 1])
            order = np.argsort(-values, kind="stable")
            rows[begin:end] = rows[begin:end][order]
            if weights is not None:
                sorted_weights[begin:end] = weights[g][order]
            starts.append(begin + np.flatnonzero(np.diff(values[order], prepend=np.inf)))
            segments.append(segments[-1] + len(starts[-1]))
        return cls(
            atoms,
            rows,
            groups.bounds,
            np.array(segments),
            np.concatenate(starts),
            None if weights is None else sorted_weights,
        )


class ScoredRows(NamedTuple):
    """Scored rows of some groups; group j has the rows bounds[j] : bounds[j + 1], segment by segment."""

    positions: Indices  # the position of each row among the rows of the batch
    scores: Array  # the score of each row
    bounds: Indices
    segments: Indices  # the first segment of every group
    segment_bounds: Indices  # the first row of every segment, and the end of the last one


class SegmentedBatch(AtomBatch):
    """Batch of groups in segments; a search begins with `scored` and ends with `combined`."""

    call_cost = 6.0

    def __init__(self, task: Any, packed: Segments):
        super().__init__(task, len(packed.bounds) - 1, packed.atoms)
        self.rows, self.bounds = packed.rows, packed.bounds
        self.segments, self.starts = packed.segments, packed.starts

    def __getstate__(self) -> dict[str, Any]:
        """Pickle only the arrays' excerpts of these groups if the rows are in a packed folder."""
        state = super().__getstate__()
        if self.source is not None and len(self):
            begin, end, n = int(self.bounds[self.ids.min()]), int(self.bounds[self.ids.max() + 1]), len(self.rows)
            for name, value in state.items():
                if isinstance(value, np.ndarray) and name != "ids" and value.ndim == 1 and len(value) == n:
                    state[name] = Excerpt.of(value, begin, end)
        return state

    def verify(self, source: ArrayFolder) -> None:
        """Verify the features of the rows of these groups; the levels are part of the batch."""
        if len(self):
            rows = self.rows[self.bounds[self.ids.min()] : self.bounds[self.ids.max() + 1]]
            verify_rows(source, int(rows.min()), int(rows.max()) + 1)

    def scored(self, w: Array) -> ScoredRows:
        """Score the rows of these groups, and sort them from high to low within every segment."""
        chosen = np.concatenate([np.arange(self.bounds[g], self.bounds[g + 1]) for g in self.ids])
        sizes = np.diff(self.bounds)[self.ids]
        segments = [self.starts[self.segments[g] : self.segments[g + 1]] - self.bounds[g] for g in self.ids]
        bounds = np.append(0, np.cumsum(sizes))
        starts = np.concatenate([begins + at for begins, at in zip(segments, bounds, strict=False)])
        ends = np.append(starts[1:], bounds[-1])
        scores = self.atoms.scores(w, self.rows[chosen])[:, 0]
        for begin, end in zip(starts.tolist(), ends.tolist(), strict=True):
            order = np.argsort(-scores[begin:end])
            scores[begin:end] = scores[begin:end][order]
            chosen[begin:end] = chosen[begin:end][order]
        return ScoredRows(
            chosen, scores, bounds, np.append(0, np.cumsum(list(map(len, segments)))), np.append(starts, bounds[-1])
        )

    def of_segments(self, values: Array) -> Array:
        """Select the values of the segments of these groups, given one value per segment of all groups."""
        return np.concatenate([values[self.segments[g] : self.segments[g + 1]] for g in self.ids])

    def combined(self, scored: ScoredRows, coefficients: Array) -> AtomRows:
        """Return one row per group: Σ coefficient · feature row over its rows."""
        shift = np.repeat(self.bounds[self.ids] - scored.bounds[:-1], np.diff(scored.bounds))
        ordered = np.empty(len(coefficients))  # in the order of the data, because random access to rows is slow
        ordered[scored.positions - shift] = coefficients
        used = np.flatnonzero(ordered)
        indptr = np.searchsorted(used, scored.bounds).astype(np.int32)
        return AtomRows(self.atoms, indptr, self.rows[used + shift[used]].astype(np.int32), ordered[used])
