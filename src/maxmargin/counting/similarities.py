"""Counting-based training for similarities: every output is to score as much as it has in common with the right one.

Instead of margins of 1 over all outputs, scores of all outputs are fitted to their similarities with the right output,

    J = λ‖f‖² + Σᵢ Σ_{y in Yᵢ} { ½ E_z[(⟨c_y, c_z⟩ - ⟨fᵢ, c_z⟩)²] - ½ c_yᵀ Sᵢ c_y },     z uniform in Y,
      = λ‖f‖² + Σᵢ Σ_{y in Yᵢ} [½ fᵢᵀ Sᵢ fᵢ - fᵢᵀ Sᵢ c_y],     c_z = φ(z) - μᵢ,                                      (1)

which counting knows as well as margins. Where λ is small, f(x) is the mean of c_y given x, and decoding finds the
output that has most in common with what may be right: for orders, the highest expected τ. (Margins of 1 are reached by
S⁻¹ c_y instead, whatever else could have been right.) The terms of rank one are gone, so that examples are coupled by
the kernel alone: (1) is a ridge regression in every eigenspace of S, with solution and leave-one-out values

    A = Σ_g θ_g (2λI + θ_g K)⁻¹ C P_g,     f(xᵢ) = Σ_g θ_g Σ_{j≠i} T_g,ij c_j P_g / (1 - θ_g T_g,ii),               (2)

with T_g = K (2λI + θ_g K)⁻¹ and C as in closed_form.py.
"""

from __future__ import annotations

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.counting.closed_form import ClosedForm
from maxmargin.counting.least_squares import LeastSquares


class SimilarityLeastSquares(LeastSquares):
    """The problem (1)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.inverse = np.zeros(self.moments.n)  # (1) compares with all outputs, the right ones too

    @property
    def at_zero(self) -> float:
        """½ cᵀSc of every right output."""
        squares = 0.0
        for each, members in self.moments.groups:
            own = self.centred[np.isin(self.owner, members)]
            squares += float(np.vdot(own, each.cov_apply(own)))
        return 0.5 * squares

    def curvature(self, F: Array) -> Array:
        return self.counts[:, None] * self.moments.apply(F)

    def target(self) -> Array:
        return self.moments.apply(self.summed(self.centred))

    def loss_unseen(self, F: Array) -> float:
        """The squares themselves: what is fitted is what is to be found."""
        return self.value(F, 0.0)


class SimilarityForm(ClosedForm):
    """Its solution (2)."""

    def solve(self, lam: float) -> Array:
        U, A = self.vectors, np.zeros(self.shape)
        for theta, part in zip(self.thetas, self.parts, strict=True):
            A += (U * (theta / (2 * lam + theta * self.values))) @ (U.T @ part)
        return A

    def left_out(self, lam: float, tol: float = 0.0) -> Array:
        """As for margins; nothing is iterated here."""
        found = np.zeros(self.shape)
        for theta, T, kept, part in self._smoothers(lam):
            np.fill_diagonal(T, 0.0)
            found += theta * (T @ part) / kept[:, None]
        return found
