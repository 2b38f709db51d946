"""Lifted: tasks whose Ψ is made of feature rows of units at labels, so that a kernel can take the features' place.

    Ψ(x, z) = (direct coordinates of z, Σ_u φ(x_u) ⊗ e_{z_u})

Decoders see scores of units only. Without a kernel φ is the feature row itself and the scores are linear in it; with
one they are kernel values times coefficients of the training units (kernels/atoms.py), or linear again in the features
of an explicit map (kernels/map.py). All else stays as it is.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.atoms import Atoms
from maxmargin.errors import TaskError
from maxmargin.inputs.matrices import checked_matrix
from maxmargin.kernels.atoms import KernelAtoms
from maxmargin.kernels.auto import MapWithConstant, fitted_to
from maxmargin.kernels.definiteness import check_definite
from maxmargin.kernels.functions import Kernel
from maxmargin.kernels.map import KernelMap
from maxmargin.task import Array, Batch, Task

ZERO = 1e-12  # of the largest coefficient: what is left of a coefficient that was taken back


class Lifted(Task):
    """What such tasks share. `kernel` is a constructor argument: None, or what kernels/auto.py makes a kernel of.

    A trained model (see `settled`) has `support_`, its support units, and `support_numbers_`, theirs in training.
    """

    kernel: Any = None
    kernel_: Kernel | None = None  # in the dual
    map_: KernelMap | MapWithConstant | None = None  # written out
    support_: Any = None
    support_numbers_: NDArray[np.intp] | None = None

    def _set_dim(self, units: Any, n_labels: int, direct: int) -> None:
        """Part of `setup`: fit the kernel to the training units, and set the length of w."""
        self.kernel_ = self.map_ = self.support_ = None
        length = units.shape[1]
        if self.kernel is not None:
            units = checked_matrix(units, length)
            fitted = fitted_to(units, self.kernel)
            if isinstance(fitted, Kernel):
                check_definite(fitted, units)
                self.kernel_, length = fitted, units.shape[0]
            else:
                self.map_, length = fitted, fitted.n_components_
        self.dim = direct + length * n_labels

    def _unit_atoms(self, units: Any, n_labels: int, direct: int, owner: NDArray[np.int64]) -> Atoms:
        """The atoms of these units; owner[u] is the example that unit u belongs to."""
        if self.kernel_ is not None:
            return KernelAtoms(self.kernel_, units, n_labels, direct, owner, self.support_)
        atoms = Atoms(self._mapped(units), n_labels, direct)
        if self.kernel_map_ is not None:
            atoms.about = str(self.kernel_map_.about)
        return atoms

    def _unit_scores(self, w: Array, units: Any, n_labels: int, direct: int) -> Array:
        """(len(units), K) scores of new units by a model's weights."""
        if self.kernel_ is None:
            return np.ascontiguousarray(self._mapped(units) @ w[direct:].reshape(-1, n_labels))
        everyone = np.arange(units.shape[0])
        return self._unit_atoms(units, n_labels, direct, everyone).scores(w, everyone)

    def _mapped(self, units: Any) -> Any:
        if self.map_ is None:
            return units
        return self.map_.transform(units) if units.shape[0] else np.empty((0, self.map_.n_components_))

    @property
    def kernel_map_(self) -> KernelMap | None:
        """The explicit map of the kernel, where that is the way taken."""
        return self.map_.mapping if isinstance(self.map_, MapWithConstant) else self.map_

    def settled(self, w: Array, batch: Any) -> tuple[Task, Array]:
        atoms = batch.kernel
        if atoms is None:
            return self, w
        direct, coefficients = atoms.arrays[0], atoms.coefficients(w)
        sizes = np.abs(coefficients).max(axis=1)
        numbers = np.flatnonzero(sizes > ZERO * sizes.max(initial=0.0))
        task, weights = copy(self), np.concatenate([w[:direct], coefficients[numbers].ravel()])
        task.support_, task.support_numbers_ = atoms.kernel.kept(atoms.own, numbers), numbers
        task.dim = len(weights)
        return task, weights

    def _refuse_kernel(self, what: str) -> None:
        """For what has no meaning without explicit features."""
        if self.kernel_ is not None or self.map_ is not None:
            raise TaskError(f"with a kernel there is no {what}: it speaks of features that inputs do not have")


class AtomBatch(Batch):
    """A batch over the atoms of units."""

    atoms: Atoms

    @property
    def method(self) -> str:  # type: ignore[override]
        return self.atoms.about

    @property
    def kernel(self) -> KernelAtoms | None:
        return self.atoms if isinstance(self.atoms, KernelAtoms) else None
