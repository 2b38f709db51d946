"""The best order of items, the linear ordering problem: max Σ W[u, v] over pairs with u before v."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import LinearConstraint

from maxmargin.base.arrays import Array
from maxmargin.counting.decoders.integer_program import least_cost
from maxmargin.counting.decoders.methods import check_method, tries_all
from maxmargin.counting.decoders.pair_scores import checked_scores

STARTS = 20
KICKS = 60  # changes to the best order
TOLERANCE = 1e-10  # relative to the largest score; smaller gains are rounding errors


def best_order(W: Array, method: str = "auto") -> tuple[list[int], bool]:
    """Return the items from first to last, and whether this order is proved to be optimal; W's diagonal is not read."""
    check_method(method, len(W))
    W = checked_scores(W, "{u} before {v}")
    if method == "milp":
        return programmed_order(W), True
    if tries_all(method, len(W)):
        return exact_order(W), True
    return local_order(W), False


def exact_order(W: Array) -> list[int]:
    """Return the best order by dynamic programming over the sets of first items, in time 2^n n²."""
    from maxmargin.counting.compiled.linear_order import fill_prefixes

    n = len(W)
    table, last = np.empty(2**n), np.zeros(2**n, dtype=np.int8)
    fill_prefixes(W, table, last, np.empty(n))
    order, subset = [], 2**n - 1
    while subset:
        order.append(int(last[subset]))
        subset ^= 1 << order[-1]
    return order[::-1]


def local_order(W: Array) -> list[int]:
    """Return a good order, in which moving a single item gains nothing.

    The search starts from Borda's count, from random orders, and from the best order with a stretch of it shuffled. It
    is deterministic.
    """
    from maxmargin.counting.compiled.linear_order import climb_order

    n, rng = len(W), np.random.default_rng(0)
    tolerance = TOLERANCE * float(np.abs(W).max(initial=0.0)) + 1e-300
    best, found = -np.inf, np.argsort(W.sum(0) - W.sum(1), kind="stable").astype(np.int64)
    for start in range(STARTS + KICKS):
        order = found.copy()
        if 0 < start < STARTS:
            order = rng.permutation(n).astype(np.int64)
        elif start:
            begin = int(rng.integers(0, max(n - 2, 1)))
            rng.shuffle(order[begin : begin + int(rng.integers(3, 10))])
        climb_order(W, order, tolerance)
        value = float(np.triu(W[np.ix_(order, order)], 1).sum())
        if value > best:
            best, found = value, order
    return found.tolist()


def programmed_order(W: Array) -> list[int]:
    """Return the best order by an integer program over x_uv = [u before v], u < v; cycles are forbidden as they appear.

    With x_vu = 1 - x_uv, x is an order if x_uv + x_vw + x_wu <= 2 for all u, v, w, since any cycle implies one of three
    items.
    """
    n = len(W)
    tails, heads = np.triu_indices(n, 1)
    number = np.zeros((n, n), dtype=np.intp)
    number[tails, heads] = np.arange(len(tails))
    cost = W[heads, tails] - W[tails, heads]
    rows: list[LinearConstraint] = []
    while True:
        x = least_cost(cost, 0.0, rows, "order")
        before = np.zeros((n, n), dtype=bool)
        before[tails, heads] = x > 0.5
        before[heads, tails] = ~before[tails, heads]
        cycles = np.array(
            [
                (u, v, w)
                for u in range(n)
                for v in range(n)
                if before[u, v]
                for w in np.flatnonzero(before[v] & before[:, u]).tolist()
                if u < min(v, w)
            ],
            dtype=np.intp,
        ).reshape(-1, 3)
        if not len(cycles):
            return np.argsort(-before.sum(1), kind="stable").tolist()
        # u < v, u < w: x_uv + (x_vw or 1 - x_wv) + (1 - x_uw) <= 2
        u, v, w = cycles.T
        k = np.arange(len(cycles))
        ascending = v < w
        signs = np.concatenate([np.ones(len(k)), np.where(ascending, 1.0, -1.0), -np.ones(len(k))])
        places = np.concatenate([number[u, v], number[np.minimum(v, w), np.maximum(v, w)], number[u, w]])
        A = sparse.csr_array((signs, (np.tile(k, 3), places)), shape=(len(k), len(cost)))
        rows.append(LinearConstraint(A, -np.inf, np.where(ascending, 1.0, 0.0)))
