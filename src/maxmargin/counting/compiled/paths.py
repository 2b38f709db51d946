"""The best simple path through every subset of nodes, by dynamic programming over subsets (Held and Karp).

A path begins at a depot, visits all nodes of a subset once and then steps to one node more, or back to the depot. With
m nodes 0 … m - 1 and the depot as column m,

    table[Q, v] = max_{u in Q} table[Q - {u}, u] + arcs[u, v],      table[{}, v] = the arc from the depot to v,     (1)

is the best value of a path over exactly the nodes Q that then steps to v; table[Q, m] is the best tour of Q.
Subsets are the bits of the row number. Entries with v in Q have no meaning and are never read.
"""

from __future__ import annotations

from maxmargin.base.compiled.kernel import kernel


@kernel
def fill_subsets(arcs, table):
    """Fill all rows of (1) except row 0, which the caller has filled. arcs is (m, m + 1), table (2**m, m + 1)."""
    m = len(arcs)
    for subset in range(1, len(table)):
        for v in range(m + 1):
            table[subset, v] = -1e308
        for u in range(m):
            if (subset >> u) & 1:
                value = table[subset ^ (1 << u), u]
                for v in range(m + 1):  # no branch on v in Q, so that the loop is one vector instruction for 4 nodes
                    candidate = value + arcs[u, v]
                    if candidate > table[subset, v]:
                        table[subset, v] = candidate


@kernel
def best_subset(table, least, most):
    """Return the subset of `least` to `most` nodes with the best tour, the first of equal ones; -1 if there is none."""
    best, m = -1, table.shape[1] - 1
    for subset in range(len(table)):
        size, rest = 0, subset
        while rest:
            rest &= rest - 1
            size += 1
        if least <= size <= most and (best < 0 or table[subset, m] > table[best, m]):
            best = subset
    return best


@kernel
def trace_subset(arcs, table, subset, tour):
    """Write the nodes of the best tour of a subset in the order of visits, and return their number."""
    m = len(arcs)
    size, rest = 0, subset
    while rest:
        rest &= rest - 1
        size += 1
    step, place = m, size
    while subset:
        chosen = -1
        best = 0.0
        for u in range(m):
            if (subset >> u) & 1:
                candidate = table[subset ^ (1 << u), u] + arcs[u, step]
                if chosen < 0 or candidate > best:
                    chosen, best = u, candidate
        place -= 1
        tour[place] = chosen
        subset ^= 1 << chosen
        step = chosen
    return size
