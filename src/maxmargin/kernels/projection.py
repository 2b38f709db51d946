"""Projection: features of a kernel from its values with some landmarks (Williams and Seeger 2001, Nyström's method).

With landmarks L and the eigendecomposition k(L, L) = V Λ Vᵀ,

    φ(x) = Λ^{-1/2} Vᵀ k(L, x)                                                                                  (1)

are the coordinates of the projection of the features of x in the kernel space onto the span of the landmarks' features.
Inner products with vectors in that span are exact: ⟨φ(x), φ(l)⟩ = k(x, l) for every landmark l. If all training rows
are landmarks, the optimal model lies in the span (representer theorem), and its scores are the same as with the kernel.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.errors import warn_caller
from maxmargin.base.files.fields import NumberArray, NumberMatrix, OneOf, Part
from maxmargin.base.files.objects import Fields
from maxmargin.kernels.base import Kernel

ZERO = 1e-12  # relative to the largest eigenvalue; smaller directions are rounding errors
NEGATIVE = 1e-8  # relative to the largest eigenvalue; eigenvalues below -NEGATIVE are not rounding errors
AT_ONCE = 2048  # rows whose kernel values are computed at once


class Landmarks(NamedTuple):
    """The landmarks L of a kernel approximation."""

    rows: Any  # the inputs that serve as landmarks
    kept: Any  # the values of `Kernel.kept` for these inputs
    numbers: NDArray[np.intp] | None  # their row numbers in the training data; None if they are other inputs


class Projection:
    """The map (1).

    A kernel that is not an inner product has negative eigenvalues, which are dropped with a warning: k(L, L) is then
    replaced by the nearest positive semidefinite matrix in the Frobenius norm.
    """

    saved: ClassVar[Fields] = {
        "kernel": Part(Kernel),
        "kept": OneOf(NumberMatrix(), NumberArray(np.int64, None)),
        "weights": NumberArray(float, "kept.shape.0", None),
    }

    def __init__(self, kernel: Kernel, landmarks: Landmarks):
        self.kernel, self.kept = kernel, landmarks.kept
        n = int(landmarks.rows.shape[0])
        megabytes = 8 * n**2 / 2**20
        if megabytes > kernel.cache_mb:
            raise ValueError(
                f"the kernel matrix of {n} landmarks takes {megabytes:.3g} MB, but cache_mb = {kernel.cache_mb:g}; "
                "use method='nystroem' with fewer components, or give the kernel a larger cache_mb"
            )
        values, vectors = np.linalg.eigh(_symmetric(finite_values(kernel, *landmarks)))
        largest = max(float(np.abs(values).max(initial=0.0)), np.finfo(float).tiny)
        if values[0] < -NEGATIVE * largest:
            warn_caller(
                f"the kernel is not positive semidefinite: on {len(values)} landmarks its smallest eigenvalue is "
                f"{values[0]:.6g} (the largest is {values[-1]:.6g}). The map drops the negative ones, so its "
                "inner products differ from the kernel",
                UserWarning,
            )
        used = np.flatnonzero(values > ZERO * largest)[::-1]
        if not len(used):
            raise ValueError("the kernel of all landmarks is zero or negative: no features can be made of it")
        self.weights = np.ascontiguousarray(vectors[:, used] / np.sqrt(values[used]))

    @property
    def n_features(self) -> int:
        return int(self.weights.shape[1])

    def transform(self, rows: Any) -> Array:
        """Return the (n, features) values of (1) for every row."""
        features = np.empty((rows.shape[0], self.n_features))
        for begin in range(0, rows.shape[0], AT_ONCE):
            some = slice(begin, begin + AT_ONCE)
            values = finite_values(self.kernel, rows[some], self.kept, np.arange(begin, rows.shape[0]))
            features[some] = values @ self.weights
        return features


def finite_values(kernel: Kernel, rows: Any, kept: Any, numbers: NDArray[np.intp] | None) -> Array:
    """Return kernel.values; raise a ValueError that names the row if a value is not finite."""
    values = kernel.values(rows, kept)
    if not np.isfinite(values).all():
        row = np.argwhere(~np.isfinite(values))[0, 0]
        what = "two landmarks" if numbers is None else f"row {numbers[row]} with a training row"
        raise ValueError(f"the kernel of {what} is not finite")
    return values


def _symmetric(gram: Array) -> Array:
    """Return the matrix made exactly symmetric; raise a ValueError if it is far from symmetric."""
    size = float(np.abs(gram).max(initial=0.0))
    difference = np.abs(gram - gram.T)
    if difference.max(initial=0.0) > NEGATIVE * size:
        i, j = np.unravel_index(np.argmax(difference), gram.shape)
        raise ValueError(f"the kernel is not symmetric: k(a, b) = {gram[i, j]:.6g}, but k(b, a) = {gram[j, i]:.6g}")
    return (gram + gram.T) / 2
