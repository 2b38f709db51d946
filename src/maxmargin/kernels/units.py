"""Tasks whose Ψ consists of feature rows of units at labels, so that a kernel can replace the features.

    Ψ(x, z) = (direct coordinates of z, Σ_u φ(x_u) ⊗ e_{z_u})

Decoders see only scores of units. Without a kernel φ is the feature row itself and scores are linear in it; with a
kernel they are kernel values times coefficients of the training units (kernels/atoms.py), or linear in the features of
an explicit map (kernels/map.py). Everything else is the same.
"""

from __future__ import annotations

from copy import copy
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.errors import TaskError
from maxmargin.base.files.fields import NumberArray, NumberMatrix, OneOf, Part
from maxmargin.base.files.objects import Fields, Sometimes
from maxmargin.inputs.matrices import MatrixInPieces, checked_matrix
from maxmargin.kernels.atoms import KernelAtoms
from maxmargin.kernels.auto import MapWithConstant, fitted_to
from maxmargin.kernels.base import Kernel
from maxmargin.kernels.definiteness import check_definite
from maxmargin.kernels.map import KernelMap
from maxmargin.problem.contract.task import Task
from maxmargin.problem.planes.atoms import Atoms

ZERO = 1e-12  # relative to the largest coefficient; smaller ones are rounding errors of removed ones


class UnitTask(Task):
    """A task whose Ψ consists of feature rows of units, with an optional kernel.

    `kernel` is a constructor argument: None, or a kernel in any form that kernels/auto.py takes. A trained model (see
    `reduced_to_support`) has `support_`, its support units, and `support_numbers_`, their numbers in training.
    """

    kernel: Any = None
    kernel_: Kernel | None = None  # the kernel in the dual
    map_: KernelMap | MapWithConstant | None = None  # the explicit feature map
    support_: Any = None
    support_numbers_: NDArray[np.intp] | None = None

    saved: ClassVar[Fields] = {
        "kernel_": Sometimes(OneOf(None, Part(Kernel))),
        "map_": Sometimes(OneOf(None, Part(KernelMap, MapWithConstant))),
        "support_": Sometimes(OneOf(None, NumberMatrix(), NumberArray(np.int64, None))),
        "support_numbers_": Sometimes(OneOf(None, NumberArray(np.int64, None, least=0))),
    }

    def _check_length(self, n_features: int, n_labels: int, direct: int) -> None:
        """Raise a ValueError unless w of a task from a file has the length that compiled code expects."""
        if self.kernel_ is not None and self.support_ is None:
            raise ValueError("a kernel needs support units")
        if self.kernel_ is not None and self.support_.ndim == 2:
            _deny_width(self.support_.shape[1], n_features)
        if self.kernel_map_ is not None:
            _deny_width(self.kernel_map_.n_features_in_, n_features)
        length = n_features
        if self.kernel_ is not None:
            length = self.support_.shape[0]
        elif self.map_ is not None:
            length = self.map_.n_components_
        if self.dim != direct + length * n_labels:
            raise ValueError(f"dim is {self.dim}; expected {direct} + {length} * {n_labels}")

    def _set_dim(self, units: Any, n_labels: int, direct: int) -> None:
        """Fit the kernel to the training units and set the length of w; part of `setup`."""
        self.kernel_ = self.map_ = self.support_ = None
        length = units.shape[1]
        if self.kernel is not None:
            self._refuse_pieces(units)
            units = checked_matrix(units, length)
            fitted = fitted_to(units, self.kernel)
            if isinstance(fitted, Kernel):
                check_definite(fitted, units)
                self.kernel_, length = fitted, units.shape[0]
            else:
                self.map_, length = fitted, fitted.n_components_
        self.dim = direct + length * n_labels

    def _unit_atoms(self, units: Any, n_labels: int, direct: int, owner: NDArray[np.int64]) -> Atoms:
        """Return the atoms of these units; owner[u] is the example that unit u belongs to."""
        self._refuse_pieces(units)
        if self.kernel_ is not None:
            return KernelAtoms(self.kernel_, units, n_labels, direct, owner, self.support_)
        if isinstance(units, MatrixInPieces):
            return units.atoms(n_labels, direct)
        atoms = Atoms(self._mapped(units), n_labels, direct)
        if self.kernel_map_ is not None:
            atoms.about = str(self.kernel_map_.about)
        return atoms

    def _unit_scores(self, w: Array, units: Any, n_labels: int, direct: int) -> Array:
        """Return the (len(units), K) scores of new units by the weights of a model."""
        if isinstance(units, MatrixInPieces):
            return np.concatenate([self._unit_scores(w, piece, n_labels, direct) for piece in units.pieces()])
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
        """The explicit feature map of the kernel, or None."""
        return self.map_.mapping if isinstance(self.map_, MapWithConstant) else self.map_

    def reduced_to_support(self, w: Array, atoms: KernelAtoms) -> tuple[UnitTask, Array]:
        """Return the task and the weights with the support units of w alone, for prediction."""
        direct, coefficients = atoms.arrays.direct, atoms.coefficients(w)
        sizes = np.abs(coefficients).max(axis=1)
        numbers = np.flatnonzero(sizes > ZERO * sizes.max(initial=0.0))
        task, weights = copy(self), np.concatenate([w[:direct], coefficients[numbers].ravel()])
        task.support_, task.support_numbers_ = atoms.kernel.kept(atoms.own, numbers), numbers
        task.dim = len(weights)
        return task, weights

    def _refuse_pieces(self, units: Any) -> None:
        if self.kernel is not None and isinstance(units, MatrixInPieces):
            raise ValueError(
                "kernel is not available for packed rows, because every two of them would be compared: pack the rows "
                "that a kernels.KernelMap makes of them, and leave kernel out"
            )

    def _refuse_kernel(self, what: str) -> None:
        """Raise a TaskError for a method that needs explicit features if there is a kernel."""
        if self.kernel_ is not None or self.map_ is not None:
            raise TaskError(f"with a kernel there is no {what}, because the model has no weights of features")


def _deny_width(found: int, expected: int) -> None:
    if found != expected:
        raise ValueError(f"the kernel was fitted to {found} features; expected {expected}")
