"""Maximum spanning forests by Kruskal's algorithm, for several graphs in one call.

The edges of a graph are given from the best to the worst, without those that must not be taken: the caller chooses
these (all with a positive weight, or all inside of some clusters).
"""

from __future__ import annotations

from maxmargin.base.compiled.kernel import kernel


@kernel
def root(parent, item):
    """Return the item that represents the tree of this one, halving the path to it for later calls."""
    while parent[item] != item:
        parent[item] = parent[parent[item]]
        item = parent[item]
    return item


@kernel
def spanning_forests(order, bounds, n_items, first, second, parent, taken, counts):
    """Take the edges of each graph in their order, except those that would close a cycle.

    Graph j has the items 0 … n_items[j] - 1 and the edges order[bounds[j] : bounds[j + 1]], where edge e links the
    items first[e] and second[e]. Write the edges of all forests one after another into `taken` and their numbers into
    `counts`. Scratch: parent, as long as the largest graph has items.
    """
    total = 0
    for j in range(len(n_items)):
        begin = total
        for item in range(n_items[j]):
            parent[item] = item
        for k in range(bounds[j], bounds[j + 1]):
            edge = order[k]
            a, b = root(parent, first[edge]), root(parent, second[edge])
            if a != b:
                parent[a] = b
                taken[total] = edge
                total += 1
                if total - begin == n_items[j] - 1:  # one tree: every further edge closes a cycle
                    break
        counts[j] = total - begin
