"""The geometry of w: a prior w₀, and bounds of single weights.

    minimise  P(w) = ½‖w - w₀‖² + C R(w)   subject to   low <= w <= high                             (1)

(entries may be infinite; low = high fixes a weight). With s = Σ α a, the dual of (1), over the same α as without prior
and bounds, is

    D(α) = Σ α b - ψ(s),     ψ(s) = max over low <= w <= high of  ⟨s, w⟩ - ½‖w - w₀‖²                 (2)

and the maximum is at w(s) = clip(w₀ + s, low, high), coordinate by coordinate; the clipped amounts are the
multipliers of the bounds. Without a prior and bounds w(s) = s and ψ(s) = ½‖s‖². w(s) is the gradient of ψ, and changes
no more than s does, so that

    ψ(s + e) <= ψ(s) + ⟨w(s), e⟩ + ½‖e‖².                                                             (3)

This has two consequences. Steps that are exact without bounds, made with heights b - ⟨a, w(s)⟩, never lower D, because
by (3) they gain at least as much as without bounds. And if s has a rounding error e, (3) bounds the error of D.
"""

from __future__ import annotations

from functools import cached_property
from math import sqrt

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.rounding import UNIT, gamma, lowered_value

HALVINGS = 50  # bisection steps along a segment


WeightLimits = tuple[float, float] | tuple[Array, Array] | None


class Geometry:
    """The prior and the bounds of all weights."""

    def __init__(self, origin: Array, low: Array, high: Array):
        self.origin, self.low, self.high = origin, low, high
        self.drawn = bool(origin.any())  # True if the prior is not 0
        self.n_bounds = int(np.isfinite(low).sum() + np.isfinite(high).sum())

    def point(self, s: Array) -> Array:
        """Return w(s) of (2)."""
        return np.clip(self.origin + s, self.low, self.high)

    @cached_property
    def limits(self) -> WeightLimits:
        """The bounds as kernels read them: two numbers if all weights have the same, None if there are none."""
        if self.n_bounds == 0:
            return None
        low, high = float(self.low[0]), float(self.high[0])
        return (low, high) if (self.low == low).all() and (self.high == high).all() else (self.low, self.high)

    def allowed(self, w: Array) -> Array:
        """Return the nearest weights within the bounds."""
        return np.clip(w, self.low, self.high)

    def allow(self, w: Array) -> None:
        """Clip w to its bounds, in place."""
        np.clip(w, self.low, self.high, out=w)

    def square(self, w: Array) -> float:
        """Return ‖w - w₀‖², not rounded down."""
        return self._moved(w) * (1 + gamma(len(w) + 6))

    def potential(self, s: Array, w: Array) -> float:
        """Return ψ(s), where w is w(s)."""
        return float(np.dot(s, w)) - 0.5 * self._moved(w)

    def _moved(self, w: Array) -> float:
        away = w - self.origin if self.drawn else w
        return float(np.dot(away, away))

    def lowered_dual(
        self,
        linear: float,
        losses: float,
        s: Array,
        mass: float,
        terms: float,
        error: float = 0.0,
        excess: float = 0.0,
    ) -> float:
        """Return a lower bound on D(α) of (2), or 0 if that is more; rounding.lowered_dual describes the arguments.

        P is never negative, because losses are not; if it can be 0, only 0 is a tight bound. excess: the share by which
        α is too long; ψ of the feasible multiple lies between ψ(s) and ψ(0).
        """
        w = self.point(s)
        of_s, of_w, of_origin = (sqrt(float(np.dot(each, each))) for each in (s, w, self.origin))
        moved, rounding = self._moved(w), gamma(len(s) + 8)
        sizes = of_s * of_w + 0.5 * moved  # an upper bound on the absolute sum, by Cauchy-Schwarz
        # w is clipped from the rounded w₀ + s: at a different w, the maximum of (2) is missed by half the squared
        # distance
        missed = 0.5 * UNIT**2 * (of_s + of_origin) ** 2
        potential = float(np.dot(s, w)) - 0.5 * moved + rounding * (1 + 2 * rounding) * sizes + 2 * missed
        if excess > 0:
            potential += 2 * excess * (abs(potential) + 0.5 * self.square(self.allowed(self.origin)))
        length = of_w * (1 + rounding) + sqrt(2 * missed)
        return max(0.0, lowered_value(linear, losses, potential, length, mass, terms, error))

    def best_share(self, slope: float, curvature: float, s: Array, way: Array, tau: float = 1.0) -> float:
        """Return the t in [0, 1] with the highest slope·t - ½curvature·t² - τψ(s + t·way), by bisection."""

        def rises(t: float) -> bool:
            return slope - curvature * t - tau * float(np.dot(self.point(s + t * way), way)) > 0

        if rises(1.0):
            return 1.0
        low, high = 0.0, 1.0
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if rises(middle) else (low, middle)
        return low

    def moved(self, centre: Array, rho: float) -> Geometry:
        """Return the geometry of ½‖w - w₀‖² + (ρ/2)‖w - c‖².

        Up to a constant this is (1 + ρ)/2 times a squared distance.
        """
        return Geometry((self.origin + rho * centre) / (1 + rho), self.low, self.high)
