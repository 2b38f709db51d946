"""Scratch arrays of cuts. This file does not import numba, so that it loads fast.

Small graphs are cut in a few microseconds, and numba needs one to recognise each named tuple that Python passes. So
Python passes plain tuples to these kernels, which name them again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array


class CutArrays(NamedTuple):
    """Scratch arrays of problems with two labels on a graph of N nodes and E edges (two_labels.py).

    After a cut, `turned` and `capacity` hold the flow that proves it.
    """

    gain: Array  # (N,): gains of label 1
    weight: Array  # (E,): weights |c| of edges
    turned: NDArray[np.int32]  # (E,): 1 for edges that prefer different labels
    capacity: Array  # (4 E,): the residual capacity of each arc; a single cut uses the first 2 E
    bounds: NDArray[np.int32]  # (2 N + 1,): the arcs of the graph with opposites, as in SortedArcs
    head: NDArray[np.int32]  # (4 E,): the node to which each arc leads
    reverse: NDArray[np.int32]  # (4 E,): the opposite arc of each arc
    supply: Array  # (2 N,): the residual capacity from the source, or to the sink if it is negative
    work: NDArray[np.int32]  # (7, 2 N): scratch of max_flow

    @classmethod
    def of(cls, n_nodes: int, n_edges: int) -> CutArrays:
        """Allocate the arrays for a graph."""
        n, m, whole = n_nodes, n_edges, np.int32
        graph = np.empty(2 * n + 1, whole), np.empty(4 * m, whole), np.empty(4 * m, whole)
        own = np.empty(n), np.empty(m), np.empty(m, whole), np.empty(4 * m)
        return cls(*own, *graph, np.empty(2 * n), np.empty((7, 2 * n), whole))
