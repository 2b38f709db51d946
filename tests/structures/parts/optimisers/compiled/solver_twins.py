"""The compiled searches again, in plain Python, each by another way where there is one."""

from functools import cache
from itertools import product

import numpy as np


def cheapest_path(costs, arcs, source, target):
    """The value of a path, by recursion from its beginning."""

    @cache
    def reach(node):
        into = [reach(u) + costs[p] for p, (u, v) in enumerate(arcs) if v == node]
        return 0.0 if node == source else min(into, default=np.inf)

    return reach(target)


def fullest_knapsack(values, weights, capacities):
    """The value of a knapsack, by recursion over things and what is left."""

    @cache
    def best(i, *left):
        if i == len(values):
            return 0.0
        without = best(i + 1, *left)
        rest = tuple(a - w for a, w in zip(left, weights[:, i], strict=True))
        return without if min(rest) < 0 else max(without, values[i] + best(i + 1, *rest))

    return best(0, *map(int, capacities))


def cheapest_tree(costs, arcs, n_nodes):
    """The value of a spanning tree, grown from node 0 (Prim)."""
    inside, total = {0}, 0.0
    while len(inside) < n_nodes:
        leaving = [p for p, (u, v) in enumerate(arcs) if (u in inside) != (v in inside)]
        p = min(leaving, key=costs.__getitem__)
        inside |= set(arcs[p])
        total += costs[p]
    return total


def cheapest_arborescence(costs, arcs, n_nodes, root):
    """The value of an arborescence: every choice of one arc into each node from which the root is found."""
    into = [[p for p, (_, v) in enumerate(arcs) if v == node] for node in range(n_nodes) if node != root]
    others = [node for node in range(n_nodes) if node != root]
    best = np.inf
    for chosen in product(*into):
        tails = {node: arcs[p][0] for node, p in zip(others, chosen, strict=True)}
        if all(_found(tails, node, root) for node in others):
            best = min(best, sum(costs[p] for p in chosen))
    return best


def _found(tails, node, root):
    for _ in range(len(tails)):
        node = tails.get(node, root)
    return node == root
