"""Sequential message passing on a pairwise model: sweeps that lower the dual bound of its LP relaxation.

A model has scores unary (N, K) of nodes, edges (E, 2), and scores pair (E, K, K) of edges. messages[e, side] are the K
numbers that edge e adds to the scores of its node edges[e, side] and takes from its own, which changes the score of no
labelling. A node's own scores plus the messages of its edges are its belief. Nodes are visited in the order of their
rank, forth and back (Kolmogorov 2006, TRW-S; Kolmogorov 2015, SRMP).

The links of node i are links[first_link[i] : first_link[i + 1]]; link 2e + side is the end of edge e at edges[e, side],
and others[t] the node at the other end of link t. Those to nodes of lower rank come first, up to middle[i].
"""

from __future__ import annotations

import numpy as np

from maxmargin.base.compiled.kernel import kernel

ROUNDED = 5  # after this many sweeps the labels are improved and compared, which takes as long as a sweep


@kernel
def reach(start, begin, edges, first_link, links, rank, order):
    """Write the nodes of a component from order[begin] on, breadth first from a node; return their end."""
    order[begin] = start
    rank[start] = begin
    end = begin + 1
    at = begin
    while at < end:
        i = order[at]
        for t in range(first_link[i], first_link[i + 1]):
            j = edges[links[t] >> 1, 1 - (links[t] & 1)]
            if rank[j] < 0:
                rank[j] = end
                order[end] = j
                end += 1
        at += 1
    return end


@kernel
def rank_nodes(edges, first_link, links, rank, order):
    """Order the nodes breadth first, from one at the border of every component.

    The neighbours of a node are then near it in the order, some before and some after it, as sweeps need: in random
    order, they take 1.5 times as many iterations. The border node is one that a breadth-first search visits last.
    """
    n = len(rank)
    for i in range(n):
        rank[i] = -1
    begin = 0
    for i in range(n):
        if rank[i] < 0:
            end = reach(i, begin, edges, first_link, links, rank, order)
            last = order[end - 1]
            for at in range(begin, end):
                rank[order[at]] = -1
            begin = reach(last, begin, edges, first_link, links, rank, order)


@kernel
def send(pair, messages, e, side, out):
    """Write the most that edge e can give to every label of its end `side`: its best score, minus the other message."""
    n_labels = len(out)
    if side == 0:
        for k in range(n_labels):
            best = pair[e, k, 0] - messages[e, 1, 0]
            for m in range(1, n_labels):
                best = max(best, pair[e, k, m] - messages[e, 1, m])
            out[k] = best
    else:
        for m in range(n_labels):
            best = pair[e, 0, m] - messages[e, 0, 0]
            for k in range(1, n_labels):
                best = max(best, pair[e, k, m] - messages[e, 0, k])
            out[m] = best


@kernel
def add_given(pair, e, side, label, out):
    """Add the scores of the labels at one end of edge e if the other end has this label."""
    if side == 0:
        for k in range(len(out)):
            out[k] += pair[e, k, label]
    else:
        for k in range(len(out)):
            out[k] += pair[e, label, k]


@kernel
def sweep(unary, pair, graph, forward, messages, belief, given, labels):
    """Visit all nodes once, forth or back; return the bound that the messages then prove. `graph` is NodeLinks.

    A node takes from every edge behind it all that the edge can give, and spreads its belief over the edges ahead of
    it, 1 / max(edges ahead, edges behind) to each. Neither can raise the bound: if one maximum falls, the
    others rise by at most as much. After the sweep all edges have maximum 0, so the bound is the sum of the maxima of
    the nodes.

    On the way every node gets the best label given the labels behind it and the messages from ahead. Scratch: belief
    and given, both (K,). `send` and `add_given` are written out, because with few labels a call takes longer than its
    arithmetic.
    """
    first_link, middle, links, others, order = graph
    n, n_labels = unary.shape
    bound = 0.0
    for step in range(n):
        i = order[step] if forward else order[n - 1 - step]
        behind, until, ahead, end = first_link[i], middle[i], middle[i], first_link[i + 1]
        if not forward:
            behind, until, ahead, end = ahead, end, behind, until
        for k in range(n_labels):
            belief[k] = unary[i, k]
            given[k] = unary[i, k]
        for t in range(behind, until):
            e = links[t] >> 1
            side = links[t] & 1
            other = labels[others[t]]
            if side == 0:
                for k in range(n_labels):
                    sent = pair[e, k, 0] - messages[e, 1, 0]
                    for m in range(1, n_labels):
                        sent = max(sent, pair[e, k, m] - messages[e, 1, m])
                    messages[e, 0, k] = sent
                    belief[k] += sent
                    given[k] += pair[e, k, other]
            else:
                for m in range(n_labels):
                    sent = pair[e, 0, m] - messages[e, 0, 0]
                    for k in range(1, n_labels):
                        sent = max(sent, pair[e, k, m] - messages[e, 0, k])
                    messages[e, 1, m] = sent
                    belief[m] += sent
                    given[m] += pair[e, other, m]
        for t in range(ahead, end):
            e = links[t] >> 1
            side = links[t] & 1
            for k in range(n_labels):
                belief[k] += messages[e, side, k]
                given[k] += messages[e, side, k]
        best = 0
        top = belief[0]
        for k in range(1, n_labels):
            if given[k] > given[best]:
                best = k
            top = max(top, belief[k])
        labels[i] = best
        if ahead == end:
            bound += top
            continue
        share = 1.0 / max(end - ahead, until - behind)
        bound += (1.0 - (end - ahead) * share) * top
        for t in range(ahead, end):
            e = links[t] >> 1
            side = links[t] & 1
            for k in range(n_labels):
                messages[e, side, k] -= share * belief[k]
    return bound


