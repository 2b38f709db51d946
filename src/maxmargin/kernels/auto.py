"""The choice between a kernel in the dual and an explicit feature map, given the training data."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, clone

from maxmargin.base.arrays import Array
from maxmargin.base.files.fields import Part
from maxmargin.base.files.objects import Field, Fields
from maxmargin.kernels.base import Kernel
from maxmargin.kernels.functions import WithConstant
from maxmargin.kernels.map import KernelMap
from maxmargin.kernels.named import as_kernel, is_precomputed


class Auto(BaseEstimator):
    """A kernel that is used in the dual if its matrix fits into cache_mb, and as an explicit feature map otherwise.

    With 1024 MB, the default, the dual serves up to 11,585 training units (rows, positions, nodes). Beyond that, rows
    of the matrix would be computed repeatedly, while a map costs as much as a linear model. A map may be inexact, and
    the certificate then belongs to the mapped problem; it says which way was taken and how exact the map is. A
    precomputed kernel stays in the dual, because its matrix exists already.

    Parameters
    ----------
    kernel : str, callable, Kernel or KernelMap
        A kernel, to be mapped by KernelMap(kernel), or a KernelMap.

    Examples
    --------
    >>> from maxmargin.kernels import Auto
    >>> type(Auto("rbf").chosen_for(1000)).__name__, type(Auto("rbf").chosen_for(100_000)).__name__
    ('RBF', 'KernelMap')

    See Also
    --------
    KernelMap : the explicit map.
    """

    saved: ClassVar[Fields] = {"kernel": Field()}

    def __init__(self, kernel: Any = "rbf"):
        self.kernel = kernel

    def chosen_for(self, n_units: int) -> Kernel | KernelMap:
        """Return the kernel itself or a map of it, not fitted yet."""
        mapping = clone(self.kernel) if isinstance(self.kernel, KernelMap) else KernelMap(self.kernel)
        kernel = as_kernel(mapping.kernel)
        fits = 8 * n_units**2 <= kernel.cache_mb * 2**20
        return kernel if fits or is_precomputed(kernel) else mapping


class MapWithConstant:
    """A fitted map with an additional constant feature 1."""

    saved: ClassVar[Fields] = {"mapping": Part(KernelMap)}

    def __init__(self, mapping: KernelMap):
        self.mapping = mapping

    @property
    def n_components_(self) -> int:
        return self.mapping.n_components_ + 1

    def transform(self, units: Any) -> Array:
        """Return the rows φ(unit), followed by 1."""
        features = self.mapping.transform(units)
        return np.hstack([features, np.ones((len(features), 1))])


def fitted_to(units: Any, kernel: Any) -> Kernel | KernelMap | MapWithConstant:
    """Return a kernel, given in any form that estimators take, fitted to the training units.

    The argument is not changed.
    """
    if isinstance(kernel, WithConstant):
        inner = fitted_to(units, kernel.kernel)
        return MapWithConstant(inner) if isinstance(inner, KernelMap) else WithConstant(inner)
    if isinstance(kernel, str) and kernel == "auto":
        kernel = Auto()
    if isinstance(kernel, Auto):
        kernel = kernel.chosen_for(units.shape[0])
    return clone(kernel).fit(units) if isinstance(kernel, KernelMap) else as_kernel(kernel).fit(units)
