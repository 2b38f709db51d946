"""The maximum spanning arborescence, a tree of arcs away from a root (Chu and Liu 1965; Edmonds 1967)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array, Index


def best_heads(scores: Array) -> Index:
    """Return the tails of the arcs into nodes 1 … n-1 of the tree rooted at node 0 with the highest sum of scores.

    scores : (n, n); scores[h, m] is the score of the arc from h to m, -inf if there is none. All nodes must be
    reachable
        from node 0. Column 0 and the diagonal are not read.

    Every node takes its best incoming arc. Each cycle of these arcs is contracted to one node; an arc into a cycle
    counts
    for what it gains over the arc of the cycle that it replaces. This is repeated until no cycle is left, and the
    cycles
    are expanded again in reverse order. Dense: O(n²) for each level of contraction.
    """
    scores = np.array(scores, dtype=np.float64)
    np.fill_diagonal(scores, -np.inf)
    scores[:, 0] = -np.inf
    levels = []
    while True:
        heads = scores.argmax(axis=0)
        heads[0] = 0
        group, cyclic = _contracted(heads)
        if not cyclic.any():
            break
        levels.append(_Level(scores, heads, group, cyclic))
        scores = levels[-1].smaller
    for level in reversed(levels):
        heads = level.opened(heads)
    return heads[1:]


class _Level:
    """The nodes of one level, whose best arcs have cycles, and the smaller graph in which every cycle is a node."""

    def __init__(self, scores: Array, heads: Index, group: Index, cyclic: NDArray[np.bool_]):
        n, size = len(scores), int(group.max()) + 1
        self.heads, self.group = heads, group
        gains = scores - np.where(cyclic, scores[heads, np.arange(n)], 0.0)
        gains[group[:, None] == group[None, :]] = -np.inf
        # The best arc between every two groups, first over its heads, then over its tails.
        order = np.argsort(group, kind="stable")
        starts = np.searchsorted(group[order], np.arange(size))
        self.enters = _argmax_of_groups(gains, order, starts)  # (n, size): the head in a group for every tail
        reached = np.take_along_axis(gains, self.enters, axis=1)
        self.leaves = _argmax_of_groups(reached.T, order, starts).T  # (size, size): the tail in a group
        self.smaller = np.take_along_axis(reached, self.leaves, axis=0)

    def opened(self, chosen: Index) -> Index:
        """Return the heads of all nodes, given those of the groups."""
        heads = self.heads.copy()  # correct inside cycles, except at the node where each cycle is entered
        for into in range(1, len(chosen)):
            tail = self.leaves[chosen[into], into]
            heads[self.enters[tail, into]] = tail
        return heads


def _argmax_of_groups(values: Array, order: Index, starts: Index) -> Index:
    """Return for every row, and every group of columns, the column with the highest value."""
    result = np.empty((len(values), len(starts)), dtype=np.intp)
    sizes = np.diff(np.append(starts, len(order)))
    alone = sizes == 1
    result[:, alone] = order[starts[alone]]
    for g in np.flatnonzero(~alone):
        members = order[starts[g] : starts[g] + sizes[g]]
        result[:, g] = members[values[:, members].argmax(axis=1)]
    return result


def _contracted(heads: Index) -> tuple[Index, NDArray[np.bool_]]:
    """Return the number of every node after contraction (node 0 keeps 0), and whether it is on a cycle."""
    n = len(heads)
    seen, cyclic, group = np.full(n, -1), np.zeros(n, dtype=bool), np.full(n, -1)
    seen[0] = group[0] = 0
    count = 1
    for start in range(1, n):
        node = start
        while seen[node] < 0:
            seen[node] = start
            node = heads[node]
        if seen[node] == start:  # this walk has closed a cycle
            while not cyclic[node]:
                cyclic[node], group[node] = True, count
                node = heads[node]
            count += 1
    group[group < 0] = np.arange(count, count + np.count_nonzero(group < 0))
    return group, cyclic
