"""Planes: the form in which a structure describes its outputs to training.

For example i and an output z that the decoder found, a plane is the cut

    w  ->  Δ(yᵢ, z) - ⟨w, δΨᵢ(z)⟩,      δΨᵢ(z) = Ψ(xᵢ, yᵢ) - Ψ(xᵢ, z),

whose maximum over z is the structured hinge of the example (Joachims et al. 2009, Eq. 6 and 11).
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.arrays import Array
from maxmargin.problem.planes.atoms import AtomRows

Rows: TypeAlias = "Array | sparse.csr_array | AtomRows"


class Planes(NamedTuple):
    """Planes of examples: row i is the cut  w -> loss[i] - ⟨dpsi[i], w⟩."""

    dpsi: Rows  # (m, dim): dense, CSR, or rows over shared atoms
    loss: Array  # (m,) the losses of the outputs
    upper: Array | None = None  # (m,) if the search is not exact: proved upper bounds on the maximum of λΔ - ⟨w, δΨ⟩
    # (m,) from a relaxation: True if the result is not an output, or is not proved to be the best output
    relaxed: NDArray[np.bool_] | None = None
    # (m,) ‖Ψ‖ of truth and output together, for decoders that compare whole Ψ although their difference is small
    lengths: Array | None = None

    def values(self, w: Array) -> Array:
        """Return the height of every cut at w."""
        return np.asarray(self.loss - self.dpsi @ w)

    @classmethod
    def stack(cls, parts: list[Planes]) -> Planes:
        """Stack planes that have AtomRows over the same atoms; `upper` and later fields are dropped."""
        rows: list[Any] = [part.dpsi for part in parts]
        lengths = [part.lengths for part in parts if part.lengths is not None]
        together = np.concatenate(lengths) if len(lengths) == len(parts) else None
        return cls(AtomRows.stack(rows), np.concatenate([part.loss for part in parts]), lengths=together)

    def over_atoms(self) -> Planes:
        """Return these planes with AtomRows: unlike BLAS, their products do not depend on the number of rows."""
        return self if isinstance(self.dpsi, AtomRows) else self._replace(dpsi=AtomRows.of(self.dpsi))


def bound_by_ratio(heights: Array, truths: Array, ratio: float) -> Array:
    """Return upper bounds on the highest planes of a search that attains at least `ratio` of every maximum >= 0.

    The output found has the value v = height + ⟨w, Ψ(x, truth)⟩, so no output has more than v / ratio (the step in
    Finley and Joachims 2008 that bounds the slack of an undergenerating search). A negative v gives no bound.
    """
    values = heights + truths
    bounds = np.where(values >= 0, values / ratio - truths, np.inf)
    return np.asarray(np.maximum(bounds, np.maximum(heights, 0.0)))  # the truth itself has height 0