@kernel
def improve_labels(unary, edges, pair, graph, given, labels):
    """Give every node in turn the best label given its neighbours', until none changes; return the score.

    There are at most 50 rounds, because rounding could make two equal labellings alternate forever. Scratch: given,
    (K,).
    """
    first_link, _, links, others, order = graph
    n, n_labels = unary.shape
    for _ in range(50):
        changed = False
        for step in range(n):
            i = order[step]
            for k in range(n_labels):
                given[k] = unary[i, k]
            for t in range(first_link[i], first_link[i + 1]):
                add_given(pair, links[t] >> 1, links[t] & 1, labels[others[t]], given)
            best = labels[i]
            for k in range(n_labels):
                if given[k] > given[best]:
                    best = k
            if best != labels[i]:
                labels[i] = best
                changed = True
        if not changed:
            break
    total = 0.0
    for i in range(n):
        total += unary[i, labels[i]]
    for e in range(len(edges)):
        total += pair[e, labels[edges[e, 0]], labels[edges[e, 1]]]
    return total


@kernel
def allowed(accuracy, value):
    """Return how far a bound may be above a value; accuracy is an Accuracy as a plain tuple."""
    most, base, near, known, news, least = accuracy
    return max(least, news * (value - known), min(most, near * (value - base)))


@kernel
def run_sweeps(model, graph, messages, belief, given, labels, best_labels, best, accuracy, stall, trace):
    """Sweep forth and back until the bound is near enough to the best score or makes no progress; return how often.

    The best score is the score of the best labelling found, which is kept in best_labels. No progress: in ten sweeps
    (forth or back) the bound has fallen by at most `stall` times its distance to the best score. Sweep s writes
    trace[s] = (bound, best score). `model` is PairwiseModel, and `graph` NodeLinks.
    """
    unary, edges, pair = model
    for s in range(len(trace)):
        bound = sweep(unary, pair, graph, s % 2 == 0, messages, belief, given, labels)
        if s % ROUNDED == 0:
            value = improve_labels(unary, edges, pair, graph, given, labels)
            if value > best:
                best = value
                for i in range(len(labels)):
                    best_labels[i] = labels[i]
        trace[s, 0] = bound
        trace[s, 1] = best
        distance = bound - best
        if distance <= allowed(accuracy, best) or (s >= 10 and trace[s - 10, 0] - bound <= stall * distance):
            return s + 1
    return len(trace)


@kernel
def level(unary, pair, first_link, links, order, messages, belief):
    """Let every node take from all its edges the most that they can give, and keep an equal share with each of them.

    Like a sweep this never raises the bound (Schlesinger and Antoniuk 2011, diffusion). After sweeps, edges hold nearly
    all of the difference between a label and the best one; after some of these rounds nodes and edges hold equal parts.
    Scratch: belief, (K,).
    """
    n, n_labels = unary.shape
    for step in range(n):
        i = order[step]
        for k in range(n_labels):
            belief[k] = unary[i, k]
        for t in range(first_link[i], first_link[i + 1]):
            e = links[t] >> 1
            side = links[t] & 1
            own = messages[e, side]
            send(pair, messages, e, side, own)
            for k in range(n_labels):
                belief[k] += own[k]
        share = 1.0 / (1 + first_link[i + 1] - first_link[i])
        for t in range(first_link[i], first_link[i + 1]):
            own = messages[links[t] >> 1, links[t] & 1]
            for k in range(n_labels):
                own[k] -= share * belief[k]


@kernel
def add_up(unary, edges, pair, messages, beliefs):
    """Write the beliefs of all nodes; return the bound: the sum of the maxima over nodes and of those over edges."""
    n, n_labels = unary.shape
    for i in range(n):
        for k in range(n_labels):
            beliefs[i, k] = unary[i, k]
    bound = 0.0
    for e in range(len(edges)):
        first = beliefs[edges[e, 0]]
        second = beliefs[edges[e, 1]]
        best = -np.inf
        for k in range(n_labels):
            first[k] += messages[e, 0, k]
            second[k] += messages[e, 1, k]
            for m in range(n_labels):
                score = pair[e, k, m] - messages[e, 0, k] - messages[e, 1, m]
                if score > best:
                    best = score
        bound += best
    for i in range(n):
        best = beliefs[i, 0]
        for k in range(1, n_labels):
            if beliefs[i, k] > best:
                best = beliefs[i, k]
        bound += best
    return bound


@kernel
def collect_all(unary, edges, pair, messages, sent, scores):
    """Write the beliefs that every node would have if it alone took from all its edges the most that they can give.

    The best label of a node and those near it are the ones that may carry mass in the relaxation. Scratch: sent, (K,).
    """
    n, n_labels = unary.shape
    for i in range(n):
        for k in range(n_labels):
            scores[i, k] = unary[i, k]
    for e in range(len(edges)):
        for side in range(2):
            send(pair, messages, e, side, sent)
            for k in range(n_labels):
                scores[edges[e, side], k] += sent[k]
