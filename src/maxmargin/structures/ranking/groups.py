"""Groups of rows: the data of tasks whose outputs speak of many rows of a matrix (a sample, the answers to a query).

Inside, the rows of a group stand in segments of equal level, the highest level first. Searches want each segment sorted
by score, which is all the sorting they need.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.arrays import Array
from maxmargin.atoms import AtomRows, Atoms
from maxmargin.inputs.matrices import checked_matrix
from maxmargin.kernels.units import AtomBatch, Lifted

Indices = NDArray[np.int64]


class WeightedRows(NamedTuple):
    """The labels of a group's rows, and how much each row counts."""

    labels: Any
    weights: Any


class Groups(Sequence[Any]):
    """The rows of one matrix in groups; element g is the matrix of its rows, taken out only when asked for."""

    def __init__(self, matrix: Any, rows: Indices, bounds: Indices):
        self.matrix, self.rows, self.bounds = matrix, rows, bounds

    @classmethod
    def by(cls, matrix: Any, keys: Any) -> tuple[Groups, NDArray[Any]]:
        """Rows with equal keys together, in the order of their appearance; and the key of every group."""
        keys = np.asarray(keys)
        names, first, group = np.unique(keys, return_index=True, return_inverse=True)
        appearance = np.argsort(first)
        number = np.empty_like(appearance)
        number[appearance] = np.arange(len(names))
        rows = np.argsort(number[group], kind="stable")
        bounds = np.append(0, np.cumsum(np.bincount(number[group])))
        return cls(matrix, rows, bounds), names[appearance]

    @classmethod
    def of(cls, X: Any) -> Groups:
        """A list of matrices, one per group, as groups of their stack."""
        if isinstance(X, Groups):
            return X
        blocks = [x if sparse.issparse(x) else np.asarray(x, dtype=float) for x in X]
        for g, block in enumerate(blocks):
            if block.ndim != 2:
                raise ValueError(f"group {g} has shape {block.shape}; expected a matrix, a row per example")
            if block.shape[1] != blocks[0].shape[1]:
                raise ValueError(f"group {g} has {block.shape[1]} columns; expected {blocks[0].shape[1]} as in group 0")
        bounds = np.append(0, np.cumsum([block.shape[0] for block in blocks]))
        packed = any(map(sparse.issparse, blocks))
        return cls(sparse.vstack(blocks, format="csr") if packed else np.vstack(blocks), np.arange(bounds[-1]), bounds)

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def __getitem__(self, g: Any) -> Any:
        return self.matrix[self.members(range(len(self))[g])]

    def members(self, g: int) -> Indices:
        """The row numbers of a group."""
        return self.rows[self.bounds[g] : self.bounds[g + 1]]

    def of_rows(self, values: NDArray[Any]) -> list[NDArray[Any]]:
        """One value per row of the matrix as one array per group."""
        return [values[self.members(g)] for g in range(len(self))]


def query_ids(qid: Any, n: int) -> NDArray[Any]:
    """One query id per row; without any, all rows are one query."""
    ids = np.zeros(n, dtype=int) if qid is None else np.asarray(qid)
    if ids.shape != (n,):
        raise ValueError(f"qid has shape {ids.shape}; expected ({n},), the query of every row")
    missing = [i for i, each in enumerate(ids.tolist()) if each is None or each != each]
    if missing:
        raise ValueError(f"qid[{missing[0]}] is {ids[missing[0]]}; every row must belong to a query")
    kinds = sorted({type(each).__name__ for each in ids.tolist()})
    if ids.dtype == object and len(kinds) > 1:
        raise ValueError(f"qid mixes {' and '.join(kinds)}; expected ids of one kind")
    return ids


