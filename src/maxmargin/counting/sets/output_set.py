"""OutputSet: a finite set of outputs, seen through the moments of its uniform law.

Counting-based training (Gärtner and Vembu 2009) never searches for a wrong output and never lists them: all that it
asks of the set Y with features φ: Y -> R^d are the mean and the covariance of φ over all outputs alike,

    μ = (1/|Y|) Σ_z φ(z),        S = (1/|Y|) Σ_z φ(z) φ(z)ᵀ - μ μᵀ,                                              (1)

which are sums of known numbers even where |Y| has thousands of digits. |Y| itself only appears as its logarithm.
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

MOST_ITEMS = 2**12  # of an output set in a model file


class DecodedOutput(NamedTuple):
    """The best output that was found."""

    y: Any
    value: float  # ⟨f, φ(y)⟩
    exact: bool  # whether no output can be better


class Eigenspace(NamedTuple):
    """One eigenvalue of S with the projection onto all of its eigenvectors."""

    value: float
    project: Callable[[Array], Array]  # (k, d) rows -> their parts in this space


class OutputSet(BaseEstimator):
    """A set of outputs with closed-form moments. Constructor arguments follow scikit-learn's rules.

    What a set derives from its parameters it keeps in cached properties, which are forgotten when a parameter changes.
    """

    saved: ClassVar[Fields] = {}
    saved_as: ClassVar[str] = "__init__"

    @classmethod
    def _saved_parameters(cls) -> Fields:
        return dict.fromkeys(parameters_of(cls), Sized(MOST_ITEMS))

    repeats: int = 1  # how often the paper's features count each coordinate: 2 where φ_uv = -φ_vu is kept once
    uniform: bool = True  # whether the moments are those of the uniform law

    def __setattr__(self, name: str, value: Any) -> None:
        for key in list(vars(self)):
            if isinstance(getattr(type(self), key, None), cached_property):
                del self.__dict__[key]
        super().__setattr__(name, value)

    @property
    def dim(self) -> int:
        """d, the length of φ."""
        raise NotImplementedError

    @property
    def coordinates(self) -> Sequence[Hashable]:
        """What every coordinate of φ stands for; their numbers, where a set does not say."""
        return range(self.dim)

    def log_size(self) -> float:
        """log |Y|."""
        raise NotImplementedError

    def mean(self) -> Array:
        """μ of (1)."""
        raise NotImplementedError

    def cov_apply(self, F: Array) -> Array:
        """F S for (k, d) rows F, without forming S where it has structure."""
        raise NotImplementedError

    def cov_spectrum(self) -> list[Eigenspace] | None:
        """The distinct eigenvalues of S, 0 included, with their projections; None where they are not few and known."""
        return None

    def features(self, y: Any) -> Array:
        """φ(y). Raises a ValueError that says why, if y is not in the set."""
        raise NotImplementedError

    def decode(self, f: Array) -> DecodedOutput:
        """argmax_y ⟨f, φ(y)⟩, or a good output where the search is hard."""
        raise NotImplementedError

    def outputs(self) -> Iterator[Any]:
        """All outputs of a small set, one by one: what the moments are proved against."""
        raise NotImplementedError

    def sample(self, rng: np.random.Generator) -> Any:
        """A random output (uniform where that is easy)."""
        raise NotImplementedError

    def feature_rows(self, Y: Sequence[Any]) -> Array:
        """φ of every output, one row each; errors name the output's number."""
        rows = np.empty((len(Y), self.dim))
        for i, y in enumerate(Y):
            try:
                rows[i] = self.features(y)
            except (ValueError, TypeError) as error:
                raise ValueError(f"output {i}: {error}") from None
        return rows

    def covariance(self) -> Array:
        """S as a (d, d) matrix, for small d."""
        return self.cov_apply(np.eye(self.dim))
