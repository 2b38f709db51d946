"""The sizes of planes and cuts, from which rounding errors are bounded (rounding.py)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.rounding import gamma
from maxmargin.problem.planes.atoms import AtomRows, Atoms
from maxmargin.problem.planes.planes import Planes


class CutSize(NamedTuple):
    """The size of a cut, a sum whose terms may cancel: rounding errors grow with the terms, not with the sum."""

    a: float  # the sum of the lengths of all rows in it, each times its share
    offset: float  # the sum of the absolute values of all terms of its offset
    terms: int  # the number of terms in that sum

    def plus(self, a: float, offset: float, terms: int) -> CutSize:
        """Return the size with more terms in the sum."""
        return CutSize(self.a + a, self.offset + offset, self.terms + terms)


class PlaneSizes(NamedTuple):
    """The largest sizes among all planes seen so far, which bound rounding errors."""

    a: float = 0.0  # the length of the longest row
    weight: float = 0.0  # the largest sum of |values| of atoms in a row
    whole: float = 0.0  # the longest Ψ of truth and output together, for decoders that compare these
    b: float = 0.0  # the largest |b|
    entries: int = 0  # the largest number of atoms in a row
    atoms: Atoms | None = None  # the atoms of the rows; None before the first plane

    def with_planes(self, planes: Planes) -> PlaneSizes:
        """Return the elementwise maximum of these sizes and those of some planes."""
        rows = AtomRows.of(planes.dpsi)
        # An empty row gets the weight of the next one, which is at most the largest.
        absolute = np.append(np.abs(rows.values[: rows.indptr[-1]]), 0.0)
        return PlaneSizes(
            max(self.a, float(np.max(rows.sizes, initial=0.0))),
            max(self.weight, float(np.max(np.add.reduceat(absolute, rows.indptr[:-1]), initial=0.0))),
            max(self.whole, 0.0 if planes.lengths is None else float(np.max(planes.lengths, initial=0.0))),
            max(self.b, float(np.max(np.abs(planes.loss), initial=0.0))),
            max(self.entries, int(np.max(np.diff(rows.indptr), initial=0))),
            rows.atoms,
        )

    def joined(self, others: Iterable[PlaneSizes]) -> PlaneSizes:
        """Return the largest of several sizes over the same atoms."""
        every = [self, *others]
        atoms = next((each.atoms for each in every if each.atoms is not None), None)
        a, weight, whole, b, entries = (max(values) for values in zip(*(each[:5] for each in every), strict=True))
        return PlaneSizes(a, weight, whole, b, int(entries), atoms)

    def product(self, w: Array) -> float:
        """Return a bound on Σ |a_j w_j| of every row."""
        assert self.atoms is not None
        length = self.atoms.size_of(w)
        product = self.a * length
        if product > 1e3 * self.b:  # otherwise rounding is negligible, and a sharper bound costs more than it gains
            product = min(product, self.weight * self.atoms.largest(w))
        return max(product, self.whole * length)

    @property
    def terms(self) -> int:
        """The largest number of terms that a height is a sum of."""
        return max(self.entries, 64) + 8 + (0 if self.atoms is None else self.atoms.terms)

    def unsure(self, w: Array) -> float:
        """Return how much of an example's largest violation at w rounding may hide.

        A height b - ⟨a, w⟩ is off by at most γ(|b| + Σ|aⱼwⱼ|). The decoder, which compares heights, is off by as much
        for the output that it chose and for any that it rejected; the largest planes seen so far stand for the rejected
        ones.
        """
        if self.atoms is None or not np.any(w):  # at w = 0, heights are losses
            return 0.0
        return 3 * gamma(self.terms) * (self.b + self.product(w))
