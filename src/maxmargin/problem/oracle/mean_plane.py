"""MeanPlane: one cut of the whole risk, and its summation from the cuts of examples."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.oracle.violations import Violations
from maxmargin.problem.planes.atoms import AtomRows
from maxmargin.problem.planes.plane_sizes import CutSize
from maxmargin.problem.planes.planes import Planes

FEW_READS = 20.0  # the cost up to which a mean plane is also given as a combination of atoms: see Atoms.reads


class MeanPlane(NamedTuple):
    """The cut  w -> offset - ⟨a, w⟩ <= R(w)  of the whole risk, tight at the point where it was computed."""

    a: Array
    offset: float
    risk: float  # R at that point, measured like the objective: see Violations
    row: AtomRows | None = None  # a as one combination of atoms, if that form is shorter
    truths: Array | None = None  # (n,) the factor of every Ψ(x, truth) in a, if truths may change (latent tasks)
    planes: Planes | None = None  # for a sample: the planes of its examples
    size: CutSize = CutSize(0.0, 0.0, 0)  # bounds the rounding errors of the cut


class CutSum:
    """The weighted sum of examples' cuts; for squared slacks, the tangent of the weighted sum of penalties.

    Order of calls: `add` once for every chunk of examples, which changes `a`, `offset` and `size`; then `row`.
    """

    def __init__(self, dim: int, formulation: Formulation, keeps_rows: bool = True):
        self.formulation = formulation
        self.a, self.offset, self.size = np.zeros(dim), 0.0, CutSize(0.0, 0.0, 0)
        self._rows: list[AtomRows] | None = [] if keeps_rows else None
        self._entries = 0

    def add(self, found: Violations, weights: Array) -> Array:
        """Add the cuts of a chunk with these weights, and return the factor of every example's cut."""
        heights = np.maximum(found.heights, 0.0)
        share = weights * (heights > 0)  # a cut below 0, the height of the truth, does not count
        spent = 0.0
        if self.formulation.squared:
            share = share * heights
            spent = 0.5 * float(np.dot(share, heights))
        paid = float(np.dot(share, found.planes.loss))
        self.offset += paid - spent
        rows = AtomRows.of(found.planes.dpsi)
        rows.add_to(self.a, share)
        entries = int(rows.indptr[-1])
        self.size = self.size.plus(float(np.dot(share, rows.sizes)), paid + spent, entries + len(share))
        self._entries += entries
        if self._rows is not None:
            self._rows.append(rows.scaled(share))
        if rows.atoms.reads(self._entries) > FEW_READS:
            self._rows = None
        return share

    def row(self) -> AtomRows | None:
        """Return `a` as one combination of atoms, or None if the array is the shorter form."""
        return AtomRows.stack(self._rows).summed().whole() if self._rows else None
