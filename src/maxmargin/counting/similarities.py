"""Counting-based training for similarities: the score of every output is fitted to its similarity with the correct one.

Instead of margins of 1 over all outputs, scores of all outputs are fitted to their similarities with the correct
output,

    J = λ‖f‖² + Σᵢ Σ_{y in Yᵢ} { ½ E_z[(⟨c_y, c_z⟩ - ⟨fᵢ, c_z⟩)²] - ½ c_yᵀ Sᵢ c_y },     z uniform in Y,
      = λ‖f‖² + Σᵢ Σ_{y in Yᵢ} [½ fᵢᵀ Sᵢ fᵢ - fᵢᵀ Sᵢ c_y],     c_z = φ(z) - μᵢ,                                      (1)

which needs the same moments as margins. For small λ, f(x) is the mean of c_y given x, and decoding finds the output
that is on average most similar to the correct ones: for orders, the highest expected τ. (Margins of 1 are attained by
S⁻¹ c_y instead, regardless of other outputs that could have been correct.) There are no rank-one terms, so examples are
coupled by the kernel alone: (1) is a ridge regression in every eigenspace of S, with solution and leave-one-out values

    A = Σ_g θ_g (2λI + θ_g K)⁻¹ C P_g,     f(xᵢ) = Σ_g θ_g Σ_{j≠i} T_g,ij c_j P_g / (1 - θ_g T_g,ii),               (2)

with T_g = K (2λI + θ_g K)⁻¹ and C as in closed_form.py.
"""

from __future__ import annotations

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.rounding import gamma
from maxmargin.counting.closed_form import ClosedForm
from maxmargin.counting.least_squares import LeastSquares, Magnitudes


class SimilarityLeastSquares(LeastSquares):
    """The least squares problem (1)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.inverse = np.zeros(self.moments.n)  # (1) compares with all outputs, including the correct ones

    @property
    def at_zero(self) -> float:
        """The sum of ½ cᵀSc over the correct outputs, raised by its rounding error."""
        sizes = super().magnitudes().target ** 2 * self.moments.mean_squares()
        squares = gamma(self.rows.size + 16) * float(sizes.sum())
        for each, members in self.moments.groups:
            own = self.centred[np.isin(self.owner, members)]
            squares += float(np.vdot(own, each.cov_apply(own)))
        return 0.5 * squares

    def curvature(self, F: Array) -> Array:
        return self.counts[:, None] * self.moments.apply(F)

    def target(self) -> Array:
        return self.moments.apply(self.summed(self.centred))

    def magnitudes(self) -> Magnitudes:
        squares, plain = self.moments.mean_squares(), super().magnitudes()
        return Magnitudes(self.counts * squares, squares * plain.target)

    def loss_unseen(self, F: Array) -> float:
        """Return the squared errors, because the fitted similarities are themselves the target of prediction."""
        return self.value(F, 0.0)


class SimilarityForm(ClosedForm):
    """The closed-form solution (2)."""

    def solve(self, lam: float) -> Array:
        U, A = self.vectors, np.zeros(self.shape)
        for theta, part in zip(self.thetas, self.parts, strict=True):
            A += (U * (theta / (2 * lam + theta * self.values))) @ (U.T @ part)
        return A

    def left_out(self, lam: float, tol: float = 0.0) -> Array:
        """Return the held-out values, as for margins; no iterations are needed here."""
        found = np.zeros(self.shape)
        for theta, T, kept, part in self._smoothers(lam):
            np.fill_diagonal(T, 0.0)
            found += theta * (T @ part) / kept[:, None]
        return found
