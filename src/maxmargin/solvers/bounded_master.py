"""The master problem of cutting-plane and bundle methods for weights with a prior and bounds (geometry.py).

    maximise  D(α) = Σ α b - ψ(Σ α a)    subject to  α >= 0,  Σ α <= C,                               (1)
    ψ(s) = max over low <= w <= high of  ⟨s, w⟩ - (τ/2)‖w - m‖²,    at w(s) = clip(m + s/τ, low, high)

As long as the same coordinates, the free ones F, stay strictly between their bounds, D is a parabola with the curvature
A_F A_F'/τ, so that a round of Newton's method is an ordinary master problem (qp.py),

    α' = argmax  g'(α' - α) - ½ (α' - α)' A_F A_F' (α' - α) / τ,      g = b - A w(s)                    (2)

and D is then maximised on the segment from α to α'. With the Gram matrix of all coordinates instead of A_F A_F', (2) is
a lower bound on D (geometry.py, (3)), so that α' cannot be worse; this is used when the Newton step makes no progress.
Iteration stops when C max(0, max g) - g'α, which bounds the distance to the maximum (qp.py, (2)), is small.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.problem.dual.geometry import Geometry
from maxmargin.solvers.cuts import Cuts
from maxmargin.solvers.qp import solve_master

ROUNDS = 100
ENOUGH = 1e-9  # relative distance to the maximum at which iteration stops
WHOLE = 0.1  # share of a Newton step below which the safe step is tried as well


def solve_bounded(cuts: Cuts, C: float, geometry: Geometry, tau: float = 1.0) -> float:
    """Improve the weights of the cuts up to the maximum of (1), and return its value up to rounding."""
    rows, dim = cuts.vectors.written.rows[: len(cuts)], len(geometry.origin)
    alpha = cuts.alpha * min(1.0, C / max(float(cuts.alpha.sum()), 1e-300))
    free, gram = np.zeros(dim, dtype=bool), np.zeros_like(cuts.gram)
    s = alpha @ rows
    w = geometry.point(s / tau)
    value = _value(cuts, alpha, s, w, geometry, tau)
    for _ in range(ROUNDS):
        g = cuts.offset - rows @ w
        missing = C * max(0.0, float(g.max())) - float(g @ alpha)
        if missing <= ENOUGH * abs(value):
            break
        now = (w > geometry.low) & (w < geometry.high)
        gram = gram + _products(rows, now & ~free) - _products(rows, free & ~now)
        free = now
        before = value
        for curvature in (gram, cuts.gram):
            change = solve_master(curvature / tau, g + curvature @ alpha / tau, C, alpha=alpha).alpha - alpha
            way = change @ rows
            share = geometry.best_share(float(cuts.offset @ change), 0.0, s / tau, way / tau, tau)
            new = np.maximum(alpha + share * change, 0.0)
            s_new = new @ rows
            at = geometry.point(s_new / tau)
            reached = _value(cuts, new, s_new, at, geometry, tau)
            if reached > value:
                best, s_best, w_best, value = new, s_new, at, reached
            if share > WHOLE and reached > before:
                break
        if value - before <= 1e-15 * abs(value):
            break
        alpha, s, w = best, s_best, w_best
    cuts.weigh(alpha)
    return value


def _value(cuts: Cuts, alpha: Array, s: Array, w: Array, geometry: Geometry, tau: float) -> float:
    away = w - geometry.origin
    return float(alpha @ cuts.offset) - float(s @ w) + 0.5 * tau * float(away @ away)


def _products(rows: Array, which: NDArray[np.bool_]) -> Array:
    """Return the inner products of the rows, over these coordinates."""
    some = rows[:, which]
    return np.asarray(some @ some.T)
