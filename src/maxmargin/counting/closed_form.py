"""The exact solution of counting-based training where the covariance has few distinct eigenvalues.

With S = Σ_g θ_g P_g, rows r = (example, output), K the kernel matrix over rows and c_r = φ(y_r) - μ,

    H = Σ_g (C P_g Cᵀ) ∘ [K (2λI + θ_g K)⁻¹],     (I + H) β = 1,     A = Σ_g (2λI + θ_g K)⁻¹ diag(β) C P_g          (1)

solves the linear system of least_squares.py up to its term with 1/|Y| (which is 0 for one output per example): the
system is 2λA + KAS = diag(1 - ⟨f_r, c_r⟩) C, and β_r = 1 - ⟨f_r, c_r⟩ is all that couples the rows. One
eigendecomposition of K serves every λ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from maxmargin.arrays import Array
from maxmargin.counting.kernel_matrix import decomposed
from maxmargin.counting.sets.output_set import Eigenspace


@dataclass(frozen=True)
class ClosedForm:
    """All that does not depend on λ."""

    values: Array  # of K over rows
    vectors: Array
    thetas: list[float]
    parts: list[Array]  # C P_g
    products: list[Array]  # C P_g Cᵀ
    shape: tuple[int, ...]  # of C

    @classmethod
    def of(cls, K: Array, centred: Array, spectrum: list[Eigenspace]) -> ClosedForm:
        """Decompose K, and C (`centred`) by the eigenspaces that it has parts in."""
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

    def solve(self, lam: float) -> Array:
        """A of (1), one row per row of C."""
        U, H = self.vectors, np.eye(len(self.values))
        for theta, product in zip(self.thetas, self.products, strict=True):
            H += product * ((U * (self.values / (2 * lam + theta * self.values))) @ U.T)
        beta = linalg.solve((H + H.T) / 2, np.ones(len(H)), assume_a="pos")
        A = np.zeros(self.shape)
        for theta, part in zip(self.thetas, self.parts, strict=True):
            A += (U / (2 * lam + theta * self.values)) @ (U.T @ (beta[:, None] * part))
        return A
