"""Predictions for single examples by models trained without them, in closed form.

In the notation of closed_form.py, let T_g = K (2λI + θ_g K)⁻¹ and M = (I + H)⁻¹. Without example i, which has one
output, T_g becomes T_g + w_g t_g t_gᵀ on the others, with

    t_g = T_g e_i,     w_g = θ_g / (1 - θ_g T_g,ii),     1 - θ_g T_g,ii = 2λ [(2λI + θ_g K)⁻¹]_ii:                   (1)

this removes a point from a ridge regression, separately in every eigenspace. H becomes H + U Uᵀ, without row and column
i,

    U = Σ_g √w_g diag(t_g) C P_g     (n, d),                                                                        (2)

and β solves the smaller system. With x(r) = (I + UᵀMU)⁻¹ UᵀMr for a right side r,

    β = M r - M U x(r),     r = 1 + τ e_i,     τ such that β_i = 0,                                                 (3)

and the value of the model at the example that was left out is

    f(x_i) = Σ_g t_gᵀ diag(β) C P_g / (1 - θ_g T_g,ii).                                                             (4)

The eigenvalues of I + UᵀMU are at least 1. Conjugate gradients solve the systems of all examples together, so that an
iteration is one product of n × n matrices: n refits would take n times as long as one fit, this takes a few times as
long.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import linalg

from maxmargin.base.arrays import Array


class Smoother(NamedTuple):
    """The smoothing matrix of the eigenspace g, with the terms that the leave-one-out values need."""

    theta: float  # the eigenvalue θ_g
    matrix: Array  # T_g
    kept: Array  # (n,) 1 - θ_g T_g,ii, without cancellation
    part: Array  # C P_g


def left_out(smoothers: Sequence[Smoother], H: Array, tol: float) -> Array:
    """Return an (n, d) array whose row i is f(xᵢ) of the model trained without example i; nan if λ is too small.

    H : I + H in the notation above.
    tol : tolerance of the small systems (3), relative to their right sides.
    """
    n, factors = len(H), _narrow([each.part for each in smoothers])
    width = factors[0].shape[1] if factors else 0
    M = linalg.cho_solve(linalg.cho_factor(H), np.eye(n))
    M = (M + M.T) / 2
    beta = M.sum(1)
    # row i has √w_g t_g of example i
    scaled = [each.matrix * np.sqrt(each.theta / each.kept)[:, None] for each in smoothers]

    def spread(X: Array) -> Array:
        """Return an array whose row i is U xᵢ."""
        return sum((S * (X @ part.T) for S, part in zip(scaled, factors, strict=True)), np.zeros((n, n)))

    def gathered(Z: Array) -> Array:
        """Return an array whose row i is Uᵀ zᵢ."""
        return sum(((S * Z) @ part for S, part in zip(scaled, factors, strict=True)), np.zeros((n, width)))

    def solved(R: Array) -> Array:
        """Return an array whose row i is (I + UᵀMU)⁻¹ rᵢ, by conjugate gradients."""
        X, P, residual = np.zeros_like(R), R.copy(), R.copy()
        size = np.einsum("id,id->i", R, R)
        now = size.copy()
        for _ in range(2 * R.shape[1] + 50):
            open_rows = now > tol**2 * size
            if not open_rows.any():
                break
            product = P + gathered(spread(P) @ M)
            curved = np.einsum("id,id->i", P, product)
            step = np.divide(now, curved, out=np.zeros(n), where=open_rows & (curved > 0))
            X += step[:, None] * P
            residual -= step[:, None] * product
            before, now = now, np.where(open_rows, np.einsum("id,id->i", residual, residual), now)
            again = np.divide(now, before, out=np.zeros(n), where=open_rows & (before > 0))
            P = residual + again[:, None] * P
        X[now > (1e4 * tol) ** 2 * size] = np.nan
        return X

    own = gathered(M)  # Uᵀ M eᵢ
    whole, single = solved(gathered(np.broadcast_to(beta, (n, n)))), solved(own)
    tau = -(beta - np.einsum("id,id->i", own, whole)) / (np.diag(M) - np.einsum("id,id->i", own, single))
    betas = beta + tau[:, None] * M - spread(whole + tau[:, None] * single) @ M
    np.fill_diagonal(betas, 0.0)
    return sum(
        (((each.matrix * betas) @ each.part) / each.kept[:, None] for each in smoothers[1:]),
        ((smoothers[0].matrix * betas) @ smoothers[0].part) / smoothers[0].kept[:, None],
    )


def _narrow(parts: list[Array]) -> list[Array]:
    """Return matrices with the same products part partᵀ, in fewer columns if the rank of the parts permits it."""
    n = len(parts[0]) if parts else 0
    if not parts or parts[0].shape[1] <= len(parts) * n:
        return parts
    narrow = [np.zeros((n, len(parts) * n)) for _ in parts]
    for g, part in enumerate(parts):
        narrow[g][:, g * n : (g + 1) * n] = linalg.qr(part.T, mode="r")[0][:n].T
    return narrow
