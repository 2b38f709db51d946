"""The vectors of cuts: dense, or as combinations of atoms if that is shorter.

After every oracle call, a cutting-plane method computes three results from its cuts a_1 … a_m: the products
⟨a_new, a_t⟩, the sum Σ α_t a_t, and sometimes the products with some w. With dense vectors each costs m · dim. Over
atoms (see atoms.py) each costs about as much as reading the atoms' features once, for any number of cuts: with
a_t = Σ_c K_tc · atom_c,

    ⟨a_t, v⟩ = (K u)_t,  u_c = ⟨atom_c, v⟩          and          Σ α_t a_t = Σ_c (Kᵀα)_c · atom_c.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.arrays import Array
from maxmargin.base.files.fields import NumberArray
from maxmargin.base.files.learnt import Inner, Learnt
from maxmargin.base.files.objects import Fields
from maxmargin.base.growing_rows import GrowingRows
from maxmargin.base.memory_budget import UNLIMITED, MemoryBudget
from maxmargin.problem.oracle.mean_plane import MeanPlane
from maxmargin.problem.planes.atoms import AtomRows, Atoms, read_rows

# The most atoms that a cut may be the first to use, and that all cuts may use, measured by the cost of reading their
# features, in reads of a vector like w
MOST_NEW, MOST = 2.0, 20.0


class LearntAtoms(Learnt):
    """The cuts of an owner that are combinations of atoms, if there are any."""

    def left(self, value: OverAtoms | None) -> Any:
        return None if value is None else value.plain

    def refilled(self, found: Any, current: Any, owner: CutVectors) -> OverAtoms | None:
        if found is None:
            return None
        if owner.atoms is None:
            raise ValueError("expected cuts that are written out")
        return OverAtoms.read(owner.atoms, found, owner.memory)


class CutVectors:
    """m vectors in the space of w; a cut is stored densely if its atoms and the atoms of other cuts are too many."""

    learnt: ClassVar[Fields] = {
        "short": NumberArray(bool, None),
        "written": Inner(),
        "over_atoms": LearntAtoms(),
    }

    def __init__(
        self, columns_wanted: bool = False, atoms: Atoms | None = None, memory: MemoryBudget = UNLIMITED
    ) -> None:
        self.atoms = atoms  # the oracle's atoms; None until a cut has atoms
        self.columns_wanted = columns_wanted  # True if all vectors are dense, so that single coordinates can be read
        self.memory = memory  # allocates large arrays
        self.written = Written()
        self.over_atoms: OverAtoms | None = None
        self.short = np.zeros(0, dtype=bool)  # marks the cuts that are stored over atoms

    @property
    def m(self) -> int:
        """The number of vectors."""
        return len(self.short)

    def _check_learnt(self) -> None:
        over = 0 if self.over_atoms is None else len(self.over_atoms.coefficients.ends) - 1
        if np.count_nonzero(self.short) != over or np.count_nonzero(~self.short) != self.written.m:
            raise ValueError(f"expected {self.m} cuts of the announced kinds")
        if self.columns_wanted and self.short.any():
            raise ValueError("expected cuts that are written out")

    def add(self, plane: MeanPlane) -> Array:
        """Append a cut's vector, and return its products with all vectors, the last one with itself."""
        short = False
        if plane.row is not None and not self.columns_wanted:
            self.over_atoms = self.over_atoms or OverAtoms(plane.row.atoms, self.memory)
            short = self.over_atoms.add(plane.row)
        if not short:
            self.written.add(plane.a, self.memory)
        self.short = np.append(self.short, short)
        return self.dots(plane.a)

    def dots(self, v: Array) -> Array:
        """Return the products with v."""
        products = np.empty(len(self.short))
        products[~self.short] = self.written.dots(v)
        if self.over_atoms is not None:
            products[self.short] = self.over_atoms.dots(v)
        return products

    def combined(self, alpha: Array, dim: int) -> Array:
        """Return Σ α a."""
        total = self.written.combined(alpha[~self.short], dim)
        if self.over_atoms is not None:
            self.over_atoms.add_to(total, alpha[self.short])
        return total

    def keep(self, which: NDArray[np.intp]) -> None:
        """Drop all vectors except these."""
        stay = np.zeros(len(self.short), dtype=bool)
        stay[which] = True
        self.written.keep(np.flatnonzero(stay[~self.short]))
        if self.over_atoms is not None:
            self.over_atoms.keep(np.flatnonzero(stay[self.short]))
        self.short = self.short[which]

    def move(self, factors: Array, rows: AtomRows) -> Array:
        """Add Σ_i factors[t, i] · row i to a_t for every t, and return the new Gram matrix."""
        self.written.move(factors[~self.short], rows)
        if self.over_atoms is not None:
            self.over_atoms.move(factors[self.short], rows)
        each = np.eye(len(factors))
        return np.array([self.dots(self.combined(unit, rows.atoms.dim)) for unit in each]).reshape(each.shape)


