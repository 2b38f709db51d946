"""Cycles, paths and walks written out: their values, all of them, and all that one change makes of a cycle."""

from __future__ import annotations

from itertools import combinations, permutations, product


def cycle_value(W, cycle):
    """The sum of all arcs, the one from the last to the first node included."""
    return sum(W[u][v] for u, v in zip(cycle, [*cycle[1:], cycle[0]], strict=True))


def cycles(n, shortest, longest, front):
    """All directed cycles, each from its smallest node; with front only those through node 0."""
    for size in range(shortest, longest + 1):
        for nodes in combinations(range(n), size):
            if nodes[0] == 0 or not front:
                for rest in permutations(nodes[1:]):
                    yield [nodes[0], *rest]


def best_through(first, arcs, subset, step):
    """The best path that begins with first[v], visits all of a subset and then steps to a column of arcs."""
    if not subset:
        return first[step]
    values = []
    for path in permutations(subset):
        steps = zip(path, [*path[1:], step], strict=True)
        values.append(first[path[0]] + sum(arcs[u][v] for u, v in steps))
    return max(values)


def walks(n, at, k):
    """All walks of k nodes other than 0 from a node on, none twice in a row."""
    for walk in product(range(1, n), repeat=k):
        if all(u != v for u, v in zip([at, *walk[:-1]], walk, strict=True)):
            yield walk


def walk_back(W, at, walk):
    """The value of a walk from a node on and then to node 0."""
    return sum(W[u][v] for u, v in zip([at, *walk], [*walk, 0], strict=True))


# --- neighbours of a cycle; the node in front stays


def resized(cycle, n, shortest, longest):
    """One node more or less."""
    if len(cycle) < longest:
        for v in set(range(n)) - set(cycle):
            for p in range(len(cycle)):
                yield [*cycle[: p + 1], v, *cycle[p + 1 :]]
    if len(cycle) > shortest:
        for p in range(1, len(cycle)):
            yield [*cycle[:p], *cycle[p + 1 :]]


def moved(cycle):
    """A stretch of up to three nodes at another place, also reversed."""
    for s in range(1, len(cycle)):
        for e in range(s + 1, min(s + 3, len(cycle)) + 1):
            stretch, rest = cycle[s:e], [*cycle[:s], *cycle[e:]]
            for p in range(1, len(rest) + 1):
                if p != s:  # where it was
                    yield [*rest[:p], *stretch, *rest[p:]]
                    yield [*rest[:p], *stretch[::-1], *rest[p:]]


def turned(cycle):
    """A stretch reversed, or everything but a stretch."""
    for s in range(1, len(cycle)):
        for e in range(s + 1, len(cycle) + 1):
            yield [*cycle[:s], *cycle[s:e][::-1], *cycle[e:]]
            rest = [*cycle[e:], *cycle[:s]]  # the cycle is the stretch and then this
            yield [*cycle[s:e], *rest[::-1]]


def exchanged(cycle, n):
    """One node left out and another put in, anywhere."""
    for s in range(1, len(cycle)):
        rest = [*cycle[:s], *cycle[s + 1 :]]
        for v in set(range(n)) - set(cycle):
            for p in range(1, len(rest) + 1):
                yield [*rest[:p], v, *rest[p:]]
