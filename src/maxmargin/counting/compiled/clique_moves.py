"""Tabu searches for heavy sets of vertices: steps of one vertex in or out, or exchanges of two.

value(A) = Σ_{u<v in A} W[u, v] + Σ_{u in A} h[u]. Steps are made even if they lose, but never with a vertex that moved
recently: a vertex that moves at a step is tabu for the next tenures[step] steps. The best set on the way is kept, and
improved at the end until no step gains. members and gains (of adding or keeping each vertex) describe the start and are
scratch arrays, as is free_at; best and highest are the best set so far and its value.
"""

from __future__ import annotations

import numpy as np

from maxmargin.base.compiled.kernel import kernel


@kernel
def copy(source, target):
    """Copy source to target; assigning slices would allocate."""
    for v in range(len(source)):
        target[v] = source[v]


@kernel
def keep_best(members, value, best, highest):
    """Keep a set whose value is the highest so far, and return the highest value."""
    if value > highest:
        copy(members, best)
        return value
    return highest


@kernel
def gather(W, h, members, gains):
    """Fill the gains of a set and return its value."""
    n = len(h)
    value = 0.0
    for v in range(n):
        gains[v] = h[v]
    for u in range(n):
        if members[u]:
            value += h[u]
            for v in range(n):
                gains[v] += W[u, v]
    for u in range(n):
        if members[u]:
            value += 0.5 * (gains[u] - h[u])
    return value


@kernel
def flip_search(W, h, members, gains, free_at, tenures, best, highest):
    """Search by adding or removing vertices; return the new highest value. A tabu step is allowed if it attains it."""
    n = len(h)
    value = gather(W, h, members, gains)
    highest = keep_best(members, value, best, highest)
    free_at[:] = 0
    for step in range(len(tenures)):
        moved, most = -1, -np.inf
        for v in range(n):
            change = -gains[v] if members[v] else gains[v]
            if change > most and (free_at[v] <= step or value + change > highest):
                moved, most = v, change
        if moved < 0:
            break
        value += most
        flip(W, members, gains, moved)
        free_at[moved] = step + 1 + tenures[step]
        highest = keep_best(members, value, best, highest)
    copy(best, members)
    highest = gather(W, h, members, gains)
    for _ in range(n * n):  # a limit far above the necessary number
        moved, most = -1, 1e-12 * (1.0 + abs(highest))
        for v in range(n):
            change = -gains[v] if members[v] else gains[v]
            if change > most:
                moved, most = v, change
        if moved < 0:
            break
        highest += most
        flip(W, members, gains, moved)
    copy(members, best)
    return highest


@kernel
def flip(W, members, gains, v):
    """Add v to the set, or remove it."""
    sign = -1.0 if members[v] else 1.0
    members[v] = not members[v]
    for u in range(len(gains)):
        gains[u] += sign * W[v, u]


@kernel
def swap_search(W, h, members, gains, free_at, tenures, best, highest):
    """Search by exchanges, which keep the size of the set, and return the new highest value.

    During the search the two vertices are chosen one after the other; only at the end all pairs are compared.
    """
    value = gather(W, h, members, gains)
    highest = keep_best(members, value, best, highest)
    free_at[:] = 0
    for step in range(len(tenures)):
        out, into = quick_swap(W, members, gains, free_at, step)
        if out < 0 or into < 0:
            break
        value += gains[into] - gains[out] - W[out, into]
        flip(W, members, gains, out)
        flip(W, members, gains, into)
        free_at[out] = free_at[into] = step + 1 + tenures[step]
        highest = keep_best(members, value, best, highest)
    copy(best, members)
    highest = gather(W, h, members, gains)
    for _ in range(len(h) * len(h)):
        out, into, most = best_swap(W, members, gains, 1e-12 * (1.0 + abs(highest)))
        if out < 0:
            break
        highest += most
        flip(W, members, gains, out)
        flip(W, members, gains, into)
    copy(members, best)
    return highest


@kernel
def quick_swap(W, members, gains, free_at, step):
    """Return, among the vertices that are not tabu, the member with the least gain and its best replacement."""
    n = len(gains)
    out, least = -1, np.inf
    for u in range(n):
        if members[u] and free_at[u] <= step and gains[u] < least:
            out, least = u, gains[u]
    into, most = -1, -np.inf
    if out >= 0:
        for v in range(n):
            if not members[v] and free_at[v] <= step and gains[v] - W[out, v] > most:
                into, most = v, gains[v] - W[out, v]
    return out, into


@kernel
def best_swap(W, members, gains, most):
    """Return the exchange of two vertices that gains most, and more than `most`."""
    n = len(gains)
    out = into = -1
    for u in range(n):
        if members[u]:
            for v in range(n):
                change = gains[v] - gains[u] - W[u, v]
                if change > most and not members[v]:
                    out, into, most = u, v, change
    return out, into, most
