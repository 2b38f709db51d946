"""What kernels of flows know of chains. Without numba, so that Python can name these fields before it is loaded."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array


class Positions(NamedTuple):
    """Sequence i has the positions bounds[i] : bounds[i + 1]."""

    bounds: NDArray[np.int64]
    units: NDArray[np.int64]  # of every position
    truths: NDArray[np.int32]
    rows: NDArray[np.int32]  # of the table of costs
    factors: Array  # of these costs: of every position, or one number that all of them have
    every: np.uint64  # position p has factors[p & every], as values of AtomArrays


class Lattice(NamedTuple):
    """The edges of all positions."""

    start: NDArray[np.int64]  # with one more at the end: where the room for edges ends
    filled: NDArray[np.int64]  # how many edges a position has
    before: NDArray[np.uint16]
    here: NDArray[np.uint16]
    flow: Array


class Grams(NamedTuple):
    """Products ⟨x_s, x_t⟩ of the units of a sequence: of sequence i from first[i] on, row by row.

    Where there is no room for those of all sequences, first[i] is 0 for each, and every visit computes what it needs.
    """

    first: NDArray[np.int64]
    known: NDArray[np.bool_]  # of every position: whether its row was ever needed
    cells: Array | NDArray[np.uint8]  # bytes where all features are 1, so that these are numbers of common ones
    kept: bool  # from visit to visit


class FlowScratch(NamedTuple):
    """For the longest sequence, except where something else is said."""

    scores: Array  # (longest, K)
    high: Array  # (longest, K): of the best path into a label
    low: Array  # (longest, K): of the worst path with flow
    high_edge: NDArray[np.int64]  # (longest, K): the last edges of these paths
    low_edge: NDArray[np.int64]
    best: NDArray[np.int32]  # the labels of the two paths of a visit
    worst: NDArray[np.int32]
    best_edge: NDArray[np.int64]  # their edges, or -1
    worst_edge: NDArray[np.int64]
    seen: NDArray[np.int64]  # (longest, K): when a label was last met
    change: Array  # (longest, K): of the flow through a label
    links: Array  # as many as there are links
    features: Array  # as many as there are features
