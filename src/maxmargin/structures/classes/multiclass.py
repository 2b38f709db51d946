"""Multiclass: one label per example, with any cost matrix."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.arrays import Array
from maxmargin.base.files.array_folder import ArrayFolder, Excerpt
from maxmargin.base.files.fields import LabelArray, LabelList, NumberArray, Whole
from maxmargin.base.files.objects import Derived, Fields
from maxmargin.inputs.labels.labels import Labels, cost_matrix, label_array, label_numbers, label_set, prices
from maxmargin.inputs.matrices import checked_matrix, without_duplicates
from maxmargin.inputs.packed.packed_rows import verify_rows
from maxmargin.kernels.atom_batch import AtomBatch
from maxmargin.kernels.units import UnitTask
from maxmargin.problem.contract.capabilities.own_dual import OwnDual
from maxmargin.problem.contract.capabilities.rescaled_search import RescaledSearch
from maxmargin.problem.dual.block_dual import BlockDual
from maxmargin.problem.dual.dual_problem import DualProblem
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.dual.plane_dual import PlaneDual
from maxmargin.problem.planes.atoms import Atoms
from maxmargin.problem.planes.planes import Planes
from maxmargin.structures.classes.class_dual import ClassDual, LabelledRows
from maxmargin.structures.classes.class_space import ClassSpace, TrueClasses
from maxmargin.structures.classes.kernel_class_dual import KernelClassDual
from maxmargin.structures.classes.scored import ScoredClasses


class Multiclass(UnitTask):
    """Multiclass classification with one weight vector per class (Crammer and Singer 2001).

        Ψ(x, z) = x ⊗ e_z,      Δ(y, z) = costs[y, z]

    X is a dense or sparse (n, F) matrix.

    Parameters
    ----------
    classes : sequence or None
        The labels, if the training data may not contain all of them.
    costs : None, dict or array
        None (every mistake costs 1), {label: cost of missing it}, or a (K, K) matrix cost[true, predicted].
    kernel : None, str, callable or Kernel
        A kernel of rows (maxmargin.kernels), whose features replace x.

    See Also
    --------
    maxmargin.MulticlassSVC : The estimator.
    Taxonomy, Ordinal : Classes in a hierarchy, or with an order.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import tasks
    >>> task, X = tasks.Multiclass(), np.array([[0.0], [1.0]])
    >>> task.setup(X, ["low", "high"])
    >>> task.classes_, task.decode(np.array([1.0, 0.0]), X)  # weights of "high" and "low"
    (['high', 'low'], ['high', 'high'])
    """

    saved: ClassVar[Fields] = {
        "n_features_": Whole(1),
        "classes_": LabelList(least=1),
        "n_labels_": Derived(lambda task: len(task.classes_)),
        "labels_": LabelArray("n_labels_"),
        "cost_": NumberArray(float, "n_labels_", "n_labels_", least=0),
        "numbers_": Derived(lambda task: {label: k for k, label in enumerate(task.classes_)}),
    }

    def __init__(self, classes: Sequence[Hashable] | None = None, costs: Any = None, kernel: Any = None):
        self.classes = classes
        self.costs = costs
        self.kernel = kernel

    def _check_saved(self) -> None:
        self._check_length(self.n_features_, self.n_labels_, 0)

    def setup(self, X: Any, Y: Any) -> None:
        self.n_features_ = width(X)
        self._set_classes(label_set(self.classes, Y), self.costs, Y)
        self._set_dim(X, self.n_labels_, 0)

    def _set_classes(self, classes: list[Hashable], costs: Any, Y: Any) -> None:
        self.classes_, self.n_labels_ = classes, len(classes)
        self.labels_ = label_array(classes, Y)
        self.numbers_ = {label: k for k, label in enumerate(classes)}
        self.cost_ = cost_matrix(costs, classes)

    def psi(self, x: Any, z: Hashable) -> tuple[NDArray[np.int64], Array]:
        self._refuse_kernel("psi(x, z)")
        row = one_row(x)
        return row.col.astype(np.int64) * self.n_labels_ + self.numbers_[z], row.data

    def loss(self, y: Hashable, z: Hashable) -> float:
        return float(prices([y], [z], self.numbers_, self.cost_)[0])

    def outputs(self, x: Any) -> list[Hashable]:
        return self.classes_

    def pack(self, X: Any, Y: Any) -> MulticlassBatch:
        return MulticlassBatch(self, self._atoms(self._rows(X, Y)), self._numbers(Y))

    def _rows(self, X: Any, Y: Any) -> Any:
        """Return the matrix of the examples after checking it and the number of labels."""
        if X.shape[0] != len(Y):
            raise ValueError(f"X has {X.shape[0]} rows but there are {len(Y)} labels; expected one label per row")
        return checked_matrix(X, self.n_features_)

    def decode(self, w: Array, X: Any) -> list[Hashable]:
        scores = self.scores(w, X)
        return [self.classes_[k] for k in ClassSpace(*scores.shape).found(scores)]

    def scored(self, X: Any, Y: Any = None) -> Any:
        """Return the score space of the rows (ScoredClasses), with their classes if Y is given."""
        if Y is not None:
            return self.pack(X, Y).scored()
        atoms = self._atoms(checked_matrix(X, self.n_features_))
        return ScoredClasses(atoms, np.arange(atoms.n_units), self.n_labels_)

    def scores(self, w: Array, X: Any) -> Array:
        """Compute the (n, K) scores ⟨w_k, x⟩ of every example and class."""
        return self._unit_scores(w, checked_matrix(X, self.n_features_), self.n_labels_, 0)

    def weights(self, w: Array) -> Array:
        """Return the (features, K) weight vectors of the classes."""
        self._refuse_kernel("weight vector of a class")
        return w.reshape(self.n_features_, self.n_labels_)

    def _numbers(self, Y: Any) -> Labels:
        try:
            return label_numbers(Y, self.numbers_)
        except ValueError as error:
            i = next(i for i, label in enumerate(Y) if label not in self.numbers_)
            raise ValueError(f"example {i}: {error}") from None

    def _atoms(self, X: Any) -> Atoms:
        return self._unit_atoms(X, self.n_labels_, 0, np.arange(X.shape[0]))


class MulticlassBatch(AtomBatch, OwnDual, RescaledSearch):
    """Batch of rows (as atoms) and their label numbers."""

    call_cost = 6.0  # measured on letters and chunking; compiled decoders are almost as fast as remembered planes

    kernel_blocks = True  # whether there also is a dual of whole blocks for kernels

    def __init__(self, task: Multiclass, atoms: Atoms, labels: Labels):
        super().__init__(task, len(labels), atoms)
        self.labels, self.cost = labels, task.cost_

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        if self.source is not None and len(self) and isinstance(state["labels"], np.ndarray):  # not the folder's
            state["labels"] = Excerpt.of(state["labels"], *self._row_range())
        return state

    def _row_range(self) -> tuple[int, int]:
        """Return the range of row numbers from the first of these rows to the last."""
        return int(self.ids.min()), int(self.ids.max()) + 1

    def verify(self, source: ArrayFolder) -> None:
        """Verify the features and labels of the rows from the first of these to the last."""
        if len(self):
            begin, end = self._row_range()
            source.verify("labels", begin, end)
            verify_rows(source, begin, end)

    def scored(self) -> Any:
        """Return the score space of these rows with their classes (ScoredClasses)."""
        return ScoredClasses(self.atoms, self.ids, len(self.cost), self._truths())

    def _truths(self) -> TrueClasses:
        return TrueClasses(self.labels[self.ids], self.cost)

    def planes(self, w: Array, augment: float | Array = 1.0) -> Planes:
        scored = self.scored()
        return scored.planes_of(scored.found(scored.scores(w), augment))

    def block_dual(self, problem: DualProblem, earlier: BlockDual | None = None) -> BlockDual | None:
        """Return the dual of whole blocks if α of all labels fits into memory, or None if planes are needed.

        With a kernel, planes are used if there are few enough blocks for joint rounds (solvers/joint_rounds.py).
        """
        megabytes, cache_mb = 8.0 * len(self.cost) * (len(self) + 2 * len(self.cost)) / 2**20, problem.limits.cache_mb
        large = megabytes > cache_mb
        few = self.kernel is not None and (not self.kernel_blocks or 8 * megabytes * self.kernel.n_units <= cache_mb)
        plain = problem.formulation.plain and np.isfinite(problem.C)
        taken_over = isinstance(earlier, PlaneDual)  # a solver that stalled on blocks has switched to planes
        if large or few or not plain or taken_over:
            return None
        if isinstance(earlier, ClassDual):
            earlier.move_to(problem)
            return earlier
        return self._class_dual(LabelledRows(self.atoms, self.ids, self.labels[self.ids], self.cost), problem)

    def _class_dual(self, classes: LabelledRows, problem: DualProblem) -> ClassDual:
        return ClassDual(classes, problem) if self.kernel is None else KernelClassDual(classes, problem)

    def rescaled_planes(self, w: Array, formulation: Formulation) -> Planes:
        scored = self.scored()
        scores, (truth, cost) = scored.scores(w), scored.truths
        margins = scores[np.arange(len(truth)), truth][:, None] - scores
        found = np.argmax(formulation.value(cost[truth], margins), axis=1).astype(np.int32)
        return scored.planes_of(found)


def width(X: Any) -> int:
    """Return the number of features of a matrix after checking that it has at least one row."""
    if len(getattr(X, "shape", ())) != 2:
        raise ValueError(f"X must be a dense or sparse (examples, features) matrix, got {type(X).__name__}")
    if X.shape[0] == 0:
        raise ValueError("no examples given: X has 0 rows; expected at least one")
    return int(X.shape[1])


def one_row(x: Any) -> sparse.coo_array:
    """Return one example as a sparse matrix with one row."""
    if sparse.issparse(x):
        return sparse.coo_array(without_duplicates(x.reshape(1, -1)))
    return sparse.coo_array(np.asarray(x, dtype=float).reshape(1, -1))
