"""How far sums of floating-point numbers may be off, so that what a certificate states holds in floating point.

A sum of m products, computed in any order with unit roundoff u = 2⁻⁵³, is off by at most γ_m Σ |xᵢ yᵢ|, where
γ_m = mu / (1 - mu) (Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 3.1). What a solver states as
a lower bound is lowered by such amounts, what it states as an objective is raised by them: docs/math.md has the sums.
"""

from __future__ import annotations

from math import inf, sqrt

import numpy as np

from maxmargin.base.arrays import Array

UNIT = 2.0**-53


def gamma(terms: float) -> float:
    """γ_m, the largest relative error of a sum of m products of positive numbers."""
    share = terms * UNIT
    return share / (1 - share) if share < 1 else inf


def raised_square(w: Array) -> float:
    """‖w‖² is at most this."""
    return float(np.dot(w, w)) * (1 + gamma(len(w) + 1))


def lowered_dual(linear: float, losses: float, square: float, mass: float, terms: float, error: float = 0.0) -> float:
    """D(α) = Σ α b - ½‖Σ α a‖² is at least this.

    linear is Σ α b as it was computed, square ‖w‖² or more, where w is Σ α a as it was computed, in sums of at most
    `terms` numbers; losses and mass are Σ α|b| and Σ α‖a‖, or more. So w is off by at most e = γ Σ α‖a‖ (plus `error`,
    what else is known to be wrong with it), and

        D(α) >= Σ α b - γ Σ α|b| - ½ (‖w‖ + e)².
    """
    return lowered_value(linear, losses, 0.5 * square, sqrt(square), mass, terms, error)


def lowered_value(
    linear: float, losses: float, potential: float, length: float, mass: float, terms: float, error: float
) -> float:
    """Σ α b - ψ(Σ α a) is at least this, for any ψ whose gradient changes no more than its argument (geometry.py).

    potential is ψ at Σ α a as it was computed, or more, and length the norm of the gradient there, or more:

        ψ(s + e) <= ψ(s) + ‖gradient‖ ‖e‖ + ½‖e‖²;    of ½‖s‖² it is ½ (‖s‖ + ‖e‖)².
    """
    g = gamma(terms + 8)  # a few more for the arithmetic of this function
    e = g * mass + error
    spent = potential + length * e + 0.5 * e**2
    return linear - g * (losses + abs(linear)) - spent - gamma(16) * (abs(potential) + length * e + e**2)
