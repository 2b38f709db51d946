"""WeightSpace: inner products of weights, and the constraints on weights."""

from __future__ import annotations

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.rounding import raised_square
from maxmargin.problem.contract.batch import Batch
from maxmargin.problem.contract.capabilities.kernel_space import KernelSpace
from maxmargin.problem.dual.geometry import Geometry


class WeightSpace:
    """The space of w: with a kernel, its arrays are coefficients; a geometry adds a prior and bounds.

    Order of calls: any. Nothing is set after the constructor.
    """

    def __init__(self, batch: Batch, geometry: Geometry | None):
        self.dim, self.geometry = batch.dim, geometry  # None: the prior is 0, and w has no bounds
        self._kernel = batch.offers(KernelSpace)

    def inner(self, v: Array, w: Array) -> float:
        """Return ⟨v, w⟩; with a kernel, this is not the product of the two arrays."""
        return float(np.dot(v, w)) if self._kernel is None else self._kernel.inner(v, w)

    def square(self, w: Array) -> float:
        """Return ‖w‖², or the square of the distance to the prior, not rounded down."""
        if self.geometry is not None:
            return self.geometry.square(w)
        return raised_square(w) if self._kernel is None else self._kernel.square(w)

    def point(self, s: Array) -> Array:
        """Return the w that Σ α a = s determines."""
        return s if self.geometry is None else self.geometry.point(s)

    def allowed(self, w: Array) -> Array:
        """Return the nearest weights within the bounds, if there are any."""
        return w if self.geometry is None else self.geometry.allowed(w)

    @property
    def least(self) -> float:
        """A lower bound on every objective: losses are never negative, and bounds may keep w away from its prior."""
        if self.geometry is None:
            return 0.0
        return self.geometry.lowered_dual(0.0, 0.0, np.zeros(self.dim), 0.0, 1)
