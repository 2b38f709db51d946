"""Attributed: the base of tasks whose classes are described by attributes, Taxonomy and Ordinal."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.arrays import Array
from maxmargin.base.files.fields import RowArrays, Whole
from maxmargin.base.files.objects import Fields
from maxmargin.inputs.matrices import checked_matrix
from maxmargin.problem.dual.block_dual import BlockDual
from maxmargin.problem.dual.dual_problem import DualProblem
from maxmargin.problem.planes.atoms import Atoms
from maxmargin.structures.classes.attribute_dual import AttributeDual
from maxmargin.structures.classes.class_dual import ClassDual, LabelledRows
from maxmargin.structures.classes.multiclass import Multiclass, MulticlassBatch, one_row
from maxmargin.structures.classes.scored import ScoredAttributes


class Attributed(Multiclass):
    """Base class of tasks with one weight per attribute in Λ₀ and one weight vector per attribute in Λ.

        Ψ(x, z) = (Λ₀(z), x ⊗ Λ(z))

    Classes that have an attribute in common share its weights (Tsochantaridis et al. 2004, section 4.2); Multiclass
    is the case in which each class has one attribute of its own. `setup` of a subclass ends with `_describe`.
    """

    measure: str

    saved: ClassVar[Fields] = {
        "direct_": Whole(),
        "n_attributes_": Whole(1),
        "table_": RowArrays("n_labels_", lambda task: task.direct_ + task.n_attributes_),
    }

    def _check_saved(self) -> None:
        self._check_length(self.n_features_, self.n_attributes_, self.direct_)

    def _costs(self, name: str, measured: Callable[[], Array]) -> Any:
        """Return the costs of mistakes: `costs` if given, else `measured()` if `measure` has that name, else None."""
        if self.measure not in (name, "error"):
            raise ValueError(f"measure must be {name!r} or 'error', got {self.measure!r}")
        if self.costs is not None:
            return self.costs
        return measured() if self.measure == name else None

    def _describe(self, classes: list[Hashable], costs: Any, X: Any, Y: Any, shared: Any, alone: Any = None) -> None:
        """Set the attributes: rows of `shared` are Λ(z), and rows of `alone` are Λ₀(z), in the order of the classes."""
        self._set_classes(classes, costs, Y)
        table = sparse.csr_array(shared, dtype=np.float64)
        self.n_attributes_, self.direct_ = table.shape[1], 0
        if alone is not None:
            self.direct_ = alone.shape[1]
            table = sparse.hstack([sparse.csr_array(alone, dtype=np.float64), table], format="csr")
        table.sort_indices()  # compiled functions merge rows
        self.table_ = table.indptr.astype(np.int32), table.indices.astype(np.int32), table.data
        self._set_dim(X, self.n_attributes_, self.direct_)

    def psi(self, x: Any, z: Hashable) -> tuple[NDArray[np.int64], Array]:
        self._refuse_kernel("psi(x, z)")
        indptr, indices, values = self.table_
        k, row = self.numbers_[z], one_row(x)
        entries = slice(indptr[k], indptr[k + 1])
        attributes, weights = indices[entries].astype(np.int64), values[entries]
        alone = attributes < self.direct_
        first = self.direct_ + row.col.astype(np.int64)[:, None] * self.n_attributes_  # weight of every feature
        return (
            np.concatenate([attributes[alone], (first + (attributes[~alone] - self.direct_)).ravel()]),
            np.concatenate([weights[alone], np.outer(row.data, weights[~alone]).ravel()]),
        )

    def scores(self, w: Array, X: Any) -> Array:
        """Compute the (n, K) scores ⟨w, Ψ(x, k)⟩ of every example and class."""
        return self.class_scores(w, self.attribute_scores(w, X))

    def attribute_scores(self, w: Array, X: Any) -> Array:
        """Compute the (n, attributes in Λ) scores of attributes."""
        return self._unit_scores(w, checked_matrix(X, self.n_features_), self.n_attributes_, self.direct_)

    def weights(self, w: Array) -> Array:
        """Return the (features, attributes) weight vectors of the attributes in Λ."""
        self._refuse_kernel("weight vector of an attribute")
        return w[self.direct_ :].reshape(self.n_features_, self.n_attributes_)

    @property
    def shares_nothing(self) -> bool:
        """True if every class has only one attribute, which is in Λ and its own."""
        indptr, indices, values = self.table_
        if self.direct_ or not len(indices) == self.n_attributes_ == self.n_labels_:
            return False
        each = np.arange(self.n_labels_)
        return bool(np.array_equal(indptr[:-1], each) and np.array_equal(indices, each) and (values == 1).all())

    def _atoms(self, X: Any) -> Atoms:
        return self._unit_atoms(X, self.n_attributes_, self.direct_, np.arange(X.shape[0]))

    def class_scores(self, w: Array, own: Array) -> Array:
        """Compute the (n, K) scores of classes from the scores of the attributes in Λ."""
        from maxmargin.structures.classes.compiled.attributes import class_scores

        scores = np.empty((len(own), self.n_labels_))
        class_scores(w, self.direct_, own, self.table_, scores)
        return scores

    def scored(self, X: Any, Y: Any = None) -> ScoredAttributes:
        """Return the score space of the rows, with their classes if Y is given."""
        if Y is not None:
            return self.pack(X, Y).scored()
        atoms = self._atoms(checked_matrix(X, self.n_features_))
        return ScoredAttributes(self, atoms, np.arange(atoms.n_units))

    def pack(self, X: Any, Y: Any) -> AttributeBatch:
        return AttributeBatch(self, self._atoms(self._rows(X, Y)), self._numbers(Y))


class AttributeBatch(MulticlassBatch):
    """Batch of rows (as atoms at attributes) and their label numbers."""

    kernel_blocks = False

    def block_dual(self, problem: DualProblem, earlier: BlockDual | None = None) -> BlockDual | None:
        if problem.geometry is not None and not self.task.shares_nothing:
            return None  # an AttributeDual has neither a prior nor bounds
        return super().block_dual(problem, earlier)

    def _class_dual(self, classes: LabelledRows, problem: DualProblem) -> ClassDual:
        # if classes share weights, the optimum of a block is not a projection
        if self.task.shares_nothing:
            return super()._class_dual(classes, problem)
        return AttributeDual(self.task, classes, problem)

    def scored(self) -> ScoredAttributes:
        """Return the score space of these rows with their classes."""
        return ScoredAttributes(self.task, self.atoms, self.ids, self._truths())
