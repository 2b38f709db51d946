"""Minimum spanning arborescence of a sparse graph (Chu and Liu 1965; Edmonds 1967; with heaps, Tarjan 1977).

From every node a walk goes backwards along the cheapest arc into it, then along the cheapest arc into the tail of that
arc, and so on, until it meets the root or a node of an earlier walk. If the walk meets itself, the nodes of that cycle
are contracted to one node, and the cost of an arc into a node v of it is reduced by the cost of the cycle's arc into v,
which it would replace:

    reduced[p] = c_p - Σ_{cycles that p enters, from the inside} reduced[the cycle's own arc at p's end]             (1)

and the walk goes on from there. At the end cycles are expanded, the last ones first: the arc that enters a cycle
replaces the cycle's arc into the same node, and all its other arcs are taken.

The arcs into a node form a skew heap: joining two heaps and taking the cheapest arc cost O(log arcs) amortised, and a
number is added to all arcs of a heap by storing it at the root, from where it is propagated lazily.
"""

from __future__ import annotations

from maxmargin.base.compiled.kernel import kernel


@kernel
def hand_down(k, heaps):
    """Apply the pending addition of an arc, and pass it on to its two children."""
    reduced, added, left, right = heaps
    if added[k] != 0.0:
        reduced[k] += added[k]
        if left[k] >= 0:
            added[left[k]] += added[k]
        if right[k] >= 0:
            added[right[k]] += added[k]
        added[k] = 0.0


@kernel
def join(a, b, heaps):
    """Join two heaps, each given by its root arc (-1 if empty), and return the new root."""
    reduced, _, left, right = heaps
    if a < 0:
        return b
    if b < 0:
        return a
    hand_down(a, heaps)
    hand_down(b, heaps)
    if reduced[b] < reduced[a]:
        a, b = b, a
    top = a
    while True:  # b is merged into the right child of a, and the children are exchanged, which keeps heaps balanced
        below = right[a]
        right[a] = left[a]
        if below < 0:
            left[a] = b
            return top
        hand_down(below, heaps)
        if reduced[b] < reduced[below]:
            below, b = b, below
        left[a] = below
        a = below


@kernel
def outermost(v, above):
    """Return the outermost contracted cycle that contains a node, or the node itself."""
    while above[v] != v:
        above[v] = above[above[v]]  # path halving
        v = above[v]
    return v


@kernel
def cheapest_arborescences(costs, arcs, tails, heads, n_nodes, root, heaps, nodes, chosen):
    """Set chosen[r, p] = 1 for the arcs p of a cheapest arborescence from the root at costs[r].

    arcs are the numbers of the usable arcs, without loops and arcs into the root; tails and heads are their ends. The
    root has a path to all nodes. chosen is initially 0. Scratch: the ArcHeaps `heaps`, and `nodes`, six rows with two
    numbers per node, because there are fewer cycles than nodes.
    """
    reduced, added, left, right = heaps
    heap, enter, parent, above, walk, path = nodes[0], nodes[1], nodes[2], nodes[3], nodes[4], nodes[5]
    for r in range(len(costs)):
        for v in range(2 * n_nodes):
            heap[v] = enter[v] = parent[v] = walk[v] = -1
            above[v] = v
        for k in range(len(arcs)):
            reduced[k], added[k], left[k], right[k] = costs[r, arcs[k]], 0.0, -1, -1
            heap[heads[k]] = join(heap[heads[k]], k, heaps)
        walk[root] = n_nodes  # marks the root as visited by a walk of its own
        count = n_nodes  # number of nodes and cycles
        for start in range(n_nodes):
            at, length = outermost(start, above), 0
            while walk[at] < 0:
                before = at
                while before == at:  # skip arcs within a contracted cycle
                    k = heap[at]
                    hand_down(k, heaps)
                    heap[at] = join(left[k], right[k], heaps)
                    before = outermost(tails[k], above)
                enter[at], walk[at], path[length] = k, start, at
                length += 1
                if heap[at] >= 0:
                    added[heap[at]] -= reduced[k]  # (1), if this node becomes part of a cycle
                if walk[before] != start:
                    at = before
                    continue
                cycle = count
                count += 1
                at = -1
                while at != before:
                    length -= 1
                    at = path[length]
                    parent[at] = above[at] = cycle
                    heap[cycle] = join(heap[cycle], heap[at], heaps)
                at = cycle
        for back in range(count - n_nodes):
            cycle = count - 1 - back
            v = heads[enter[cycle]]
            while parent[v] != cycle:
                v = parent[v]
            enter[v] = enter[cycle]
        for v in range(n_nodes):
            if v != root:
                chosen[r, arcs[enter[v]]] = 1.0
