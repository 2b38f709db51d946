"""The best tree of arcs away from node 0, by contraction (Chu and Liu 1965; Edmonds 1967; dense, Tarjan 1977).

The root is node 0, and words are nodes 1 … n. scores[h, m] is the score of the arc from h to m; column 0 and the
diagonal are not read.

    heads = argmax Σ_m scores[heads[m], m]      over all trees in which every node 1 … n has one head              (1)

Starting from any node, the best arcs into each node are followed backwards. If this path returns to one of its nodes,
the nodes of the cycle are contracted to one node. The score of an arc into that node is reduced by the score of the
cycle's arc that it would replace. The best arc into a node, contracted or not, is searched once, and a cycle of k nodes
is contracted in O(kn), so that the total time is O(n²).

If the root must have a single child, arcs are compared first by whether they come from the root, then by score. The
result is the best tree with the fewest arcs from the root, which is one: a node takes an arc from the root only if all
nodes have been contracted to it. The cycle arcs that are subtracted never come from the root, so this is exact and
needs no large constant.
"""

from typing import NamedTuple

import numpy as np

from maxmargin.base.compiled.kernel import kernel

UNSEEN, ON_PATH, DONE, GONE = 0, 1, 2, 3  # GONE: merged into another slot


class Contraction(NamedTuple):
    """Scratch arrays for up to n words. A slot holds a node, contracted or not; nodes have numbers up to 2n."""

    scores: np.ndarray  # (n + 1, n + 1) the score of the best arc between two slots
    tails: np.ndarray  # (n + 1, n + 1) the tail of the original arc of each score
    ends: np.ndarray  # (n + 1, n + 1) the end of the original arc of each score
    active: np.ndarray  # (n,) slots in use
    state: np.ndarray  # (n + 1,) UNSEEN, ON_PATH, DONE or GONE, for each slot
    number: np.ndarray  # (n + 1,) the number of the node in each slot
    gained: np.ndarray  # (n + 1,) the score of the arc into each slot on the path
    path: np.ndarray  # (n + 1,) slots; the arc into each comes from the next one
    owner: np.ndarray  # (2n + 1,) the node into which each was contracted, 0 if none
    tail: np.ndarray  # (2n + 1,) the tail of the original arc into every node
    end: np.ndarray  # (2n + 1,) the end of this arc


def contraction(n):
    """Allocate scratch arrays for up to n words."""
    size, double = n + 1, 2 * n + 2
    pairs = [np.empty((size, size), dtype=np.int32) for _ in range(2)]
    slots = [np.empty(size, dtype=np.int32) for _ in range(4)]
    nodes = [np.empty(double, dtype=np.int32) for _ in range(3)]
    return Contraction(
        np.empty((size, size)),
        pairs[0],
        pairs[1],
        slots[0],
        slots[1],
        slots[2],
        np.empty(size),
        slots[3],
        nodes[0],
        nodes[1],
        nodes[2],
    )


@kernel
def contracted(of, begin, length, n_active):
    """Contract the slots path[begin:length] into the slot of the first; return the number of slots that remain."""
    into = of.path[begin]
    for k in range(begin + 1, length):
        of.state[of.path[k]] = GONE
    remaining = 0
    for k in range(n_active):
        if of.state[of.active[k]] != GONE:
            of.active[remaining] = of.active[k]
            remaining += 1
    for k in range(remaining + 1):
        other = 0 if k == remaining else of.active[k]
        if other == into:
            continue
        best, source = of.scores[other, into] - of.gained[into], into
        for j in range(begin + 1, length):
            slot = of.path[j]
            if of.scores[other, slot] - of.gained[slot] > best:
                best, source = of.scores[other, slot] - of.gained[slot], slot
        of.scores[other, into] = best
        of.tails[other, into], of.ends[other, into] = of.tails[other, source], of.ends[other, source]
        if other > 0:
            source = into
            for j in range(begin + 1, length):
                if of.scores[of.path[j], other] > of.scores[source, other]:
                    source = of.path[j]
            of.scores[into, other] = of.scores[source, other]
            of.tails[into, other], of.ends[into, other] = of.tails[source, other], of.ends[source, other]
    return remaining


@kernel
def best_arborescence(n, single_root, of, heads):
    """Write the heads of the words 1 … n in (1) for of.scores, which is overwritten.

    With single_root, exactly one word has the head 0.
    """
    for u in range(n + 1):
        for v in range(n + 1):
            of.tails[u, v], of.ends[u, v] = u, v
        of.state[u], of.number[u] = UNSEEN, u
    for v in range(1, n + 1):
        of.active[v - 1] = v
    for v in range(2 * n + 1):
        of.owner[v] = 0
    n_active, n_nodes, begun = n, n, 0
    while begun < n_active:
        start = of.active[begun]
        if of.state[start] != UNSEEN:
            begun += 1
            continue
        length = 1
        of.path[0], of.state[start] = start, ON_PATH
        while True:
            here = of.path[length - 1]
            from_ = 0
            best = of.scores[0, here] if not single_root or n_active == 1 else -np.inf
            for k in range(n_active):
                slot = of.active[k]
                if slot != here and (of.scores[slot, here] > best or (from_ == 0 and single_root)):
                    best, from_ = of.scores[slot, here], slot
            node = of.number[here]
            of.tail[node], of.end[node], of.gained[here] = of.tails[from_, here], of.ends[from_, here], best
            if from_ == 0 or of.state[from_] == DONE:
                for k in range(length):
                    of.state[of.path[k]] = DONE
                break
            if of.state[from_] == UNSEEN:
                of.path[length], of.state[from_] = from_, ON_PATH
                length += 1
                continue
            begin = length - 1
            while of.path[begin] != from_:
                begin -= 1
            n_nodes += 1
            for k in range(begin, length):
                of.owner[of.number[of.path[k]]] = n_nodes
            n_active = contracted(of, begin, length, n_active)
            of.number[from_] = n_nodes
            length = begin + 1
            begun = 0
    for node in range(n_nodes, n, -1):  # expand the cycles, the last ones first: each is entered at one of its nodes
        inside = of.end[node]
        while of.owner[inside] != node:
            inside = of.owner[inside]
        of.tail[inside], of.end[inside] = of.tail[node], of.end[node]
    for v in range(1, n + 1):
        heads[v - 1] = of.tail[v]
