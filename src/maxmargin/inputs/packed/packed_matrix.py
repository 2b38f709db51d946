"""Rows of features in a packed folder as one matrix, which training reads in place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.files.array_folder import ArrayFolder, ArrayFolderWriter
from maxmargin.base.files.fields import Flag, OneOf, Texts, Whole
from maxmargin.base.files.objects import Fields
from maxmargin.base.memory_budget import beside_packed_data
from maxmargin.inputs.matrices import MatrixInPieces
from maxmargin.inputs.packed.packed_data import PackedData
from maxmargin.inputs.packed.packed_rows import (
    RowWriter,
    RowWriterWithOnes,
    check_rows,
    check_weights,
    deny,
    one_value,
    packed_atoms,
)
from maxmargin.inputs.packed.row_blocks import RowBlock, RowColumns
from maxmargin.problem.planes.atoms import Atoms
from maxmargin.problem.planes.compiled.atom_arrays import EACH, AtomArrays

AT_ONCE = 2**13  # rows that are in memory at once


class PackedRows(PackedData):
    """Rows of features in a folder, optionally with a constant 1 as the last column."""

    divisible = True
    saved: ClassVar[Fields] = {
        "n_features": Whole(1),
        "constant": Flag(),
        "names": OneOf(None, Texts("n_features", different=True)),
    }
    n_features: int
    constant: bool
    names: list[str] | None  # names of the features, if they have names

    def __init__(self, n: int, n_features: int, constant: bool, names: list[str] | None):
        self.n, self.n_features, self.constant, self.names = n, n_features, constant, names

    @property
    def inputs(self) -> PackedMatrix:
        """The matrix, after verification."""
        self.verify()
        return PackedMatrix(self)

    def in_parts(self) -> tuple[Any, Any, dict[str, Any]]:
        weights = {} if self.weights is None else {"sample_weight": np.array(self.weights)}
        return self.inputs, np.asarray(self.outputs), weights

    def _check(self) -> None:
        check_rows(self.folder, self.n, self.n_features + self.constant)
        if self.constant:
            self._check_constant()
        check_weights(self.folder, "weights", self.n)

    def _check_constant(self) -> None:
        """Check that every row ends with the constant, because the code that drops it relies on this."""
        arrays, last = self.folder.arrays, 0
        values = None if one_value(self.folder) else arrays["values"]
        deny(self.folder, values is None and arrays.get("values", np.ones(1))[0] != 1, "the constant feature is not 1")
        for first, some in self.folder.pieces("ends"):
            ends = some.astype(np.int64)
            empty = np.diff(ends, prepend=last)[0 if first else 1 :] == 0
            ends, last = ends[0 if first else 1 :], int(ends[-1])
            wrong = empty.any() or (arrays["columns"][ends - 1] != self.n_features).any()
            deny(self.folder, wrong, "a row does not end with the constant feature")
            deny(self.folder, values is not None and (values[ends - 1] != 1).any(), "the constant feature is not 1")


class PackedMatrix(MatrixInPieces):
    """The rows of a folder, all or some of them, with the constant column or without it.

    m[rows] and m[:, :k] are such matrices, too, and copy nothing until they are used for training: k may leave out the
    constant, and nothing else.
    """

    def __init__(self, data: PackedRows):
        self.folder: ArrayFolder = data.folder
        self.n_features, self.names, self.constant = data.n_features, data.names, data.constant
        self.kept = data.n_features + data.constant  # number of columns
        self.rows: NDArray[np.int64] | None = None  # None means all rows

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Verify the numbers again in another process."""
        self.__dict__.update(state)
        for name in self.folder.arrays:
            self.folder.verify(name)

    def __copy__(self) -> PackedMatrix:
        copied = object.__new__(PackedMatrix)
        copied.__dict__.update(self.__dict__)
        return copied

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        return (len(self.folder.arrays["ends"]) - 1 if self.rows is None else len(self.rows)), self.kept

    def __getitem__(self, chosen: Any) -> PackedMatrix:
        part = copy(self)
        rows, columns = chosen if isinstance(chosen, tuple) else (chosen, ...)
        if columns == slice(None, self.n_features):
            part.kept = self.n_features
        elif columns not in (..., slice(None), slice(None, self.kept)):
            raise IndexError("columns of packed rows can be selected only as m[:, :k], which leaves out the constant")
        if not (isinstance(rows, slice) and rows == slice(None)):
            part.rows = np.arange(self.shape[0])[rows] if self.rows is None else self.rows[rows]
        return part

    def describe(self, estimator: Any, reset: bool) -> None:
        """Set the number and names of features of an estimator, or compare them with its training data."""
        if reset:
            estimator.n_features_in_ = self.n_features
            if self.names is not None:
                estimator.feature_names_in_ = np.array(self.names, dtype=object)
            elif hasattr(estimator, "feature_names_in_"):
                del estimator.feature_names_in_  # of an earlier fit
            return
        names = getattr(estimator, "feature_names_in_", None)
        if estimator.n_features_in_ != self.n_features:
            raise ValueError(
                f"the packed rows have {self.n_features} features; expected {estimator.n_features_in_} as in training"
            )
        if names is not None and self.names is not None and names.tolist() != self.names:
            raise ValueError("the features of the packed rows differ from those in training in name or order")

    def pieces(self) -> Iterator[sparse.csr_array]:
        n = self.shape[0]
        for first in range(0, n, AT_ONCE):
            end = min(first + AT_ONCE, n)
            yield self._piece(np.arange(first, end) if self.rows is None else self.rows[first:end])

    def _piece(self, rows: NDArray[np.int64]) -> sparse.csr_array:
        arrays = self.folder.arrays
        begins, ends = (arrays["ends"][rows + k].astype(np.int64) for k in (0, 1))
        bounds = np.append(0, np.cumsum(ends - begins))
        entries = np.arange(bounds[-1]) + np.repeat(begins - bounds[:-1], ends - begins)
        values = np.full(len(entries), self._one) if one_value(self.folder) else arrays["values"][entries]
        parts = values, arrays["columns"][entries].astype(np.int32), bounds
        piece = sparse.csr_array(parts, shape=(len(rows), self.n_features + self.constant))
        return piece if self.kept == piece.shape[1] else piece[:, : self.kept]

    @property
    def _one(self) -> float:
        return float(self.folder.arrays.get("values", np.ones(1))[0])

    def atoms(self, n_labels: int, direct: int) -> Atoms:
        """Return the atoms of the folder, or of a copy in a file: of some rows, or without the constant column."""
        whole = self.kept == self.n_features + self.constant
        if self.rows is None and whole:
            return packed_atoms(self.folder, self.kept, n_labels, direct)
        n, stored = self.shape[0], self.folder.arrays["ends"]
        n_entries = int(stored[-1] if self.rows is None else (stored[self.rows + 1] - stored[self.rows]).sum())
        n_entries -= 0 if whole else n
        ends, columns = beside_packed_data(n + 1, np.uint64), beside_packed_data(n_entries, np.uint32)
        values = beside_packed_data(n_entries, np.float64)
        row, entry, same = 0, 0, n_entries > 0
        for piece in self.pieces():
            own = slice(entry, entry + piece.nnz)
            ends[row + 1 : row + 1 + piece.shape[0]] = (entry + piece.indptr[1:]).astype(np.uint64)
            columns[own], values[own] = piece.indices, piece.data
            same = same and bool((piece.data == values[0]).all())
            row, entry = row + piece.shape[0], entry + piece.nnz
        held = (values[:1].copy(), np.uint64(0)) if same else (values, EACH)
        return Atoms.of_arrays(AtomArrays(direct, n_labels, ends, columns, *held), n, self.kept)


