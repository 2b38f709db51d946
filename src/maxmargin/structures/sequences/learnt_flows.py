"""Flows through lattices and weighted labellings in checkpoints, checked before kernels read them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.files.learnt import Learnt
from maxmargin.inputs.labels.labels import Labels
from maxmargin.structures.sequences.compiled.flow_arrays import Lattice

KINDS = dict(zip(Lattice._fields, (np.int64, np.int64, np.uint16, np.uint16, np.float64), strict=True))


class WeightedPaths(NamedTuple):
    """Flows as labellings with weights, in the order of the sequences."""

    labels: Labels  # the labels of all paths, one path after the other
    owners: NDArray[np.int64]  # the sequence of each path
    weights: Array  # the weight of each path

    @classmethod
    def none(cls) -> WeightedPaths:
        return cls(np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int64), np.empty(0))

    def take(self, chosen: NDArray[np.bool_], lengths: NDArray[np.int64]) -> WeightedPaths:
        """Return some of the paths; `lengths` are the lengths of the sequences."""
        labels = self.labels[np.repeat(chosen, lengths[self.owners])]
        return WeightedPaths(labels, self.owners[chosen], self.weights[chosen])


class LearntLattice(Learnt):
    """The edges of an owner's chains, and their flow. Beyond the last edge of a position there is unused space."""

    def left(self, value: Lattice) -> Any:
        return value._asdict()

    def refilled(self, found: Any, current: Lattice, owner: Any) -> Lattice:
        if not isinstance(found, dict) or set(found) != set(Lattice._fields):
            raise ValueError("expected the edges of a lattice")
        for name, kind in KINDS.items():
            if not isinstance(found[name], np.ndarray) or found[name].dtype != kind or found[name].ndim != 1:
                raise ValueError(f"{name}: expected an array of {np.dtype(kind)}")
        lattice, chains = Lattice(**found), owner.chains
        count, n_labels = len(chains.units), chains.atoms.arrays.n_labels
        capacity = np.diff(lattice.start)
        if len(lattice.start) != count + 1 or lattice.start[0] != 0 or (capacity < 1).any():
            raise ValueError(f"expected {count} positions with a capacity for edges")
        if not all(len(each) == lattice.start[-1] for each in lattice[2:]):
            raise ValueError(f"expected {int(lattice.start[-1])} edges")
        if len(lattice.filled) != count or (lattice.filled < 1).any() or (lattice.filled > capacity).any():
            raise ValueError("expected at least one edge per position, and no more than its capacity")
        if any(len(each) and each.max() >= n_labels for each in lattice[2:4]):
            raise ValueError(f"expected labels below {n_labels}")
        if not np.isfinite(lattice.flow).all() or (lattice.flow < 0).any():
            raise ValueError("expected flows >= 0")
        truth = lattice.start[:-1]  # the truth's edge is always the first
        if not np.array_equal(lattice.here[truth], chains.truths) or not np.array_equal(
            lattice.before[truth], current.before[current.start[:-1]]
        ):
            raise ValueError("expected the edge of the true label at every position")
        return lattice


class LearntPaths(Learnt):
    """The flows of an owner, whose lattice is known, as labellings with weights; or None."""

    def left(self, value: WeightedPaths | None) -> Any:
        return None if value is None else list(value)

    def refilled(self, found: Any, current: Any, owner: Any) -> WeightedPaths | None:
        if found is None:
            return None
        kinds = [each.dtype for each in WeightedPaths.none()]
        arrays = isinstance(found, list) and all(isinstance(each, np.ndarray) and each.ndim == 1 for each in found)
        if not arrays or [each.dtype for each in found] != kinds:
            raise ValueError("expected labels, owners and weights")
        paths, bounds, lattice = WeightedPaths(*found), owner.chains.bounds, owner.lattice
        owners, n_labels = paths.owners, owner.chains.atoms.arrays.n_labels
        if len(owners) and (owners.min() < 0 or owners.max() >= len(bounds) - 1 or (np.diff(owners) < 0).any()):
            raise ValueError("expected the sequences in order")
        lengths = np.diff(bounds)[owners]
        if len(paths.labels) != lengths.sum() or len(paths.weights) != len(owners):
            raise ValueError("expected labels of whole sequences, and a weight of each labelling")
        if len(paths.labels) and (paths.labels.min() < 0 or paths.labels.max() >= n_labels):
            raise ValueError(f"expected labels below {n_labels}")
        if not np.isfinite(paths.weights).all() or (paths.weights < 0).any():
            raise ValueError("expected weights >= 0")
        ends = np.append(0, np.cumsum(lengths))
        at = np.arange(ends[-1]) + np.repeat(bounds[owners] - ends[:-1], lengths)
        before = np.append(0, paths.labels[:-1])[: len(paths.labels)].astype(np.int64)
        before[ends[:-1]] = 0
        known = _edges(lattice, n_labels)
        if not np.isin((at * n_labels + before) * n_labels + paths.labels, known).all():
            raise ValueError("expected paths along known edges")
        return paths


def _edges(lattice: Lattice, n_labels: int) -> NDArray[np.int64]:
    """Return a number for every edge that encodes its position and its two labels."""
    position = np.repeat(np.arange(len(lattice.filled)), lattice.filled)
    within = np.arange(len(position)) - np.repeat(np.cumsum(lattice.filled) - lattice.filled, lattice.filled)
    q = lattice.start[position] + within
    return (position * n_labels + lattice.before[q].astype(np.int64)) * n_labels + lattice.here[q]
