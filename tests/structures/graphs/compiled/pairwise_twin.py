"""The best labelling of a pairwise model by enumeration, and its relaxation written out as a linear programme."""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.optimize import linprog


def value(model, labels):
    """The score of a labelling, term by term."""
    nodes = sum(model.unary[i, k] for i, k in enumerate(labels))
    return nodes + sum(model.pair[e, labels[i], labels[j]] for e, (i, j) in enumerate(model.edges))


def labellings(model):
    return product(range(model.n_labels), repeat=model.n_nodes)


def best_value(model):
    return max(value(model, labels) for labels in labellings(model))


def best_labellings(model):
    """All labellings with the highest score."""
    best = best_value(model)
    return [labels for labels in labellings(model) if value(model, labels) == best]


def bound(model, messages):
    """The sum of the maxima of nodes and edges after the messages are moved."""
    nodes, pair = model.unary.copy(), model.pair.copy()
    for e, (i, j) in enumerate(model.edges):
        nodes[i] += messages[e, 0]
        nodes[j] += messages[e, 1]
        pair[e] -= messages[e, 0][:, None] + messages[e, 1]
    return sum(row.max() for row in nodes) + sum(table.max() for table in pair)


def relaxed_value(model):
    """The highest value over the local polytope."""
    n, m, K = model.n_nodes, model.n_edges, model.n_labels
    if not n:
        return 0.0
    rows, right = [], []

    def constrain(entries, total):
        row = np.zeros(n * K + m * K * K)
        for place, factor in entries:
            row[place] += factor
        rows.append(row)
        right.append(total)

    for i in range(n):
        constrain([(i * K + k, 1.0) for k in range(K)], 1.0)
    for e, ends in enumerate(model.edges):
        for side, i in enumerate(ends):
            for k in range(K):
                own = [(k, other) if side == 0 else (other, k) for other in range(K)]
                table = [(n * K + e * K * K + a * K + b, 1.0) for a, b in own]
                constrain([*table, (i * K + k, -1.0)], 0.0)
    scores = np.concatenate([model.unary.ravel(), model.pair.ravel()])
    solved = linprog(-scores, A_eq=np.array(rows), b_eq=np.array(right), bounds=(0, None))
    assert solved.status == 0
    return -solved.fun


def assert_in_local_polytope(model, point):
    """Numbers >= 0, nodes with sum 1, tables with the nodes' numbers for sums; and the value belongs to them."""
    assert point.nodes.shape == model.unary.shape
    assert point.edges.shape == model.pair.shape
    assert (point.nodes >= 0).all()
    assert (point.edges >= 0).all()
    np.testing.assert_allclose(point.nodes.sum(axis=1), 1.0)
    np.testing.assert_allclose(point.edges.sum(axis=2), point.nodes[model.edges[:, 0]])
    np.testing.assert_allclose(point.edges.sum(axis=1), point.nodes[model.edges[:, 1]])
    np.testing.assert_allclose(point.value, (point.nodes * model.unary).sum() + (point.edges * model.pair).sum())
