"""Rows of planes as sparse combinations of atoms, so that planes stay small however many features a unit has.

compiled/atoms.py defines atoms. A task whose Ψ labels units (tokens, examples) returns AtomRows from
`planes`; all other rows, dense or CSR, are the special case in which every atom is one coordinate of w.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.arrays import Array, read_only
from maxmargin.base.files.array_folder import ArrayFolder
from maxmargin.base.growing_rows import GrowingRows
from maxmargin.base.nonzero_rows import nonzero_rows
from maxmargin.base.rounding import gamma
from maxmargin.problem.planes.compiled.atom_arrays import EACH, AtomArrays

MOST = 2**31  # atoms and weights are numbered by 32-bit integers
BLOCK = 65536  # units whose lengths are computed at once


class Atoms:
    """The atoms of a data set: coordinates of w, then the feature rows of units at each label."""

    about: str = ""  # the source of the features, for the certificate
    _terms: int | None = None  # the terms of all units, if these are some of them
    source: ArrayFolder | None = None  # the packed folder that the features are in

    def __init__(self, units: Any, n_labels: int, direct: int):
        indptr, columns, values = _nonzero(units)
        self._begin(AtomArrays(direct, n_labels, indptr, columns, *one_or_each(values)), *units.shape)

    def _begin(self, arrays: AtomArrays, n_units: int, n_features: int) -> None:
        """Set up the atoms of n_units units with these arrays."""
        direct, n_labels, *_ = arrays
        self.n_units, self.n_features = n_units, n_features
        self.dim = direct + n_features * n_labels
        if max(direct + n_units * n_labels, self.dim) >= MOST:
            raise ValueError(
                f"{n_units:,} rows or tokens with {n_features:,} features and {n_labels:,} labels are too many for one "
                f"model: rows × labels and features × labels must each stay below {MOST:,}. Use fewer labels, fewer "
                "features (min_count or hash_bits for tokens), or a part of the data"
            )
        self.arrays = _sealed(arrays)
        self._lengths: Array | None = None
        self._peaks: Array | None = None
        self.origin: tuple[Atoms, NDArray[np.int64]] | None = None  # the source of these units, and their numbers there

    @staticmethod
    def of_arrays(arrays: AtomArrays, n_units: int, n_features: int) -> Atoms:
        """Return the atoms of n_units units with these arrays."""
        atoms = object.__new__(Atoms)
        atoms._begin(arrays, n_units, n_features)
        return atoms

    @staticmethod
    @lru_cache(maxsize=8)  # used with every block of planes
    def coordinates(dim: int) -> Atoms:
        """Return atoms without units: every atom is a coordinate of w."""
        return Atoms(sparse.csr_array((0, 0)), 1, dim)

    @property
    def count(self) -> int:
        """The number of atoms."""
        return self.arrays.direct + self.n_units * self.arrays.n_labels

    def reads(self, atoms: int) -> float:
        """Return the cost of reading the features of this many atoms, in reads of a vector like w."""
        return self.n_entries / self.n_units * atoms / self.dim if self.n_units else np.inf

    @property
    def n_entries(self) -> int:
        """The number of entries in the rows of all units."""
        return len(self.arrays.columns)

    def n_entries_of(self, units: NDArray[np.int64]) -> int:
        """Return the number of entries in the rows of these units."""
        bounds = self.arrays.indptr
        blocks = (units[k : k + BLOCK].astype(np.uint64) for k in range(0, len(units), BLOCK))
        return sum(int((bounds[some + np.uint64(1)] - bounds[some]).sum()) for some in blocks)

    def values(self, entries: Any) -> Array:
        """Return the values of these entries."""
        return (
            self.arrays.values[entries] if self.arrays.every else np.full(len(self.arrays.columns[entries]), self._one)
        )

    @property
    def _one(self) -> float:
        return float(self.arrays.values[0])

    def matrix(self) -> sparse.csr_array:
        """Return the feature rows of all units as a CSR matrix."""
        parts = self.values(slice(None)), self.arrays.columns.astype(np.int64), self.arrays.indptr.astype(np.int64)
        return sparse.csr_array(parts, shape=(self.n_units, self.n_features))

    def gathered(self, which: NDArray[np.int32]) -> Gathered:
        """Return these atoms with their features copied to one contiguous place."""
        return Gathered(self, which)

    def taken(self, units: NDArray[np.int64]) -> Atoms:
        """Return the atoms of the coordinates and of these units, which get new numbers (see AtomRows.whole)."""
        ends, entries = self._entries(units)
        values = self.arrays.values[entries] if self.arrays.every else self.arrays.values
        columns = self.arrays.columns[entries]
        return self._taken(units, self.arrays._replace(indptr=ends.astype(np.uint64), columns=columns, values=values))

    def _taken(self, units: NDArray[np.int64], arrays: AtomArrays) -> Atoms:
        """Return the atoms of these units, whose features are `arrays`."""
        part = Atoms.of_arrays(arrays, len(units), self.n_features)
        part.about, part._lengths, part._peaks = self.about, self.lengths[units], self._peaks
        part.origin = self, units
        return part

    def between(self, begin: int, end: int) -> Atoms:
        """Return the atoms of the coordinates and of the units begin : end, which get new numbers.

        Lengths and terms remain the maxima over all units, so that sizes of rows are the same to the last bit.
        """
        of = self.arrays
        first, last = int(of.indptr[begin]), int(of.indptr[end])
        indptr, values = of.indptr[begin : end + 1] - of.indptr[begin], of.values[first:last] if of.every else of.values
        arrays = of._replace(indptr=indptr, columns=of.columns[first:last], values=values)
        part = Atoms.of_arrays(arrays, end - begin, self.n_features)
        part.about, part._lengths, part._terms = self.about, self.lengths[begin:end], self.terms
        return part

    def written(self, which: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64], Array]:
        """Return the number of entries of each of these atoms, and the coordinates and values of all entries."""
        of = self.arrays
        plain = which < of.direct
        unit, label = np.divmod(which[~plain].astype(np.int64) - of.direct, of.n_labels)
        ends, entries = self._entries(unit)
        lengths = np.ones(len(which), dtype=np.int64)
        lengths[~plain] = np.diff(ends)
        columns, values = of.direct + of.n_labels * of.columns[entries].astype(np.int64), self.values(entries)
        if of.n_labels > 1:
            columns += np.repeat(label, np.diff(ends))
        if not plain.any():
            return lengths, columns, values
        alone = np.repeat(plain, lengths)  # marks the entries of coordinates
        everywhere, numbers = np.empty(len(alone), dtype=np.int64), np.ones(len(alone))
        everywhere[alone], everywhere[~alone], numbers[~alone] = which[plain], columns, values
        return lengths, everywhere, numbers

    def _entries(self, units: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the positions of the entries of these units, as one list, and the end of each unit in this list."""
        begins = self.arrays.indptr[units].astype(np.int64)
        lengths = self.arrays.indptr[units + 1].astype(np.int64) - begins
        ends = np.concatenate([[0], np.cumsum(lengths)])
        return ends, np.arange(ends[-1]) + np.repeat(begins - ends[:-1], lengths)

    def scores(self, w: Array, units: NDArray[np.int64]) -> Array:
        """Return the score of every label of these units, (len(units), K)."""
        from maxmargin.problem.planes.compiled import atoms as compiled

        scores = np.empty((len(units), self.arrays.n_labels))
        # only one of them is compiled
        kernel = compiled.unit_dots if self.arrays.n_labels == 1 else compiled.unit_scores
        kernel(w, *self.arrays, units, scores)
        return scores

    def add_units(self, total: Array, units: NDArray[np.int64], shares: Array) -> None:
        """Add Σ_j Σ_k shares[j, k] · (the features of unit j at label k) to total."""
        from maxmargin.problem.planes.compiled.atoms import add_units

        add_units(total, *self.arrays, units, shares)

    def row_dots(self, rows: AtomRows, w: Array) -> Array:
        """Return ⟨row, w⟩ of every row."""
        from maxmargin.problem.planes.compiled.atoms import row_dots

        dots = np.empty(rows.shape[0])
        row_dots(rows.indptr, rows.indices, rows.values, w, *self.arrays, dots)
        return dots

    @property
    def lengths(self) -> Array:
        """‖row‖ of every unit's features, not rounded down."""
        if self._lengths is None:
            lengths = self._empty_lengths()
            for first in range(0, self.n_units, BLOCK):
                lengths[first : first + BLOCK] = self._lengths_of(first, min(first + BLOCK, self.n_units))
            lengths *= 1 + gamma(self.terms)
            self._lengths = lengths  # assigned last, because another thread may read it
        return self._lengths

    def _empty_lengths(self) -> Array:
        """Return an array for the lengths of all units."""
        return np.zeros(self.n_units)

    def _lengths_of(self, first: int, end: int) -> Array:
        """Compute the lengths of the units first : end."""
        bounds = self.arrays.indptr[first : end + 1].astype(np.int64)
        counts = np.diff(bounds)
        if not self.arrays.every:
            return np.sqrt(counts * self._one**2)
        squares, filled = np.zeros(end - first), np.flatnonzero(counts)
        if len(filled):  # reduceat would return the next row's first entry for an empty row
            numbers = np.square(self.arrays.values[bounds[0] : bounds[-1]])
            squares[filled] = np.add.reduceat(numbers, bounds[filled] - bounds[0])
        return np.sqrt(squares)

    @property
    def terms(self) -> int:
        """The largest number of terms in the score of an atom."""
        if self._terms is not None:
            return self._terms
        return max((int(counts.max(initial=1)) for counts in self._counts()), default=1)

    def _counts(self) -> Iterator[NDArray[np.uint64]]:
        """Yield the numbers of entries of units, BLOCK units at a time."""
        for first in range(0, self.n_units, BLOCK):
            bounds = self.arrays.indptr[first : first + BLOCK + 1]
            yield bounds[1:] - bounds[:-1]

    def sizes(self, rows: AtomRows) -> Array:
        """Return an upper bound on ‖row‖ for every row, at the cost of reading its entries."""
        from maxmargin.problem.planes.compiled.atoms import row_sizes

        sizes = np.empty(rows.shape[0])
        row_sizes(rows.indptr, rows.indices, rows.values, self.arrays.direct, self.arrays.n_labels, self.lengths, sizes)
        return sizes

    @property
    def peaks(self) -> Array:
        """The largest absolute value of every feature."""
        if self._peaks is None:
            from maxmargin.problem.planes.compiled.atoms import feature_peaks

            peaks = np.zeros(self.n_features)
            feature_peaks(*self.arrays, peaks)
            self._peaks = peaks  # assigned last, as above
        return self._peaks

    def largest(self, w: Array) -> float:
        """Return an upper bound on Σ |atom_j w_j| over all atoms.

        It is far below ‖atom‖‖w‖ if large features have small weights.
        """
        direct = self.arrays.direct
        units = self.peaks @ np.abs(w[direct:]).reshape(self.n_features, -1) if self.n_units else np.zeros(1)
        return float(max(np.max(np.abs(w[:direct]), initial=0.0), np.max(units, initial=0.0)))

    def size_of(self, w: Array) -> float:
        """Return s such that the computed ⟨atom, w⟩ is off by at most γ ‖atom‖ s: the length of w."""
        return float(np.linalg.norm(w))

    def squared_norms(self, rows: AtomRows) -> Array:
        """Return ‖row‖² of every row."""
        explicit = rows.tocsr()
        return np.asarray(explicit.multiply(explicit).sum(axis=1)).ravel()


