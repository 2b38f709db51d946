"""Kernel functions k(u, v) = ⟨φ(u), φ(v)⟩ of two inputs, with the parameters that define φ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from maxmargin.base.arrays import Array
from maxmargin.base.checks import is_finite
from maxmargin.base.files.fields import NumberArray, OneOf, Real
from maxmargin.base.files.objects import Field, Fields, Sometimes
from maxmargin.kernels.base import Kernel, Numbers

FEW = 32  # rows up to which a product with all inputs is faster than selecting some of them


class Named(Kernel):
    """A kernel that scikit-learn computes: a function of inner products of dense or sparse rows."""

    metric: ClassVar[str]

    saved: ClassVar[Fields] = {
        "degree": Sometimes(Real(least=0)),
        "coef0": Sometimes(Real()),
        "gamma_": Sometimes(Real(least=0)),
    }

    def fit(self, X: Any) -> Self:
        super().fit(X)
        gamma = getattr(self, "gamma", None)
        if isinstance(gamma, str) and gamma in ("scale", "auto"):
            spread = _variance(X) if gamma == "scale" else 1.0
            self.gamma_ = 1.0 / (X.shape[1] * spread) if spread > 0 else 1.0
        elif gamma is not None:
            if not is_finite(gamma) or not gamma > 0:
                raise ValueError(f"gamma must be 'scale', 'auto' or a positive number, got {gamma!r}")
            self.gamma_ = float(gamma)
        coef0 = getattr(self, "coef0", 0.0)
        if not is_finite(coef0):
            raise ValueError(f"coef0 must be a finite number, got {coef0!r}")
        return self

    def values(self, A: Any, kept: Any) -> Array:
        from sklearn.metrics.pairwise import pairwise_kernels  # slow to import

        found = pairwise_kernels(A, kept, metric=self.metric, **self._parameters())
        return np.asarray(found.toarray() if sparse.issparse(found) else found, dtype=np.float64)

    def _parameters(self) -> dict[str, float]:
        return {}


class Linear(Named):
    """The linear kernel ⟨u, v⟩. It is faster than linear weights if there are far more features than inputs.

    Parameters
    ----------
    cache_mb : float
        Megabytes for rows of the kernel matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.kernels import Linear
    >>> Linear().fit(np.eye(2)).values(np.array([[1.0, 2.0]]), np.eye(2)).tolist()
    [[1.0, 2.0]]
    """

    metric = "linear"
    definite = True

    def __init__(self, cache_mb: float = 1024.0):
        self.cache_mb = cache_mb

    def diagonal(self, X: Any) -> Array:
        return _squares(X)


class Cosine(Named):
    """The cosine kernel ⟨u, v⟩ / ‖u‖‖v‖.

    Parameters
    ----------
    cache_mb : float
        Megabytes for rows of the kernel matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.kernels import Cosine
    >>> Cosine().fit(np.eye(2)).values(np.array([[3.0, 4.0]]), np.eye(2)).tolist()
    [[0.6, 0.8]]
    """

    metric = "cosine"
    definite = True

    def __init__(self, cache_mb: float = 1024.0):
        self.cache_mb = cache_mb


class Polynomial(Named):
    """The polynomial kernel (γ⟨u, v⟩ + coef0)^degree; with coef0 > 0 it has all products of at most `degree` features.

    Parameters
    ----------
    degree : float
        The exponent.
    gamma : float or str
        "scale", "auto" or a positive number, as in scikit-learn's SVC.
    coef0 : float
        The constant.
    cache_mb : float
        Megabytes for rows of the kernel matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.kernels import Polynomial
    >>> Polynomial(degree=2, gamma=1.0, coef0=1.0).fit(np.eye(2)).values(np.array([[2.0, 0.0]]), np.eye(2)).tolist()
    [[9.0, 1.0]]
    """

    metric = "poly"

    def __init__(self, degree: float = 3, gamma: float | str = "scale", coef0: float = 0.0, cache_mb: float = 1024.0):
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.cache_mb = cache_mb

    @property
    def definite(self) -> bool:  # type: ignore[override]
        return float(self.degree).is_integer() and self.coef0 >= 0

    def fit(self, X: Any) -> Self:
        if not is_finite(self.degree) or not self.degree > 0:
            raise ValueError(f"degree must be a positive number, got {self.degree!r}")
        return super().fit(X)

    def _parameters(self) -> dict[str, float]:
        return {"degree": self.degree, "gamma": self.gamma_, "coef0": self.coef0}

    def diagonal(self, X: Any) -> Array:
        return np.asarray((self.gamma_ * _squares(X) + self.coef0) ** self.degree)


class RBF(Named):
    """The Gaussian kernel exp(-γ‖u - v‖²).

    Parameters
    ----------
    gamma : float or str
        "scale", "auto" or a positive number, as in scikit-learn's SVC.
    cache_mb : float
        Megabytes for rows of the kernel matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.kernels import RBF
    >>> RBF(gamma=1.0).fit(np.eye(2)).values(np.eye(2)[:1], np.eye(2)[:1]).tolist()
    [[1.0]]
    """

    metric = "rbf"
    definite = True

    def __init__(self, gamma: float | str = "scale", cache_mb: float = 1024.0):
        self.gamma = gamma
        self.cache_mb = cache_mb

    saved: ClassVar[Fields] = {"centre_": Sometimes(OneOf(None, NumberArray(float, None)))}

    def fit(self, X: Any) -> Self:
        super().fit(X)
        # ‖u - v‖² is computed as ‖u‖² + ‖v‖² - 2⟨u, v⟩, which cancels far from the origin
        self.centre_ = None if sparse.issparse(X) else X.mean(axis=0)
        return self

    def values(self, A: Any, kept: Any) -> Array:
        if self.centre_ is None or sparse.issparse(A) or sparse.issparse(kept):
            return super().values(A, kept)
        return super().values(A - self.centre_, kept - self.centre_)

    def prepared(self, X: Any) -> Any:
        if self.centre_ is None or sparse.issparse(X):
            return X
        centred = X - self.centre_
        return centred, _squares(centred)

    def between(self, prepared: Any, rows: Numbers, columns: Numbers) -> Array:
        if not isinstance(prepared, tuple):
            return super().between(prepared, rows, columns)
        units, squares = prepared
        few = len(rows) < FEW  # products with all units cost less than selecting some
        values = (units[rows] @ units.T)[:, columns] if few else units[rows] @ units[columns].T
        values *= 2.0
        values -= squares[rows][:, None]
        values -= squares[columns]
        np.minimum(values, 0.0, out=values)
        values *= self.gamma_
        return np.exp(values, out=values)

    def _parameters(self) -> dict[str, float]:
        return {"gamma": self.gamma_}

    def diagonal(self, X: Any) -> Array:
        return np.ones(X.shape[0])


class Sigmoid(Named):
    """The kernel tanh(γ⟨u, v⟩ + coef0), which is an inner product for some parameters and data only.

    Parameters
    ----------
    gamma : float or str
        "scale", "auto" or a positive number, as in scikit-learn's SVC.
    coef0 : float
        The constant.
    cache_mb : float
        Megabytes for rows of the kernel matrix.
    """

    metric = "sigmoid"

    def __init__(self, gamma: float | str = "scale", coef0: float = 0.0, cache_mb: float = 1024.0):
        self.gamma = gamma
        self.coef0 = coef0
        self.cache_mb = cache_mb

    def _parameters(self) -> dict[str, float]:
        return {"gamma": self.gamma_, "coef0": self.coef0}


class Function(Kernel):
    """A kernel given by a function f(A, B) that returns the (len(A), len(B)) values, as for scikit-learn's SVC.

    Parameters
    ----------
    function : callable
        The function f(A, B).
    cache_mb : float
        Megabytes for rows of the kernel matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.kernels import Function
    >>> Function(lambda A, B: A @ B.T).fit(np.eye(2)).values(np.eye(2), np.eye(2)).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    def __init__(self, function: Callable[[Any, Any], Any], cache_mb: float = 1024.0):
        self.function = function
        self.cache_mb = cache_mb

    def values(self, A: Any, kept: Any) -> Array:
        found = self.function(A, kept)
        found = np.asarray(found.toarray() if sparse.issparse(found) else found, dtype=np.float64)
        expected = (A.shape[0], kept.shape[0])
        if found.shape != expected:
            raise ValueError(
                f"the kernel function returned an array of shape {found.shape} for inputs of shapes {A.shape} and "
                f"{kept.shape}; expected {expected}, the kernel of every row of the first with every row of the second"
            )
        return found


