"""Message passing written out: every node with its neighbours, one label after another."""

from __future__ import annotations

import numpy as np


def neighbours(model, i):
    """(edge, side of i, other node, scores with i's labels first) of every edge at a node, those from it first."""
    edges = list(enumerate(model.edges.tolist()))
    yield from ((e, 0, b, model.pair[e]) for e, (a, b) in edges if a == i)
    yield from ((e, 1, a, model.pair[e].T) for e, (a, b) in edges if b == i)


def breadth_first(model):
    """The nodes of every component by distance from one that is farthest from the component's first node."""
    order = []

    def walk(start):
        found = [start]
        for i in found:
            found += [j for j in dict.fromkeys(other for _, _, other, _ in neighbours(model, i)) if j not in found]
        return found

    for i in range(model.n_nodes):
        if i not in order:
            order += walk(walk(i)[-1])
    return order


def offered(table, given):
    """What an edge can give to every label of one end, when the other end's labels have been given something."""
    return np.array([max(row - given) for row in table])


def sweep(model, order, messages, labels):
    """Change messages as one sweep in this order does; return the bound, and nodes' scores given earlier labels."""
    bound, scores = 0.0, {}
    for place, i in enumerate(order):
        ahead, behind = [], []
        belief, given = model.unary[i].copy(), model.unary[i].copy()
        for e, side, other, table in neighbours(model, i):
            if other in order[:place]:
                messages[e, side] = offered(table, messages[e, 1 - side])
                given += table[:, labels[other]]
                behind.append((e, side))
            else:
                given += messages[e, side]
                ahead.append((e, side))
            belief += messages[e, side]
        scores[i] = given
        share = 1 / max(len(ahead), len(behind)) if ahead else 0.0
        for e, side in ahead:
            messages[e, side] -= share * belief
        bound += (1 - share * len(ahead)) * belief.max()
    return bound, scores


def collected(model, messages):
    """What every node would believe if it alone took from all its edges what they can give."""
    scores = model.unary.copy()
    for i in range(model.n_nodes):
        for e, side, _, table in neighbours(model, i):
            scores[i] += offered(table, messages[e, 1 - side])
    return scores


def level(model, order, messages):
    """Change messages as one round of levelling in this order does."""
    for i in order:
        ends = list(neighbours(model, i))
        for e, side, _, table in ends:
            messages[e, side] = offered(table, messages[e, 1 - side])
        belief = model.unary[i] + sum(messages[e, side] for e, side, _, _ in ends)
        for e, side, _, _ in ends:
            messages[e, side] -= belief / (len(ends) + 1)


def settle(model, order, kept, messages):
    """Change messages to labels that are not kept as one round does; return how far they were above the kept ones."""
    excess = np.full(model.unary.shape, -np.inf)
    for i in order:
        ends = list(neighbours(model, i))
        for e, side, _, table in ends:
            messages[e, side] = np.where(kept[i], messages[e, side], offered(table, messages[e, 1 - side]))
        belief = model.unary[i] + sum(messages[e, side] for e, side, _, _ in ends)
        excess[i, ~kept[i]] = belief[~kept[i]] - belief[kept[i]].max()
        for e, side, _, _ in ends:
            messages[e, side, ~kept[i]] -= excess[i, ~kept[i]] / (len(ends) + 1)
    return excess
