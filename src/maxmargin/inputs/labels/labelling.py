"""Planes of labelled units, shared by Multiclass and Chain."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.inputs.labels.labels import Labels
from maxmargin.problem.planes.atoms import AtomRows, Atoms
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

    direct, n_labels = atoms.arrays.direct, atoms.arrays.n_labels
    wrong = int(np.count_nonzero(truth != found))
    # With links, a wrong label changes at most two transitions, a start and an end.
    most = (10 if linked else 2) * wrong
    indptr = np.zeros(len(bounds), dtype=np.int32)
    indices, values, loss = np.empty(most, dtype=np.int32), np.empty(most), np.empty(len(bounds) - 1)
    rows = (indptr, indices, values)
    differences(linked, direct, n_labels, bounds, units, truth, found, priced, cost, weight, *rows, loss)
    return Planes(AtomRows(atoms, *rows), loss)
