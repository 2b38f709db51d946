"""A flow between two flows through the same lattice of labels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maxmargin.inputs.labels.labels import Labels
from maxmargin.structures.sequences.compiled.flow_arrays import Lattice

SPARE = 2  # edges of a position that there is room for, beside those that carry flow


def mixed(old: Lattice, new: Lattice, share: float, truths: Labels, n_labels: int) -> Lattice:
    """old + share (new - old), edge by edge; those that neither has carry nothing. The truth's comes first, as ever."""
    keys, flows = [], []
    for lattice, factor in ((old, 1.0 - share), (new, share)):
        position, edges = _edges(lattice)
        before, here = lattice.before[edges].astype(np.int64), lattice.here[edges].astype(np.int64)
        first = edges == lattice.start[position]
        keys.append(((2 * position + ~first) * n_labels + before) * n_labels + here)
        flows.append(factor * lattice.flow[edges])
    key, where = np.unique(np.concatenate(keys), return_inverse=True)
    flow = np.bincount(where, np.concatenate(flows), len(key))
    others, labels = np.divmod(key, n_labels * n_labels)
    position, later = others // 2, others % 2 == 1
    kept = ~later | (flow > 0.0)
    position, labels, flow = position[kept], labels[kept], flow[kept]
    filled = np.bincount(position, minlength=len(truths)).astype(np.int64)
    start = np.concatenate([[0], np.cumsum(filled + SPARE)])
    at = start[position] + np.arange(len(position)) - np.repeat(np.cumsum(filled) - filled, filled)
    room = int(start[-1])
    result = Lattice(start, filled, np.zeros(room, np.uint16), np.zeros(room, np.uint16), np.zeros(room))
    result.before[at], result.here[at], result.flow[at] = labels // n_labels, labels % n_labels, flow
    return result


def _edges(lattice: Lattice) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The positions of all edges, and their numbers."""
    position = np.repeat(np.arange(len(lattice.filled)), lattice.filled)
    within = np.arange(len(position)) - np.repeat(np.cumsum(lattice.filled) - lattice.filled, lattice.filled)
    return position, lattice.start[position] + within
