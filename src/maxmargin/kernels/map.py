"""KernelMap: explicit features of a kernel, exact or approximate, with which a linear model learns."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from maxmargin.base.checks import check_whole, refuse_complex
from maxmargin.base.files.fields import (
    Each,
    LabelArray,
    NumberArray,
    NumberMatrix,
    OneOf,
    Part,
    Real,
    Seed,
    Text,
    Whole,
)
from maxmargin.base.files.objects import Field, Fields, Sometimes
from maxmargin.inputs.matrices import validated, without_duplicates
from maxmargin.inputs.tokens.tokens import read_once
from maxmargin.kernels.base import Kernel
from maxmargin.kernels.functions import RBF, Polynomial
from maxmargin.kernels.inputs import READERS, Rebuild, kind_of
from maxmargin.kernels.landmarks import KINDS, LandmarkKind, chosen_landmarks, distinct_rows, these_rows
from maxmargin.kernels.named import as_kernel, is_precomputed
from maxmargin.kernels.projection import Projection, finite_values

MapMethod = Literal["auto", "exact", "nystroem", "random", "sketch"]
METHODS = get_args(MapMethod)
SAMPLE = 200  # training rows for measuring the error


def _has_columns(mapping: Any) -> bool:
    """Return whether the map is of matrices, because lists of sequences or graphs cannot become a table."""
    return getattr(mapping, "kind_", "matrix") == "matrix"


class KernelMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A transformer to features φ with ⟨φ(u), φ(v)⟩ = k(u, v), exactly or approximately, in front of any estimator.

        make_pipeline(KernelMap("rbf"), SequenceLabeler())

    It maps the rows of a matrix, the positions of sequences (in all forms that SequenceLabeler takes) or the nodes of
    graphs, and returns the same kind of input with dense rows. Training then costs as much as a linear model with n
    rows of n_components numbers, instead of the n × n kernel values of an estimator with `kernel=`. If the map is
    exact, the model is the same.

    Parameters
    ----------
    kernel : str, callable or Kernel
        "rbf", "poly", …, an object of maxmargin.kernels or a function f(A, B), as for the estimators; "precomputed"
        means that rows are rows of the kernel matrix.
    method : str
        - "exact": a feature for every direction that the training rows span, at most one per distinct row. The kernel
          matrix of all distinct rows is decomposed, which takes memory of their number squared (cache_mb of the
          kernel limits it) and time of its third power.
        - "nystroem": the projection onto `n_components` landmarks; see kernels/projection.py and kernels/landmarks.py.
        - "random": random Fourier features (Rahimi and Recht 2008), for RBF only.
        - "sketch": a tensor sketch (Pham and Pagh 2013), for polynomials of a whole degree with coef0 >= 0 only.
        - "auto": "exact" if there are at most `n_components` distinct rows, otherwise "nystroem".
    n_components : int
        The number of landmarks, or of random features.
    landmarks : "leverage", "k-means" or "uniform"
        How the landmarks of "nystroem" are chosen. "leverage" suits all kernels and inputs and doubles the number of
        kernel values; "k-means" is often better for dense rows of few features, and slow for sparse rows of many.
    random_state : int, RandomState or None
        Seed of all random choices.

    Attributes
    ----------
    method_ : str
        The method that "auto" has chosen; "exact" also if all distinct training rows are landmarks.
    error_ : float
        Mean |k(u, v) - ⟨φ(u), φ(v)⟩| over pairs of a sample of training rows. See `error` for other inputs.
    kernel_ : Kernel
        The fitted kernel.
    n_components_ : int
        The number of features.
    n_features_in_ : int
        The number of features of input rows.

    Notes
    -----
    A kernel that is not an inner product is projected, with a warning that names its smallest eigenvalue.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.kernels import KernelMap
    >>> features = KernelMap("rbf").fit_transform(np.array([[0.0], [1.0], [2.0]]))
    >>> (features @ features.T).diagonal().round(6)
    array([1., 1., 1.])

    See Also
    --------
    Auto : chooses between this and the kernel itself.
    """

    saved: ClassVar[Fields] = {
        "kernel": Field(),
        "method": Text(*METHODS),
        "n_components": Whole(1),
        "landmarks": Text(*KINDS),
        "random_state": Seed(),
        "kind_": Sometimes(Text("matrix", *READERS)),  # this and the following exist once it is fitted
        "n_features_in_": Sometimes(Whole()),
        "feature_names_in_": Sometimes(LabelArray("n_features_in_")),
        "_reader": Sometimes(Part(*READERS.values())),
        "kernel_": Sometimes(Part(Kernel)),
        "method_": Sometimes(Text(*METHODS)),
        "n_components_": Sometimes(Whole(1)),
        "_n_features_out": Sometimes(Whole("n_components_", "n_components_")),
        "error_": Sometimes(Real(least=0)),
        "_map": Sometimes(Field()),  # see _check_saved
        "_sample": Sometimes(
            Each(OneOf(NumberMatrix(), NumberArray(np.int64, None)), size=2, kind=tuple),
        ),
    }

    def __init__(
        self,
        kernel: Any = "rbf",
        method: MapMethod = "auto",
        n_components: int = 1000,
        landmarks: LandmarkKind = "leverage",
        random_state: Any = 0,
    ):
        self.kernel = kernel
        self.method = method
        self.n_components = n_components
        self.landmarks = landmarks
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the map from a matrix, a list of sequences or a list of graphs; y is not used."""
        self._check_parameters()
        rows, _ = self._rows(X, reset=True)
        self.kernel_ = as_kernel(self.kernel).fit(rows)
        rng = check_random_state(self.random_state)
        self.method_ = self.method
        if self.method == "random":
            self._map = _random_features(self.kernel_, self.n_components, rng).fit(rows)
        elif self.method == "sketch":
            self._map = _sketch(self.kernel_, self.n_components, rng).fit(rows)
        else:
            self._map = self._projection(rows, rng)
        sample = np.sort(rng.permutation(rows.shape[0])[:SAMPLE])
        features = self._map.transform(rows[sample])
        self._sample = self.kernel_.kept(rows, sample), features
        self.n_components_ = self._n_features_out = int(features.shape[1])
        self.error_ = self._error(rows[sample])
        return self

    def _check_saved(self) -> None:
        """Check that the features of a map from a file have the stated length, because compiled code relies on it."""
        if not hasattr(self, "_map"):
            return
        if isinstance(self._map, Projection):
            made, read = self._map.n_features, self.n_features_in_
        else:
            if type(self._map).__name__ not in (
                "PolynomialCountSketch",
                "RBFSampler",
            ):  # scikit-learn is slow to import
                raise ValueError("its feature map has an unknown type")
            read, made = self._map.n_features_in_, self._map.n_components
        if (read, made) != (self.n_features_in_, self.n_components_):
            raise ValueError(f"the map reads {read} features and makes {made}; expected n_components_ features")
        if self.kind_ != "matrix" and self._reader.n_features != read:
            raise ValueError("the numbers of features of the map and of its reader differ")

    def transform(self, X: Any) -> Any:
        """Return the same kind of input with the rows φ(row)."""
        check_is_fitted(self)
        rows, rebuild = self._rows(X, reset=False)
        return rebuild(np.asarray(self._map.transform(rows), dtype=np.float64))

    def error(self, X: Any) -> float:
        """Return mean |k(u, v) - ⟨φ(u), φ(v)⟩| over the rows u of X and a sample of training rows v."""
        check_is_fitted(self)
        return self._error(self._rows(X, reset=False)[0])

    @property
    def about(self) -> str:
        """A short description of the fitted map."""
        check_is_fitted(self)
        return f"{self.method_} map of the kernel, {self.n_components_} features, mean error {self.error_:.2g}"

    @available_if(_has_columns)  # type: ignore[untyped-decorator]
    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return "kernelmap0", "kernelmap1", …; for matrices only."""
        return super().get_feature_names_out(input_features)

    def _check_parameters(self) -> None:
        if self.method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(map(repr, METHODS))}, got {self.method!r}")
        if self.landmarks not in KINDS:
            raise ValueError(f"landmarks must be one of {', '.join(map(repr, KINDS))}, got {self.landmarks!r}")
        check_whole("n_components", self.n_components, least=1)

    def _rows(self, X: Any, reset: bool) -> tuple[Any, Rebuild]:
        """Return the rows of X as a matrix, and a function that makes an input of its kind from other rows."""
        kind = kind_of(X)
        if reset:
            self.kind_ = kind
        elif kind != self.kind_:
            raise ValueError(f"X looks like {_named(kind)}; expected {_named(self.kind_)}, as in training")
        rebuild: Rebuild = np.asarray
        if kind == "matrix":
            refuse_complex("X", X)
            rows = validated(self, X, accept_sparse="csr", dtype=np.float64, reset=reset)
        else:
            if reset:
                X = read_once(X) if kind == "sequences" else X  # read only once for this method and `read`
                self._reader = READERS[kind]().fit(X)
                self.n_features_in_ = self._reader.n_features
                self.__dict__.pop("feature_names_in_", None)  # left by an earlier fit to a table
            rows, rebuild = self._reader.read(X)
        return (_canonical(rows) if sparse.issparse(rows) else rows), rebuild

    def _projection(self, rows: Any, rng: np.random.RandomState) -> Projection:
        distinct = distinct_rows(rows)
        if self.method == "exact" or len(distinct) <= self.n_components:
            self.method_ = "exact"
            return Projection(self.kernel_, these_rows(self.kernel_, rows, distinct))
        self.method_ = "nystroem"
        n = int(self.n_components)
        return Projection(self.kernel_, chosen_landmarks(self.landmarks, self.kernel_, rows, distinct, n, rng))

    def _error(self, rows: Any) -> float:
        kept, features = self._sample
        values = finite_values(self.kernel_, rows, kept, np.arange(rows.shape[0]))
        return float(np.mean(np.abs(values - self._map.transform(rows) @ features.T)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = is_precomputed(self.kernel)
        return tags


def _random_features(kernel: Kernel, n_components: int, rng: np.random.RandomState) -> Any:
    from maxmargin.kernels.random_maps import RBFSampler  # slow to import

    if not isinstance(kernel, RBF):
        raise ValueError(
            f"method='random' is for RBF kernels, got {kernel!r}; use 'nystroem' (or 'sketch' for a polynomial)"
        )
    return RBFSampler(gamma=kernel.gamma_, n_components=n_components, random_state=rng.randint(2**31 - 1))


def _sketch(kernel: Kernel, n_components: int, rng: np.random.RandomState) -> Any:
    from maxmargin.kernels.random_maps import PolynomialCountSketch  # slow to import

    if not isinstance(kernel, Polynomial):
        raise ValueError(
            f"method='sketch' is for polynomial kernels, got {kernel!r}; use 'nystroem' (or 'random' for an RBF)"
        )
    if not kernel.definite:
        raise ValueError(f"method='sketch' needs a whole degree and coef0 >= 0, got {kernel!r}; use method='nystroem'")
    return PolynomialCountSketch(
        degree=int(kernel.degree),
        gamma=kernel.gamma_,
        coef0=kernel.coef0,
        n_components=n_components,
        random_state=rng.randint(2**31 - 1),
    )


def _named(kind: str) -> str:
    return "a matrix" if kind == "matrix" else f"a list of {kind}"


def _canonical(rows: Any) -> sparse.csr_array:
    """Return sorted rows without duplicates, with the 32-bit indices that scikit-learn's clustering needs."""
    packed = without_duplicates(rows)
    indices, ends = packed.indices.astype(np.int32, copy=False), packed.indptr
    if packed.nnz < 2**31:
        ends = ends.astype(np.int32, copy=False)
    return sparse.csr_array((packed.data, indices, ends), shape=packed.shape)