class AtomRows:
    """Rows (m, dim), each a sparse combination of atoms. An atom may occur repeatedly in a row; its values add up."""

    def __init__(self, atoms: Atoms, indptr: NDArray[np.int32], indices: NDArray[np.int32], values: Array):
        self.atoms, self.indptr, self.indices, self.values = atoms, indptr, indices, values

    @classmethod
    def of(cls, rows: Any) -> AtomRows:
        """Return rows in this form: AtomRows unchanged, dense and CSR rows over coordinates."""
        if isinstance(rows, AtomRows):
            return rows
        if sparse.issparse(rows):
            csr = sparse.csr_array(rows, dtype=np.float64)
            parts = (csr.indptr.astype(np.int32), csr.indices.astype(np.int32), csr.data)
        else:
            rows = np.asarray(rows, dtype=np.float64)
            which, columns = np.nonzero(rows)
            counts = np.bincount(which, minlength=len(rows))
            parts = (np.append(0, np.cumsum(counts)).astype(np.int32), columns.astype(np.int32), rows[which, columns])
        return cls(Atoms.coordinates(rows.shape[1]), *parts)

    @classmethod
    def stack(cls, parts: list[AtomRows]) -> AtomRows:
        """Stack rows over the same atoms."""
        ends = np.cumsum([0, *(part.indptr[-1] for part in parts)])
        indptr = np.concatenate([parts[0].indptr[:1], *(p.indptr[1:] + e for p, e in zip(parts, ends, strict=False))])
        indices = np.concatenate([part.indices[: part.indptr[-1]] for part in parts])
        values = np.concatenate([part.values[: part.indptr[-1]] for part in parts])
        return cls(parts[0].atoms, indptr.astype(np.int32), indices, values)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.indptr) - 1, self.atoms.dim

    def __matmul__(self, w: Array) -> Array:
        return self.atoms.row_dots(self, w)

    @property
    def sizes(self) -> Array:
        """An upper bound on ‖row‖ for every row."""
        return self.atoms.sizes(self)

    def take(self, rows: NDArray[np.intp]) -> AtomRows:
        lengths = np.diff(self.indptr)[rows]
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        entries = np.arange(indptr[-1]) + np.repeat(self.indptr[rows] - indptr[:-1], lengths)
        return AtomRows(self.atoms, indptr.astype(np.int32), self.indices[entries], self.values[entries])

    def scaled(self, factors: Array) -> AtomRows:
        """Return rows that are multiplied by factors, one for each row."""
        values = self.values[: self.indptr[-1]] * np.repeat(factors, np.diff(self.indptr))
        return AtomRows(self.atoms, self.indptr, self.indices, values)

    def summed(self) -> AtomRows:
        """Return the sum of all rows as one row."""
        used = np.flatnonzero(self.values[: self.indptr[-1]])
        ends = np.array([0, len(used)], dtype=np.int32)
        return AtomRows(self.atoms, ends, self.indices[used], self.values[used])

    def whole(self) -> AtomRows:
        """Return the same rows over the atoms that theirs were taken from, if they were."""
        if self.atoms.origin is None:
            return self
        (atoms, units), of = self.atoms.origin, self.atoms.arrays
        unit, label = np.divmod(self.indices - of.direct, of.n_labels)
        indices = of.direct + units[np.maximum(unit, 0)] * of.n_labels + label
        return AtomRows(atoms, self.indptr, np.where(unit < 0, self.indices, indices).astype(np.int32), self.values)

    def add_to(self, total: Array, factors: Array) -> None:
        """Add Σ_j factors[j] · row j to total."""
        from maxmargin.problem.planes.compiled.atoms import add_rows

        add_rows(self.indptr, self.indices, self.values, factors, total, *self.atoms.arrays)

    def tocsr(self) -> sparse.csr_array:
        """Return explicit rows over the coordinates of w."""
        size = self.indptr[-1]
        lengths, columns, data = self.atoms.written(self.indices[:size])
        rows = np.repeat(np.repeat(np.arange(self.shape[0]), np.diff(self.indptr)), lengths)
        data = data * np.repeat(self.values[:size], lengths)
        return sparse.csr_array((data, (rows, columns)), shape=self.shape)

    def toarray(self) -> Array:
        """Return dense rows over the coordinates of w."""
        from maxmargin.problem.planes.compiled.atoms import write_rows

        dense = np.zeros(self.shape)
        write_rows(self.indptr, self.indices, self.values, *self.atoms.arrays, dense)
        return dense

    @property
    def plain(self) -> list[NDArray[Any]]:
        """The three arrays of these rows, without unused space; `read_rows` makes rows of them again."""
        size = self.indptr[-1]
        return [self.indptr, self.indices[:size], self.values[:size]]

    @property
    def n_entries(self) -> int:
        """The number of entries of explicit rows, if no two atoms of a row share a coordinate."""
        of = self.atoms.arrays
        units = (self.indices[: self.indptr[-1]].astype(np.int64) - of.direct) // of.n_labels
        lengths = np.append(np.diff(of.indptr.astype(np.int64)), 1)  # the last entry is the length of a coordinate
        return int(np.sum(lengths[np.where(units < 0, -1, units)]))


