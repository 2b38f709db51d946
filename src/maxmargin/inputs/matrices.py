"""Matrices as users give them: the right width, and numbers that training can use."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.arrays import Array
from maxmargin.base.checks import refuse_complex
from maxmargin.base.nonzero_rows import nonzero_rows
from maxmargin.problem.planes.atoms import Atoms

LARGEST = 1e100  # of a feature: products of two, and sums of those, stay far from overflow


class MatrixInPieces(ABC):
    """A matrix of numbers that training can use, never in memory as a whole: it has pieces, and atoms."""

    ndim = 2
    shape: tuple[int, int]

    @abstractmethod
    def pieces(self) -> Iterator[sparse.csr_array]:
        """Its rows, some after others."""

    @abstractmethod
    def atoms(self, n_labels: int, direct: int) -> Atoms:
        """The atoms of its rows at so many labels, behind so many coordinates."""

    def __matmul__(self, other: Array) -> Array:
        return np.concatenate([piece @ other for piece in self.pieces()])


def table_columns(given: Any) -> list[str] | None:
    """Return the names of the columns of a data frame if all are strings; None for anything else."""
    columns = getattr(given, "columns", None)
    names = [] if columns is None else list(columns)
    return names if names and all(isinstance(name, str) for name in names) else None


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
    if isinstance(X, MatrixInPieces):
        return X
    if not sparse.issparse(X):
        X = np.asarray(X, dtype=np.float64)
    place = bad_number(X.tocsr() if sparse.issparse(X) else X)
    if place is not None:
        raise ValueError(f"example {place[0]}, feature {place[1]}: X contains {place[2]}")
    return X


def with_ones(X: Any) -> sparse.csr_array:
    """One more column, of ones; scipy's hstack would sort what is sorted."""
    n, n_features = X.shape
    if sparse.issparse(X):
        own = np.ones(X.nnz + n, dtype=bool)
        own[X.indptr[1:] + np.arange(n)] = False
        values, columns = np.ones(len(own)), np.full(len(own), n_features, dtype=X.indices.dtype)
        values[own], columns[own], bounds = X.data, X.indices, X.indptr + np.arange(n + 1)
    else:
        bounds, columns, values = nonzero_rows(X, ones=True)
    return sparse.csr_array((values, columns, bounds), shape=(n, n_features + 1))


def moved_columns(X: sparse.csr_array, places: NDArray[np.int64], width: int) -> sparse.csr_array:
    """Column j at places[j]; those at -1 are left out."""
    entries = X.tocoo()
    rows, columns = entries.coords
    columns = places[columns] if len(places) else columns
    kept = columns >= 0
    moved = sparse.csr_array((entries.data[kept], (rows[kept], columns[kept])), shape=(X.shape[0], width))
    moved.sort_indices()
    return moved


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
