"""The best cycle through node 0 with k other nodes, by branch and bound: exact if the search is completed.

The best walk, which may repeat nodes, is found by dynamic programming, and bounds the gain of a cycle on its way back.
With prices λ_v >= 0 on visits, repaid once for every node, the bound

    max_walks Σ (W_uv - λ_v) + Σ_v λ_v                                                                              (1)

also holds for cycles, which visit no node twice. Subgradient steps lower it: they raise the prices of nodes that the
best walk visits more than once.
"""

from __future__ import annotations

import numpy as np

from maxmargin.base.arrays import Array

# Rounds of price updates, steps of the search; most problems need the first stage only.
STAGES = ((10, 20_000), (150, 3_000_000))
TOLERANCE = 1e-10  # relative to the largest score; smaller improvements are ignored


def bounded_cycle(W: Array, size: int, known: list[int]) -> tuple[list[int], bool]:
    """Return the best cycle of `size` nodes through node 0 that was found, and whether it is proved to be optimal.

    known : a good cycle that begins with node 0; only better ones are searched for.
    """
    exact = False
    for rounds, budget in STAGES:
        if not exact:
            known, exact = _searched(W, size, known, rounds, budget)
    return known, exact


def _searched(W: Array, size: int, known: list[int], rounds: int, budget: int) -> tuple[list[int], bool]:
    from maxmargin.counting.compiled.bounded_paths import search_paths

    n, k = len(W), size - 1
    target = float(W[known, np.roll(known, -1)].sum()) + TOLERANCE * float(np.abs(W).max(initial=0.0))
    prices, bounds = _prices(W, k, target, rounds)
    repaid = float(prices.sum())
    if bounds[k, 0] + repaid <= target:
        return known, True
    priced = W - prices
    ahead = np.full((k + 1, n, n), -np.inf)
    ahead[1:, :, 1:] = priced[:, 1:] + bounds[:k, None, 1:]
    order = np.argsort(-ahead, axis=2, kind="stable").astype(np.int32)
    path, tried, best = np.zeros((3, k + 1), dtype=np.int64)
    used, values = np.zeros(n, dtype=np.uint8), np.zeros((2, k + 1))
    value, left = search_paths(W, priced, repaid, bounds, order, target, budget, path, tried, used, values, best)
    return [0, *best[:k].tolist()] if value > target else known, bool(left > 0)


def _prices(W: Array, k: int, target: float, rounds: int) -> tuple[Array, Array]:
    """Return prices with a low bound (1), and the bounds of all ways back under these prices."""
    from maxmargin.counting.compiled.bounded_paths import count_visits, fill_bounds

    n = len(W)
    prices, visits = np.zeros(n), np.zeros(n, dtype=np.int64)
    bounds, best_bounds = np.zeros((k + 1, n)), np.zeros((k + 1, n))
    lowest, best_prices, pace, stale = np.inf, prices, 1.0, 0
    for _ in range(rounds):
        priced = W - prices
        fill_bounds(priced, bounds)
        bound = float(bounds[k, 0] + prices.sum())
        stale += 1
        if bound < lowest:
            lowest, best_prices, stale = bound, prices, 0
            best_bounds[:] = bounds
        count_visits(priced, bounds, visits)
        slope = visits - 1.0
        slope[0] = 0.0
        slope[(prices == 0.0) & (slope < 0)] = 0.0
        if lowest <= target or not slope.any():
            break
        if stale == 10:
            pace, stale = pace / 2, 0
        prices = np.maximum(prices + pace * (bound - target) / float(slope @ slope) * slope, 0.0)
    return best_prices, best_bounds
