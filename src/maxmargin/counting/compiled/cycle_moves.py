"""Local search for a directed cycle with a high sum of arcs, through any number of nodes within bounds.

A cycle is tour[0] … tour[k - 1]. The first node is never moved: one node may have to be visited, and callers without
such a node rotate the cycle and search again. Arcs may be asymmetric, so that reversing a stretch changes all of its
arcs; with running sums this takes one step per pair of positions.
"""

from __future__ import annotations

from maxmargin.base.compiled.kernel import kernel


@kernel
def cut(tour, size, at):
    """Remove the node at a position, and return the new size."""
    for p in range(at, size - 1):
        tour[p] = tour[p + 1]
    return size - 1


@kernel
def paste(tour, size, after, node):
    """Insert a node after a position, and return the new size."""
    for p in range(size, after + 1, -1):
        tour[p] = tour[p - 1]
    tour[after + 1] = node
    return size + 1


@kernel
def reverse(tour, begin, end):
    """Reverse the stretch begin … end - 1."""
    end -= 1
    while begin < end:
        tour[begin], tour[end] = tour[end], tour[begin]
        begin += 1
        end -= 1


@kernel
def shift(tour, begin, length, after):
    """Move the stretch of `length` nodes from `begin` to after the node that is now at position `after`."""
    while after > begin:  # the node after the stretch moves before it
        node = tour[begin + length]
        for p in range(begin + length, begin, -1):
            tour[p] = tour[p - 1]
        tour[begin] = node
        begin += 1
        if begin + length - 1 >= after:
            return begin
    while after < begin - 1:  # the node before the stretch moves after it
        node = tour[begin - 1]
        for p in range(begin - 1, begin + length - 1):
            tour[p] = tour[p + 1]
        tour[begin + length - 1] = node
        begin -= 1
    return begin


@kernel
def resize(W, tour, size, inside, shortest, longest, tolerance):
    """Insert or remove the one node that gains most; return the new size and the gain, 0 if there is none."""
    best, kind, node, at = tolerance, 0, -1, -1
    if size < longest:
        for v in range(len(W)):
            if inside[v]:
                continue
            for p in range(size):
                a, b = tour[p], tour[(p + 1) % size]
                gain = W[a, v] + W[v, b] - W[a, b]
                if gain > best:
                    best, kind, node, at = gain, 1, v, p
    if size > shortest:
        for p in range(1, size):
            a, v, b = tour[p - 1], tour[p], tour[(p + 1) % size]
            gain = W[a, b] - W[a, v] - W[v, b]
            if gain > best:
                best, kind, node, at = gain, 2, v, p
    if kind == 0:
        return size, 0.0
    if kind == 1:
        inside[node] = 1
        return paste(tour, size, at, node), best
    inside[node] = 0
    return cut(tour, size, at), best


@kernel
def move_stretch(W, tour, size, tolerance):
    """Move the best stretch of one to three nodes, unchanged or reversed (or-opt), and return the gain."""
    best, begin, length, after, turned = tolerance, -1, 0, -1, False
    for s in range(1, size):
        forward, backward = 0.0, 0.0
        for e in range(s, min(s + 3, size)):
            if e > s:
                forward += W[tour[e - 1], tour[e]]
                backward += W[tour[e], tour[e - 1]]
            a, first, last, b = tour[s - 1], tour[s], tour[e], tour[(e + 1) % size]
            removed = W[a, b] - W[a, first] - W[last, b]
            for p in range(size):
                if s - 1 <= p <= e:
                    continue
                c, d = tour[p], tour[(p + 1) % size]
                gain = removed + W[c, first] + W[last, d] - W[c, d]
                if gain > best:
                    best, begin, length, after, turned = gain, s, e - s + 1, p, False
                gain = removed + W[c, last] + backward - forward + W[first, d] - W[c, d]
                if gain > best:
                    best, begin, length, after, turned = gain, s, e - s + 1, p, True
    if begin < 0:
        return 0.0
    begin = shift(tour, begin, length, after)
    if turned:
        reverse(tour, begin, begin + length)
    return best


@kernel
def reverse_stretch(W, tour, size, tolerance):
    """Reverse the best stretch, or everything outside a stretch (2-opt), and return the gain."""
    total, total_back = 0.0, 0.0
    for p in range(size):
        total += W[tour[p], tour[(p + 1) % size]]
        total_back += W[tour[(p + 1) % size], tour[p]]
    best, begin, end, whole = tolerance, -1, -1, False
    for s in range(1, size):
        forward, backward = 0.0, 0.0
        for e in range(s, size):
            if e > s:
                forward += W[tour[e - 1], tour[e]]
                backward += W[tour[e], tour[e - 1]]
            a, first, last, b = tour[s - 1], tour[s], tour[e], tour[(e + 1) % size]
            gain = W[a, last] + backward + W[first, b] - W[a, first] - forward - W[last, b]
            if gain > best:
                best, begin, end, whole = gain, s, e + 1, False
            gain = total_back - total + W[last, a] + forward + W[b, first] - W[first, a] - backward - W[b, last]
            if gain > best:
                best, begin, end, whole = gain, s, e + 1, True
    if begin < 0:
        return 0.0
    reverse(tour, begin, end)
    if whole:  # reversing the rest equals reversing the stretch, and then everything
        reverse(tour, 1, size)
    return best


@kernel
def exchange(W, tour, size, inside, tolerance):
    """Replace one node by another, at any position, and return the gain."""
    best, out, node, after = tolerance, -1, -1, -1
    for s in range(1, size):
        a, old, b = tour[s - 1], tour[s], tour[(s + 1) % size]
        removed = W[a, b] - W[a, old] - W[old, b]
        for v in range(len(W)):
            if inside[v]:
                continue
            for p in range(size):
                if p == s:
                    continue
                if p == s - 1:
                    gain = W[a, v] + W[v, b] - W[a, old] - W[old, b]
                else:
                    c, d = tour[p], tour[(p + 1) % size]
                    gain = removed + W[c, v] + W[v, d] - W[c, d]
                if gain > best:
                    best, out, node, after = gain, s, v, p
    if out < 0:
        return 0.0
    inside[tour[out]] = 0
    inside[node] = 1
    size = cut(tour, size, out)
    paste(tour, size, after - (1 if after > out else 0), node)
    return best


@kernel
def climb_cycle(W, tour, size, inside, shortest, longest, tolerance):
    """Improve until no move gains more than the tolerance, and return the new size.

    `tour` is long enough for all nodes; inside[v] is True if node v is in it.
    """
    gain = 1.0
    while gain > 0.0:
        size, gain = resize(W, tour, size, inside, shortest, longest, tolerance)
        if gain == 0.0:
            gain = move_stretch(W, tour, size, tolerance)
        if gain == 0.0:
            gain = reverse_stretch(W, tour, size, tolerance)
        if gain == 0.0:
            gain = exchange(W, tour, size, inside, tolerance)
    return size
