"""Sparse rows over atoms: how planes are stored, scored and added up.

An atom is a vector that many planes share. Atom c < direct is the unit vector of coordinate c of w. Atom
direct + u·K + k is the feature row of unit u placed at label k: its entries are U_values[p] at coordinate
U_places[p] + k, for p in U_indptr[u] : U_indptr[u + 1]. A plane of a labelling task needs two atoms per wrong
unit where its explicit form needs two entries per feature of that unit.

Indices are unsigned throughout: numba then leaves out the test for Python's negative indices.
"""

from __future__ import annotations

import numpy as np

from maxmargin.compiled.kernel import kernel


@kernel
def atom_dot(c, w, direct, K, U_indptr, U_places, U_values):
    """⟨atom c, w⟩."""
    total = 0.0
    if c < direct:
        total = w[c]
    else:
        u = np.uint32(c - direct) // np.uint32(K)
        k = np.uint64(c - direct - u * K)
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0  # four sums at once: a single one would wait for every addition
        p, end = U_indptr[u], U_indptr[u + np.uint64(1)]
        while p + np.uint64(3) < end:
            s0 += U_values[p] * w[U_places[p] + k]
            s1 += U_values[p + np.uint64(1)] * w[U_places[p + np.uint64(1)] + k]
            s2 += U_values[p + np.uint64(2)] * w[U_places[p + np.uint64(2)] + k]
            s3 += U_values[p + np.uint64(3)] * w[U_places[p + np.uint64(3)] + k]
            p += np.uint64(4)
        while p < end:
            s0 += U_values[p] * w[U_places[p] + k]
            p += np.uint64(1)
        total = (s0 + s1) + (s2 + s3)
    return total


@kernel
def atom_add(c, scale, w, direct, K, U_indptr, U_places, U_values):
    """w += scale · atom c."""
    if c < direct:
        w[c] += scale
    else:
        u = np.uint32(c - direct) // np.uint32(K)
        k = np.uint64(c - direct - u * K)
        for p in range(U_indptr[u], U_indptr[u + np.uint64(1)]):
            w[U_places[p] + k] += scale * U_values[p]


@kernel
def atom_clear(c, w, direct, K, U_indptr, U_places, U_values):
    """w = 0 wherever atom c has an entry."""
    if c < direct:
        w[c] = 0.0
    else:
        u = np.uint32(c - direct) // np.uint32(K)
        k = np.uint64(c - direct - u * K)
        for p in range(U_indptr[u], U_indptr[u + np.uint64(1)]):
            w[U_places[p] + k] = 0.0


@kernel
def row_dots(indptr, indices, values, w, direct, K, U_indptr, U_places, U_values, dots):
    """dots[j] = ⟨row j, w⟩."""
    for j in range(len(dots)):
        total = 0.0
        for p in range(indptr[j], indptr[j + 1]):
            total += values[p] * atom_dot(indices[p], w, direct, K, U_indptr, U_places, U_values)
        dots[j] = total


@kernel
def add_rows(indptr, indices, values, scale, total, direct, K, U_indptr, U_places, U_values):
    """total += Σ_j scale[j] · row j."""
    for j in range(len(scale)):
        if scale[j] != 0.0:
            for p in range(indptr[j], indptr[j + 1]):
                atom_add(indices[p], scale[j] * values[p], total, direct, K, U_indptr, U_places, U_values)


@kernel
def unit_scores(w, direct, K, U_indptr, U_places, U_values, units, scores):
    """scores[j, k] = ⟨atom (units[j], k), w⟩ for all labels at once: labels are contiguous in w, a vector operation.

    Every score depends on its own row only, so results do not change with how examples are grouped into calls.
    """
    if K == 1:
        for j in range(len(units)):
            scores[j, 0] = atom_dot(direct + units[j], w, direct, K, U_indptr, U_places, U_values)
        return
    for j in range(len(units)):
        row = scores[j]
        for k in range(K):
            row[k] = 0.0
        p, end = U_indptr[units[j]], U_indptr[units[j] + 1]
        while p + np.uint64(3) < end:  # four features a sweep: a quarter of the loads and stores of the row
            a, b = U_values[p], U_values[p + np.uint64(1)]
            c, d = U_values[p + np.uint64(2)], U_values[p + np.uint64(3)]
            A, B = U_places[p], U_places[p + np.uint64(1)]
            C, D = U_places[p + np.uint64(2)], U_places[p + np.uint64(3)]
            wa, wb, wc, wd = w[A : A + K], w[B : B + K], w[C : C + K], w[D : D + K]
            for k in range(K):
                row[k] += (a * wa[k] + b * wb[k]) + (c * wc[k] + d * wd[k])
            p += np.uint64(4)
        while p < end:
            A = U_places[p]
            wa = w[A : A + K]
            for k in range(K):
                row[k] += U_values[p] * wa[k]
            p += np.uint64(1)