class Precomputed(Kernel):
    """A kernel given by its matrix: an input is its row of kernel values with all training inputs, in their order.

    Parameters
    ----------
    cache_mb : float
        Megabytes for rows of the kernel matrix.
    """

    def __init__(self, cache_mb: float = 1024.0):
        self.cache_mb = cache_mb

    def fit(self, X: Any) -> Self:
        super().fit(X)
        if X.shape[0] != X.shape[1]:
            raise ValueError(
                f"a precomputed kernel matrix must be square in training, with a row and a column for every training "
                f"input; got the shape {X.shape}"
            )
        return self

    def kept(self, X: Any, units: Numbers) -> Numbers:
        return units

    def among(self, X: Any, units: Numbers) -> Any:
        return X[units][:, units]

    def values(self, A: Any, kept: Numbers) -> Array:
        found = A[:, kept]
        return np.asarray(found.toarray() if sparse.issparse(found) else found, dtype=np.float64)

    def joined(self, X: Any, kept: Any) -> Any:
        raise ValueError(
            "a precomputed kernel matrix does not contain the kernel of new inputs with each other: the certificate of "
            "training is the only one available"
        )

    def diagonal(self, X: Any) -> Array:
        return np.array(X.diagonal() if sparse.issparse(X) else np.diagonal(X), dtype=np.float64)


