"""Matrices of the features of parts, one row per part of an example."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from maxmargin.inputs.matrices import checked_matrix


def part_rows(given: Any, i: int) -> Any:
    """Return the matrix of example i, dense or sparse, without checking its numbers."""
    matrix = given if sparse.issparse(given) else np.asarray(given)
    if len(matrix.shape) != 2:
        raise ValueError(f"example {i} has parts of shape {matrix.shape}; expected a matrix, one row per part")
    return matrix


def checked_rows(matrix: Any, n_features: int, i: int) -> Any:
    """Return the matrix of example i after checking its width and its numbers."""
    if matrix.shape[1] != n_features:
        raise ValueError(f"example {i} has parts of {matrix.shape[1]} features; expected {n_features} as in training")
    try:
        return checked_matrix(matrix, n_features)
    except ValueError as error:  # its message calls a row an example
        raise ValueError(f"example {i}: {str(error).replace('example', 'part')}") from None


def stacked_rows(matrices: list[Any]) -> Any:
    """Stack all rows in one matrix, which is sparse if one of the given matrices is."""
    if any(map(sparse.issparse, matrices)):
        return sparse.vstack([sparse.csr_array(matrix) for matrix in matrices], format="csr")
    return np.concatenate(matrices)
