"""The exact solution of counting-based training where the covariance has few distinct eigenvalues.

With S = Σ_g θ_g P_g, rows r = (example, output), K the kernel matrix over rows and c_r = φ(y_r) - μ,

    H = Σ_g (C P_g Cᵀ) ∘ [K (2λI + θ_g K)⁻¹],     (I + H) β = 1,     A = Σ_g (2λI + θ_g K)⁻¹ diag(β) C P_g          (1)

solves the linear system of least_squares.py up to its term with 1/|Y| (which is 0 for one output per example): the
system is 2λA + KAS = diag(1 - ⟨f_r, c_r⟩) C, and β_r = 1 - ⟨f_r, c_r⟩ is all that couples the rows. One
eigendecomposition of K serves every λ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import linalg

from maxmargin.base.arrays import Array
from maxmargin.counting.kernel_matrix import decomposed
from maxmargin.counting.leave_one_out import Smoother, left_out
from maxmargin.counting.sets.output_set import Eigenspace


@dataclass(frozen=True)
class ClosedForm:
    """The parts of the closed-form solution that do not depend on λ."""

    values: Array  # eigenvalues of K over rows
    vectors: Array
    thetas: list[float]
    parts: list[Array]  # C P_g
    products: list[Array]  # C P_g Cᵀ
    shape: tuple[int, ...]  # the shape of C

    @classmethod
    def of(cls, K: Array, centred: Array, spectrum: list[Eigenspace]) -> Self:
        """Decompose K, and decompose C (`centred`) by the eigenspaces in which it is not zero."""
        values, vectors = decomposed(K)
        parts = [(space.value, space.project(centred)) for space in spectrum]
        size = float(np.abs(centred).max(initial=0.0))
        present = [(theta, part) for theta, part in parts if np.abs(part).max(initial=0.0) > 1e-14 * size]
        return cls(
            values,
            vectors,
            [theta for theta, _ in present],
            [part for _, part in present],
            [part @ part.T for _, part in present],
            centred.shape,
        )

    def left_out(self, lam: float, tol: float = 1e-13) -> Array:
        """Return an (n, d) array whose row i is f(xᵢ) of the model trained without example i.

        Every example must have one output.
        """
        return left_out(self._smoothers(lam), self._coupling(lam), tol) if self.parts else np.zeros(self.shape)

    def solve(self, lam: float) -> Array:
        """Return A of (1), one row per row of C."""
        U, H = self.vectors, self._coupling(lam)
        beta = linalg.solve(H, np.ones(len(H)), assume_a="pos")
        A = np.zeros(self.shape)
        for theta, part in zip(self.thetas, self.parts, strict=True):
            A += (U / (2 * lam + theta * self.values)) @ (U.T @ (beta[:, None] * part))
        return A

    def _smoothers(self, lam: float) -> list[Smoother]:
        """Return the Smoother of every eigenspace."""
        return [
            Smoother(theta, self._smoothed(lam, theta), self._kept(lam, theta), part)
            for theta, part in zip(self.thetas, self.parts, strict=True)
        ]

    def _smoothed(self, lam: float, theta: float) -> Array:
        """Return K (2λI + θK)⁻¹."""
        return np.asarray((self.vectors * (self.values / (2 * lam + theta * self.values))) @ self.vectors.T)

    def _kept(self, lam: float, theta: float) -> Array:
        """Return the diagonal of I - θ K (2λI + θK)⁻¹ = 2λ (2λI + θK)⁻¹."""
        return np.asarray((self.vectors**2) @ (2 * lam / (2 * lam + theta * self.values)))

    def _coupling(self, lam: float) -> Array:
        """Return I + H of (1)."""
        H = np.eye(len(self.values))
        for theta, product in zip(self.thetas, self.products, strict=True):
            H += product * self._smoothed(lam, theta)
        return (H + H.T) / 2
