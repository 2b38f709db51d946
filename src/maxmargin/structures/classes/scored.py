"""ScoredClasses and ScoredAttributes: rows of features, scored by the weights of classes or of their attributes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.inputs.labels.labelling import wrong_labels
from maxmargin.inputs.labels.labels import Labels
from maxmargin.problem.contract.scored import need_truth
from maxmargin.problem.planes.atoms import AtomRows, Atoms
from maxmargin.problem.planes.compiled.plane_tables import PlaneRows
from maxmargin.problem.planes.planes import Planes
from maxmargin.structures.classes.class_space import ClassSpace, TrueClasses


class ScoredClasses(ClassSpace):
    """ClassSpace whose classes have a weight vector each.

    atoms, units : the features of all rows, and the row of every input
    """

    def __init__(self, atoms: Atoms, units: NDArray[np.int64], n_labels: int, truths: TrueClasses | None = None):
        super().__init__(len(units), n_labels, truths)
        self.atoms, self.units = atoms, units

    def scores(self, w: Array) -> Array:
        """Return the scores (n, K) of all classes at the weights w."""
        return self.atoms.scores(w, self.units)

    def planes_of(self, found: Labels) -> Planes:
        """Return Ψ(x, y) - Ψ(x, z) and Δ(y, z) of these classes."""
        need_truth(self.truths)
        assert self.truths is not None
        labels, cost = self.truths
        bounds, ones = np.arange(len(labels) + 1), np.ones(len(labels))
        return wrong_labels(self.atoms, False, bounds, self.units, labels, found, labels, cost, ones)


class ScoredAttributes(ClassSpace):
    """ClassSpace whose classes share the weights of attributes.

    task : an Attributed, which knows the attributes of classes
    atoms, units : the features of all rows, and the row of every input
    """

    def __init__(self, task: Any, atoms: Atoms, units: NDArray[np.int64], truths: TrueClasses | None = None):
        super().__init__(len(units), task.n_labels_, truths)
        self.task, self.atoms, self.units = task, atoms, units

    def scores(self, w: Array) -> Array:
        """Return the scores (n, K) of all classes at the weights w."""
        scores: Array = self.task.class_scores(w, self.atoms.scores(w, self.units))
        return scores

    def planes_of(self, found: Labels) -> Planes:
        """Return Ψ(x, y) - Ψ(x, z) and Δ(y, z) of these classes."""
        from maxmargin.structures.classes.compiled.attributes import attribute_differences

        need_truth(self.truths)
        assert self.truths is not None
        (truth, cost), task = self.truths, self.task
        table: tuple[Labels, Labels, Array] = task.table_
        lengths = np.diff(table[0])
        most = int(np.sum((lengths[truth] + lengths[found])[truth != found]))
        rows = PlaneRows.of(len(truth), most)
        attribute_differences(task.direct_, task.n_attributes_, self.units, truth, found, cost, table, rows)
        return Planes(AtomRows(self.atoms, rows.indptr, rows.indices, rows.values), rows.offset)
