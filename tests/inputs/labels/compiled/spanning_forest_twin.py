"""Spanning forests written out: Kruskal with sets for trees, and all forests of a small graph."""

from __future__ import annotations

from itertools import combinations


def trees(n_items, edges):
    """The clusters that links make, as sets, in the order of their first items."""
    parts = [{item} for item in range(n_items)]
    for a, b in edges:
        one, other = (next(part for part in parts if item in part) for item in (a, b))
        if one is not other:
            parts.remove(one)
            parts.remove(other)
            parts.append(one | other)
    return sorted(parts, key=min)


def kruskal(n_items, edges):
    """The numbers of those edges, taken in order, that close no cycle."""
    taken = []
    for number, edge in enumerate(edges):
        before = [edges[k] for k in taken]
        if len(trees(n_items, [*before, edge])) < len(trees(n_items, before)):
            taken.append(number)
    return taken


def forests(n_items, edges):
    """All sets of edges, by number, that close no cycle."""
    for size in range(min(n_items, len(edges) + 1)):
        for chosen in combinations(range(len(edges)), size):
            if len(trees(n_items, [edges[k] for k in chosen])) == n_items - size:
                yield chosen
