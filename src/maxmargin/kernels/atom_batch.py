"""AtomBatch: a batch whose planes are combinations of units' feature rows, and its weight space with a kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.files.array_folder import ArrayFolder
from maxmargin.kernels.atoms import KernelAtoms
from maxmargin.kernels.plane_dual import KernelPlaneDual
from maxmargin.kernels.units import UnitTask
from maxmargin.problem.contract.batch import Batch, Offered
from maxmargin.problem.contract.capabilities.kernel_space import KernelSpace
from maxmargin.problem.contract.capabilities.prediction_form import PredictionForm, TrainedModel
from maxmargin.problem.dual.dual_problem import DualProblem
from maxmargin.problem.dual.plane_dual import PlaneDual
from maxmargin.problem.planes.atoms import AtomRows, Atoms
from maxmargin.problem.planes.planes import Planes


class AtomBatch(Batch, PredictionForm):
    """A batch over the atoms of units; with a kernel, weights are coefficients of units.

    If the arrays are in a packed folder (`source`), a pickle names them instead of containing them. Order of
    calls: `__getstate__` here; in the process that reads the pickle `__setstate__`, which opens the arrays and then
    calls `verify`.
    """

    source: ArrayFolder | None  # the packed folder whose arrays the batch reads, if there is one

    def __init__(self, task: UnitTask, n: int, atoms: Atoms):
        super().__init__(task, n)
        self.atoms, self.source = atoms, atoms.source

    @property
    def dim(self) -> int:
        return int(self.atoms.dim)

    @property
    def method(self) -> str:
        return self.atoms.about

    @property
    def plane_atoms(self) -> Atoms:
        return self.atoms

    @property
    def kernel(self) -> KernelAtoms | None:
        """The atoms if they are defined by a kernel, otherwise None."""
        return self.atoms if isinstance(self.atoms, KernelAtoms) else None

    def offers(self, capability: type[Offered]) -> Offered | None:
        if self.kernel is not None:
            weights = KernelWeights(self, self.kernel)
            if isinstance(weights, capability):
                return weights
        return super().offers(capability)

    def trained_model(self, w: Array) -> TrainedModel:
        shown: dict[str, Any] = {}
        if self.task.kernel_map_ is not None:
            shown["kernel_map_"] = self.task.kernel_map_
        if self.kernel is None:
            return TrainedModel(self.task, w, shown)
        task, weights = self.task.reduced_to_support(w, self.kernel)
        shown |= {"support_": task.support_numbers_, "kernel_evaluations_": self.kernel.rows.evaluations}
        return TrainedModel(task, weights, shown)

    def __getstate__(self) -> dict[str, Any]:
        if self.source is None:
            return dict(self.__dict__)
        first, n, state = int(self.ids[0]) if len(self) else 0, len(self), self.source.named(self.__dict__)
        if np.array_equal(self.ids, np.arange(first, first + n)):
            state["ids"] = range(first, first + n)
        return {**state, "task": self.task.searching()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        source: ArrayFolder | None = state.get("source")
        self.__dict__.update(state if source is None else source.with_arrays(state))
        if isinstance(self.ids, range):
            self.ids = np.arange(self.ids.start, self.ids.stop)
        if source is not None:
            self.verify(source)

    def verify(self, source: ArrayFolder) -> None:
        """Compare the data of these examples with the checksums of the packed folder, or raise a ValueError."""
        for name in source.arrays:
            source.verify(name)


class KernelWeights(KernelSpace):
    """The weight space of an AtomBatch with a kernel."""

    def __init__(self, batch: AtomBatch, atoms: KernelAtoms):
        self.batch, self.atoms = batch, atoms

    @property
    def cache(self) -> KernelAtoms:
        return self.atoms

    def inner(self, v: Array, w: Array) -> float:
        return self.atoms.inner(v, w)

    def square(self, w: Array) -> float:
        return self.atoms.square(w)

    def lifted(self, w: Array) -> Array:
        return self.atoms.lifted(w)

    def plane_dual(self, problem: DualProblem, earlier: PlaneDual | None = None) -> PlaneDual:
        if not isinstance(earlier, KernelPlaneDual):
            return KernelPlaneDual(self.atoms, problem)
        earlier.use(self.atoms)
        earlier.move_to(problem)
        return earlier

    def restricted_to(self, planes: Planes) -> tuple[Batch, Planes]:
        """Return a batch over the units of these planes: no step then needs kernel values with all of the data."""
        direct, n_labels = self.atoms.arrays.direct, self.atoms.arrays.n_labels
        rows: Any = planes.dpsi
        of_units = rows.indices >= direct
        units, place = np.unique((rows.indices[of_units] - direct) // n_labels, return_inverse=True)
        indices = rows.indices.copy()
        indices[of_units] = direct + place * n_labels + (rows.indices[of_units] - direct) % n_labels
        few = AtomBatch(self.batch.task, len(self.batch), self.atoms.restricted(units.astype(np.int64)))
        return few, Planes(AtomRows(few.atoms, rows.indptr, indices, rows.values), planes.loss)
