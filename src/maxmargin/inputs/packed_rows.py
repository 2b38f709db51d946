"""Sparse rows of features in a packed folder: written piece by piece, checked, and read as the atoms of a batch.

Row u has the entries ends[u] : ends[u + 1], each with its column; `values` is there only if one of them is not 1.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from scipy import sparse

from maxmargin.arrays import Array
from maxmargin.atoms import Atoms
from maxmargin.compiled.atom_arrays import EACH, AtomArrays
from maxmargin.files.array_folder import ArrayFolder, ArrayFolderWriter, reopened
from maxmargin.inputs.matrices import LARGEST

AT_ONCE = 2**20  # numbers that are looked at together


class MostlyOnes:
    """An array of a folder that is written only if one of its numbers is not 1."""

    def __init__(self, folder: ArrayFolderWriter, name: str):
        self.folder, self.name = folder, name
        self.before = 0  # numbers that are not written

    def append(self, numbers: Array) -> None:
        if self.before == 0 and self.folder.length(self.name) > 0:
            self.folder.append(self.name, numbers)
        elif (numbers == 1).all():
            self.before += len(numbers)
        else:
            for first in range(0, self.before, AT_ONCE):
                self.folder.append(self.name, np.ones(min(AT_ONCE, self.before - first)))
            self.before = 0
            self.folder.append(self.name, numbers)


class RowWriter:
    """Appends rows to a folder."""

    def __init__(self, folder: ArrayFolderWriter):
        self.folder, self.values = folder, MostlyOnes(folder, "values")
        self.n_rows = self.n_entries = 0
        folder.append("ends", np.zeros(1, dtype=np.uint64))
        folder.append("columns", np.zeros(0, dtype=np.uint32))

    def append(self, rows: sparse.csr_array) -> None:
        """More rows, without entries that occur twice."""
        if not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
        self.values.append(np.asarray(rows.data, dtype=np.float64))
        self.folder.append("columns", rows.indices.astype(np.uint32))
        self.folder.append("ends", (self.n_entries + rows.indptr[1:].astype(np.int64)).astype(np.uint64))
        self.n_rows += rows.shape[0]
        self.n_entries += int(rows.indptr[-1])


def check_rows(folder: ArrayFolder, n_rows: int, n_columns: int) -> None:
    """Raise a ValueError unless compiled code can read these rows: it does not look where an array ends."""
    arrays = folder.arrays
    values = arrays.get("values")
    expect(folder, "ends", np.uint64, n_rows + 1)
    expect(folder, "columns", np.uint32)
    n_entries = len(arrays["columns"])
    if values is not None:
        expect(folder, "values", np.float64, n_entries)
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
    for name in ("columns", "values"):
        if name in folder.arrays:
            folder.verify(name, first, last)


def check_bounds(folder: ArrayFolder, name: str, end: int, least: int = 0) -> None:
    """Raise a ValueError unless an array has bounds from 0 to `end`, each of its stretches so long at least."""
    last = 0
    for first, some in folder.pieces(name):
        bounds = some.astype(np.int64)
        steps = np.diff(bounds, prepend=last)[0 if first else 1 :]
        deny(folder, (first == 0 and bounds[0] != 0) or (steps < least).any(), f"{name} do not follow each other")
        last = int(bounds[-1])
    deny(folder, last != end, f"{name} do not end where they should")


def expect(folder: ArrayFolder, name: str, kind: Any, length: int | None = None) -> None:
    """Raise a ValueError unless there is an array of this name, kind and length."""
    array = folder.arrays.get(name)
    if array is None or array.dtype != np.dtype(kind) or (length is not None and len(array) != length):
        size = "" if length is None else f" of length {length:,}"
        raise ValueError(f"{folder.folder} is damaged: expected an array {name} of {np.dtype(kind)}{size}")


def deny(folder: ArrayFolder, wrong: bool | np.bool_, what: str) -> None:
    """Raise a ValueError where this is wrong."""
    if wrong:
        raise ValueError(f"{folder.folder} is damaged: {what}")


class PackedAtoms(Atoms):
    """The atoms of the rows of a folder, which were checked. A pickle has no numbers, and opens the folder anew."""

    def __init__(self, folder: ArrayFolder, n_columns: int, n_labels: int, direct: int):
        arrays = folder.arrays
        values, every = (arrays["values"], EACH) if "values" in arrays else (np.ones(1), np.uint64(0))
        known = AtomArrays(direct, n_labels, arrays["ends"], arrays["columns"], values, every)
        self._begin(known, len(arrays["ends"]) - 1, n_columns)
        self.source = folder

    def __reduce__(self) -> Any:
        of, where = self.arrays, self.source
        return reopened_atoms, (str(where.folder), where.checksum, self.n_features, of.n_labels, of.direct)


def packed_atoms(folder: ArrayFolder, n_columns: int, n_labels: int, direct: int) -> PackedAtoms:
    """The atoms of a folder's rows: those that are there already in this process, where there are such."""
    key = (str(folder.folder), folder.checksum, n_columns, n_labels, direct)
    found = _OPEN.get(key)
    if found is None:
        found = _OPEN[key] = PackedAtoms(folder, n_columns, n_labels, direct)
    return found


def reopened_atoms(folder: str, checksum: str, n_columns: int, n_labels: int, direct: int) -> PackedAtoms:
    """The same in another process, or later."""
    return packed_atoms(reopened(folder, checksum), n_columns, n_labels, direct)


_OPEN: WeakValueDictionary[tuple[Any, ...], PackedAtoms] = WeakValueDictionary()
