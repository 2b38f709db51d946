"""The heaviest set of vertices, of any size or of a given one: quadratic 0/1 programming.

Maximise  Σ_{u<v in A} W_uv + Σ_{u in A} h_u  over sets A of vertices. The problem is NP-hard. Vertices that are in or
out of every optimum are fixed first; if few vertices remain, or if there are few sets of the given size, all sets are
compared; otherwise a tabu search looks for a good set.
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array

SEARCHED = 20  # the largest number of vertices for which all sets are compared
LISTED = 50_000  # the largest number of sets of one size that are listed
STARTS, STEPS = 8, 20  # the number of starts of the tabu search, and the moves per vertex and start

Members = NDArray[np.bool_]


def heaviest_clique(W: Array) -> tuple[Members, bool]:
    """Return a set of vertices with the highest sum of W (symmetric) over its pairs, and whether it is optimal."""
    n = len(W)
    inside, rest = np.zeros(n, dtype=bool), np.arange(n)
    gains = np.zeros(n)  # gains of the vertices with those that are fixed inside
    while len(rest):
        block = W[np.ix_(rest, rest)]
        always = gains[rest] + np.minimum(block, 0).sum(1) >= 0  # inside every optimum
        never = (gains[rest] + np.maximum(block, 0).sum(1) <= 0) & ~always
        if not (always.any() or never.any()):
            break
        inside[rest[always]] = True
        gains += W[:, rest[always]].sum(1)
        rest = rest[~always & ~never]
    exact = len(rest) <= SEARCHED
    search = best_of_all if exact else tabu_flips
    inside[rest] = search(W[np.ix_(rest, rest)], gains[rest])
    return inside, exact


def heaviest_clique_of(W: Array, size: int) -> tuple[Members, bool]:
    """Return the heaviest set of `size` vertices that was found, and whether it is optimal."""
    n, nothing = len(W), np.zeros(len(W))
    if n <= SEARCHED:
        return best_of_all(W, nothing, size), True
    if comb(n, size) <= LISTED:
        if 2 * size <= n:
            return best_of_size(W, nothing, size), True
        # The sum over A is the sum over all vertices, minus the sums at the vertices left out, plus the pairs that
        # were subtracted twice.
        return ~best_of_size(W, -W.sum(1), n - size), True
    return tabu_swaps(W, size), False


def best_of_all(W: Array, h: Array, size: int | None = None) -> Members:
    """Return the best of all sets, as the union of a set in one half of the vertices and a set in the other half."""
    n = len(W)
    first, second = slice(0, n // 2), slice(n // 2, n)
    A, B = all_sets(n // 2), all_sets(n - n // 2)
    totals = A @ W[first, second] @ B.T
    totals += _sums(A, W[first, first], h[first])[:, None] + _sums(B, W[second, second], h[second])
    if size is not None:
        totals[A.sum(1)[:, None] + B.sum(1) != size] = -np.inf
    a, b = np.unravel_index(int(np.argmax(totals)), totals.shape)
    return np.concatenate([A[a], B[b]]) > 0


def all_sets(n: int) -> Array:
    """Return a (2^n, n) array with the indicators of all subsets of n vertices."""
    return (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(float)


def best_of_size(W: Array, h: Array, size: int) -> Members:
    """Return the best set of one size by listing them all."""
    n = len(W)
    sets = np.array(list(combinations(range(n), size)), dtype=np.intp).reshape(comb(n, size), size)
    totals = h[sets].sum(1)
    for i, j in combinations(range(size), 2):
        totals += W[sets[:, i], sets[:, j]]
    members = np.zeros(n, dtype=bool)
    members[sets[int(np.argmax(totals))]] = True
    return members


def tabu_flips(W: Array, h: Array) -> Members:
    """Return a set that adding or removing a vertex does not improve, from the empty set and random starts."""
    from maxmargin.counting.compiled.clique_moves import flip_search

    n, rng = len(W), np.random.default_rng(0)
    starts = [np.zeros(n, dtype=np.bool_), *(rng.random((STARTS - 1, n)) < 0.5)]
    return _best_of_starts(flip_search, W, h, starts, STEPS * n, n // 20 + 1, n // 20 + 10, rng)


def tabu_swaps(W: Array, size: int) -> Members:
    """Return a set of one size that no exchange of two vertices improves, from large sums of W and random starts."""
    from maxmargin.counting.compiled.clique_moves import swap_search

    n, rng = len(W), np.random.default_rng(0)
    chosen = [np.argsort(-W.sum(1), kind="stable")[:size]]
    chosen += [rng.choice(n, size, replace=False) for _ in range(STARTS - 1)]
    starts = [np.isin(np.arange(n), numbers) for numbers in chosen]
    longest = min(10, size // 2, (n - size) // 2)  # so that there is always a vertex that is not tabu
    return _best_of_starts(swap_search, W, np.zeros(n), starts, STEPS * n, 1, longest, rng)


def _best_of_starts(
    search: Any,
    W: Array,
    h: Array,
    starts: list[Members],
    steps: int,
    shortest: int,
    longest: int,
    rng: np.random.Generator,
) -> Members:
    """Return the best set of several searches, in which a vertex that moved is tabu for shortest to longest steps."""
    n = len(W)
    W, h = np.ascontiguousarray(W, dtype=np.float64), np.ascontiguousarray(h, dtype=np.float64)
    gains, free_at = np.empty(n), np.empty(n, dtype=np.int64)
    best, highest = np.zeros(n, dtype=np.bool_), -np.inf
    for members in starts:
        tenures = rng.integers(shortest, max(longest, shortest), size=steps, endpoint=True)
        highest = search(W, h, members.copy(), gains, free_at, tenures, best, highest)
    return best


def _sums(sets: Array, W: Array, h: Array) -> Array:
    return 0.5 * np.einsum("si,si->s", sets @ W, sets) + sets @ h
