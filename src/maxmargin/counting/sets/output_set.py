"""OutputSet: a finite set of outputs, represented by the moments of its uniform distribution.

Counting-based training (Gärtner and Vembu 2009) neither searches for wrong outputs nor lists them. All it needs from
the set Y with features φ: Y -> R^d are the mean and the covariance of φ over all outputs,

    μ = (1/|Y|) Σ_z φ(z),        S = (1/|Y|) Σ_z φ(z) φ(z)ᵀ - μ μᵀ,                                              (1)

which have closed forms even if |Y| has thousands of digits. |Y| itself appears only as its logarithm.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from maxmargin.base.arrays import Array
from maxmargin.base.files.fields import Sized
from maxmargin.base.files.objects import Fields, parameters_of
from maxmargin.base.rounding import gamma

ROWS = 256  # rows of the covariance that are computed at once
MOST_ITEMS = 2**12  # the most items of an output set in a model file


class DecodedOutput(NamedTuple):
    """The best output that a decoder found: `y`, its score `value`, and `exact`, whether it is proved optimal."""

    y: Any
    value: float  # ⟨f, φ(y)⟩
    exact: bool  # whether no output can be better


class Eigenspace(NamedTuple):
    """An eigenvalue of S with the projection onto its eigenspace."""

    value: float  # the eigenvalue
    project: Callable[[Array], Array]  # projects (k, d) rows onto this space


class OutputSet(BaseEstimator):
    """A set of outputs with closed-form moments, the base class of all output sets.

    Constructor arguments follow scikit-learn's rules. Values that are derived from them are cached properties, which
    are forgotten when a parameter changes. A subclass defines dim, log_size, mean, cov_apply, features and decode;
    cov_spectrum makes the closed-form solution available.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.counting import Subsets
    >>> two_of_three = Subsets(["a", "b", "c"], 2)
    >>> round(float(np.exp(two_of_three.log_size())))
    3
    >>> sorted(two_of_three.decode([1.0, -1.0, 2.0]).y)
    ['a', 'c']

    See Also
    --------
    maxmargin.CountingPredictor : learns to predict the outputs of such a set.
    """

    saved: ClassVar[Fields] = {}
    saved_as: ClassVar[str] = "__init__"

    @classmethod
    def _saved_parameters(cls) -> Fields:
        return dict.fromkeys(parameters_of(cls), Sized(MOST_ITEMS))

    repeats: int = 1  # how often the features of the paper repeat each coordinate: 2 if φ_uv = -φ_vu is kept once
    indicators: bool = False  # whether all features are known to be 0 or 1
    uniform: bool = True  # whether the moments are those of the uniform distribution

    def __setattr__(self, name: str, value: Any) -> None:
        for key in list(vars(self)):
            if isinstance(getattr(type(self), key, None), cached_property):
                del self.__dict__[key]
        super().__setattr__(name, value)

    @property
    def dim(self) -> int:
        """The length d of φ."""
        raise NotImplementedError

    @property
    def coordinates(self) -> Sequence[Hashable]:
        """The meaning of every coordinate of φ; by default, its number."""
        return range(self.dim)

    def log_size(self) -> float:
        """Return log |Y|."""
        raise NotImplementedError

    def mean(self) -> Array:
        """Return μ of (1)."""
        raise NotImplementedError

    def cov_apply(self, F: Array) -> Array:
        """Return F S for (k, d) rows F, without forming S if it has structure."""
        raise NotImplementedError

    def mean_square(self) -> float:
        """Return an upper bound on E‖φ‖², to which the rounding errors of `mean` and `cov_apply` are relative."""
        mean = self.mean()
        if self.indicators:
            squares = float(mean.sum())
        else:  # the variances of all coordinates, and their squared means
            squares = float(np.vdot(mean, mean))
            for begin in range(0, self.dim, ROWS):
                rows = np.eye(min(ROWS, self.dim - begin), self.dim, begin)
                squares += float(np.vdot(rows, self.cov_apply(rows)))
        return squares * (1 + gamma(2 * self.dim + 64))

    def cov_spectrum(self) -> list[Eigenspace] | None:
        """Return the distinct eigenvalues of S, including 0, with their projections; None unless few and known."""
        return None

    def features(self, y: Any) -> Array:
        """Return φ(y); raise a ValueError that says why if y is not in the set."""
        raise NotImplementedError

    def decode(self, f: Array) -> DecodedOutput:
        """Return argmax_y ⟨f, φ(y)⟩, or a good output if the search is hard."""
        raise NotImplementedError

    def outputs(self) -> Iterator[Any]:
        """Yield all outputs of a small set, for comparison with the moments."""
        raise NotImplementedError

    def sample(self, rng: np.random.Generator) -> Any:
        """Draw a random output (uniform if that is easy)."""
        raise NotImplementedError

    def feature_rows(self, Y: Sequence[Any]) -> Array:
        """Return φ of every output, one row each; errors name the number of the output."""
        rows = np.empty((len(Y), self.dim))
        for i, y in enumerate(Y):
            try:
                rows[i] = self.features(y)
            except (ValueError, TypeError) as error:
                raise ValueError(f"output {i}: {error}") from None
        return rows

    def covariance(self) -> Array:
        """Return S as a (d, d) matrix, for small d."""
        return self.cov_apply(np.eye(self.dim))
