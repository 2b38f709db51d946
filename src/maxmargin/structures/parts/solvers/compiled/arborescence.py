"""The cheapest arborescence of a sparse graph (Chu and Liu 1965; Edmonds 1967)."""

from __future__ import annotations

from maxmargin.compiled.kernel import kernel


@kernel
def cheapest_arborescences(
    costs, arcs, tails, heads, n_nodes, root, reduced, top, parent, enter, mark, own, chosen
):  # fmt: skip
    """Set chosen[r, p] = 1 for the arcs p of a cheapest arborescence from the root at costs[r].

    Every node takes its cheapest arc. Nodes on a cycle of these become one node, and an arc into a node v of it counts
    for what it adds over the cycle's own arc into v, which it replaces:

        reduced[p] = reduced[p] - reduced[the cheapest arc into v]                                                   (1)

    until there is no cycle. Then the cycles are opened, the last ones first: where the arc that enters a cycle ends, it
    is taken, and elsewhere the cycle's own arcs are.

    arcs are the numbers of those that may be taken, without loops and arcs into the root; tails and heads are their
    ends. All nodes can be reached. chosen is 0. Scratch: reduced, a number per arc; top, one per node; parent, enter,
    mark and own, two per node, because there are fewer cycles than nodes. O(arcs) for every round of contraction.
    """
    for r in range(len(costs)):
        for k in range(len(arcs)):
            reduced[k] = costs[r, arcs[k]]
        for v in range(n_nodes):
            top[v] = v
        for v in range(2 * n_nodes):
            parent[v] = enter[v] = -1
        count = n_nodes  # of nodes and contracted cycles
        while True:
            for v in range(count):
                if parent[v] < 0:
                    enter[v] = -1
                mark[v] = -1
            for k in range(len(arcs)):
                u, v = top[tails[k]], top[heads[k]]
                if u != v and (enter[v] < 0 or reduced[k] < reduced[enter[v]]):
                    enter[v] = k
            first = count
            for start in range(first):
                if parent[start] >= 0 or start == root:
                    continue
                v = start
                while v != root and mark[v] < 0:
                    mark[v] = start
                    v = top[tails[enter[v]]]
                if v != root and mark[v] == start and parent[v] < 0:  # the walk from here has met itself
                    while parent[v] < 0:
                        parent[v] = count
                        v = top[tails[enter[v]]]
                    count += 1
            if count == first:
                break
            for v in range(first):
                own[v] = reduced[enter[v]] if enter[v] >= 0 else 0.0
            for k in range(len(arcs)):
                v = top[heads[k]]
                if parent[v] >= 0:
                    reduced[k] -= own[v]
            for v in range(n_nodes):
                if parent[top[v]] >= 0:
                    top[v] = parent[top[v]]
        for back in range(count - n_nodes):
            cycle = count - 1 - back
            v = heads[enter[cycle]]
            while parent[v] != cycle:
                v = parent[v]
            enter[v] = enter[cycle]
        for v in range(n_nodes):
            if v != root:
                chosen[r, arcs[enter[v]]] = 1.0