@contextmanager
def packing_rows(folder: ArrayFolderWriter, constant: bool) -> Iterator[RowPacker]:
    """Open a writer of the rows of blocks to a folder, with a constant feature or without."""
    if not isinstance(constant, bool):
        raise ValueError(f"fit_intercept must be True or False, got {constant!r}")
    if constant:
        with folder.draft_of("columns") as draft:
            yield RowPacker(RowWriterWithOnes(folder, draft), constant)
    else:
        yield RowPacker(RowWriter(folder), constant)


class RowPacker:
    """A writer of blocks of rows."""

    def __init__(self, writer: RowWriter, constant: bool):
        self.writer, self.constant, self.columns = writer, constant, RowColumns()

    @property
    def n(self) -> int:
        """The number of rows so far."""
        return self.writer.n_rows

    def append(self, block: RowBlock) -> int:
        """Append the rows of a block and return their number."""
        rows = self.columns.placed(block, self.n)
        self.writer.append(rows)
        return int(rows.shape[0])

    def finished(self) -> PackedRows:
        """Finish writing and return the packed rows."""
        if self.n == 0:
            raise ValueError("no rows given: at least one example is needed")
        if self.columns.width == 0:
            raise ValueError("the rows have no features; expected at least one")
        self.writer.finish()
        return PackedRows(self.n, self.columns.width, self.constant, self.columns.names)
