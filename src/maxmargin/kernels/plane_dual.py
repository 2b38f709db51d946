"""The dual point of the n-slack problem for planes that are known only through inner products.

    D(α) = Σ α b - ½ Σ α α' ⟨a, a'⟩,     ⟨a, a'⟩ from a kernel matrix G of units (kernels/atoms.py)

(Tsochantaridis et al. 2004, section 3: the dual depends on Ψ only through inner products.) Besides the coefficients w,
the scores `seen` of all atoms at w are stored, so that heights are looked up; a step that changes the coefficients of a
unit costs one row of G. Most visits late in training change nothing, and rows of units that never carry weight are
never computed.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.files.learnt import InPlace
from maxmargin.base.files.objects import Fields
from maxmargin.kernels.atoms import KernelAtoms
from maxmargin.kernels.compiled.row_cache import NO_ROOM, RowCache
from maxmargin.problem.dual.block_dual import Report
from maxmargin.problem.dual.dual_problem import DualProblem
from maxmargin.problem.dual.known_planes import JointSize, KnownPlanes
from maxmargin.problem.dual.plane_dual import PlaneDual
from maxmargin.problem.planes.atoms import AtomRows
from maxmargin.problem.planes.compiled.atom_arrays import AtomArrays
from maxmargin.problem.planes.compiled.plane_tables import AWAITED, UNBOUNDED, PlaneRows, VisitLimits
from maxmargin.problem.planes.planes import Planes


class KernelPlaneDual(PlaneDual):
    """A PlaneDual with the inner products of a kernel; w has neither a prior nor bounds."""

    _atoms: KernelAtoms
    learnt: ClassVar[Fields] = {"seen": InPlace(), "_delta": InPlace()}

    def __init__(self, atoms: KernelAtoms, problem: DualProblem):
        super().__init__(atoms.dim, problem)
        self._delta = np.zeros(self.dim)
        self.seen = np.zeros(self.dim)
        self.use(atoms)

    def use(self, atoms: Any) -> None:
        """Take inner products from these atoms, which belong to the batch whose planes come next."""
        self._atoms = self.vectors.product = atoms
        self._atoms.kept = (self.w, self._atoms.coefficients(self.seen))

    def _check_learnt(self) -> None:
        super()._check_learnt()
        self._atoms.kept = (self.w, self._atoms.coefficients(self.seen))

    def visit(self, order: Any, planes: Planes | None = None, steps: int = 10, epsilon: float = 0.0) -> Report:
        self._atoms.kept = (self.w, self._atoms.coefficients(self.seen))
        if planes is not None:
            self._fetch(planes)
        return super().visit(order, planes, steps, epsilon)

    def _fetch(self, planes: Planes) -> None:
        """Compute the kernel rows of units in new planes together, because almost all of them will be needed."""
        direct, n_labels = self._atoms.arrays.direct, self._atoms.arrays.n_labels
        rows: Any = planes.dpsi
        atoms = rows.indices[: rows.indptr[-1]]
        units = np.unique((atoms[atoms >= direct] - direct) // n_labels).astype(np.int64)
        cache = self._atoms.rows
        slots = cache.slot_of[units]
        missing = units[(slots < 0) | ~cache.complete[slots]]
        if len(missing):
            cache.whole(missing[: cache.capacity])

    def _visit(self, order: NDArray[np.int64], begin: int, rows: PlaneRows, limits: VisitLimits, report: Array) -> int:
        from maxmargin.kernels.compiled.plane_dual import visit_with_kernel

        while begin < len(order):
            begin = int(
                visit_with_kernel(
                    order,
                    begin,
                    tuple(rows),
                    tuple(self._atoms.arrays),
                    tuple(self._images()),
                    tuple(limits),
                    (self.seen, self._delta, self.vectors.bounds),
                    self.w,
                    self._scratch.plain(),
                    report,
                    tuple(self._cache()),
                    tuple(self._tables),
                )
            )
            if report[AWAITED] == NO_ROOM or report[UNBOUNDED] >= 0:
                break
            if begin < len(order):
                self._finish(int(order[begin]), int(report[AWAITED]))
                begin += 1
        return begin

    def _finish(self, i: int, unit: int) -> None:
        """Spread the changes of example i, the next of which needs the kernel row of this unit."""
        from maxmargin.kernels.compiled.plane_dual import spread

        direct, n_labels = self._atoms.arrays.direct, self._atoms.arrays.n_labels
        rows = self._atoms.rows
        slots = self._tables.base[i] + np.arange(self._tables.filled[i])
        atoms = self._rows_of(slots).indices.astype(np.int64)
        while unit >= 0:
            waiting = atoms[(self._delta[atoms] != 0) & (atoms >= direct)]
            units = (waiting - direct) // n_labels
            _, first = np.unique(units, return_index=True)
            rows.whole(units[np.sort(first)][: rows.capacity])
            unit = int(spread(i, self._atoms.arrays, self._delta, self.w, self.seen, self._cache(), self._tables))

    def _cache(self) -> RowCache:
        rows = self._atoms.rows
        return RowCache(rows.store, rows.slot_of, rows.complete, rows.last_use, rows.clock)

    def refresh(self) -> None:
        self._atoms.kept = None  # until `seen` is correct again
        self._delta[:] = 0.0  # an interrupted visit may have left changes; w is recomputed from α
        linear = self._sum_up()
        self._score_anew()
        self.dual = linear - self.vectors.settle()

    def move_to(self, problem: DualProblem) -> None:
        self._score_anew()
        super().move_to(problem)

    def _score_anew(self) -> None:
        """Compute the scores of all atoms at w."""
        direct = self._atoms.arrays.direct
        self.seen[:direct] = self.w[:direct]
        everyone = np.arange(self._atoms.n_units)
        self.seen[direct:] = self._atoms.rows.products(self._atoms.coefficients(self.w), everyone).ravel()
        self._atoms.kept = (self.w, self._atoms.coefficients(self.seen))

    def _images(self) -> AtomArrays:
        return self._atoms.images()

    def admit(self, planes: Planes, w: Array) -> Report:
        scores = self._atoms.scores(w, np.arange(self._atoms.n_units))
        own, self.seen = self.seen, np.concatenate([w[: self._atoms.arrays.direct], scores.ravel()])
        try:
            return super().admit(planes, w)
        finally:
            self.seen = own
            self._atoms.kept = (self.w, self._atoms.coefficients(own))

    @property
    def visit_work(self) -> float:
        return super().visit_work + 2.0 * self.n * self._atoms.n_units  # one row of G for every change

    @property
    def joint_size(self) -> JointSize:
        size = super().joint_size
        return size._replace(writing=float(size.planes) * self._atoms.n_units * self.dim)

    def written(self, planes: KnownPlanes) -> tuple[Array, NDArray[np.intp] | None]:
        """Return a factor of the matrix of inner products."""
        values, vectors = np.linalg.eigh(self._products(planes.rows))
        return vectors * np.sqrt(np.maximum(values, 0.0)), None

    def _products(self, rows: AtomRows) -> Array:
        """Return ⟨a, a'⟩ of all pairs of these planes."""
        direct, units, labels = self._atoms.arrays.direct, self._atoms.n_units, self._atoms.arrays.n_labels
        planes = rows.toarray()
        own = planes[:, direct:].reshape(-1, units, labels)
        together = own.transpose(1, 0, 2).reshape(units, -1)
        scores = self._atoms.rows.products(together, np.arange(units)).reshape(units, -1, labels).transpose(1, 0, 2)
        products = planes[:, :direct] @ planes[:, :direct].T
        products += planes[:, direct:] @ scores.reshape(len(planes), -1).T
        return np.asarray((products + products.T) / 2)

    def _planes(self) -> tuple[Any, Array]:
        """Return the products of all pairs of planes: if any w separates them, a combination of planes does."""
        planes = self.known_planes()
        return self._products(planes.rows), planes.offset
