"""Sparse rows of features in a packed folder: written piece by piece, checked, and read as the atoms of a batch.

Row u has the entries ends[u] : ends[u + 1], each with its column. `values` has their values, or a single number if all
values are equal; without `values` all are 1.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.arrays import Array
from maxmargin.base.files.array_folder import ArrayFolder, ArrayFolderWriter, Draft, reopened
from maxmargin.base.memory_budget import beside_packed_data
from maxmargin.inputs.matrices import LARGEST, with_ones
from maxmargin.problem.planes.atoms import Atoms
from maxmargin.problem.planes.compiled.atom_arrays import EACH, AtomArrays

AT_ONCE = 2**20  # numbers that are checked at once
BLOCK = 4096  # rows that are copied at once
LAST = np.uint32(2**32 - 1)  # placeholder for the column after all others


class MostlySame:
    """An array of a folder that is written in full only if its numbers differ; if it is missing, all numbers are 1.

    number : the expected number; None: the first one, which `finish` writes.
    """

    def __init__(self, folder: ArrayFolderWriter, name: str, number: float | None = 1.0):
        self.folder, self.name, self.number = folder, name, number
        self.before = 0  # count of numbers that are not written yet

    def append(self, numbers: Array) -> None:
        if len(numbers) and self.number is None:
            self.number = float(numbers[0])
        if self.before == 0 and self.folder.length(self.name) > 0:
            self.folder.append(self.name, numbers)
        elif (numbers == self.number).all():
            self.before += len(numbers)
        else:
            assert self.number is not None
            for first in range(0, self.before, AT_ONCE):
                self.folder.append(self.name, np.full(min(AT_ONCE, self.before - first), self.number))
            self.before = 0
            self.folder.append(self.name, numbers)

    def finish(self) -> None:
        """Write the common number unless it is 1."""
        if self.before and self.number != 1:
            self.folder.append(self.name, np.array([self.number]))


class RowWriter:
    """A writer of rows to a folder."""

    def __init__(self, folder: ArrayFolderWriter):
        self.folder, self.values = folder, MostlySame(folder, "values", number=None)
        self.n_rows = self.n_entries = 0
        folder.append("ends", np.zeros(1, dtype=np.uint64))

    def append(self, rows: sparse.csr_array) -> None:
        """Append rows, after merging duplicate entries."""
        if not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
        self._append(rows)

    def _append(self, rows: sparse.csr_array) -> None:
        self.values.append(np.asarray(rows.data, dtype=np.float64))
        self._append_columns(rows)
        self.folder.append("ends", (self.n_entries + rows.indptr[1:].astype(np.int64)).astype(np.uint64))
        self.n_rows += rows.shape[0]
        self.n_entries += int(rows.indptr[-1])

    def _append_columns(self, rows: sparse.csr_array) -> None:
        self.folder.append("columns", rows.indices.astype(np.uint32))

    def finish(self) -> None:
        """Finish after the last row."""
        self.folder.append("columns", np.zeros(0, dtype=np.uint32))
        self.values.finish()


class RowWriterWithOnes(RowWriter):
    """A writer of rows with a column of ones after all others, whose index is known only at the end."""

    def __init__(self, folder: ArrayFolderWriter, draft: Draft):
        super().__init__(folder)
        self.draft, self.n_columns = draft, 0

    def _append(self, rows: sparse.csr_array) -> None:
        self.n_columns = max(self.n_columns, rows.shape[1])
        super()._append(with_ones(rows))

    def _append_columns(self, rows: sparse.csr_array) -> None:
        columns = rows.indices.astype(np.uint32)
        columns[rows.indptr[1:].astype(np.int64) - 1] = LAST
        self.draft.append(columns)

    def finish(self) -> None:
        for columns in self.draft.pieces(np.uint32):
            self.folder.append("columns", np.where(columns == LAST, np.uint32(self.n_columns), columns))
        super().finish()


def check_rows(folder: ArrayFolder, n_rows: int, n_columns: int) -> None:
    """Raise a ValueError unless compiled code can read these rows safely, because it does not check array bounds."""
    arrays = folder.arrays
    values = arrays.get("values")
    expect(folder, "ends", np.uint64, n_rows + 1)
    expect(folder, "columns", np.uint32)
    n_entries = len(arrays["columns"])
    if values is not None:
        expect(folder, "values", np.float64, 1 if one_value(folder) else n_entries)
        for _, some in folder.pieces("values"):
            deny(folder, not (np.abs(some) <= LARGEST).all(), "a feature is not finite, or its square overflows")
    check_bounds(folder, "ends", n_entries)
    ends, last = arrays["ends"], -1
    for first, some in folder.pieces("columns"):
        deny(folder, int(some.max()) >= n_columns, "a column is not among the features")
        falls = np.flatnonzero(np.diff(some.astype(np.int64), prepend=last) <= 0).astype(np.uint64) + np.uint64(first)
        deny(folder, (ends[np.searchsorted(ends, falls)] != falls).any(), "columns of a row do not rise")
        last = int(some[-1])


def verify_rows(folder: ArrayFolder, begin: int, end: int) -> None:
    """Compare the rows begin : end with their checksums."""
    folder.verify("ends", begin, end + 1)
    first, last = map(int, folder.arrays["ends"][[begin, end]])
    folder.verify("columns", first, last)
    if "values" in folder.arrays:
        folder.verify("values", *((0, 1) if one_value(folder) else (first, last)))


def one_value(folder: ArrayFolder) -> bool:
    """Return whether all entries have the same value."""
    return "values" not in folder.arrays or len(folder.arrays["values"]) == 1


def check_bounds(folder: ArrayFolder, name: str, end: int, least: int = 0) -> None:
    """Raise a ValueError unless an array has increasing bounds from 0 to `end`, with segments of at least `least`."""
    last = 0
    for first, some in folder.pieces(name):
        bounds = some.astype(np.int64)
        steps = np.diff(bounds, prepend=last)[0 if first else 1 :]
        deny(folder, (first == 0 and bounds[0] != 0) or (steps < least).any(), f"{name} do not follow each other")
        last = int(bounds[-1])
    deny(folder, last != end, f"{name} do not end where they should")


def check_weights(folder: ArrayFolder, name: str, length: int) -> None:
    """Raise a ValueError if an array of this name exists and does not have `length` numbers >= 0."""
    if name in folder.arrays:
        expect(folder, name, np.float64, length)
        for _, some in folder.pieces(name):
            deny(folder, not (np.isfinite(some) & (some >= 0)).all(), f"{name} are not finite and >= 0")


def expect(folder: ArrayFolder, name: str, kind: Any, length: int | None = None) -> None:
    """Raise a ValueError unless there is an array of this name, type and length."""
    array = folder.arrays.get(name)
    if array is None or array.dtype != np.dtype(kind) or (length is not None and len(array) != length):
        size = "" if length is None else f" of length {length:,}"
        raise ValueError(f"{folder.folder} is damaged: expected an array {name} of {np.dtype(kind)}{size}")


def deny(folder: ArrayFolder, wrong: bool | np.bool_, what: str) -> None:
    """Raise a ValueError that the folder is damaged if `wrong` is true."""
    if wrong:
        raise ValueError(f"{folder.folder} is damaged: {what}")


class PackedAtoms(Atoms):
    """The atoms of the verified rows of a folder. A pickle holds no numbers; unpickling opens the folder again."""

    source: ArrayFolder

    def __init__(self, folder: ArrayFolder, n_columns: int, n_labels: int, direct: int):
        arrays, every = folder.arrays, np.uint64(0) if one_value(folder) else EACH
        values = arrays.get("values", np.ones(1))
        known = AtomArrays(direct, n_labels, arrays["ends"], arrays["columns"], values, every)
        self._begin(known, len(arrays["ends"]) - 1, n_columns)
        self.source = folder

    def taken(self, units: NDArray[np.int64]) -> Atoms:
        """Return the atoms of coordinates and of these units, with a copy of their features in a file."""
        ends = np.zeros(len(units) + 1, dtype=np.int64)
        np.cumsum(self.arrays.indptr[units + 1] - self.arrays.indptr[units], out=ends[1:], dtype=np.int64)
        columns, same = beside_packed_data(int(ends[-1]), np.uint32), one_value(self.source)
        values = self.arrays.values if same else beside_packed_data(int(ends[-1]), np.float64)
        for first in range(0, len(units), BLOCK):
            _, entries = self._entries(units[first : first + BLOCK])
            own = slice(int(ends[first]), int(ends[min(first + BLOCK, len(units))]))
            columns[own] = self.arrays.columns[entries]
            if not same:
                values[own] = self.arrays.values[entries]
        arrays = self.arrays._replace(indptr=ends.astype(np.uint64), columns=columns, values=values)
        return self._taken(units, arrays)

    def _empty_lengths(self) -> Array:
        return beside_packed_data(self.n_units, np.float64)

    def __reduce__(self) -> Any:
        of, where = self.arrays, self.source
        return reopened_atoms, (str(where.folder), where.checksum, self.n_features, of.n_labels, of.direct)


def packed_atoms(folder: ArrayFolder, n_columns: int, n_labels: int, direct: int) -> PackedAtoms:
    """Return the atoms of the rows of a folder, shared if they exist already."""
    key = (str(folder.folder), folder.checksum, n_columns, n_labels, direct)
    found = _OPEN.get(key)
    if found is None or found.source is not folder:  # all arrays of a batch must belong to one opened folder
        found = _OPEN[key] = PackedAtoms(folder, n_columns, n_labels, direct)
    return found


def reopened_atoms(folder: str, checksum: str, n_columns: int, n_labels: int, direct: int) -> PackedAtoms:
    """Return the atoms of a folder for unpickling, shared if they exist already."""
    found = _OPEN.get((folder, checksum, n_columns, n_labels, direct))
    return packed_atoms(reopened(folder, checksum), n_columns, n_labels, direct) if found is None else found


_OPEN: WeakValueDictionary[tuple[Any, ...], PackedAtoms] = WeakValueDictionary()
