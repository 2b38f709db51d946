"""KernelAtoms: planes and weights as combinations of units whose features are known by their inner products only.

    w = (d, Σ_u φ(x_u) ⊗ B[u]),       ⟨w, w'⟩ = d·d' + Σ_k B[:, k]ᵀ G B'[:, k],       G[u, v] = k(x_u, x_v)         (1)

is stored as the vector of its coefficients, (d, B), with a row of B for every unit and a column for every label. Planes
can be added and scaled as usual, because they are combinations of atoms (problem/planes/atoms.py) and atom (u, k) is
the coefficient B[u, k] here. Only products differ: the score of label k at unit u is (G B)[u, k].
"""

from __future__ import annotations

from threading import RLock
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.arrays import Array
from maxmargin.base.files.learnt import Inner, Learnt
from maxmargin.base.files.objects import Fields
from maxmargin.base.rounding import gamma
from maxmargin.kernels.base import Kernel
from maxmargin.kernels.rows import KernelRows
from maxmargin.problem.planes.atoms import AtomRows, Atoms, Gathered
from maxmargin.problem.planes.compiled.atom_arrays import AtomArrays

Units = NDArray[np.int64]
TABLES = 3  # weight vectors whose scores are cached, because solvers need the same ones repeatedly
AT_ONCE = 1024  # new units scored at once in prediction
ROUNDING = 1e-12  # relative to (Σ |B[u]| √G[u,u])²; smaller negative squared lengths count as zero


class LearntScores(Learnt):
    """The cached scores of an owner's units at some weights."""

    def left(self, value: Any) -> Any:
        return [list(each) for each in value]

    def refilled(self, found: Any, current: Any, owner: KernelAtoms) -> Any:
        expected = [(owner.dim,), (owner.n_units, owner.arrays.n_labels), (owner.n_units,)]
        kinds = [np.float64, np.float64, np.bool_]
        if not isinstance(found, list) or len(found) > TABLES:
            raise ValueError(f"expected at most {TABLES} tables of scores")
        for each in found:
            arrays = isinstance(each, list) and all(isinstance(one, np.ndarray) for one in each)
            if not arrays or [one.dtype for one in each] != kinds or [one.shape for one in each] != expected:
                raise ValueError("expected weights, scores, and a mask of the known scores")
            if not np.isfinite(each[0]).all() or not np.isfinite(each[1][each[2]]).all():
                raise ValueError("expected finite scores")
        return [tuple(each) for each in found]


