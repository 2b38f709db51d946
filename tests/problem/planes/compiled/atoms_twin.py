"""Atoms and rows over them, written out as dense vectors."""

from __future__ import annotations

import numpy as np


def atom(c, matrix, n_labels, direct):
    """Atom c: a coordinate, or the features of a unit at the places of one label."""
    n_features = matrix.shape[1]
    vector = np.zeros(direct + n_features * n_labels)
    if c < direct:
        vector[c] = 1.0
    else:
        unit, label = divmod(int(c) - direct, n_labels)
        for feature in range(n_features):
            vector[direct + feature * n_labels + label] = matrix[unit, feature]
    return vector


def dense(indptr, indices, values, matrix, n_labels, direct):
    """All rows, one under the other."""
    rows = np.zeros((len(indptr) - 1, direct + matrix.shape[1] * n_labels))
    for j in range(len(rows)):
        for p in range(indptr[j], indptr[j + 1]):
            rows[j] += values[p] * atom(indices[p], matrix, n_labels, direct)
    return rows


def unit_scores(w, matrix, n_labels, direct, units):
    """The score of every label of these units."""
    scores = np.zeros((len(units), n_labels))
    for j, unit in enumerate(units):
        for label in range(n_labels):
            scores[j, label] = w @ atom(direct + unit * n_labels + label, matrix, n_labels, direct)
    return scores