def read_rows(atoms: Atoms, found: Any, n_rows: int | None = None) -> AtomRows:
    """Check arrays that were read from a file (see AtomRows.plain), and return them as rows over these atoms."""
    if not isinstance(found, list) or len(found) != 3 or not all(isinstance(each, np.ndarray) for each in found):
        raise ValueError("expected the three arrays of rows")
    indptr, indices, values = found
    if [each.dtype for each in found] != [np.int32, np.int32, np.float64] or any(each.ndim != 1 for each in found):
        raise ValueError("expected whole numbers as atom indices and real numbers as values")
    if not len(indptr) or (n_rows is not None and len(indptr) != n_rows + 1):
        raise ValueError(f"expected {n_rows} rows")
    if indptr[0] != 0 or indptr[-1] != len(indices) or len(indices) != len(values) or (np.diff(indptr) < 0).any():
        raise ValueError("expected row starts that do not decrease")
    if len(indices) and (indices.min() < 0 or indices.max() >= atoms.count):
        raise ValueError(f"expected atoms below {atoms.count}")
    if not np.isfinite(values).all():
        raise ValueError("expected finite numbers")
    return AtomRows(atoms, indptr, indices, values)


class Gathered:
    """Some atoms whose features are copied to one contiguous place, so that reading all of them is fast."""

    def __init__(self, atoms: Atoms, which: NDArray[np.int32]):
        self.atoms, self.rows = atoms, GrowingRows()
        self.append(which)

    def append(self, which: NDArray[np.int32]) -> None:
        """Add more atoms."""
        self.rows.append(*self.atoms.written(which))

    def dots(self, v: Array) -> Array:
        """Return ⟨atom, v⟩ of each atom."""
        return np.asarray(self.rows.matrix(self.atoms.dim) @ v)

    def add_to(self, total: Array, weights: Array) -> None:
        """Add Σ weights[j] · atom j to total."""
        total += weights @ self.rows.matrix(self.atoms.dim)


