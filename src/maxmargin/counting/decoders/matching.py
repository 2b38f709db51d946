"""The best matching of a complete graph: a table over sets of vertices for few vertices, linear programs for many."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse.csgraph import connected_components

from maxmargin.base.arrays import Array, Index
from maxmargin.counting.decoders.integer_program import EXACTLY

TABLE = 18  # the largest number of vertices for which the table of 2^n numbers is faster
WHOLE = 1e-6  # tolerance for whole numbers in solutions of linear programs


class Matched(NamedTuple):
    """A matching: disjoint pairs of vertices."""

    pairs: list[tuple[int, int]]  # u < v
    exact: bool  # whether no matching is better by more than a millionth of the largest score


def best_matching(scores: Array, perfect: bool) -> Matched:
    """Return the matching with the highest sum of scores, given as a symmetric (n, n) matrix.

    perfect : whether every vertex must be matched. Otherwise pairs with a score <= 0 are never used.
    """
    if len(scores) <= TABLE:
        return Matched(matching_by_table(scores, perfect), True)
    return matching_by_cuts(scores, perfect)


def matching_by_table(scores: Array, perfect: bool) -> list[tuple[int, int]]:
    """Return the best matching of a few vertices, in n 2^n steps.

    best[M + 2^k], for a set M of vertices below k, is best[M] if k stays single, and best[M - j] + s_kj if it is
    matched with j: all sets with the highest vertex k are computed at once from those before.
    """
    n = len(scores)
    best = np.full(1 << n, -np.inf)
    best[0] = 0.0
    for k in range(n):
        below, now = best[: 1 << k], best[1 << k : 2 << k]
        if not perfect:
            now[:] = below
        for j in range(k):
            without, with_j = below.reshape(-1, 2, 1 << j)[:, 0], now.reshape(-1, 2, 1 << j)[:, 1]
            np.maximum(with_j, without + scores[k, j], out=with_j)
    pairs, left = [], (1 << n) - 1
    for k in reversed(range(n)):
        if not left >> k & 1:
            continue
        rest = left ^ 1 << k
        values = {j: best[rest ^ 1 << j] + scores[k, j] for j in range(k) if rest >> j & 1}
        j = max(values, key=values.__getitem__, default=-1)
        if j >= 0 and (perfect or values[j] > best[rest]):
            pairs.append((j, k))
            rest ^= 1 << j
        left = rest
    return pairs


def matching_by_cuts(scores: Array, perfect: bool) -> Matched:
    """Return the best matching of any number of vertices, by linear programs with cuts.

    The program is to maximise Σ s_e x_e with 0 <= x <= 1 and x(δ(v)) <= 1 (= 1 if perfect).

    The vertices of this polytope are half-integral; those that are not matchings have odd cycles of halves. The
    inequalities x(E(C)) <= (|C| - 1)/2 of odd sets C (Edmonds 1965) cut these off. They are added for the odd
    components of x that violate them until none does. If x is still fractional, which is rare, the program with these
    inequalities is solved in integers. The optimum of the linear program bounds all matchings from above; `exact` says
    whether the matching attains it.
    """
    n = len(scores)
    tails, heads = np.triu_indices(n, 1)
    values = scores[tails, heads]
    if not perfect:
        useful = values > 0
        tails, heads, values = tails[useful], heads[useful], values[useful]
    if not len(values):
        return Matched([], True)
    scale = float(np.abs(values).max()) or 1.0
    program = _Program(n, tails, heads, values / scale, perfect)
    x, bound = program.solve(integral=False)
    while program.cut_off(x):
        x, bound = program.solve(integral=False)
    if np.abs(x - np.round(x)).max() > WHOLE:
        x, bound = program.solve(integral=True)
    chosen = np.flatnonzero(x > 0.5)
    reached = bool(program.values[chosen].sum() >= bound - WHOLE)
    return Matched([(int(tails[e]), int(heads[e])) for e in chosen], reached)


class _Program:
    """The linear program with the odd sets found so far."""

    def __init__(self, n: int, tails: Index, heads: Index, values: Array, perfect: bool):
        self.n, self.tails, self.heads, self.values = n, tails, heads, values
        places = np.arange(len(values))
        ones = np.ones(2 * len(values))
        self.rows = [sparse.csr_array((ones, (np.append(tails, heads), np.append(places, places))), (n, len(values)))]
        self.low = [np.full(n, 1.0 if perfect else 0.0)]
        self.high = [np.ones(n)]

    def solve(self, integral: bool) -> tuple[Array, float]:
        """Return the best x, and an upper bound on its value."""
        found = milp(
            -self.values,
            integrality=np.full(len(self.values), int(integral)),
            bounds=Bounds(0, 1),
            constraints=LinearConstraint(
                sparse.vstack(self.rows, format="csr"), np.concatenate(self.low), np.concatenate(self.high)
            ),
            options=EXACTLY,
        )
        if found.x is None:
            raise RuntimeError(f"no matching of {self.n} vertices was found: {found.message}")
        return found.x, -float(found.mip_dual_bound if integral else found.fun)

    def cut_off(self, x: Array) -> bool:
        """Add the inequalities of the odd components that x violates; return False if there are none."""
        used = x > WHOLE
        graph = sparse.csr_array((x[used], (self.tails[used], self.heads[used])), shape=(self.n, self.n))
        count, component = connected_components(graph, directed=False)
        sizes = np.bincount(component, minlength=count)
        inside = np.where(component[self.tails] == component[self.heads], component[self.tails], -1)
        weight = np.bincount(inside[inside >= 0], weights=x[inside >= 0], minlength=count)
        violated = np.flatnonzero((sizes % 2 == 1) & (weight > (sizes - 1) / 2 + WHOLE))
        for c in violated:
            row = (inside == c).astype(np.float64)
            self.rows.append(sparse.csr_array(row[None, :]))
            self.low.append(np.array([-np.inf]))
            self.high.append(np.array([(sizes[c] - 1) / 2]))
        return bool(len(violated))
