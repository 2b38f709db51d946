"""Linear ordering: the order of items with the highest sum of W[u, v] over pairs with u before v.

It is found exactly by dynamic programming over the sets of first items, or by local search over insertions of one item,
where running sums give the values of all positions of an item in one sweep.
"""

from __future__ import annotations

from maxmargin.base.compiled.kernel import kernel


@kernel
def fill_prefixes(W, table, last, gains):
    """Set table[Q] to the value of the best order of the items Q, and last[Q] to the last item in it.

    table[Q] = max_{v in Q} table[Q - {v}] + Σ_{u in Q - {v}} W[u, v]; sets are the bits of the row number. Scratch:
    gains, one per item.
    """
    n = len(W)
    for subset in range(len(table)):
        table[subset] = -1e308
    table[0] = 0.0
    for subset in range(len(table)):
        for v in range(n):
            gains[v] = table[subset]
        for u in range(n):
            if (subset >> u) & 1:
                for v in range(n):
                    gains[v] += W[u, v]
        for v in range(n):
            if not (subset >> v) & 1:
                larger = subset | (1 << v)
                if gains[v] > table[larger]:
                    table[larger] = gains[v]
                    last[larger] = v


@kernel
def climb_order(W, order, tolerance):
    """Move single items to their best positions, in place, until no move gains more than the tolerance."""
    n = len(order)
    settled = 0  # consecutive items that did not move
    at = 0
    while settled < n:
        item = order[at]
        best, place = tolerance, at
        gain = 0.0
        for q in range(at - 1, -1, -1):  # the item moves before the one at q
            gain += W[item, order[q]] - W[order[q], item]
            if gain > best:
                best, place = gain, q
        gain = 0.0
        for q in range(at + 1, n):  # the item moves after the one at q
            gain += W[order[q], item] - W[item, order[q]]
            if gain > best:
                best, place = gain, q
        if place == at:
            settled += 1
            at = (at + 1) % n
            continue
        step = 1 if place > at else -1
        for q in range(at, place, step):
            order[q] = order[q + step]
        order[place] = item
        settled = 0
