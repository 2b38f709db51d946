"""The best cycle by dynamic programming over subsets of nodes (Held and Karp): exact, in time 2^n n²."""

from __future__ import annotations

import numpy as np

from maxmargin.base.arrays import Array


def exact_cycle(W: Array, shortest: int, longest: int, front: bool) -> list[int]:
    """Return the best cycle; see cycles.py. Each cycle is searched from its smallest node."""
    from maxmargin.counting.compiled.paths import best_subset, fill_subsets, trace_subset

    n = len(W)
    best, cycle = -np.inf, [0]
    for begin in range(1 if front else n - shortest + 1):
        # The first node becomes the last column.
        arcs = np.ascontiguousarray(np.roll(W[begin + 1 :, begin:], -1, axis=1))
        table = np.empty((2 ** len(arcs), len(arcs) + 1))
        table[0, :-1], table[0, -1] = W[begin, begin + 1 :], 0.0
        fill_subsets(arcs, table)
        subset = best_subset(table, shortest - 1, longest - 1)
        if table[subset, -1] > best:
            best = table[subset, -1]
            tour = np.empty(len(arcs), dtype=np.int64)
            size = trace_subset(arcs, table, subset, tour)
            cycle = [begin, *(begin + 1 + tour[:size]).tolist()]
    return cycle