class WithConstant(Kernel):
    """The kernel k + 1, which adds a constant feature 1, whose weight is the intercept."""

    # In an unfitted estimator `kernel` is its parameter, which may be a name; in a fitted one it is a Kernel.
    saved: ClassVar[Fields] = {"kernel": Field()}

    def __init__(self, kernel: Any):
        self.kernel = kernel

    @property
    def cache_mb(self) -> float:  # type: ignore[override]
        return self.kernel.cache_mb

    @property
    def definite(self) -> bool:  # type: ignore[override]
        return self.kernel.definite

    def fit(self, X: Any) -> Self:
        self.kernel.fit(X)
        return self

    def kept(self, X: Any, units: Numbers) -> Any:
        return self.kernel.kept(X, units)

    def among(self, X: Any, units: Numbers) -> Any:
        return self.kernel.among(X, units)

    def joined(self, X: Any, kept: Any) -> Any:
        return self.kernel.joined(X, kept)

    def values(self, A: Any, kept: Any) -> Array:
        return self.kernel.values(A, kept) + 1.0

    def prepared(self, X: Any) -> Any:
        return self.kernel.prepared(X)

    def between(self, prepared: Any, rows: Numbers, columns: Numbers) -> Array:
        values = self.kernel.between(prepared, rows, columns)
        values += 1.0
        return values

    def diagonal(self, X: Any) -> Array:
        return self.kernel.diagonal(X) + 1.0


def _squares(X: Any) -> Array:
    """Return ‖row‖² of every row."""
    return np.asarray(X.multiply(X).sum(axis=1)).ravel() if sparse.issparse(X) else np.einsum("ij,ij->i", X, X)


def _variance(X: Any) -> float:
    """Return the variance of all numbers of a dense or sparse matrix, as scikit-learn's SVC does for gamma='scale'."""
    if sparse.issparse(X):
        return float(X.multiply(X).mean() - X.mean() ** 2)
    return float(np.var(X))
