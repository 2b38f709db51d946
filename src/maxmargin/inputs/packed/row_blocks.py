"""Rows of features with labels, as users give them one after another for packing: matrices or single rows.

A member of the data is a block (X, y) or (X, y, weights) with a dense or sparse matrix X, the result of a file reader
(SvmlightRows, NamedRows), or a single example (row, y) or (row, y, weight). Rows of queries have the query after y.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.arrays import Array
from maxmargin.base.nonzero_rows import nonzero_rows
from maxmargin.inputs.labels.labels import refuse_mixed
from maxmargin.inputs.matrices import bad_number, moved_columns, number_matrix, table_columns
from maxmargin.inputs.readers.named_rows import NamedRows
from maxmargin.inputs.readers.svmlight import SvmlightRows

AT_ONCE = 1024  # single examples per block
MOST = 2**31 - 2  # the most features


class RowBlock(NamedTuple):
    """A block of consecutive rows, as the user gave them."""

    X: Any  # the matrix of features
    y: Any  # the labels of the rows
    qid: Any  # the query of each row, or None
    weights: Any  # the weight of each row, or None
    names: list[str] | None  # names of the columns, if they have names
    grows: bool  # whether columns that only other blocks have are 0 in this one


def row_blocks(data: Iterable[Any], queries: bool) -> Iterator[RowBlock]:
    """Yield the data as blocks; single examples are collected into blocks."""
    single: list[RowBlock] = []
    n = 0
    for each in data:
        block = _read(each, queries, n + len(single))
        if block.y is not None and np.ndim(block.y) == 0:
            single.append(block)
            if len(single) < AT_ONCE:
                continue
        if single:
            yield _stacked(single, n)
            n, single = n + len(single), []
        if np.ndim(block.y):
            n += len(block.y)
            yield block
    if single:
        yield _stacked(single, n)


def _read(each: Any, queries: bool, i: int) -> RowBlock:
    """Return a member of the data as a block whose first example is number i."""
    if isinstance(each, SvmlightRows | NamedRows):
        if each.y is None:
            raise ValueError(f"example {i}: the rows have no labels; expected one each")
        names = list(each.names) if isinstance(each, NamedRows) else None
        return RowBlock(each.X, each.y, each.qid if queries else None, None, names, grows=True)
    least = 3 if queries else 2
    if not isinstance(each, tuple | list) or not least <= len(each) <= least + 1:
        wanted = "(X, y, qid), nor (X, y, qid, weights)" if queries else "(X, y), nor (X, y, weights)"
        whole = "[(X, y, qid)]" if queries else "[(X, y)]"
        raise ValueError(
            f"example {i}: expected a block {wanted}, or the same for a single row; to pack matrices, give {whole}"
        )
    X, y, *others = each
    qid = others.pop(0) if queries else None
    return RowBlock(X, y, qid, others[0] if others else None, table_columns(X), grows=False)


def _stacked(single: list[RowBlock], first: int) -> RowBlock:
    """Return single examples as one block."""
    matrices = [_one_row(each.X, first + i) for i, each in enumerate(single)]
    for i, row in enumerate(matrices):
        if row.shape[1] != matrices[0].shape[1]:
            raise ValueError(
                f"example {first + i} has {row.shape[1]} features; expected {matrices[0].shape[1]} as before"
            )
    some_sparse = any(map(sparse.issparse, matrices))
    X = sparse.vstack(matrices, format="csr") if some_sparse else np.concatenate(matrices)
    y, qid = [each.y for each in single], [each.qid for each in single]
    weights = [1.0 if each.weights is None else each.weights for each in single]
    return RowBlock(X, y, qid, weights, None, grows=False)


def _one_row(row: Any, i: int) -> Any:
    if sparse.issparse(row):
        return sparse.csr_array(row.reshape(1, -1))
    numbers = number_matrix(row, f"example {i} has a row that is not an array of numbers: {row!r:.40}")
    if numbers.ndim != 1:
        raise ValueError(f"example {i} has one label and a row of shape {numbers.shape}; expected one dimension")
    return numbers.reshape(1, -1)


class RowColumns:
    """The assignment of features to columns of the folder. The first block decides whether features have names."""

    def __init__(self) -> None:
        self.width = 0
        self.columns: dict[str, int] | None = None
        self.begun = False

    @property
    def names(self) -> list[str] | None:
        return None if self.columns is None else list(self.columns)

    def placed(self, block: RowBlock, first: int) -> sparse.csr_array:
        """Return the rows of a block, the first of which is example `first`, with the columns of the folder."""
        given = number_matrix(block.X, "X must be a dense or sparse matrix of numbers, a row per example")
        if given.ndim != 2:
            raise ValueError(f"example {first}: X has shape {given.shape}; expected a matrix, a row per example")
        place = bad_number(given)
        if place is not None:
            raise ValueError(f"example {first + place[0]}, feature {place[1]}: X contains {place[2]}")
        rows = given
        if not sparse.issparse(given):
            bounds, columns, values = nonzero_rows(given)
            rows = sparse.csr_array((values, columns, bounds), shape=given.shape)
        if not self.begun:
            self.begun, self.columns = True, None if block.names is None else {}
            self.width = 0 if block.grows or block.names is not None else rows.shape[1]
        if (block.names is None) != (self.columns is None):
            kinds = ("numbers", "names") if block.names is None else ("names", "numbers")
            raise ValueError(f"example {first}: features have {kinds[0]}, but {kinds[1]} in the blocks before")
        if block.names is not None:
            rows = self._named(rows, block, first)
        elif block.grows:
            self.width = max(self.width, rows.shape[1])
        elif rows.shape[1] != self.width:
            raise ValueError(f"example {first}: rows have {rows.shape[1]} features; expected {self.width} as before")
        if self.width > MOST:
            raise ValueError(f"there are {self.width:,} features; expected {MOST:,} at most")
        return sparse.csr_array((rows.data, rows.indices, rows.indptr), shape=(rows.shape[0], self.width))

    def _named(self, rows: sparse.csr_array, block: RowBlock, first: int) -> sparse.csr_array:
        assert self.columns is not None
        assert block.names is not None
        if self.width and not block.grows and block.names != list(self.columns):
            raise ValueError(f"example {first}: the columns differ in name or order from the columns of earlier blocks")
        numbers = [self.columns.setdefault(name, len(self.columns)) for name in block.names]
        self.width = len(self.columns)
        if numbers == list(range(len(numbers))):
            return rows
        return moved_columns(rows, np.array(numbers, dtype=np.int64), self.width)


def checked_weights(weights: Any, n: int, first: int) -> Array:
    """Return the weights of a block of n examples, 1 if there are none; raise a ValueError if they are invalid."""
    if weights is None:
        return np.ones(n)
    numbers = np.asarray(weights, dtype=np.float64)
    if numbers.shape != (n,):
        raise ValueError(f"example {first}: weights have shape {numbers.shape}; expected ({n},), one per row")
    wrong = np.flatnonzero(~(np.isfinite(numbers) & (numbers >= 0)))
    if len(wrong):
        raise ValueError(
            f"example {first + wrong[0]} has the weight {numbers[wrong[0]]}; weights must be finite and >= 0"
        )
    return numbers


def checked_outputs(given: Any, what: str, n: int, first: int) -> NDArray[Any]:
    """Return the labels or queries of a block of n rows as an array; raise a ValueError if they are invalid."""
    if given is None:
        raise ValueError(f"example {first}: the rows have no {what}; expected one each")
    refuse_mixed(given, first)
    array = np.asarray(given)
    if array.shape != (n,):
        raise ValueError(f"example {first}: there are {n} rows but {what} of shape {array.shape}; expected ({n},)")
    return array
