"""The objective of a counting-based model and a lower bound on all objectives, with bounds on their rounding errors.

With coefficients B the values are F = ΦB, where Φ is the matrix X of the input features or the kernel matrix K. Write
the objective (1) of least_squares.py as J = λ‖f‖² + ½⟨F, HF⟩ - ⟨F, t⟩, and D = HF - t. Computed numbers have a hat:

    ‖F̂ᵢ - Fᵢ‖ <= eᵢ = γ ‖Φᵢ‖ ‖B‖,        ‖D̂ᵢ - Dᵢ‖ <= dᵢ = hᵢ eᵢ + γ (hᵢ ‖F̂ᵢ‖ + tᵢ),                                 (1)

where hᵢ and tᵢ are the lengths of all that is added and subtracted in H and t (`LeastSquares.magnitudes`): where scores
are large and cancel, as constants do, the error is relative to the scores, not to the small difference. J is quadratic,

    J(F) = J(F̂) + ⟨D(F̂), F - F̂⟩ + ½⟨F - F̂, H (F - F̂)⟩,                                                            (2)

and its gradient has the length of 2λB + XᵀD, or of 2λB + D in the norm of the kernel, ‖R‖² = tr RᵀKR, where an error δ
of R has at most the length √‖K‖ ‖δ‖. This bounds the errors of both sides of (4) in least_squares.py. A kernel matrix
is taken as it was computed.
"""

from __future__ import annotations

from math import inf, isnan, sqrt
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import norm as norm_of_sparse

from maxmargin.base.arrays import Array
from maxmargin.base.rounding import gamma
from maxmargin.counting.least_squares import LeastSquares


class Bounds(NamedTuple):
    """Proved bounds: no model has an objective below `lower`, and the given model has none above `upper`."""

    upper: float
    lower: float  # -inf if the objective is not known to be convex
    rounding: float  # the part of their difference that is due to rounding, which no further iteration makes smaller


def bounds(problem: LeastSquares, inputs: Any, coefficients: Array, kernel: bool) -> Bounds:
    """Return bounds on J of these coefficients and on the smallest J.

    inputs : the (n, p) features X, or the (n, n) kernel matrix if `kernel`.
    """
    with np.errstate(all="ignore"):  # numbers that overflow prove nothing
        upper, lower, rounding = _bounds(problem, inputs, coefficients, kernel)
    at_least = -problem.at_zero if problem.convex else -inf  # squares are not negative
    upper = inf if isnan(upper) else max(upper, at_least)
    lower = max(at_least, -inf if isnan(lower) else lower) if problem.convex else -inf
    return Bounds(upper, lower, inf if isnan(rounding) else rounding)


def _bounds(problem: LeastSquares, inputs: Any, coefficients: Array, kernel: bool) -> Bounds:
    lam, sizes = problem.lam, problem.magnitudes()
    F, target = np.asarray(inputs @ coefficients), problem.target()
    curved = problem.curvature(F)
    slope = curved - target  # D̂
    length, own = float(np.linalg.norm(coefficients)), _lengths(coefficients)
    across, values, slopes = _lengths(inputs), _lengths(F), _lengths(slope)
    # Terms of the longest sums, and some more for the arithmetic of this function.
    few = gamma(F.shape[1] + float(problem.counts.max(initial=1.0)) + 16)  # over features of outputs
    many = gamma(sum(F.shape) + inputs.shape[1] + 16)  # over examples, or over inputs and then outputs
    off = gamma(inputs.shape[1] + 16) * across * length  # e of (1)
    own_error = few * (sizes.curvature * values + sizes.target + _lengths(curved) + _lengths(target))
    off_slope = sizes.curvature * off + own_error  # d of (1)
    squares = _product(coefficients, F if kernel else coefficients)
    value = lam * squares + 0.5 * _product(F, curved) - _product(F, target)
    added = lam * float(own @ (values if kernel else own)) + float(values @ (_lengths(curved) + _lengths(target)))
    unsure = (
        float((slopes + off_slope) @ off)
        + 0.5 * float(sizes.curvature @ off**2)
        + float(values @ own_error)
        + many * added
        + (lam * float(own @ off) if kernel else 0.0)
    ) * (1 + many)
    gradient = 2 * lam * coefficients + (slope if kernel else np.asarray(inputs.T @ slope))
    if kernel:
        norm = float(np.linalg.norm(inputs))
        lost = float(np.linalg.norm(off_slope + few * (2 * lam * own + slopes))) * sqrt(norm)
        square = _product(gradient, np.asarray(inputs @ gradient))
        steep = sqrt(max(square, 0.0) + many * norm * float(np.vdot(gradient, gradient)))
    else:
        lost = float(across @ off_slope) + many * (float(across @ slopes) + 2 * lam * length)
        steep = float(np.linalg.norm(gradient))
    below = ((steep + lost) * (1 + many)) ** 2 / (4 * lam)
    lower = (value - unsure - below) - gamma(8) * (abs(value) + unsure + below)
    return Bounds(value + unsure, lower, 2 * unsure + lost**2 / (4 * lam))


def _lengths(rows: Any) -> Array:
    """Return the lengths of the rows of a matrix."""
    return np.asarray(norm_of_sparse(rows, axis=1) if sparse.issparse(rows) else np.linalg.norm(rows, axis=1))


def _product(A: Array, B: Array) -> float:
    """Return ⟨A, B⟩, summed over rows first, which keeps sums short."""
    return float(np.einsum("id,id->i", A, B).sum())
