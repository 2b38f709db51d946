"""The training problem of counting-based models: a regularised least squares fit of all margins at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from maxmargin.base.arrays import Array, Index
from maxmargin.counting.moments import Moments


class Magnitudes(NamedTuple):
    """Lengths without cancellation, for every example."""

    curvature: Array  # (n,) upper bounds on the norm of the Hessian of the loss, and on the terms it is made of
    target: Array  # (n,) the same for the right side of the linear system


@dataclass
class LeastSquares:
    """The least squares problem over functions f with values fᵢ = f(xᵢ) in R^d.

    Minimise (Gärtner and Vembu 2009, Eq. 2-3, normalised by |Y|)

        J = λ‖f‖² + Σᵢ { Σ_{y in Yᵢ} [½ fᵢᵀ Sᵢ fᵢ + ½⟨fᵢ, c_y⟩² - ⟨fᵢ, c_y⟩] - (1/|Y|)(nᵢ Qᵢ - Fᵢ²) },            (1)

    with c_y = φ(y) - μᵢ, Fᵢ = Σ_y ⟨fᵢ, φ(y)⟩, Qᵢ = Σ_y ⟨fᵢ, φ(y)⟩². For one output per example the bracket is

        ½ E_z[(1 - ⟨fᵢ, φ(y)⟩ + ⟨fᵢ, φ(z)⟩)²] - ½,     z uniform in Y:                                            (2)

    least squares of the margins of y over all outputs at once, with target 1. J is quadratic, and stationarity in the
    kernel form F = K A is the linear system

        2λ A + [ nᵢ fᵢ Sᵢ + Σ_y c_y ⟨c_y, fᵢ⟩ - (2/|Y|) Σ_y (nᵢ⟨fᵢ, φ_y⟩ - Fᵢ) φ_y ]ᵢ = [ Σ_y c_y ]ᵢ.            (3)

    J is relative to f = 0: the sum of squares itself is larger by ½ for every correct output, in total by `at_zero`.
    Squares are convex, so J exceeds its tangent at f by at least λ‖h‖², and with the gradient g of J at f,

        min J >= J(f) - ‖g‖²/4λ,     ‖g‖² = tr RᵀKR,                                                              (4)

    where R is the left side of (3) minus the right side. (In addition J >= -`at_zero`.)

    A pair (example, output) is a row; `owner` is the example of each row.
    """

    moments: Moments
    rows: Array  # (R, d) φ(y)
    owner: Index  # (R,) sorted
    lam: float

    def __post_init__(self) -> None:
        self.first = np.searchsorted(self.owner, np.arange(self.moments.n))  # first row of every example
        self.counts = np.bincount(self.owner, minlength=self.moments.n).astype(float)
        self.centred = self.rows - self.moments.means()[self.owner]
        sizes = self.moments.inverse_sizes() if (self.counts > 1).any() else np.zeros(self.moments.n)
        self.inverse = np.where(self.counts > 1, sizes, 0.0)  # with one output the last term of (1) is 0

    @property
    def convex(self) -> bool:
        """True if J is known to be convex: with several outputs, this needs a uniform distribution."""
        return self.moments.uniform or not self.inverse.any()

    @property
    def at_zero(self) -> float:
        """The sum of squares at f = 0."""
        return 0.5 * len(self.rows)

    @property
    def single(self) -> bool:
        """True if every example has one output."""
        return bool((self.counts == 1).all())

    def summed(self, values: Array) -> Array:
        """Sum rows over the outputs of every example."""
        if self.single:
            return values
        return np.asarray(np.add.reduceat(values, self.first, axis=0))

    def curvature(self, F: Array) -> Array:
        """Return the bracket of (3): the Hessian of the loss, without λ, applied to values F (n, d)."""
        mine = F[self.owner]
        along = np.einsum("rd,rd->r", self.centred, mine)
        result = self.counts[:, None] * self.moments.apply(F) + self.summed(along[:, None] * self.centred)
        if self.inverse.any():
            scores = np.einsum("rd,rd->r", self.rows, mine)
            spread = self.counts[self.owner] * scores - self.summed(scores)[self.owner]
            result -= 2 * self.inverse[:, None] * self.summed(spread[:, None] * self.rows)
        return result

    def target(self) -> Array:
        """Return the right side of (3)."""
        return self.summed(self.centred)

    def magnitudes(self) -> Magnitudes:
        """Return the lengths of all terms of `curvature` and `target`, for bounds on their rounding errors."""
        lengths, means = np.linalg.norm(self.rows, axis=1), np.linalg.norm(self.moments.means(), axis=1)
        added = lengths + means[self.owner]  # the lengths of φ(y) and μ, which may cancel in c_y
        centred = np.linalg.norm(self.centred, axis=1)
        # Sums over features are relative to c_y, and c_y itself is rounded only twice.
        share = min(1.0, 4 / self.moments.dim)
        curvature = self.counts * self.moments.mean_squares() + self.summed(centred**2 + share * added**2)
        return Magnitudes(curvature + 4 * self.inverse * self.counts * self.summed(lengths**2), self.summed(added))

    def value(self, F: Array, norm: float) -> float:
        """Return J of (1), given the values F = f(xᵢ) and ‖f‖²."""
        return float(self.lam * norm + 0.5 * np.vdot(F, self.curvature(F)) - np.vdot(F, self.target()))

    def loss_unseen(self, F: Array) -> float:
        """Return the criterion by which λ is chosen, given values F of models that have not seen the example.

        It is the mean share of outputs with a higher score than the correct one, which margins bound (Gärtner and
        Vembu 2009, Sect. 3). Like decoding it does not depend on the length of f; the squares would prefer too small a
        λ. It uses a normal approximation: the score ⟨fᵢ, φ(z)⟩ of z uniform in Y has mean ⟨fᵢ, μᵢ⟩ and variance fᵢᵀ Sᵢ
        fᵢ, so the share is Φ(-⟨fᵢ, c_y⟩ / √(fᵢᵀ Sᵢ fᵢ)), which is a half for f = 0.
        """
        spread = np.sqrt(np.maximum(np.einsum("id,id->i", F, self.moments.apply(F)), 0.0))[self.owner]
        lead = np.einsum("rd,rd->r", self.centred, F[self.owner])
        standard = np.divide(lead, spread, out=np.zeros_like(lead), where=(spread > 0) | np.isnan(lead))
        return float(np.mean(ndtr(-standard)))


def as_rows(moments: Moments, Y: Sequence[Any], several: bool) -> tuple[Array, Index]:
    """Return φ of all outputs, and the example that each belongs to."""
    owner: list[int] = []
    rows: list[Array] = []
    sets = {}
    for each, members in moments.groups:
        sets.update(dict.fromkeys(members.tolist(), each))
    for i, y in enumerate(Y):
        if several and (isinstance(y, str) or not isinstance(y, Iterable)):
            raise ValueError(f"example {i} has {y!r}; expected a list of outputs, because of several=True")
        outputs = list(y) if several else [y]
        if not outputs:
            raise ValueError(f"example {i} has no output; expected at least one")
        for output in outputs:
            try:
                rows.append(sets[i].features(output))
            except (ValueError, TypeError) as error:
                raise ValueError(f"example {i}: {error}") from None
            owner.append(i)
        known: dict[bytes, int] = {}
        for k, phi in enumerate(rows[len(rows) - len(outputs) :]):
            other = known.setdefault((phi + 0.0).tobytes(), k)
            if other < k:
                raise ValueError(
                    f"outputs {other} and {k} of example {i} have the same features; expected different outputs"
                )
    return np.array(rows), np.array(owner, dtype=np.intp)