class KernelAtoms(Atoms):
    """The atoms of a data set under a fitted kernel.

    owner[u] is the example that unit u belongs to, or -1. `support`, the support units of a trained model, come after
    the units of the data, and the weights of a model (d, B over its support) are extended to all units, see
    `lifted`.
    """

    about = "kernel in the dual"

    def __init__(self, kernel: Kernel, units: Any, n_labels: int, direct: int, owner: Units, support: Any = None):
        self.kernel, self.own, self.support, self.owner = kernel, units, support, owner
        self.n_support = 0 if support is None else int(support.shape[0])
        n_units = int(units.shape[0]) + self.n_support
        super().__init__(sparse.eye_array(n_units, format="csr"), n_labels, direct)
        self.kept: tuple[Array, Array] | None = None  # weights and their (units, labels) scores, kept by a dual
        self._tables: list[tuple[Array, Array, NDArray[np.bool_]]] = []  # weights, scores, mask of known scores
        self._rows: KernelRows | None = None
        self._images: AtomArrays | None = None
        self._lock = RLock()

    learnt: ClassVar[Fields] = {"rows": Inner(), "_tables": LearntScores()}

    @property
    def rows(self) -> KernelRows:
        """The kernel matrix of all units."""
        with self._lock:
            if self._rows is None:
                units = self.own if self.support is None else self.kernel.joined(self.own, self.support)
                self._rows = KernelRows(self.kernel, units)
            return self._rows

    def reads(self, atoms: int) -> float:
        """Return 0, because planes are combinations of atoms and need no feature values."""
        return 0.0

    def gathered(self, which: NDArray[np.int32]) -> Gathered:
        return GatheredUnits(self, which)

    def taken(self, units: Units) -> Atoms:
        """Return all atoms, because the rows of the kernel matrix are shared."""
        return self

    def coefficients(self, w: Array) -> Array:
        """Return B, with a row for every unit."""
        return w[self.arrays.direct :].reshape(-1, self.arrays.n_labels)

    def lifted(self, w: Array) -> Array:
        """Return the weights of a model, which has coefficients of its support only, as coefficients of all units."""
        if len(w) == self.dim:
            return w
        full, direct = np.zeros(self.dim), self.arrays.direct
        full[:direct], full[self.dim - (len(w) - direct) :] = w[:direct], w[direct:]
        return full

    def scores(self, w: Array, units: Units) -> Array:
        """Return the (len(units), K) scores of every label of these units."""
        kept = self.kept
        if kept is not None and w is kept[0]:
            return np.ascontiguousarray(kept[1][units])
        if len(w) != self.dim:
            return self._scores_of_model(w, units)
        with self._lock:
            scores, known = self._table(w)
            missing = np.unique(units[~known[units]])
            if len(missing):
                scores[missing] = self.rows.products(self.coefficients(w), missing)
                known[missing] = True
            return scores[units]

    def _table(self, w: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Return the scores of w and a mask of those that are known."""
        for t, (weights, scores, known) in enumerate(self._tables):
            if np.array_equal(weights, w):
                self._tables.insert(0, self._tables.pop(t))
                return scores, known
        scores, known = np.zeros((self.n_units, self.arrays.n_labels)), np.zeros(self.n_units, dtype=bool)
        self._tables = [(w.copy(), scores, known), *self._tables[: TABLES - 1]]
        return scores, known

    def _scores_of_model(self, w: Array, units: Units) -> Array:
        """Return the scores of a model without a cache, because every pair of new and support unit occurs once."""
        direct, n_labels = self.arrays.direct, self.arrays.n_labels
        if len(w) != direct + self.n_support * n_labels:
            raise ValueError(
                f"w has {len(w)} coefficients; expected {self.dim}, or {direct + self.n_support * n_labels}"
            )
        coefficients = self.coefficients(w)
        scores = np.zeros((len(units), n_labels))
        if self.n_support:
            for begin in range(0, len(units), AT_ONCE):
                some = units[begin : begin + AT_ONCE]
                values = self.kernel.values(self.own[some], self.support)
                if not np.isfinite(values).all():
                    u = some[np.argwhere(~np.isfinite(values))[0, 0]]
                    raise ValueError(f"the kernel of unit {u} with a training unit is not finite")
                scores[begin : begin + AT_ONCE] = values @ coefficients
        return scores

    def row_dots(self, rows: AtomRows, w: Array) -> Array:
        direct, n_labels = self.arrays.direct, self.arrays.n_labels
        atoms, values = rows.indices[: rows.indptr[-1]].astype(np.int64), rows.values[: rows.indptr[-1]]
        plain = atoms < direct
        products = np.empty(len(atoms))
        products[plain] = w[atoms[plain]]
        unit, label = np.divmod(atoms[~plain] - direct, n_labels)
        units, place = np.unique(unit, return_inverse=True)
        products[~plain] = self.scores(w, units)[place, label]
        owners = np.repeat(np.arange(len(rows.indptr) - 1), np.diff(rows.indptr))
        return np.bincount(owners, weights=values * products, minlength=len(rows.indptr) - 1).astype(np.float64)

    @property
    def lengths(self) -> Array:
        if self._lengths is None:
            self._lengths = np.sqrt(np.maximum(self.rows.diagonal, 0.0)) * (1 + gamma(4))
        return self._lengths

    @property
    def terms(self) -> int:
        return self.n_units

    def largest(self, w: Array) -> float:
        return float("inf")  # features are unknown

    def size_of(self, w: Array) -> float:
        """Return Σ |B[u]| √G[u,u] plus the length of the direct coordinates, because scores sum over all units of w."""
        active = self.active(w)
        own = float(np.linalg.norm(w[: self.arrays.direct]))
        return own + float(self.lengths[active] @ np.abs(self.coefficients(w)[active]).sum(axis=1))

    def squared_norms(self, rows: AtomRows) -> Array:
        each = rows.tocsr()
        return np.array([self.inner(row, row) for row in (each[[j]].toarray()[0] for j in range(rows.shape[0]))])

    def inner(self, v: Array, w: Array) -> float:
        """Return ⟨v, w⟩ by (1)."""
        direct, own = self.arrays.direct, self.coefficients(v)
        active = self.active(v)
        product = float(np.dot(v[:direct], w[:direct])) + float(np.sum(own[active] * self.scores(w, active)))
        if v is not w or product >= 0:
            return product
        if product < -ROUNDING * self.size_of(w) ** 2:
            raise ValueError(
                f"the kernel is not positive semidefinite: some weights have the squared length {product:.6g}, so that "
                "nothing can be certified; use another kernel"
            )
        return 0.0

    def square(self, w: Array) -> float:
        """Return an upper bound on ‖w‖², which is a sum over all pairs of units with cancellation."""
        return self.inner(w, w) + gamma(2 * self.n_units + 8) * self.size_of(w) ** 2

    def active(self, w: Array) -> Units:
        """Return the units with nonzero coefficients in w: its support."""
        return np.flatnonzero(self.coefficients(w).any(axis=1))

    def restricted(self, units: Units) -> KernelAtoms:
        """Return the atoms of these units alone, renumbered; known entries of the kernel matrix stay known."""
        direct, n_labels = self.arrays.direct, self.arrays.n_labels
        part = KernelAtoms(self.kernel, self.kernel.among(self.own, units), n_labels, direct, self.owner[units])
        part._rows = self.rows.restricted(units)
        return part

    def images(self) -> AtomArrays:
        """Return G restricted to pairs of units of one example, as atoms: the products of planes of an example.

        Adding atom (u, k) of these to a vector adds G[u, v] at coefficient (v, k) for all units v of the example of u.
        """
        if self._images is None:
            self._images = self._local_products()
        return self._images

    def _local_products(self) -> AtomArrays:
        direct, n_labels = self.arrays.direct, self.arrays.n_labels
        order = np.argsort(self.owner, kind="stable")
        order = order[self.owner[order] >= 0]
        sizes = np.unique(self.owner[order], return_counts=True)[1]
        if np.all(sizes == 1):
            gram = sparse.diags_array(self.rows.diagonal, format="csr")
        else:
            megabytes = 12 * float(np.sum(sizes.astype(float) ** 2)) / 2**20
            if megabytes > self.kernel.cache_mb:
                raise ValueError(
                    f"the kernel matrices of the single examples (up to {sizes.max()} units) take {megabytes:.3g} MB, "
                    f"but cache_mb = {self.kernel.cache_mb:g}; give the kernel a larger cache_mb, or use "
                    "solver='one_slack'"
                )
            ends = np.cumsum(sizes)
            members = [order[end - size : end] for end, size in zip(ends, sizes, strict=True)]
            rows = np.concatenate([np.repeat(units, len(units)) for units in members])
            columns = np.concatenate([np.tile(units, len(units)) for units in members])
            values = np.concatenate([_symmetric(self.rows.block(units, units)).ravel() for units in members])
            gram = sparse.csr_array((values, (rows, columns)), shape=(self.n_units, self.n_units))
        return Atoms(gram, n_labels, direct).arrays

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without cached values."""
        return {**vars(self), "kept": None, "_tables": [], "_images": None, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = RLock()


class GatheredUnits(Gathered):
    """Some atoms, whose products are looked up in the kernel matrix."""

    def __init__(self, atoms: KernelAtoms, which: NDArray[np.int32]):
        self.atoms, self.which = atoms, which

    def append(self, which: NDArray[np.int32]) -> None:
        self.which = np.concatenate([self.which, which])

    def dots(self, v: Array) -> Array:
        ends = np.arange(len(self.which) + 1, dtype=np.int32)
        return AtomRows(self.atoms, ends, self.which, np.ones(len(self.which))) @ v

    def add_to(self, total: Array, weights: Array) -> None:
        ends = np.array([0, len(self.which)], dtype=np.int32)
        AtomRows(self.atoms, ends, self.which, weights).add_to(total, np.ones(1))


def _symmetric(block: Array) -> Array:
    return (block + block.T) / 2