def _sealed(arrays: AtomArrays) -> AtomArrays:
    """Return read-only views, like the arrays of packed folders, so that kernels are compiled for one type only."""
    indptr, columns, values = (read_only(each) for each in (arrays.indptr, arrays.columns, arrays.values))
    return arrays._replace(indptr=indptr, columns=columns, values=values)


def one_or_each(values: Array) -> tuple[Array, np.uint64]:
    """Return values and the mask EACH or, if all values are equal, that one value and the mask 0 (AtomArrays.every)."""
    same = len(values) > 0 and bool((values == values[0]).all())
    return (values[:1].copy(), np.uint64(0)) if same else (values, EACH)


def _nonzero(units: Any) -> tuple[NDArray[np.uint64], NDArray[np.uint32], Array]:
    """Return the nonzero entries of a matrix as CSR arrays: bounds of the rows, columns and values."""
    if sparse.issparse(units):
        given = isinstance(units, sparse.csr_array) and units.dtype == np.float64
        rows = units if given else sparse.csr_array(units, dtype=np.float64)
        columns = rows.indices
        narrow = columns.dtype == np.int32 and columns.flags.c_contiguous  # columns are not negative
        places = columns.view(np.uint32) if narrow else columns.astype(np.uint32)
        return rows.indptr.astype(np.uint64), places, np.ascontiguousarray(rows.data)
    bounds, columns, values = nonzero_rows(np.asarray(units, dtype=np.float64))
    return bounds.astype(np.uint64), columns.astype(np.uint32), values
