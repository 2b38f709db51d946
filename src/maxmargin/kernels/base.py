"""Kernel: the contract of kernel functions k(u, v) = ⟨φ(u), φ(v)⟩ of two inputs."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator

from maxmargin.base.arrays import Array
from maxmargin.base.checks import is_finite
from maxmargin.base.files.objects import Fields, parameters_of

Numbers = NDArray[np.intp]


class Kernel(BaseEstimator):
    """A kernel function k(u, v) between rows of a matrix, or members of an array of objects.

    A subclass defines `values`. Parameters follow scikit-learn's rules, so that kernel__gamma can be searched.

    Attributes
    ----------
    cache_mb : float
        Megabytes for rows of the kernel matrix that training keeps.
    definite : bool
        True if every kernel matrix is positive semidefinite, on which training relies. If it is False, the matrix of
        the training data is checked.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.kernels import RBF
    >>> X = np.array([[0.0], [1.0]])
    >>> RBF(gamma=1.0).fit(X).values(X, X).round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])

    See Also
    --------
    as_kernel : makes kernels from names and functions.
    """

    cache_mb: float = 1024.0
    definite: bool = False

    saved: ClassVar[Fields] = {}

    @classmethod
    def _saved_parameters(cls) -> Fields:
        return parameters_of(cls)

    def fit(self, X: Any) -> Self:
        """Set parameters that are derived from the training inputs, and return the kernel."""
        if not is_finite(self.cache_mb) or not self.cache_mb > 0:
            raise ValueError(f"cache_mb must be a positive number of megabytes, got {self.cache_mb!r}")
        return self

    def values(self, A: Any, kept: Any) -> Array:
        """Return the (len(A), len(kept)) values k of every member of A with every kept training input."""
        raise NotImplementedError

    def kept(self, X: Any, units: Numbers) -> Any:
        """Return the data of these training inputs that kernel values need: by default the inputs themselves."""
        return X[units]

    def prepared(self, X: Any) -> Any:
        """Return the training inputs in the form that `between` reads; computed once."""
        return X

    def between(self, prepared: Any, rows: Numbers, columns: Numbers) -> Array:
        """Return the (len(rows), len(columns)) kernel values between members of the prepared inputs."""
        return self.values(prepared[rows], self.kept(prepared, columns))

    def joined(self, X: Any, kept: Any) -> Any:
        """Return the members of X, followed by the kept ones."""
        if sparse.issparse(X) or sparse.issparse(kept):
            return sparse.vstack([sparse.csr_array(X), sparse.csr_array(kept)], format="csr")
        return np.concatenate([X, kept])

    def among(self, X: Any, units: Numbers) -> Any:
        """Return these members of X alone, renumbered."""
        return X[units]

    def diagonal(self, X: Any) -> Array:
        """Return k(u, u) of every member."""
        each = (np.arange(i, i + 1) for i in range(X.shape[0]))
        return np.array([float(self.values(X[i], self.kept(X, i))[0, 0]) for i in each])
