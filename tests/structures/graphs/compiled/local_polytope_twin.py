"""Steps towards the best point of the local polytope, written with whole tables: all labels of all nodes."""

from __future__ import annotations

import numpy as np


def project(numbers):
    """The nearest point with numbers >= 0 of sum 1: by trying every number of positive ones."""
    ordered = sorted(numbers, reverse=True)
    for count in range(len(numbers), 0, -1):
        less = (sum(ordered[:count]) - 1) / count
        if ordered[count - 1] > less:
            return np.maximum(0, np.asarray(numbers) - less)
    raise AssertionError("the largest number is always above")


def repair(table, rows, columns):
    """A table near a given one, with these sums of rows and columns."""
    sums = table.sum(axis=1)
    table = table * np.where(sums > rows, rows / np.where(sums > 0, sums, 1), 1)[:, None]
    sums = table.sum(axis=0)
    table = table * np.where(sums > columns, columns / np.where(sums > 0, sums, 1), 1)
    row_lack, column_lack = rows - table.sum(axis=1), columns - table.sum(axis=0)
    if column_lack.sum() <= 0:
        return table
    return table + np.outer(row_lack, column_lack) / column_lack.sum()


def step(model, nodes, tables, messages, weight):
    """One primal-dual step: the next nodes, tables and messages."""
    K = model.n_labels
    degree = np.bincount(model.edges.ravel(), minlength=model.n_nodes)
    pull = model.unary.copy()
    for e, ends in enumerate(model.edges):
        for side, i in enumerate(ends):
            pull[i] += messages[e, side]
    new_nodes = np.array(
        [project(nodes[i] + pull[i] / (weight * max(1, degree[i]))) for i in range(model.n_nodes)]
    ).reshape(nodes.shape)
    rest = model.pair - messages[:, 0, :, None] - messages[:, 1, None, :]
    new_tables = np.maximum(0, tables + rest / (2 * weight))
    ahead_nodes, ahead_tables = 2 * new_nodes - nodes, 2 * new_tables - tables
    new_messages = messages.copy()
    for e, ends in enumerate(model.edges):
        for side, i in enumerate(ends):
            new_messages[e, side] -= weight / (1 + K) * (ahead_nodes[i] - ahead_tables[e].sum(axis=1 - side))
    return new_nodes, new_tables, new_messages