class Written:
    """Dense vectors, the rows of a matrix."""

    learnt: ClassVar[Fields] = {"used": NumberArray(float, None, None)}

    def __init__(self) -> None:
        self.rows, self.m = np.zeros((0, 0)), 0

    @property
    def used(self) -> Array:
        """The vectors, without unused space behind them."""
        return self.rows[: self.m]

    @used.setter
    def used(self, found: Array) -> None:
        self.rows, self.m = np.ascontiguousarray(found), len(found)

    def add(self, a: Array, memory: MemoryBudget) -> None:
        """Append a vector."""
        if self.m == len(self.rows):
            grown = memory.zeros((max(8, 2 * self.m), len(a)), np.float64)
            grown[: self.m] = self.rows[: self.m] if self.m else 0.0
            self.rows = grown
        self.rows[self.m] = a
        self.m += 1

    def dots(self, v: Array) -> Array:
        return self.rows[: self.m] @ v if self.m else np.zeros(0)

    def combined(self, alpha: Array, dim: int) -> Array:
        return alpha @ self.rows[: self.m] if self.m else np.zeros(dim)

    def keep(self, which: NDArray[np.intp]) -> None:
        for to, t in enumerate(which):  # one by one, because a copy of all of them may be large
            if to != t:
                self.rows[to] = self.rows[t]
        self.m = len(which)

    def move(self, factors: Array, rows: AtomRows) -> None:
        if self.m:
            self.rows[: self.m] += factors @ rows.tocsr()


class OverAtoms:
    """Vectors that are rows of K over the atoms in use, whose features are stored together for fast reading."""

    def __init__(self, atoms: Atoms, memory: MemoryBudget):
        self.atoms = atoms
        self.place = memory.zeros(atoms.count, np.int32)  # position of each atom among those in use
        self.place -= 1
        self.used = np.zeros(0, dtype=np.int32)
        self.features = atoms.gathered(self.used)
        self.coefficients = GrowingRows()

    @property
    def plain(self) -> list[NDArray[Any]]:
        """The atoms in use and the rows of K, from which `read` makes an equal object."""
        size = self.coefficients.ends[-1]
        return [self.used, self.coefficients.ends, self.coefficients.columns[:size], self.coefficients.values[:size]]

    @classmethod
    def read(cls, atoms: Atoms, found: Any, memory: MemoryBudget) -> OverAtoms:
        """Check the arrays of a checkpoint, which kernels will read, and return the vectors."""
        if not isinstance(found, list) or len(found) != 4 or not isinstance(found[0], np.ndarray):
            raise ValueError("expected atoms, and rows over them")
        used = found[0]
        if used.dtype != np.int32 or used.ndim != 1 or len(np.unique(used)) < len(used):
            raise ValueError("expected atoms that all are different")
        if len(used) and (used.min() < 0 or used.max() >= atoms.count):
            raise ValueError(f"expected atoms below {atoms.count}")
        rows = read_rows(Atoms.coordinates(len(used)), found[1:])
        made = cls(atoms, memory)
        made.used, made.features = used, atoms.gathered(used)
        made.place[used] = np.arange(len(used))
        made.coefficients.append(np.diff(rows.indptr), rows.indices, rows.values)
        return made

    def add(self, row: AtomRows) -> bool:
        """Append a row unless there would be too many atoms; return whether it was appended."""
        size = int(row.indptr[-1])
        columns = row.indices[:size]
        new = np.sort(columns[self.place[columns] < 0])
        new = new[np.diff(new, prepend=-1) > 0]  # once each
        if self.atoms.reads(len(new)) > MOST_NEW or self.atoms.reads(len(self.used) + len(new)) > MOST:
            return False
        if len(new):
            self.place[new] = len(self.used) + np.arange(len(new))
            self.used = np.concatenate([self.used, new])
            self.features.append(new)
        self.coefficients.append([size], self.place[columns], row.values[:size])
        return True

    def dots(self, v: Array) -> Array:
        return np.asarray(self.coefficients.matrix(len(self.used)) @ self.features.dots(v))

    def add_to(self, total: Array, alpha: Array) -> None:
        """Add Σ α a to total."""
        self.features.add_to(total, alpha @ self.coefficients.matrix(len(self.used)))

    def keep(self, which: NDArray[np.intp]) -> None:
        rows = self.coefficients.matrix(len(self.used))[which]
        self._replace(rows, self.used)

    def move(self, factors: Array, rows: AtomRows) -> None:
        shape = (len(rows.indptr) - 1, self.atoms.count)
        moves = sparse.csr_array((rows.values, rows.indices, rows.indptr), shape=shape)
        own = self.coefficients.matrix(len(self.used))
        everywhere = sparse.csr_array((own.data, self.used[own.indices], own.indptr), shape=(len(factors), shape[1]))
        self._replace(everywhere + sparse.csr_array(factors) @ moves, np.arange(shape[1], dtype=np.int32))

    def _replace(self, rows: sparse.csr_array, atoms: NDArray[np.int32]) -> None:
        """Replace the rows of K; column c belongs to atoms[c]."""
        columns = atoms[rows.indices]
        self.used = np.unique(columns)
        self.place[:] = -1
        self.place[self.used] = np.arange(len(self.used))
        self.features = self.atoms.gathered(self.used)
        self.coefficients = GrowingRows()
        self.coefficients.append(np.diff(rows.indptr), self.place[columns], rows.data)
