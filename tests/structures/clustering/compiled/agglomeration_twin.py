"""Plain twins of the searches for clusterings by totals of pairs: every value is computed from scratch."""

from __future__ import annotations

from itertools import combinations

from maxmargin.structures.clustering.measures import mitre_loss


def value_of(gains, labels, truth=None, rate=0.0):
    total = sum(gains[i][j] for i, j in combinations(range(len(labels)), 2) if labels[i] == labels[j])
    return total + (rate * mitre_loss([truth], [labels]) if rate else 0.0)


def renumbered(labels):
    """Every cluster by its first item."""
    return [labels.index(label) for label in labels]


def merge_clusters(gains, labels, truth=None, rate=0.0, least=0.0):
    """(labels, number of merges)."""
    labels, merges = renumbered(list(labels)), 0
    while True:
        before, best, most = value_of(gains, labels, truth, rate), None, least
        for a, b in combinations(sorted(set(labels)), 2):
            merged = [a if label == b else label for label in labels]
            if value_of(gains, merged, truth, rate) - before > most:
                best, most = merged, value_of(gains, merged, truth, rate) - before
        if best is None:
            return labels, merges
        labels, merges = best, merges + 1


def move_items(gains, labels, truth=None, rate=0.0, least=0.0):
    """(labels, number of moves): items take their turn until nobody moves."""
    labels, moves, rested, item = list(labels), 0, 0, 0
    while rested < len(labels):
        before, best, most = value_of(gains, labels, truth, rate), None, least
        for other in places(labels, item):
            moved = [*labels[:item], other, *labels[item + 1 :]]
            if value_of(gains, moved, truth, rate) - before > most:
                best, most = moved, value_of(gains, moved, truth, rate) - before
        rested += 1
        if best is not None:
            labels, moves, rested = best, moves + 1, 0
        item = (item + 1) % len(labels)
    return labels, moves


def places(labels, item):
    """Where an item can go: to the other clusters, and to one of its own unless it is alone."""
    empty = [label for label in range(len(labels)) if label not in labels]
    new = empty[:1] if labels.count(labels[item]) > 1 else []
    return sorted({*labels, *new} - {labels[item]})


def climb(gains, labels, truth=None, rate=0.0, least=0.0):
    labels, _ = merge_clusters(gains, labels, truth, rate, least)
    while True:
        labels, moves = move_items(gains, labels, truth, rate, least)
        if not moves:
            return labels
        labels, merges = merge_clusters(gains, labels, truth, rate, least)
        if not merges:
            return labels


def pack_triangles(gains):
    """What triangles take from the sum of positive gains, one after another."""
    left = {frozenset(pair): gains[pair[0]][pair[1]] for pair in combinations(range(len(gains)), 2)}
    total = 0
    for i in range(len(gains)):
        for k in range(i):
            for j in set(range(len(gains))) - {i, k}:
                one, other, third = (frozenset(pair) for pair in ((i, j), (j, k), (i, k)))
                if left[one] > 0 and left[other] > 0 and left[third] < 0:
                    least = min(left[one], left[other], -left[third])
                    left[one] -= least
                    left[other] -= least
                    left[third] += least
                    total += least
    return total
