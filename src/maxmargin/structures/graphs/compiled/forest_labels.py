"""The best labelling of a forest by dynamic programming, and the order of its nodes.

Nodes are visited children before parents. The subtree of a node is known by then, so that every edge is used once:
max-sum on a tree, of which the Viterbi algorithm is the case of a chain.
"""

from __future__ import annotations

from maxmargin.base.compiled.kernel import kernel


@kernel
def breadth_first(bounds, head, edge, order, parent, link):
    """Visit every node from a root, all roots of a graph in turn; return the number of nodes that are not roots.

    Write the nodes in the order of the visits, and for each its parent (-1 for a root) and the edge that leads there.
    A graph of as many edges as there are such nodes is a forest; other graphs get a spanning forest.
    """
    n_nodes = len(order)
    for i in range(n_nodes):
        parent[i] = -2
    seen = 0
    roots = 0
    for start in range(n_nodes):
        if parent[start] != -2:
            continue
        parent[start] = -1
        link[start] = -1
        order[seen] = start
        at = seen
        seen += 1
        roots += 1
        while at < seen:
            i = order[at]
            at += 1
            for a in range(bounds[i], bounds[i + 1]):
                j = head[a]
                if parent[j] == -2:
                    parent[j] = i
                    link[j] = edge[a]
                    order[seen] = j
                    seen += 1
    return n_nodes - roots


@kernel
def best_labels(unary, edges, pair, order, parent, link, below, choice, labels):
    """Label a forest with the highest score and return that score.

    order, parent, link: as `breadth_first` writes them. Scratch: below (N, K), the best score of a node's subtree for
    each of its labels; choice (N, K), the label of node i that is best for each label of its parent.
    """
    n_nodes, n_labels = unary.shape
    for i in range(n_nodes):
        for k in range(n_labels):
            below[i, k] = unary[i, k]
    for at in range(n_nodes - 1, -1, -1):
        i = order[at]
        top = parent[i]
        if top < 0:
            continue
        e = link[i]
        if edges[e, 0] == top:
            for k in range(n_labels):
                best = 0
                for m in range(1, n_labels):
                    if below[i, m] + pair[e, k, m] > below[i, best] + pair[e, k, best]:
                        best = m
                choice[i, k] = best
        else:  # the table is transposed
            for k in range(n_labels):
                choice[i, k] = 0
            for m in range(1, n_labels):
                for k in range(n_labels):
                    best = choice[i, k]
                    if below[i, m] + pair[e, m, k] > below[i, best] + pair[e, best, k]:
                        choice[i, k] = m
        for k in range(n_labels):
            best = choice[i, k]
            below[top, k] += below[i, best] + (pair[e, k, best] if edges[e, 0] == top else pair[e, best, k])
    total = 0.0
    for at in range(n_nodes):
        i = order[at]
        if parent[i] >= 0:
            labels[i] = choice[i, labels[parent[i]]]
            continue
        best = 0
        for k in range(1, n_labels):
            if below[i, k] > below[i, best]:
                best = k
        labels[i] = best
        total += below[i, best]
    return total
