"""Sets of documents by their definition: Python sets, and all sets of k documents of a small collection."""

from __future__ import annotations

from itertools import combinations


def worth(documents, values, base, chosen):
    """Σ base of the chosen documents and Σ values of the items that they contain together."""
    covered = set().union(*(documents[d] for d in chosen)) if chosen else set()
    return sum(base[d] for d in chosen) + sum(values[v] for v in covered)


def gain(documents, values, base, covered, d):
    """What a document adds, positive and negative values summed up apart in the order of its items."""
    more, less = base[d], 0.0
    for item in documents[d]:
        if item not in covered:
            if values[item] > 0:
                more += values[item]
            else:
                less -= values[item]
    return more - less


def greedy(documents, values, base, k):
    """The documents that add most, one after another; of equal ones the first. Every gain is computed anew."""
    order, covered = [], set()
    for _ in range(k):
        rest = [d for d in range(len(documents)) if d not in order]
        best = max(rest, key=lambda d: (gain(documents, values, base, covered, d), -d))
        order.append(best)
        covered |= set(documents[best])
    return order


def best(documents, values, base, k):
    """The highest worth of k documents."""
    return max(worth(documents, values, base, chosen) for chosen in combinations(range(len(documents)), k))
