"""The dual point of classes that share attributes: all planes of an example and their inner products are known.

    Ψ(x, k) = (Λ₀(k), x ⊗ Λ(k)),   ⟨Ψ(x, k), Ψ(x, l)⟩ = ⟨Λ₀(k), Λ₀(l)⟩ + ‖x‖² ⟨Λ(k), Λ(l)⟩

A visit scores all attributes once and then makes a few exact steps, each of which moves weight between two labels, by
two small matrices that all examples share. No planes are searched or stored.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.arrays import Array
from maxmargin.base.rounding import gamma
from maxmargin.inputs.labels.labels import Labels
from maxmargin.problem.dual.dual_problem import DualProblem
from maxmargin.problem.planes.atoms import AtomRows
from maxmargin.problem.planes.planes import Planes
from maxmargin.structures.classes.class_dual import ClassDual, LabelledRows
from maxmargin.structures.classes.class_space import TrueClasses
from maxmargin.structures.classes.scored import ScoredAttributes


class AttributeDual(ClassDual):
    """Dual point of examples whose classes share attributes: α of all wrong labels; task is an Attributed.

    w has neither a prior nor bounds.
    """

    def __init__(self, task: Any, classes: LabelledRows, problem: DualProblem):
        super().__init__(classes, problem)
        self._task = task
        self._table: tuple[Labels, Labels, Array] = task.table_
        direct, n_attributes = task.direct_, task.n_attributes_
        indptr, indices, values = self._table
        table = sparse.csr_array((values, indices, indptr), shape=(len(classes.cost), direct + n_attributes))
        self._alone, self._shared = (
            np.ascontiguousarray((part @ part.T).toarray()) for part in (table[:, :direct], table[:, direct:])
        )
        self._scratch = np.empty((4, max(len(classes.cost), n_attributes)))
        self._changed_attributes = np.empty(n_attributes, dtype=np.uint64)

    def _improve(self, order: NDArray[np.intp], report: Array) -> None:
        from maxmargin.structures.classes.compiled.attribute_dual import visit_attributes

        attributes = self._table, self._alone, self._shared
        state = self.alpha, self.vectors.sums, self._scratch, self._changed_attributes
        visit_attributes(order, self._arrays, self.classes.atoms.arrays, *attributes, *state, self._least, report)

    def _totals(self, sums: Array) -> tuple[float, float, float, int, float]:
        from maxmargin.structures.classes.compiled.attribute_dual import attribute_totals

        of = self.classes
        alone, shared = (
            np.sqrt(np.diagonal(each)) * (1 + gamma(of.atoms.dim + 8)) for each in (self._alone, self._shared)
        )
        state = self.alpha, sums, self._scratch, self._changed_attributes
        return attribute_totals(self._arrays, of.atoms.arrays, self._table, alone, shared, *state)

    @cached_property
    def _largest(self) -> Planes:
        """Return two planes of the longest x that are at least as large as any plane.

        One has twice the weight of the class with the largest weight, one twice the most attributes.
        """
        of, (indptr, indices, values) = self.classes, self._table
        direct, n_attributes, *_ = of.atoms.arrays
        unit = int(of.units[np.argmax(self._squares[of.units])])
        weights = [np.abs(values[indptr[k] : indptr[k + 1]]).sum() for k in range(len(of.cost))]
        rows = []
        for k in (int(np.argmax(weights)), int(np.argmax(np.diff(indptr)))):
            chosen = slice(indptr[k], indptr[k + 1])
            c = indices[chosen]
            atoms = np.where(c < direct, c, direct + unit * n_attributes + c - direct)
            rows.append((np.tile(atoms, 2).astype(np.int32), np.r_[values[chosen], -values[chosen]]))
        ends = np.cumsum([0, *(len(row[0]) for row in rows)]).astype(np.int32)
        joined = [np.concatenate(each) for each in zip(*rows, strict=True)]
        return Planes(AtomRows(of.atoms, ends, *joined), np.full(2, of.cost[of.truths].max()))

    def _scores(self, w: Array) -> Array:
        scores: Array = self._task.class_scores(w, super()._scores(w))
        return scores

    def _rows(self, owners: NDArray[np.intp], truths: Labels, labels: Labels) -> AtomRows:
        of, known = self.classes, TrueClasses(truths, self.classes.cost)
        return AtomRows.of(ScoredAttributes(self._task, of.atoms, of.units[owners], known).planes_of(labels).dpsi)

    @property
    def visit_work(self) -> float:
        # as for classes, with attributes instead, and a few steps over all labels
        n_attributes, K = len(self._changed_attributes), len(self.classes.cost)
        return super().visit_work * n_attributes / K + 50.0 * self.n * K
