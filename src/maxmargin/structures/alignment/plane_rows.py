"""Rows of planes of alignments: differences of features, and many of them as one sparse matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from maxmargin.structures.alignment.views import Entries

FEW_FEATURES = 10_000  # for which a table is faster than to sort those that occur


def difference(truth: Entries, found: Entries, dim: int) -> Entries:
    """Return Ψ(x, y) - Ψ(x, z), every feature once and only where it is not 0."""
    which, weights = np.concatenate([truth[0], found[0]]), np.concatenate([truth[1], -found[1]])
    if dim <= FEW_FEATURES:
        values: Any = np.bincount(which, weights=weights, minlength=dim)
        used = np.flatnonzero(values)
        return used, values[used]
    features, number = np.unique(which, return_inverse=True)
    values = np.bincount(number, weights=weights, minlength=len(features))
    used = np.flatnonzero(values)
    return features[used], values[used]


def stacked(rows: list[Entries], dim: int) -> sparse.csr_array:
    """Return the rows as a matrix in which every row has every feature at most once."""
    ends = np.cumsum([0, *(len(features) for features, _ in rows)]).astype(np.int32)
    flat = np.concatenate([np.zeros(0, dtype=np.int64), *(features for features, _ in rows)]).astype(np.int32)
    return sparse.csr_array(
        (np.concatenate([np.zeros(0), *(values for _, values in rows)]), flat, ends), (len(rows), dim)
    )
