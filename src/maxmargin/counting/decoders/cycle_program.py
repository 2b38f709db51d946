"""The best cycle as an integer program: exact, with cuts added when its solution consists of several cycles.

Arcs x_uv and nodes y_u in {0, 1}:

    max Σ W_uv x_uv,   Σ_v x_uv = Σ_v x_vu = y_u,   shortest <= Σ y_u <= longest,                                   (1)
    x_uv + x_vu <= 1                                     if cycles of two nodes are too short,                      (2)
    Σ_{u in Q, v not in Q} x_uv >= y_a + y_b - 1         for a in Q, b not in Q, where a solution has a cycle Q.    (3)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import LinearConstraint

from maxmargin.base.arrays import Array
from maxmargin.counting.decoders.integer_program import least_cost


def programmed_cycle(W: Array, shortest: int, longest: int, front: bool) -> list[int]:
    """Return the best cycle; see cycles.py for the arguments."""
    n = len(W)
    tails, heads = np.nonzero(~np.eye(n, dtype=bool))
    m = len(tails)
    cost = np.concatenate([-W[tails, heads], np.zeros(n)])
    lower = np.zeros(m + n)
    lower[m:] = shortest == n
    lower[m] = lower[m] or front
    rows = [_degrees(tails, n), _degrees(heads, n), _length(m, n, shortest, longest)]
    if shortest >= 3:
        rows.append(_one_way(tails, heads, n))
    while True:
        chosen = np.flatnonzero(least_cost(cost, lower, rows, "cycle")[:m] > 0.5)
        cycles = _cycles(dict(zip(tails[chosen].tolist(), heads[chosen].tolist(), strict=True)))
        if len(cycles) == 1:
            return cycles[0]
        rows.extend(_cuts(cycles, tails, heads, n))


def _degrees(ends: Any, n: int) -> LinearConstraint:
    """Return the constraint that every node u has y_u arcs at this end."""
    m = len(ends)
    A = sparse.csr_array((np.ones(m), (ends, np.arange(m))), shape=(n, m))
    return LinearConstraint(sparse.hstack([A, -sparse.eye_array(n)], format="csr"), 0.0, 0.0)


def _length(m: int, n: int, shortest: int, longest: int) -> LinearConstraint:
    return LinearConstraint(np.concatenate([np.zeros(m), np.ones(n)])[None, :], shortest, longest)


def _one_way(tails: Any, heads: Any, n: int) -> LinearConstraint:
    """Return the constraints (2), one row per pair of nodes."""
    m = len(tails)
    pair = np.minimum(tails, heads) * n + np.maximum(tails, heads)
    _, number = np.unique(pair, return_inverse=True)
    A = sparse.csr_array((np.ones(m), (number, np.arange(m))), shape=(m // 2, m + n))
    return LinearConstraint(A, -np.inf, 1.0)


def _cuts(cycles: list[list[int]], tails: Any, heads: Any, n: int) -> list[LinearConstraint]:
    """Return the cuts (3) for every cycle of a solution, between its smallest node and the next cycle's, both ways."""
    cuts = []
    for k, cycle in enumerate(cycles):
        inside = np.zeros(n, dtype=bool)
        inside[cycle] = True
        ends = np.zeros(n)
        ends[[min(cycle), min(cycles[k - 1])]] = -1.0
        for leaving in (inside[tails] & ~inside[heads], inside[heads] & ~inside[tails]):
            row = np.concatenate([leaving.astype(float), ends])
            cuts.append(LinearConstraint(sparse.csr_array(row[None, :]), -1.0, np.inf))
    return cuts


def _cycles(follows: dict[int, int]) -> list[list[int]]:
    """Return the cycles that the arcs form."""
    found = []
    while follows:
        node = begin = min(follows)
        cycle = []
        while node in follows:
            cycle.append(node)
            node = follows.pop(node)
        assert node == begin
        found.append(cycle)
    return found
