"""Sparse rows over atoms: the form in which planes are stored, scored and added up.

An atom is a vector that many planes share. Atom c < direct is the unit vector of coordinate c of w. Atom
direct + u·K + k, with K = n_labels, is the feature row of unit u placed at label k: its entries are values[p & every]
at coordinate direct + K · columns[p] + k, for p in indptr[u] : indptr[u + 1], all of AtomArrays. A plane of a labelling
task needs two atoms per wrong unit; its explicit form needs two entries per feature of that unit.

Of the arrays, only K depends on the number of labels, so they may be memory-mapped; no kernel writes to them.

Kernels that Python calls for every few examples take the arrays one by one and build the named tuple themselves: numba
needs a microsecond per call to recognise a named tuple.

Indices are unsigned throughout: numba then omits the test for Python's negative indices.
"""

from __future__ import annotations

import numpy as np

from maxmargin.base.compiled.kernel import kernel
from maxmargin.base.compiled.label_vectors import column_sums, weight
from maxmargin.problem.planes.compiled.atom_arrays import AtomArrays


@kernel
def unit_and_label(c, atoms):
    """Return the unit and the label of atom c, which is not a coordinate."""
    u = np.uint32(c - atoms.direct) // np.uint32(atoms.n_labels)
    return u, np.uint64(c - atoms.direct - u * atoms.n_labels)


@kernel
def place_of(p, atoms):
    """Return the coordinate of entry p at label 0."""
    return np.uint64(atoms.direct) + np.uint64(atoms.n_labels) * np.uint64(atoms.columns[p])


@kernel
def value_of(p, atoms):
    """Return the value of entry p."""
    return atoms.values[np.uint64(p) & atoms.every]


