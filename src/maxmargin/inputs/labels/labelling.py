"""Planes of labelled units, shared by Multiclass and Chain."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.inputs.labels.compiled.labelled_units import LabelledUnits
from maxmargin.inputs.labels.labels import Labels
from maxmargin.problem.planes.atoms import AtomRows, Atoms
from maxmargin.problem.planes.compiled.plane_tables import PlaneRows
from maxmargin.problem.planes.planes import Planes


def wrong_labels(
    atoms: Atoms,
    linked: bool,
    bounds: NDArray[np.int64],
    units: NDArray[np.int64],
    truth: Labels,
    found: Labels,
    priced: Labels,
    cost: Array,
    weight: Array,
) -> Planes:
    """Return the planes of labelled examples: Ψ(x, truth) - Ψ(x, found) and Σ weight · cost[priced, found].

    `priced` is the row of the cost table for the label of a unit: its true label, if that is known.

    Example j owns units[bounds[j] : bounds[j + 1]]. With `linked`, adjacent units of an example also have transition
    features (the first K² + 2K coordinates of w).
    """
    from maxmargin.inputs.labels.compiled.labelling import differences

    wrong = int(np.count_nonzero(truth != found))
    # With links, a wrong label changes at most two transitions, a start and an end.
    most = (10 if linked else 2) * wrong
    of, rows = atoms.arrays, PlaneRows.of(len(bounds) - 1, most)
    differences(linked, LabelledUnits(of.direct, of.n_labels, bounds, units, truth, priced, cost, weight), found, rows)
    return Planes(AtomRows(atoms, rows.indptr, rows.indices, rows.values), rows.offset)
