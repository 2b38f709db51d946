"""Shortest paths in an acyclic graph, by dynamic programming from the target backwards."""

from __future__ import annotations

from maxmargin.base.compiled.kernel import kernel


@kernel
def cheapest_paths(costs, arcs, tails, heads, source, target, ahead, onward, chosen):
    """Set chosen[r, p] = 1 for the arcs p of a cheapest path from source to target at costs[r].

        ahead[u] = min_{arcs p: u -> v} costs[r, p] + ahead[v],      ahead[target] = 0                               (1)

    `arcs` are the numbers of the arcs on paths to the target, in reverse topological order of their tails; `tails` and
    `heads` are the ends of these arcs. `chosen` must be 0 initially. The scratch arrays `ahead` and `onward` have one
    number per node.
    """
    for r in range(len(costs)):
        for u in range(len(ahead)):
            ahead[u], onward[u] = 0.0, -1
        for k in range(len(arcs)):
            u = tails[k]
            total = costs[r, arcs[k]] + ahead[heads[k]]
            if onward[u] < 0 or total < ahead[u]:  # the first arc is taken at any cost, so that the path is complete
                ahead[u], onward[u] = total, k
        at = source
        while at != target:
            k = onward[at]
            chosen[r, arcs[k]] = 1.0
            at = heads[k]
