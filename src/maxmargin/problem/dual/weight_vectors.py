"""The vectors that follow from a dual point: Σ α a, and the weights w computed from it.

With a prior w₀ and bounds (geometry.py), w = clip(w₀ + Σ α a, low, high). Visits of single examples add
to `free` = w₀ + Σ α a, and clip the values that they read of it. Without both, w = Σ α a, and all three are one array.
"""

from __future__ import annotations

from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.files.fields import Whole
from maxmargin.base.files.learnt import InPlace
from maxmargin.base.files.objects import Fields
from maxmargin.base.rounding import lowered_dual, raised_square
from maxmargin.problem.dual.geometry import Geometry
from maxmargin.problem.dual.proof import Proof
from maxmargin.problem.planes.atoms import Atoms

OFTEN = 20.0  # average number of examples with a feature, above which a mean of w costs almost nothing
MOST_LONGER = 1e3  # the largest factor of α that is tried if the best one must be found by trial


class InnerProduct(Protocol):
    """The inner product of the space of w. With a kernel, weights are coefficients, and it needs kernel values."""

    def inner(self, v: Array, w: Array) -> float:
        """Return ⟨v, w⟩."""

    def square(self, w: Array) -> float:
        """Return ‖w‖², not rounded down."""


class Euclidean:
    """The inner product of two arrays."""

    def inner(self, v: Array, w: Array) -> float:
        """Return ⟨v, w⟩."""
        return float(np.dot(v, w))

    def square(self, w: Array) -> float:
        """Return ‖w‖², not rounded down."""
        return raised_square(w)


class WeightVectors:
    """Σ α a of a dual point, and the weights that follow from it.

    Order of calls: first `average_if_cheap`, if w may be a mean. Then visits add to `free`; a search ends with
    `begin_mean`, a revisit with `extend_mean`, and both set `w`. After `sums` has been recomputed, `settle`
    sets `free` and `w`. `set_geometry` makes new arrays, which are valid after the next `settle`.

    Attributes
    ----------
    sums : array
        Σ α a; with a prior, visits do not keep it up to date (`behind`).
    free : array
        W₀ + Σ α a, to which visits add.
    w : array
        `free` within its bounds, or the mean of its last values.
    bounds : tuple or None
        The bounds as kernels read them; None if there are none.
    geometry : Geometry or None
        The prior and the bounds; None if there are none.
    product : InnerProduct or None
        The inner product.
    """

    learnt: ClassVar[Fields] = {"arrays": InPlace(), "points": Whole()}

    def __init__(self, dim: int, geometry: Geometry | None, product: InnerProduct | None = None):
        self.dim, self.product = dim, product or Euclidean()
        self.averages = False  # True if w is a mean
        self.points = 0  # number of points in this mean
        self._allocate(geometry)

    def _allocate(self, geometry: Geometry | None) -> None:
        self.geometry, self.bounds = geometry, None if geometry is None else geometry.limits
        self.sums = np.zeros(self.dim)
        self.free = self.sums if geometry is None or not geometry.drawn else np.zeros(self.dim)
        self.w = self.free if self.bounds is None and not self.averages else np.zeros(self.dim)
        self.taken = False  # True if a model has taken w

    @property
    def arrays(self) -> list[Array]:
        """The arrays that visits change, each once."""
        different = {id(each): each for each in (self.sums, self.free, self.w)}
        return list(different.values())

    @property
    def behind(self) -> bool:
        """True if visits do not add to `sums`, so that it may not be Σ α a."""
        return self.free is not self.sums

    def set_geometry(self, geometry: Geometry | None) -> None:
        """Change the prior and the bounds. If they differ from those before, all vectors must be recomputed."""
        if geometry is not self.geometry:
            self._allocate(geometry)

    def settle(self) -> float:
        """Set `free` and `w` from `sums`, and return ψ(Σ α a), which is ½‖Σ α a‖² without a prior and bounds.

        A mean stays unchanged.
        """
        if self.geometry is None:
            return 0.5 * self.product.inner(self.sums, self.sums)
        from maxmargin.problem.dual.compiled.weight_bounds import settle

        w = np.empty(self.dim) if self.averages else self.w
        return float(settle(self.sums, self.geometry.origin, self.bounds, self.free, w))

    def clipped(self, first: int | None = None) -> Array:
        """Return the weights that visits read, or the first of them."""
        free = self.free[:first]
        if self.geometry is None or self.bounds is None:
            return free
        return np.clip(free, self.geometry.low[:first], self.geometry.high[:first])

    # --- means

    def average_if_cheap(self, atoms: Atoms, units: NDArray[np.int64]) -> None:
        """Make w a mean over the revisits of a round, if the features of these units are so frequent that it is cheap.

        While D rises steadily, P at Σ α a oscillates, because the example visited last has pulled it in its own
        direction. Units without an example do not count.
        """
        if atoms.n_entries_of(units) >= OFTEN * atoms.n_features:
            self.averages = True
            self.w = self.clipped().copy()

    def begin_mean(self) -> None:
        """Set w to the weights after a search, from which a new mean begins."""
        self.points = 0
        if self.averages:
            np.copyto(self.w, self.clipped())

    def extend_mean(self) -> None:
        """Add the weights after a revisit to the mean."""
        self.points += 1
        if self.averages:
            self.w += (self.clipped() - self.w) / self.points
            if self.geometry is not None:
                self.geometry.allow(self.w)  # rounding may have moved it outside of its bounds

    # --- the weights of a model

    def take(self) -> Array:
        """Return w for a model to keep: the array itself if it is the only one, otherwise a copy.

        Call `keep_own` before changing the vectors again.
        """
        if self.geometry is not None or self.averages:
            return self.w.copy()
        self.taken = True
        return self.w

    def keep_own(self) -> None:
        """Continue with a copy if a model has taken w."""
        if self.taken:
            self.sums = self.free = self.w = self.sums.copy()
            self.taken = False

    # --- values of D

    def lowered(self, proof: Proof) -> float:
        """Return D from its terms, not rounded up (base/rounding.py)."""
        if self.geometry is not None:
            return self.geometry.lowered_dual(*proof)
        square = self.product.square(proof.s)
        return lowered_dual(proof.linear, proof.losses, square, proof.mass, proof.terms, proof.error)

    def best_share(self, slope: float, curvature: float, way: Array) -> float:
        """Return the t in [0, 1] with the highest slope·t - ½curvature·t² - ψ(Σ α a + t·way)."""
        if self.geometry is not None:
            return self.geometry.best_share(slope, curvature, self.sums, way)
        slope -= self.product.inner(self.w, way)
        curvature += self.product.inner(way, way)
        return 0.0 if slope <= 0 else 1.0 if curvature <= slope else slope / curvature

    def best_multiple(self, linear: float, curvature: float, limit: float) -> float:
        """Return the f in [0, limit] with the highest D(fα) = f·linear - ½f²·curvature - ψ(f Σ α a)."""
        if self.geometry is not None:
            most = min(limit, MOST_LONGER)
            nothing = np.zeros(self.dim)
            return most * self.geometry.best_share(most * linear, most**2 * curvature, nothing, most * self.sums)
        curvature += self.product.inner(self.sums, self.sums)
        factor = min(limit, linear / curvature if curvature > 0 else np.inf)
        return max(factor, 0.0) if np.isfinite(factor) else 1.0
