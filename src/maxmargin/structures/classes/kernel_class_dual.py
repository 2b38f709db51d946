"""The dual point of multiclass problems with a kernel.

    D(α) = Σᵢₖ αᵢₖ Δ(yᵢ, k) - ½ Σₖ B[:, k]ᵀ G B[:, k],     B[i, k] = [k = yᵢ] Σₗ αᵢₗ - αᵢₖ

where G is the kernel matrix. The block of an example is solved from the scores G B of its labels, as in class_dual.py.
The scores of all units are stored, so that a visit reads K numbers, and adds multiples of a row of G to the scores of
the labels whose weights it changed. Rows of G are computed only for examples whose weights may change.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.files.learnt import InPlace
from maxmargin.base.files.objects import Fields
from maxmargin.kernels.atoms import KernelAtoms
from maxmargin.kernels.compiled.row_cache import RowCache
from maxmargin.kernels.plane_dual import KernelPlaneDual
from maxmargin.problem.dual.dual_problem import DualProblem
from maxmargin.problem.dual.limits import Limits
from maxmargin.structures.classes.class_dual import ClassDual, LabelledRows

BLOCK = 512  # examples whose rows of G are computed together


class KernelClassDual(ClassDual):
    """ClassDual with the inner products of a kernel; w has neither a prior nor bounds."""

    learnt: ClassVar[Fields] = {"seen": InPlace()}

    def __init__(self, classes: LabelledRows, problem: DualProblem):
        super().__init__(classes, problem)
        assert isinstance(classes.atoms, KernelAtoms)
        self._atoms = self.vectors.product = classes.atoms
        self.seen = np.zeros((len(classes.cost), self._atoms.n_units))  # scores by label, because labels change
        self._keep_scores()

    def _keep_scores(self) -> None:
        """Store the scores at Σ α a in the atoms, which then need not compute them."""
        self._atoms.kept = (self.vectors.sums, self.seen.T)

    def _check_learnt(self) -> None:
        super()._check_learnt()
        self._keep_scores()

    def _improve(self, order: NDArray[np.intp], report: Array) -> None:
        from maxmargin.structures.classes.compiled.kernel_class_dual import visit_with_rows

        of, rows, scratch = self.classes, self._atoms.rows, np.empty((4, len(self.classes.cost)))
        labels = np.empty(len(of.cost), dtype=np.uint64)
        problem = self._arrays
        for begin in range(0, len(order), BLOCK):
            end, at = min(begin + BLOCK, len(order)), begin
            self._fetch(order[begin:end])
            while at < end:
                cache = tuple(RowCache(rows.store, rows.slot_of, rows.complete, rows.last_use, rows.clock))
                state = self.alpha, self.vectors.sums, self.seen, scratch, labels
                at = int(visit_with_rows(order, at, end, problem, cache, *state, self._least, report))
                if at < end:  # this example changes now, unlike when its block began, and others may too
                    self._fetch(order[at:end])
                    rows.whole(of.units[order[at : at + 1]])

    def _fetch(self, examples: NDArray[np.intp]) -> None:
        """Compute the missing kernel rows of the examples in question that have a slack or a weight to change."""
        of, rows = self.classes, self._atoms.rows
        units, truths = of.units[examples], of.truths[examples]
        missing = ~rows.complete[rows.slot_of[units]] | (rows.slot_of[units] < 0)
        if missing.any():
            heights = self.seen[:, units].T + of.cost[truths]
            slack = heights.max(axis=1) > self.seen[truths, units]
            wanted = np.unique(units[missing & (slack | self.alpha[examples].any(axis=1))])
            rows.whole(wanted[: rows.capacity])

    def refresh(self) -> None:
        self._atoms.kept = None  # until Σ α a has been computed anew
        linear = self._sum_up()
        self.tidy()
        self.dual = linear - self.vectors.settle()

    def move_to(self, problem: DualProblem) -> None:
        self.tidy()
        super().move_to(problem)

    def empty_plane_dual(self, limits: Limits) -> KernelPlaneDual:
        return KernelPlaneDual(self._atoms, self.problem._replace(limits=limits))

    def tidy(self) -> None:
        """Compute the scores anew, because accumulated updates have rounding errors."""
        coefficients = self._atoms.coefficients(self.vectors.sums)
        self.seen[:] = self._atoms.rows.products(coefficients, np.arange(self._atoms.n_units)).T
        self._keep_scores()

    @property
    def visit_work(self) -> float:
        return super().visit_work + 2.0 * self.n * self._atoms.n_units  # updates by rows of G
