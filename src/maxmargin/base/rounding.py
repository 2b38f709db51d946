"""Bounds on the rounding errors of sums, so that certificates hold in floating-point arithmetic.

A sum of m products, computed in any order with unit roundoff u = 2⁻⁵³, is off by at most γ_m Σ |xᵢ yᵢ|, where
γ_m = mu / (1 - mu) (Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 3.1). Reported lower bounds
are lowered by such amounts, and reported objectives are raised by them; docs/explanation/math.md derives the sums.
"""

from __future__ import annotations

from math import inf, sqrt

import numpy as np

from maxmargin.base.arrays import Array

UNIT = 2.0**-53


def gamma(terms: float) -> float:
    """Return γ_m, the largest relative error of a sum of m products of positive numbers."""
    share = terms * UNIT
    return share / (1 - share) if share < 1 else inf


def raised_square(w: Array) -> float:
    """Return an upper bound on ‖w‖²."""
    return float(np.dot(w, w)) * (1 + gamma(len(w) + 1))


def lowered_dual(linear: float, losses: float, square: float, mass: float, terms: float, error: float = 0.0) -> float:
    """Return a lower bound on D(α) = Σ α b - ½‖Σ α a‖².

    linear is Σ α b as computed; square is an upper bound on ‖w‖², where w is Σ α a as computed in sums of at most
    `terms`
    numbers; losses and mass are upper bounds on Σ α|b| and Σ α‖a‖. Then w is off by at most e = γ Σ α‖a‖ (plus `error`,
    other known errors of w), and

        D(α) >= Σ α b - γ Σ α|b| - ½ (‖w‖ + e)².
    """
    return lowered_value(linear, losses, 0.5 * square, sqrt(square), mass, terms, error)


def lowered_value(
    linear: float, losses: float, potential: float, length: float, mass: float, terms: float, error: float
) -> float:
    """Return a lower bound on Σ α b - ψ(Σ α a), for any ψ whose gradient is 1-Lipschitz (geometry.py).

    potential is an upper bound on ψ at Σ α a as computed, and length an upper bound on the norm of the gradient there:

        ψ(s + e) <= ψ(s) + ‖gradient‖ ‖e‖ + ½‖e‖²;    for ½‖s‖² this is ½ (‖s‖ + ‖e‖)².
    """
    g = gamma(terms + 8)  # some more terms for the arithmetic of this function
    e = g * mass + error
    spent = potential + length * e + 0.5 * e**2
    return linear - g * (losses + abs(linear)) - spent - gamma(16) * (abs(potential) + length * e + e**2)