class GroupBatch(AtomBatch):
    """Groups in segments of equal level."""

    call_cost = 6.0
    about: Any = None  # what the task keeps about the groups
    weights: Array | None = None  # of the rows, in the order of `rows`; None where all weigh 1

    def __init__(self, atoms: Atoms, rows: Indices, bounds: Indices, segments: Indices, segment_bounds: Indices):
        self.atoms = atoms
        self.rows, self.bounds = rows, bounds  # group g owns rows[bounds[g] : bounds[g + 1]]
        self.segments, self.segment_bounds = segments, segment_bounds  # it owns segments[g] … segments[g + 1] - 1
        self.ids = np.arange(len(bounds) - 1)

    def take(self, index: NDArray[np.intp]) -> GroupBatch:
        part = copy(self)
        part.ids = self.ids[index]
        return part

    def scored(self, w: Array) -> Scored:
        """The chosen groups with the scores of their rows, sorted from high to low within every segment."""
        chosen = np.concatenate([np.arange(self.bounds[g], self.bounds[g + 1]) for g in self.ids])
        sizes = np.diff(self.bounds)[self.ids]
        segments = [self.segment_bounds[self.segments[g] : self.segments[g + 1]] - self.bounds[g] for g in self.ids]
        bounds = np.append(0, np.cumsum(sizes))
        starts = np.concatenate([begins + at for begins, at in zip(segments, bounds, strict=False)])
        ends = np.append(starts[1:], bounds[-1])
        scores = self.atoms.scores(w, self.rows[chosen])[:, 0]
        for begin, end in zip(starts.tolist(), ends.tolist(), strict=True):
            order = np.argsort(-scores[begin:end])
            scores[begin:end] = scores[begin:end][order]
            chosen[begin:end] = chosen[begin:end][order]
        return Scored(
            chosen, scores, bounds, np.append(0, np.cumsum(list(map(len, segments)))), np.append(starts, bounds[-1])
        )

    def combined(self, scored: Scored, coefficients: Array) -> AtomRows:
        """One row per group: Σ coefficient · feature row over its examples."""
        shift = np.repeat(self.bounds[self.ids] - scored.bounds[:-1], np.diff(scored.bounds))
        ordered = np.empty(len(coefficients))  # back in the order of the data: reading rows at random is slow
        ordered[scored.places - shift] = coefficients
        used = np.flatnonzero(ordered)
        indptr = np.searchsorted(used, scored.bounds).astype(np.int32)
        return AtomRows(self.atoms, indptr, self.rows[used + shift[used]].astype(np.int32), ordered[used])


class Scored(NamedTuple):
    """Some groups of a batch; group j has the places bounds[j] … bounds[j + 1] - 1, segment by segment."""

    places: Indices  # positions in the batch's rows
    scores: Array
    bounds: Indices
    segments: Indices  # the first segment of every group
    segment_bounds: Indices


class GroupTask(Lifted):
    """A task over groups of rows: one weight per feature, or a kernel of rows."""

    n_features_: int

    def _set_rows(self, X: Any) -> None:
        """Part of `setup`: the width of the rows, and the length of w."""
        matrix = Groups.of(X).matrix
        self.n_features_ = matrix.shape[1]
        self._set_dim(matrix, 1, 0)

    def row_scores(self, w: Array, matrix: Any) -> Array:
        """The score of every row of a matrix."""
        return self._unit_scores(w, checked_matrix(matrix, self.n_features_), 1, 0)[:, 0]


def pack_groups(task: GroupTask, X: Any, levels: Sequence[Array], weights: Sequence[Array] | None) -> GroupBatch:
    """Bring groups of rows, with a level and perhaps a weight for every row, into segments of equal level."""
    groups = Groups.of(X)
    owner = np.full(groups.matrix.shape[0], -1)
    owner[groups.rows] = np.repeat(np.arange(len(groups)), np.diff(groups.bounds))
    atoms = task._unit_atoms(checked_matrix(groups.matrix, task.n_features_), 1, 0, owner)
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
    batch = GroupBatch(atoms, rows, groups.bounds, np.array(segments), np.concatenate(starts))
    batch.weights = None if weights is None else sorted_weights
    return batch


def levels_and_weights(X: Any, Y: Sequence[Any], unit: str) -> tuple[list[Array], list[Array] | None]:
    """The level of every row of every group, and the weights where labels are `WeightedRows`."""
    groups = Groups.of(X)
    levels, weights = [], []
    for g, y in enumerate(Y):
        given = y.labels if isinstance(y, WeightedRows) else y
        values, size = np.asarray(given, dtype=float), int(groups.bounds[g + 1] - groups.bounds[g])
        if values.shape != (size,):
            raise ValueError(f"{unit} {g} has {size} rows but labels of shape {values.shape}; expected ({size},)")
        if not np.isfinite(values).all():
            i = int(np.argmin(np.isfinite(values)))
            raise ValueError(f"{unit} {g}, row {i}: the label is {values[i]}; expected a finite number")
        own = np.asarray(y.weights if isinstance(y, WeightedRows) else np.ones(size), dtype=float)
        if own.shape != (size,):
            raise ValueError(f"{unit} {g} has {size} rows but weights of shape {own.shape}; expected ({size},)")
        good = np.isfinite(own) & (own > 0)
        if not good.all():
            i = int(np.argmin(good))
            raise ValueError(f"{unit} {g}, row {i}: the weight is {own[i]}; expected a positive finite number")
        levels.append(values)
        weights.append(own)
    return levels, weights if any(isinstance(y, WeightedRows) for y in Y) else None


def binary_levels(X: Any, Y: Any, unit: str) -> tuple[list[Array], list[Array] | None]:
    """The same where levels can only be 0 and 1."""
    levels, weights = levels_and_weights(X, Y, unit)
    for g, y in enumerate(levels):
        other = np.flatnonzero((y != 0) & (y != 1))
        if len(other):
            raise ValueError(f"{unit} {g}, row {other[0]}: the label is {y[other[0]]:g}; expected 0 or 1")
    return levels, weights
