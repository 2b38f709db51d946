"""Eigendecomposition of a kernel matrix."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from maxmargin.base.arrays import Array


def decomposed(K: Array) -> tuple[Array, Array]:
    """Return eigenvalues (>= 0 up to rounding) and eigenvectors of a symmetric positive semidefinite matrix."""
    values, vectors = linalg.eigh(K)
    largest = float(np.abs(values).max(initial=0.0))
    if values.min(initial=0.0) < -1e-8 * largest:
        raise ValueError(
            f"the kernel matrix is not positive semidefinite: its smallest eigenvalue is {values.min():.3g}, while the "
            f"largest absolute value is {largest:.3g}. Use a positive semidefinite kernel"
        )
    return np.maximum(values, 0.0), vectors
