"""Matrices as users give them: the right width, and numbers that training can use."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from maxmargin.inputs.tokens import bad_number


def number_matrix(features: Any, expected: str) -> Any:
    """Features as a sparse or dense array of numbers; whoever asks says what is expected."""
    if sparse.issparse(features):
        return sparse.csr_array(features, dtype=np.float64)
    try:
        return np.ascontiguousarray(features, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"features must be {expected}") from None


def checked_matrix(X: Any, n_features: int) -> Any:
    """X, unless a number of it is missing, infinite or so large that its square overflows."""
    if X.shape[1] != n_features:
        raise ValueError(f"X has {X.shape[1]} features; expected {n_features} as in training")
    if not sparse.issparse(X):
        X = np.asarray(X, dtype=np.float64)
    place = bad_number(X.tocsr() if sparse.issparse(X) else X)
    if place is not None:
        raise ValueError(f"example {place[0]}, feature {place[1]}: X contains {place[2]}")
    return X