@kernel
def unit_dot(u, k, w, limits, atoms):
    """Return ⟨feature row of unit u at label k, w⟩ for weights clipped to their limits (label_vectors.py)."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0  # four sums: additions to a single one would wait for each other
    p, end = atoms.indptr[u], atoms.indptr[u + np.uint64(1)]
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    while p + three < end:
        s0 += value_of(p, atoms) * weight(w, limits, place_of(p, atoms) + k)
        s1 += value_of(p + one, atoms) * weight(w, limits, place_of(p + one, atoms) + k)
        s2 += value_of(p + two, atoms) * weight(w, limits, place_of(p + two, atoms) + k)
        s3 += value_of(p + three, atoms) * weight(w, limits, place_of(p + three, atoms) + k)
        p += four
    while p < end:
        s0 += value_of(p, atoms) * weight(w, limits, place_of(p, atoms) + k)
        p += one
    return (s0 + s1) + (s2 + s3)


@kernel
def atom_dot(c, w, atoms):
    """Return ⟨atom c, w⟩."""
    total = 0.0
    if c < atoms.direct:
        total = w[c]
    else:
        u, k = unit_and_label(c, atoms)
        total = unit_dot(u, k, w, None, atoms)
    return total


@kernel
def atom_add(c, scale, w, atoms):
    """Add scale · atom c to w."""
    if c < atoms.direct:
        w[c] += scale
    else:
        u, k = unit_and_label(c, atoms)
        for p in range(atoms.indptr[u], atoms.indptr[u + np.uint64(1)]):
            w[place_of(p, atoms) + k] += scale * value_of(p, atoms)


@kernel
def atom_clear(c, w, atoms):
    """Set w to 0 at every entry of atom c."""
    if c < atoms.direct:
        w[c] = 0.0
    else:
        u, k = unit_and_label(c, atoms)
        for p in range(atoms.indptr[u], atoms.indptr[u + np.uint64(1)]):
            w[place_of(p, atoms) + k] = 0.0


@kernel
def atom_clip(c, free, limits, w, atoms):
    """Set w to free, clipped to its limits (label_vectors.py), at every entry of atom c."""
    if c < atoms.direct:
        w[c] = weight(free, limits, np.uint64(c))
    else:
        u, k = unit_and_label(c, atoms)
        for p in range(atoms.indptr[u], atoms.indptr[u + np.uint64(1)]):
            place = place_of(p, atoms) + k
            w[place] = weight(free, limits, place)


@kernel
def row_dots(indptr, indices, values, w, direct, n_labels, unit_indptr, columns, unit_values, every, dots):
    """Set dots[j] to ⟨row j, w⟩."""
    atoms = AtomArrays(direct, n_labels, unit_indptr, columns, unit_values, every)
    for j in range(len(dots)):
        total = 0.0
        for p in range(indptr[j], indptr[j + 1]):
            total += values[p] * atom_dot(indices[p], w, atoms)
        dots[j] = total


@kernel
def add_rows(indptr, indices, values, scale, total, direct, n_labels, unit_indptr, columns, unit_values, every):
    """Add Σ_j scale[j] · row j to total."""
    atoms = AtomArrays(direct, n_labels, unit_indptr, columns, unit_values, every)
    for j in range(len(scale)):
        if scale[j] != 0.0:
            for p in range(indptr[j], indptr[j + 1]):
                atom_add(indices[p], scale[j] * values[p], total, atoms)


@kernel
def write_rows(indptr, indices, values, direct, n_labels, unit_indptr, columns, unit_values, every, dense):
    """Write row j over the coordinates of w to dense[j], which is zero before."""
    atoms = AtomArrays(direct, n_labels, unit_indptr, columns, unit_values, every)
    for j in range(len(dense)):
        for p in range(indptr[j], indptr[j + 1]):
            atom_add(indices[p], values[p], dense[j], atoms)


@kernel
def row_sizes(indptr, indices, values, direct, n_labels, lengths, sizes):
    """Set sizes[j] to Σ |values| · ‖atom‖ over the entries of row j, a bound on ‖row j‖; lengths are those of units."""
    for j in range(len(sizes)):
        total = 0.0
        for p in range(indptr[j], indptr[j + 1]):
            c = indices[p]
            total += abs(values[p]) * (1.0 if c < direct else lengths[(c - direct) // n_labels])
        sizes[j] = total


@kernel
def feature_peaks(direct, n_labels, indptr, columns, values, every, peaks):
    """Set peaks[f] to the largest absolute value of feature f."""
    for p in range(len(columns)):
        f = columns[p]
        peaks[f] = max(peaks[f], abs(values[np.uint64(p) & every]))


@kernel
def label_scores(u, w, limits, atoms, row):
    """Set row[k] to ⟨atom (u, k), w⟩ for all labels, which are contiguous in w, with w clipped to its limits."""
    if atoms.n_labels == 1:
        row[0] = unit_dot(u, np.uint64(0), w, limits, atoms)
    else:
        begin, end = atoms.indptr[u], atoms.indptr[u + np.uint64(1)]
        first, K = np.uint64(atoms.direct), np.uint64(atoms.n_labels)
        column_sums(atoms.values, atoms.every, atoms.columns, first, begin, end, w, limits, K, row)


@kernel
def unit_scores(w, direct, n_labels, indptr, columns, values, every, units, scores):
    """Set scores[j, k] to ⟨atom (units[j], k), w⟩.

    Every score depends on its own row only, so results do not change with how examples are grouped into calls.
    """
    atoms = AtomArrays(direct, n_labels, indptr, columns, values, every)
    for j in range(len(units)):
        label_scores(np.uint64(units[j]), w, None, atoms, scores[j])


@kernel
def unit_dots(w, direct, n_labels, indptr, columns, values, every, units, scores):
    """Set scores[j, 0] to ⟨atom (units[j], 0), w⟩, for tasks with one label."""
    atoms = AtomArrays(direct, n_labels, indptr, columns, values, every)
    for j in range(len(units)):
        scores[j, 0] = atom_dot(np.int32(direct + units[j]), w, atoms)  # int32 as in rows: compiled only once


@kernel
def add_units(total, direct, n_labels, indptr, columns, values, every, units, shares):
    """Add Σ_j Σ_k shares[j, k] · atom (units[j], k) to total."""
    atoms = AtomArrays(direct, n_labels, indptr, columns, values, every)
    for j in range(len(units)):
        u = np.uint64(units[j])
        share = shares[j]
        for p in range(indptr[u], indptr[u + np.uint64(1)]):
            first, value = place_of(p, atoms), value_of(p, atoms)
            for k in range(n_labels):
                total[first + np.uint64(k)] += value * share[k]
