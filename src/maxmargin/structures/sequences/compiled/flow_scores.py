"""Scores of the positions of a sequence, products of their features, and changes of w; see flow_arrays.py."""

from __future__ import annotations

import numpy as np

from maxmargin.base.compiled.kernel import kernel
from maxmargin.base.compiled.label_vectors import weight
from maxmargin.problem.planes.compiled.atoms import label_scores, place_of, value_of


@kernel
def factor_of(p, positions):
    """Return the multiple of the costs at position p."""
    return positions.factors[np.uint64(p) & positions.every]


@kernel
def two_scores(u, j, k, w, limits, atoms):
    """Compute the scores of labels j and k of unit u in one sweep over its features."""
    a0, a1, b0, b1 = 0.0, 0.0, 0.0, 0.0
    p, end = atoms.indptr[u], atoms.indptr[u + np.uint64(1)]
    while p + np.uint64(1) < end:
        x, X = value_of(p, atoms), place_of(p, atoms)
        y, Y = value_of(p + np.uint64(1), atoms), place_of(p + np.uint64(1), atoms)
        a0 += x * weight(w, limits, X + j)
        b0 += x * weight(w, limits, X + k)
        a1 += y * weight(w, limits, Y + j)
        b1 += y * weight(w, limits, Y + k)
        p += np.uint64(2)
    if p < end:
        a0 += value_of(p, atoms) * weight(w, limits, place_of(p, atoms) + j)
        b0 += value_of(p, atoms) * weight(w, limits, place_of(p, atoms) + k)
    return a0 + a1, b0 + b1


@kernel
def all_scores(chain, problem, weights, scores):
    """Compute scores[t, k] for all labels at the positions of a sequence, with the costs of the labels."""
    atoms, positions = problem.atoms, problem.positions
    for t in range(chain.length):
        p = chain.begin + t
        label_scores(np.uint64(positions.units[p]), weights.w, weights.limits, atoms, scores[t])
        row, price, factor = scores[t], problem.cost[positions.rows[p]], factor_of(p, positions)
        for k in range(atoms.n_labels):
            row[k] += factor * price[k]


@kernel
def known_scores(chain, now, problem, weights, lattice, seen, scores):
    """Compute scores[t, k] for the labels of the lattice, at positions with several edges.

    seen[t, k] becomes `now` for these labels. Returns the number of products that this took.
    """
    atoms, positions, w, limits = problem.atoms, problem.positions, weights.w, weights.limits
    start, filled, here, indptr = lattice.start, lattice.filled, lattice.here, atoms.indptr
    work = 0
    for t in range(chain.length):
        p = chain.begin + t
        if filled[p] == 1:
            continue
        first, end = start[p], start[p] + filled[p]
        u, price, factor = np.uint64(positions.units[p]), problem.cost[positions.rows[p]], factor_of(p, positions)
        waiting, several = here[first], False
        seen[t, waiting] = now
        scores[t, waiting] = 0.0
        paired = False  # True if the waiting label has its score
        for q in range(first + 1, end):
            k = here[q]
            if seen[t, k] == now:
                continue
            seen[t, k] = now
            several = True
            if paired:
                waiting, paired = k, False
                continue
            a, b = two_scores(u, np.uint64(waiting), np.uint64(k), w, limits, atoms)
            scores[t, waiting], scores[t, k] = a + factor * price[waiting], b + factor * price[k]
            paired = True
            work += 2 * (indptr[u + np.uint64(1)] - indptr[u])
        if several and not paired:
            a, b = two_scores(u, np.uint64(waiting), np.uint64(waiting), w, limits, atoms)
            scores[t, waiting] = a + factor * price[waiting]
            work += 2 * (indptr[u + np.uint64(1)] - indptr[u])
    return work


@kernel
def path_score(length, links, path, scores):
    """Compute the score of a path of labels from the scores of its positions and links."""
    K = scores.shape[1]
    total = links[K * K + path[0]] + links[K * K + K + path[length - 1]] + scores[0, path[0]]
    for t in range(1, length):
        total += links[path[t - 1] * K + path[t]] + scores[t, path[t]]
    return total


@kernel
def know_products(chain, s, problem, grams, features):
    """Compute ⟨x_s, x_t⟩ of position s with all positions t of a sequence, unless they are known.

    features: a scratch vector over all features, which is zero before and after.
    """
    if grams.known[chain.begin + s]:
        return
    atoms = problem.atoms
    units, columns, indptr = problem.positions.units, atoms.columns, atoms.indptr
    u = np.uint64(units[chain.begin + s])
    for p in range(indptr[u], indptr[u + np.uint64(1)]):
        features[columns[p]] = value_of(p, atoms)
    first = grams.first[chain.number] + s * chain.length
    for t in range(chain.length):
        v, total = np.uint64(units[chain.begin + t]), 0.0
        for p in range(indptr[v], indptr[v + np.uint64(1)]):
            total += value_of(p, atoms) * features[columns[p]]
        grams.cells[first + t] = total
    for p in range(indptr[u], indptr[u + np.uint64(1)]):
        features[columns[p]] = 0.0
    grams.known[chain.begin + s] = True


@kernel
def spread(chain, problem, w, change):
    """Add change[t, k] times the features of each position t at label k to w, and set the changes to zero."""
    atoms = problem.atoms
    for t in range(chain.length):
        row, u = change[t], np.uint64(problem.positions.units[chain.begin + t])
        for k in range(atoms.n_labels):
            amount = row[k]
            if amount != 0.0:
                row[k] = 0.0
                label = np.uint64(k)
                for p in range(atoms.indptr[u], atoms.indptr[u + np.uint64(1)]):
                    w[place_of(p, atoms) + label] += amount * value_of(p, atoms)
