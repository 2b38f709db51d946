"""Checks of matrices that users give: the right width, and numbers that training can use."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import validate_data

from maxmargin.base.arrays import Array
from maxmargin.base.checks import refuse_complex
from maxmargin.base.nonzero_rows import nonzero_rows
from maxmargin.problem.planes.atoms import Atoms

LARGEST = 1e100  # the largest feature value, so that sums of products do not overflow


class MatrixInPieces(ABC):
    """A matrix that is never in memory as a whole: it yields pieces and atoms."""

    ndim = 2
    shape: tuple[int, int]

    @abstractmethod
    def pieces(self) -> Iterator[sparse.csr_array]:
        """Yield the rows in pieces."""

    @abstractmethod
    def atoms(self, n_labels: int, direct: int) -> Atoms:
        """Return the atoms of the rows at n_labels labels, after `direct` other coordinates."""

    def __matmul__(self, other: Array) -> Array:
        return np.concatenate([piece @ other for piece in self.pieces()])


def table_columns(given: Any) -> list[str] | None:
    """Return the names of the columns of a data frame if all are strings; None for anything else."""
    columns = getattr(given, "columns", None)
    names = [] if columns is None else list(columns)
    check_different_columns(names)
    return names if names and all(isinstance(name, str) for name in names) else None


def check_different_columns(names: Sequence[Any]) -> None:
    """Raise a ValueError if a table has two columns of the same name."""
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise ValueError(f"X has the column {twice!r} more than once; expected columns with different names")


def validated(estimator: Any, X: Any, *y: Any, **options: Any) -> Any:
    """Return the result of scikit-learn's validate_data, after a check of the names of columns."""
    if getattr(X, "columns", None) is not None:
        check_different_columns(list(X.columns))
    return validate_data(estimator, X, *y, **options)


def without_duplicates(rows: Any) -> Any:
    """Return a sparse matrix as sorted compressed rows in which every entry occurs once.

    A CSR matrix may hold several values for one entry, which add up. Products with such a matrix are right, but
    squared values, norms and distances of its rows are not. The given matrix is never changed: it is returned if
    its rows are sorted and have no duplicates, otherwise a copy is.
    """
    packed = rows.tocsr()
    # a new object, because the flag of the given one may be older than its entries
    if sparse.csr_array((packed.data, packed.indices, packed.indptr), shape=packed.shape).has_canonical_format:
        return packed
    packed = packed.copy()
    packed.has_canonical_format = False
    packed.sum_duplicates()
    return packed


def number_matrix(given: Any, complaint: str) -> Any:
    """Return a sparse or dense array of numbers, or raise a ValueError with the complaint, which names the array."""
    refuse_complex(complaint.split()[0], given)
    if sparse.issparse(given):
        return without_duplicates(sparse.csr_array(given, dtype=np.float64))
    try:
        return np.ascontiguousarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(complaint) from None


def checked_matrix(X: Any, n_features: int) -> Any:
    """Return X with duplicate entries of sparse rows added up.

    Raise a ValueError if a number is missing, infinite or so large that its square overflows.
    """
    refuse_complex("X", X)
    if X.shape[1] != n_features:
        raise ValueError(f"X has {X.shape[1]} features; expected {n_features} as in training")
    if isinstance(X, MatrixInPieces):
        return X
    X = without_duplicates(X) if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    place = bad_number(X)
    if place is not None:
        raise ValueError(f"example {place[0]}, feature {place[1]}: X contains {place[2]}")
    return X


def with_ones(X: Any) -> sparse.csr_array:
    """Append a column of ones. Unlike scipy's hstack this does not sort the sorted entries again."""
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
    """Move column j to places[j]; columns with -1 are dropped."""
    entries = X.tocoo()
    rows, columns = entries.coords
    columns = places[columns] if len(places) else columns
    kept = columns >= 0
    moved = sparse.csr_array((entries.data[kept], (rows[kept], columns[kept])), shape=(X.shape[0], width))
    moved.sort_indices()
    return moved


def check_rows_of_pairs(matrix: Any, pairs: NDArray[Any], name: str, pair: str) -> None:
    """Raise a ValueError, with `name` and `pair` in it, unless there is a row of usable numbers for every pair."""
    if matrix.shape[0] != len(pairs):
        raise ValueError(
            f"there are {len(pairs)} {pair}s but {matrix.shape[0]} rows of {name}; expected one per {pair}"
        )
    place = bad_number(matrix)
    if place is not None:
        i, j = pairs[place[0]].tolist()
        raise ValueError(f"feature {place[1]} of the {pair} ({i}, {j}) is {place[2]}")


def bad_number(matrix: Any) -> tuple[int, int, str] | None:
    """Return row, column and description of the first number that training cannot use, or None."""
    values = matrix.data if sparse.issparse(matrix) else matrix
    if values.min(initial=0.0) >= -LARGEST and values.max(initial=0.0) <= LARGEST:  # this is false for NaN
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
