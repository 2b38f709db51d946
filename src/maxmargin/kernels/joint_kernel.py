"""JointKernelTask: outputs that are compared by a user-defined kernel, without features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.errors import TaskError
from maxmargin.kernels.atom_batch import AtomBatch
from maxmargin.kernels.base import Kernel
from maxmargin.kernels.definiteness import check_definite
from maxmargin.kernels.units import UnitTask
from maxmargin.problem.contract.capabilities.rescaled_search import RescaledSearch
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.planes.atoms import AtomRows, Atoms
from maxmargin.problem.planes.planes import Planes

UnitPairs = NDArray[np.object_]


class JointKernelTask(UnitTask):
    """A task that is defined by the kernel ⟨Ψ(x, z), Ψ(x', z')⟩ (Tsochantaridis et al. 2004, section 3).

    A subclass defines `joint_kernel((x, z), (x2, z2))`, `loss(y, z)` and `outputs(x)`, the list of all outputs of x.
    The kernel is computed for all pairs of an input and one of its outputs, so such a task can have only few examples
    with few outputs each.
    """

    def joint_kernel(self, first: tuple[Any, Any], second: tuple[Any, Any]) -> float:
        """Return ⟨Ψ(x, z), Ψ(x2, z2)⟩ of the pairs first = (x, z) and second = (x2, z2)."""
        raise TaskError(f"{type(self).__name__} must define joint_kernel((x, z), (x2, z2))")

    def setup(self, X: Sequence[Any], Y: Sequence[Any]) -> None:
        self.kernel_, self.support_ = JointKernel(self.joint_kernel).fit(X), None
        units = self._units(X, Y)[0]
        check_definite(self.kernel_, units)
        self.dim = len(units)

    def psi(self, x: Any, z: Any) -> Any:
        self._refuse_kernel("psi(x, z)")

    def pack(self, X: Sequence[Any], Y: Sequence[Any]) -> ListedBatch:
        units, bounds, truths = self._units(X, Y)
        owner = np.repeat(np.arange(len(X)), np.diff(bounds))
        losses = np.array([float(self.loss(Y[i], units[u][1])) for u, i in enumerate(owner.tolist())])
        bad = np.flatnonzero(~((losses >= 0) & (losses < np.inf)))
        if len(bad):
            raise TaskError(f"loss(y, z) of example {owner[bad[0]]} is {losses[bad[0]]}; expected a finite number >= 0")
        if losses[truths].any():
            i = int(np.argmax(losses[truths] != 0))
            raise TaskError(f"loss(y, y) of example {i} is {losses[truths[i]]}; the loss must be 0 at the truth")
        return ListedBatch(self, self._unit_atoms(units, 1, 0, owner), bounds, truths, losses)

    def _units(self, X: Sequence[Any], Y: Sequence[Any]) -> tuple[UnitPairs, NDArray[np.int64], NDArray[np.int64]]:
        """Return all pairs (x, z), the offsets of the examples, and the numbers of the true pairs."""
        lists, truths, ends = [], [], [0]
        for x, y in zip(X, Y, strict=True):
            listed = list(self.outputs(x))
            place = next((k for k, z in enumerate(listed) if z is y or np.array_equal(z, y)), len(listed))
            truths.append(ends[-1] + place)
            lists += [(x, z) for z in (listed if place < len(listed) else [*listed, y])]
            ends.append(len(lists))
        return _pairs(lists), np.array(ends), np.array(truths)

    def decode(self, w: Array, X: Sequence[Any]) -> list[Any]:
        found = []
        for x in X:
            listed = list(self.outputs(x))
            everyone = np.arange(len(listed))
            atoms = self._unit_atoms(_pairs([(x, z) for z in listed]), 1, 0, np.zeros(len(listed), dtype=np.int64))
            found.append(listed[int(np.argmax(atoms.scores(w, everyone)[:, 0]))])
        return found

    def argmax(self, w: Array, x: Any, y: Any = None) -> Any:
        if y is not None:
            raise TaskError("argmax(w, x, y) does not support y; loss-augmented search needs packed training data")
        return self.decode(w, [x])[0]


class ListedBatch(AtomBatch, RescaledSearch):
    """Examples with lists of all their outputs.

    Example i has the units bounds[i]:bounds[i + 1], one per output, and truths[i] is the unit of its true output.
    """

    def __init__(
        self,
        task: JointKernelTask,
        atoms: Atoms,
        bounds: NDArray[np.int64],
        truths: NDArray[np.int64],
        losses: Array,
    ):
        super().__init__(task, len(truths), atoms)
        self.bounds, self.truths, self.losses = bounds, truths, losses

    def planes(self, w: Array, augment: float | Array = 1.0) -> Planes:
        lam = self.loss_weights(augment)
        return self._worst(w, lambda loss, margin, j: lam[j] * loss - margin)

    def rescaled_planes(self, w: Array, formulation: Formulation) -> Planes:
        return self._worst(w, lambda loss, margin, j: formulation.value(loss, margin))

    def _worst(self, w: Array, violation: Callable[[Array, Array, int], Array]) -> Planes:
        truths = self.truths[self.ids]
        found = np.empty_like(truths)
        for j, i in enumerate(self.ids):
            units = np.arange(self.bounds[i], self.bounds[i + 1])
            scores = self.atoms.scores(w, units)[:, 0]
            margins = scores[truths[j] - units[0]] - scores
            found[j] = units[np.argmax(violation(self.losses[units], margins, j))]
        wrong = found != truths
        indptr = np.append(0, np.cumsum(2 * wrong)).astype(np.int32)
        indices = np.column_stack([truths, found])[wrong].ravel().astype(np.int32)
        rows = AtomRows(self.atoms, indptr, indices, np.tile([1.0, -1.0], int(wrong.sum())))
        return Planes(rows, self.losses[found])


class JointKernel(Kernel):
    """The kernel of pairs (x, z), computed by one call of `function` per value."""

    def __init__(self, function: Callable[[Any, Any], float], cache_mb: float = 1024.0):
        self.function = function
        self.cache_mb = cache_mb

    def values(self, A: UnitPairs, kept: UnitPairs) -> Array:
        return np.array([[float(self.function(a, b)) for b in kept] for a in A]).reshape(len(A), len(kept))


def _pairs(listed: list[tuple[Any, Any]]) -> UnitPairs:
    pairs = np.empty(len(listed), dtype=object)
    for u, pair in enumerate(listed):
        pairs[u] = pair
    return pairs
