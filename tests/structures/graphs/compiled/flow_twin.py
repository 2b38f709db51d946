"""Maximum flow by shortest augmenting paths on dictionaries, and what can be reached in a graph."""

from __future__ import annotations

from collections import defaultdict

SOURCE, SINK = "source", "sink"


def capacities(supply, arcs):
    """{tail: {head: capacity}} of arcs (tail, head, capacity) and supplies, < 0 for what a node gives to the sink."""
    room = defaultdict(lambda: defaultdict(float))
    for tail, head, capacity in arcs:
        room[tail][head] += capacity
    for i, amount in enumerate(supply):
        if amount > 0:
            room[SOURCE][i] += amount
        elif amount < 0:
            room[i][SINK] -= amount
    return room


def largest_flow(supply, arcs):
    """The value of the largest flow (Edmonds and Karp)."""
    room, total = capacities(supply, arcs), 0.0
    while True:
        came_from, queue = {SOURCE: None}, [SOURCE]
        for node in queue:
            for head, capacity in list(room[node].items()):
                if capacity > 0 and head not in came_from:
                    came_from[head] = node
                    queue.append(head)
        if SINK not in came_from:
            return total
        path, node = [], SINK
        while came_from[node] is not None:
            path.append((came_from[node], node))
            node = came_from[node]
        most = min(room[tail][head] for tail, head in path)
        for tail, head in path:
            room[tail][head] -= most
            room[head][tail] += most
        total += most


def reached(starts, pairs):
    """All that can be reached from some nodes along pairs (tail, head)."""
    found = set(starts)
    while True:
        more = {head for tail, head in pairs if tail in found} - found
        if not more:
            return found
        found |= more
