"""Softness and Tangents: the smooth risks, which weigh all outputs by their probabilities.

    R(w) = mean_i (1/b) log Σ_z exp b [m Δ(y_i, z) - ⟨w, Ψ(x_i, y_i) - Ψ(x_i, z)⟩]                                (1)

With b = 1 and m = 0 this is the negative mean log-likelihood of a conditional random field. With m = 1 it is the
softmax-margin (Gimpel and Smith 2010), which becomes the hinge for b -> ∞, with max_z instead of a sum. The exponent of
the truth is 0, so that R(w) >= 0; R is convex, and its gradient is minus

    a = mean_i E_p [Ψ(x_i, y_i) - Ψ(x_i, z)],    p(z) ∝ exp b [m Δ + ⟨w, Ψ(x_i, z)⟩]                              (2)

A tangent is a cut like any other: w' -> R(w) + ⟨a, w⟩ - ⟨a, w'⟩ is nowhere above R, as certificates require.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.base.arrays import Array


class Softness(NamedTuple):
    """The parameters of the smooth loss (1)."""

    sharpness: float = 1.0  # b in (1)
    margin: float = 0.0  # m in (1), the factor of the loss


class Tangents(NamedTuple):
    """The terms of (1) at w, computed while Σ_i weights_i E_p [Ψ(x_i, y_i) - Ψ(x_i, z)] is added to an array."""

    slacks: Array  # (n,) the terms of (1), one per example
    errors: Array  # bounds on their rounding errors
    mass: float  # at least the sum of the lengths of all added vectors
    terms: float  # the rounding error of the sum is at most γ(terms) times this mass

    @classmethod
    def joined(cls, parts: list[Tangents]) -> Tangents:
        """Join the tangents of several groups of examples, which added to the same array."""
        slacks, errors = (np.concatenate([each[k] for each in parts]) for k in range(2))
        return cls(slacks, errors, sum(each.mass for each in parts), max(each.terms for each in parts) + len(parts))
