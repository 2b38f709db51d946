"""Matrices as users give them: the right width, and numbers that training can use."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.checks import refuse_complex

LARGEST = 1e100  # of a feature: products of two, and sums of those, stay far from overflow


def number_matrix(given: Any, complaint: str) -> Any:
    """A sparse or dense array of numbers; the complaint, which begins with its name, is the error where it is none."""
    refuse_complex(complaint.split()[0], given)
    if sparse.issparse(given):
        return sparse.csr_array(given, dtype=np.float64)
    try:
        return np.ascontiguousarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(complaint) from None


def checked_matrix(X: Any, n_features: int) -> Any:
    """X, unless a number of it is missing, infinite or so large that its square overflows."""
    refuse_complex("X", X)
    if X.shape[1] != n_features:
        raise ValueError(f"X has {X.shape[1]} features; expected {n_features} as in training")
    if not sparse.issparse(X):
        X = np.asarray(X, dtype=np.float64)
    place = bad_number(X.tocsr() if sparse.issparse(X) else X)
    if place is not None:
        raise ValueError(f"example {place[0]}, feature {place[1]}: X contains {place[2]}")
    return X


def check_rows_of_pairs(matrix: Any, pairs: NDArray[Any], name: str, pair: str) -> None:
    """A row of usable numbers for every pair of items; `name` and `pair` are what messages call rows and pairs."""
    if matrix.shape[0] != len(pairs):
        raise ValueError(
            f"there are {len(pairs)} {pair}s but {matrix.shape[0]} rows of {name}; expected one per {pair}"
        )
    place = bad_number(matrix)
    if place is not None:
        i, j = pairs[place[0]].tolist()
        raise ValueError(f"feature {place[1]} of the {pair} ({i}, {j}) is {place[2]}")


def bad_number(matrix: Any) -> tuple[int, int, str] | None:
    """Row and column of the first number that training cannot use, and what is wrong with it."""
    values = matrix.data if sparse.issparse(matrix) else matrix
    if values.min(initial=0.0) >= -LARGEST and values.max(initial=0.0) <= LARGEST:  # false for NaN
        return None
    good = np.abs(values) <= LARGEST
    if sparse.issparse(matrix):
        k = int(np.argmin(good))
        row, column, value = int(np.searchsorted(matrix.indptr, k, side="right")) - 1, int(matrix.indices[k]), values[k]
    else:
        row, column = map(int, np.argwhere(~good)[0])
        value = values[row, column]
    if np.isfinite(value):
        return row, column, f"{value:.3g}, whose square overflows; scale the features"
    return row, column, "NaN or infinity"
