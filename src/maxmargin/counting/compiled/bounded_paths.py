"""Depth-first search for the best cycle of k nodes through node 0, pruned by bounds on the gain of the way back."""

from __future__ import annotations

from maxmargin.base.compiled.kernel import kernel


@kernel
def fill_bounds(W, bounds):
    """Set bounds[t, v] to the best walk from v over t nodes other than 0, which may repeat, and then to node 0."""
    n = len(W)
    for v in range(1, n):
        bounds[0, v] = W[v, 0]
    for t in range(1, len(bounds)):
        for v in range(n):
            best = -1e308
            for u in range(1, n):
                if u != v:
                    best = max(best, W[v, u] + bounds[t - 1, u])
            bounds[t, v] = best


@kernel
def count_visits(W, bounds, visits):
    """Count how often the best walk from node 0 over len(bounds) - 1 nodes visits each node."""
    n = len(W)
    for v in range(n):
        visits[v] = 0
    at = 0
    for t in range(len(bounds) - 1, 0, -1):
        chosen = -1
        for u in range(1, n):
            if u != at and (chosen < 0 or W[at, u] + bounds[t - 1, u] > W[at, chosen] + bounds[t - 1, chosen]):
                chosen = u
        visits[chosen] += 1
        at = chosen


@kernel
def search_paths(W, priced, repaid, bounds, order, target, budget, path, tried, used, values, best_path):
    """Find the cycle 0, v_1 … v_k of distinct nodes with the highest value above the target, if there is one.

    priced is W minus the prices of the nodes that arcs lead to, and `repaid` at least the sum of the prices of the
    nodes of any cycle. bounds are from `fill_bounds` for `priced`, with k + 1 rows; order[t, v] lists the nodes u
    by priced[v, u] + bounds[t - 1, u], the best first. Return the highest value, the target if none is above it, and
    the rest of the budget of steps: 0 if the search was not finished. Write the nodes v_1 … v_k to best_path. Scratch:
    path and tried of length k + 1, values (2, k + 1), used of length n.
    """
    k, n = len(bounds) - 1, len(W)
    for v in range(n):
        used[v] = 0
    depth = 0
    path[0], tried[0], values[0, 0], values[1, 0] = 0, 0, 0.0, repaid
    while depth >= 0 and budget > 0:
        at, left = path[depth], k - depth  # nodes still to visit
        going = -1
        if left == 0:
            value = values[0, depth] + W[at, 0]
            if value > target:
                target = value
                for d in range(k):
                    best_path[d] = path[d + 1]
        else:
            while going < 0 and tried[depth] < n:
                u = order[left, at, tried[depth]]
                if u > 0 and u != at and not used[u]:
                    if values[1, depth] + priced[at, u] + bounds[left - 1, u] > target:
                        going = u
                    else:  # all further nodes are no better
                        tried[depth] = n
                tried[depth] += 1
        if going < 0:
            used[at] = 0
            depth -= 1
        else:
            budget -= 1
            depth += 1
            path[depth], tried[depth], used[going] = going, 0, 1
            values[0, depth] = values[0, depth - 1] + W[at, going]
            values[1, depth] = values[1, depth - 1] + priced[at, going]
    return target, budget
