"""Orders written out: their values, and all that moving one item makes of an order."""

from __future__ import annotations

from itertools import permutations


def order_value(W, order):
    """The sum over all pairs in their order."""
    return sum(W[u][v] for i, u in enumerate(order) for v in order[i + 1 :])


def best_value(W, items):
    """Of all orders of some items."""
    return max(order_value(W, order) for order in permutations(items))


def insertions(order):
    """Every single item at every place."""
    for at, item in enumerate(order):
        rest = [*order[:at], *order[at + 1 :]]
        for place in range(len(order)):
            yield [*rest[:place], item, *rest[place:]]
