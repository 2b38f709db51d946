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
    """The size of a cut, which is a sum: terms that cancel in it leave their rounding behind."""

    a: float  # the sum of the lengths of all rows in it, each with its share
    offset: float  # the sum of the absolute values of all that its offset is made of
    terms: int  # the numbers in that sum

    def plus(self, a: float, offset: float, terms: int) -> CutSize:
        """Return the size with more terms in the sum."""
        return CutSize(self.a + a, self.offset + offset, self.terms + terms)


class PlaneSizes(NamedTuple):
    """The sizes of the largest planes that were seen: rounding errors grow with them."""

    a: float = 0.0  # the longest row
    weight: float = 0.0  # the most weight of atoms in a row
    whole: float = 0.0  # the longest Ψ of truth and output together, where decoders compare these
    b: float = 0.0
    entries: int = 0
    atoms: Atoms | None = None

    def with_planes(self, planes: Planes) -> PlaneSizes:
        """Return the largest sizes of these and of some planes."""
        rows = AtomRows.of(planes.dpsi)
        # The weights of empty rows are those of the next one: no more than the largest.
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
        if product > 1e3 * self.b:  # else rounding is next to nothing, and a closer look costs more
            product = min(product, self.weight * self.atoms.largest(w))
        return max(product, self.whole * length)

    @property
    def terms(self) -> int:
        """The largest number of terms that a height is a sum of."""
        return max(self.entries, 64) + 8 + (0 if self.atoms is None else self.atoms.terms)

    def unsure(self, w: Array) -> float:
        """Return what rounding may hide of the largest violation of an example at w.

        A height b - ⟨a, w⟩ is off by at most γ(|b| + Σ|aⱼwⱼ|), and the decoder, which compares heights, by as much for
        what it took and for what it left. The largest planes seen so far stand for what it left.
        """
        if self.atoms is None or not np.any(w):  # at w = 0 losses are all
            return 0.0
        return 3 * gamma(self.terms) * (self.b + self.product(w))
