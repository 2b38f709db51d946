"""SegmentedBatch: groups of rows, those of a group in segments of equal level, the highest level first.

The searches of this folder want each segment sorted by score, which is all the sorting they need.
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
    """The rows of groups by level."""

    atoms: Atoms
    rows: Indices  # group g owns rows[bounds[g] : bounds[g + 1]]
    bounds: Indices
    segments: Indices  # group g owns the segments number segments[g] … segments[g + 1] - 1
    starts: Indices  # the place in `rows` at which each segment begins
    weights: Array | None  # of the rows, in the order of `rows`; None where all weigh 1

    @classmethod
    def of(cls, atoms: Atoms, groups: Groups, levels: Sequence[Array], weights: Sequence[Array] | None) -> Segments:
        """From a level and perhaps a weight for every row of every group."""
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
    """Some groups of a batch; group j has the places bounds[j] … bounds[j + 1] - 1, segment by segment."""

    places: Indices  # positions in the batch's rows
    scores: Array
    bounds: Indices
    segments: Indices  # the first segment of every group
    segment_bounds: Indices


class SegmentedBatch(AtomBatch):
    """Groups in segments; a search begins with `scored` and ends with `combined`."""

    call_cost = 6.0

    def __init__(self, task: Any, packed: Segments):
        super().__init__(task, len(packed.bounds) - 1, packed.atoms)
        self.rows, self.bounds = packed.rows, packed.bounds
        self.segments, self.starts = packed.segments, packed.starts

    def __getstate__(self) -> dict[str, Any]:
        """Of a packed folder, a part takes with it what it knows of its own rows."""
        state = super().__getstate__()
        if self.source is not None and len(self):
            begin, end, n = int(self.bounds[self.ids.min()]), int(self.bounds[self.ids.max() + 1]), len(self.rows)
            for name, value in state.items():
                if isinstance(value, np.ndarray) and name != "ids" and value.ndim == 1 and len(value) == n:
                    state[name] = Excerpt.of(value, begin, end)
        return state

    def verify(self, source: ArrayFolder) -> None:
        """Verify the features of the rows of these groups; levels came with the batch."""
        if len(self):
            rows = self.rows[self.bounds[self.ids.min()] : self.bounds[self.ids.max() + 1]]
            verify_rows(source, int(rows.min()), int(rows.max()) + 1)

    def scored(self, w: Array) -> ScoredRows:
        """The groups with the scores of their rows, sorted from high to low within every segment."""
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
        """One value per segment of all groups as those of these groups, one after the other."""
        return np.concatenate([values[self.segments[g] : self.segments[g + 1]] for g in self.ids])

    def combined(self, scored: ScoredRows, coefficients: Array) -> AtomRows:
        """One row per group: Σ coefficient · feature row over its rows."""
        shift = np.repeat(self.bounds[self.ids] - scored.bounds[:-1], np.diff(scored.bounds))
        ordered = np.empty(len(coefficients))  # back in the order of the data: reading rows at random is slow
        ordered[scored.places - shift] = coefficients
        used = np.flatnonzero(ordered)
        indptr = np.searchsorted(used, scored.bounds).astype(np.int32)
        return AtomRows(self.atoms, indptr, self.rows[used + shift[used]].astype(np.int32), ordered[used])
