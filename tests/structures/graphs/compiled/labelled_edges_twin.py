"""Joint features of labelled graphs, written out edge by edge and node by node."""

from __future__ import annotations

import numpy as np


def pair_counts(edges, features, labels, n_labels):
    """(G, K, K): the features of all edges, added up by the labels of their ends."""
    counts = np.zeros((len(features[0]) if len(features) else 0, n_labels, n_labels))
    for (i, j), row in zip(edges, features, strict=True):
        for g, value in enumerate(row):
            counts[g, labels[i], labels[j]] += value
    return counts


def label_counts(features, labels, n_labels):
    """(F, K): the features of all nodes, added up by their labels."""
    counts = np.zeros((len(features[0]), n_labels))
    for row, label in zip(features, labels, strict=True):
        counts[:, label] += row
    return counts


def folded(counts, directed):
    """One number for both orders of two labels, where edges are not directed; a flat vector, feature by feature."""
    numbers = []
    for table, one_way in zip(counts, directed, strict=True):
        for k in range(len(table)):
            for other in range(0 if one_way else k, len(table)):
                both = not one_way and k != other
                numbers.append(table[k, other] + (table[other, k] if both else 0))
    return np.array(numbers)


def equal(counts):
    """One number per feature, for all pairs of equal labels."""
    return np.array([sum(table[k, k] for k in range(len(table))) for table in counts])
