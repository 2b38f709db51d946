"""Maximum spanning forests by Kruskal's algorithm, for several graphs in one call.

The edges of a graph come sorted from the best to the worst, and only those that may be taken: which edges these are
(all with a positive weight, or all inside of some clusters) is the caller's question.
"""

from __future__ import annotations

from maxmargin.base.compiled.kernel import kernel


@kernel
def root(parent, item):
    """The item that stands for the tree of this one; the way there is halved for the next who asks."""
    while parent[item] != item:
        parent[item] = parent[parent[item]]
        item = parent[item]
    return item


@kernel
def spanning_forests(order, bounds, n_items, first, second, parent, taken, counts):
    """Take the edges of each graph in their order, except those that would close a cycle.

    Graph j has the items 0 … n_items[j] - 1 and the edges order[bounds[j] : bounds[j + 1]], where edge e links the
    items first[e] and second[e]. Writes the edges of all forests one after another into `taken` and their numbers into
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
