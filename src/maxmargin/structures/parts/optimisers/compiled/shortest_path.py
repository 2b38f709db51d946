"""Shortest paths in any graph with costs >= 0 (Dijkstra 1959), with a binary heap of the reached nodes."""

from __future__ import annotations

from maxmargin.base.compiled.kernel import kernel

UNMET, SETTLED = -1, -2  # heap positions of nodes that are not in the heap


@kernel
def rise(i, heap, place, distance):
    """Move the node at position i of the heap up to where it belongs."""
    v = heap[i]
    while i > 0:
        above = (i - 1) // 2
        if distance[heap[above]] <= distance[v]:
            break
        heap[i] = heap[above]
        place[heap[i]] = i
        i = above
    heap[i] = v
    place[v] = i


@kernel
def sink(size, heap, place, distance):
    """Move the node at the top of a heap of this size down to where it belongs."""
    v, i = heap[0], 0
    while 2 * i + 1 < size:
        below = 2 * i + 1
        if below + 1 < size and distance[heap[below + 1]] < distance[heap[below]]:
            below += 1
        if distance[v] <= distance[heap[below]]:
            break
        heap[i] = heap[below]
        place[heap[i]] = i
        i = below
    heap[i] = v
    place[v] = i


@kernel
def shortest_paths(costs, starts, parts, tails, heads, source, target, distance, arrived, place, heap, chosen):
    """Set chosen[r, p] = 1 for the arcs p of a cheapest path from source to target at costs[r], which are >= 0.

    Entries starts[u] … starts[u + 1] - 1 of parts, tails and heads are the arcs that leave node u: their numbers and
    ends. There must be a path. chosen is initially 0. Scratch: distance, arrived, place and heap, one number per node.
    """
    for r in range(len(costs)):
        for v in range(len(place)):
            place[v] = UNMET
        distance[source], place[source], heap[0], size = 0.0, 0, source, 1
        while heap[0] != target:
            u = heap[0]
            place[u] = SETTLED
            size -= 1
            if size > 0:
                heap[0] = heap[size]
                sink(size, heap, place, distance)
            for k in range(starts[u], starts[u + 1]):
                v = heads[k]
                total = distance[u] + costs[r, parts[k]]
                if place[v] == SETTLED or (place[v] != UNMET and total >= distance[v]):
                    continue
                if place[v] == UNMET:
                    place[v], heap[size] = size, v
                    size += 1
                distance[v], arrived[v] = total, k
                rise(place[v], heap, place, distance)
        at = target
        while at != source:
            k = arrived[at]
            chosen[r, parts[k]] = 1.0
            at = tails[k]
