"""The vectors of cuts, in whichever of two forms is cheaper: written out, or as combinations of atoms.

A cutting-plane method asks three things of its cuts a_1 … a_m after every oracle call: the products ⟨a_new, a_t⟩, the
sum Σ α_t a_t, and now and then the products with some w. Written out they cost m · dim each. Over atoms (see atoms.py)
they cost about as much as reading the data once, however many cuts there are: with a_t = Σ_c K_tc · atom_c,

    ⟨a_t, v⟩ = (K u)_t,  u_c = ⟨atom_c, v⟩          and          Σ α_t a_t = Σ_c (Kᵀα)_c · atom_c.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.arrays import Array
from maxmargin.atoms import AtomRows, Atoms
from maxmargin.oracle import MeanPlane


class CutVectors(Protocol):
    """m vectors in the space of w."""

    def add(self, plane: MeanPlane) -> Array:
        """Append a cut's vector; its products with all vectors, the last one with itself."""

    def dots(self, v: Array) -> Array:
        """The products with v."""

    def combined(self, alpha: Array, dim: int) -> Array:
        """Σ α a."""

    def keep(self, which: NDArray[np.intp]) -> None:
        """Forget all others."""

    def move(self, factors: Array, rows: AtomRows) -> Array:
        """a_t += Σ_i factors[t, i] · row i; returns the products of all vectors with each other."""


class Written:
    """One row of a matrix each."""

    def __init__(self) -> None:
        self.rows, self.m = np.zeros((0, 0)), 0

    def add(self, plane: MeanPlane) -> Array:
        if self.m == len(self.rows):
            grown = np.empty((max(8, 2 * self.m), len(plane.a)))
            grown[: self.m] = self.rows[: self.m] if self.m else 0.0
            self.rows = grown
        self.rows[self.m] = plane.a
        self.m += 1
        return self.dots(plane.a)

    def dots(self, v: Array) -> Array:
        return self.rows[: self.m] @ v

    def combined(self, alpha: Array, dim: int) -> Array:
        return alpha @ self.rows[: self.m] if self.m else np.zeros(dim)

    def keep(self, which: NDArray[np.intp]) -> None:
        for to, t in enumerate(which):  # one by one: a copy of all of them may be large
            if to != t:
                self.rows[to] = self.rows[t]
        self.m = len(which)

    def move(self, factors: Array, rows: AtomRows) -> Array:
        self.rows[: self.m] += factors @ rows.tocsr()
        return self.rows[: self.m] @ self.rows[: self.m].T


class OverAtoms:
    """One row of K each; only atoms that some cut uses are ever multiplied."""

    def __init__(self, atoms: Atoms):
        self.atoms = atoms
        self.coefficients = sparse.csr_array((0, atoms.count))
        self.known, self.used = np.zeros(atoms.count, dtype=bool), np.zeros(0, dtype=np.int32)
        self.products = np.zeros(atoms.count)  # u; right for used atoms only

    def add(self, plane: MeanPlane) -> Array:
        row = plane.row
        assert row is not None
        last = sparse.csr_array((row.values, row.indices, row.indptr), shape=(1, self.atoms.count), copy=True)
        last.sum_duplicates()
        self.coefficients = sparse.vstack([self.coefficients, last], format="csr")
        self._know(last.indices)
        return self.dots(plane.a)

    def _know(self, atoms: NDArray[np.int32]) -> None:
        if not self.known[atoms].all():
            self.known[atoms] = True
            self.used = np.flatnonzero(self.known).astype(np.int32)

    def dots(self, v: Array) -> Array:
        each = AtomRows(self.atoms, np.arange(len(self.used) + 1, dtype=np.int32), self.used, np.ones(len(self.used)))
        self.products[self.used] = each @ v
        return np.asarray(self.coefficients @ self.products)

    def combined(self, alpha: Array, dim: int) -> Array:
        weights = np.asarray(alpha @ self.coefficients)
        atoms, total = np.flatnonzero(weights), np.zeros(dim)
        ends = np.array([0, len(atoms)], dtype=np.int32)
        AtomRows(self.atoms, ends, atoms.astype(np.int32), weights[atoms]).add_to(total, np.ones(1))
        return total

    def keep(self, which: NDArray[np.intp]) -> None:
        self.coefficients = self.coefficients[which]
        self.known[:] = False
        self._know(self.coefficients.indices)

    def move(self, factors: Array, rows: AtomRows) -> Array:
        moves = sparse.csr_array(
            (rows.values, rows.indices, rows.indptr), shape=(len(rows.indptr) - 1, self.atoms.count)
        )
        self.coefficients = self.coefficients + sparse.csr_array(factors) @ moves
        self._know(self.coefficients.indices)
        each = np.eye(len(factors))
        return np.array([self.dots(self.combined(unit, self.atoms.dim)) for unit in each]).reshape(each.shape)
