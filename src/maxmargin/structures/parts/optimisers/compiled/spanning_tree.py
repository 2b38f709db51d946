"""The cheapest spanning tree of a graph (Kruskal 1956)."""

from __future__ import annotations

from maxmargin.base.compiled.kernel import kernel


@kernel
def cheapest_trees(order, tails, heads, n_nodes, above, chosen):
    """Set chosen[r, p] = 1 for the edges p of a spanning tree: edges as they come in order[r], but for those that close
    a cycle. chosen is 0. Scratch: above, the way from each node to the one that stands for all that are joined with it.
    """
    for r in range(len(order)):
        for u in range(n_nodes):
            above[u] = u
        found = 0
        for k in range(order.shape[1]):
            p = order[r, k]
            u, v = tails[p], heads[p]
            while above[u] != u:
                above[u] = above[above[u]]  # halve the way for the next time
                u = above[u]
            while above[v] != v:
                above[v] = above[above[v]]
                v = above[v]
            if u != v:
                above[u] = v
                chosen[r, p] = 1.0
                found += 1
                if found == n_nodes - 1:
                    break
