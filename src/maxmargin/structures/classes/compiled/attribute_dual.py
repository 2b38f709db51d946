"""Kernels of the dual of classes that share attributes, with blocks improved by pairwise steps; see attribute_dual.py.

The arrays are as in compiled/class_dual.py, and the table is as in compiled/attributes.py. alone[k, l] is the inner
product of the attributes of classes k and l that have no features, and shared[k, l] of those that have features, so
that Ψ(x, k) and Ψ(x, l) have the inner product alone[k, l] + ‖x‖² shared[k, l].
"""

from __future__ import annotations

import numpy as np

from maxmargin.base.compiled.kernel import kernel
from maxmargin.problem.planes.compiled.atoms import label_scores
from maxmargin.structures.classes.compiled.class_dual import GAIN, MOVED, PENALTY, add_at_labels

STEPS = 5  # the most steps of a visit
ENOUGH = 0.1  # share of the first slope at which a visit ends


@kernel
def scores_of_classes(w, direct, attributes, table, scores):
    """Compute scores[k] = Σ_c L[k, c] · score of attribute c, which is w[c], or attributes[c - direct]."""
    indptr, indices, values = table
    for k in range(len(scores)):
        total = 0.0
        for p in range(indptr[k], indptr[k + 1]):
            c = indices[p]
            total += values[p] * (w[c] if c < direct else attributes[c - direct])
        scores[k] = total


@kernel
def improve_block(truth, square, cap, alone, shared, alpha, heights):
    """Move weight from the lowest label that has some to the highest one by exact steps, and return the dual's gain.

    heights are updated; they include the height of the truth, initially 0, whose weight is the rest of the cap.
    """
    K, gained, enough, used = len(alpha), 0.0, 0.0, 0.0
    for k in range(K):
        used += alpha[k]
    for step in range(STEPS):
        best, worst = truth, -1
        if used < cap * (1.0 - 1e-12):  # the truth has weight, beyond rounding
            worst = truth
        for k in range(K):
            if heights[k] > heights[best]:
                best = k
            if alpha[k] > 0.0 and (worst < 0 or heights[k] < heights[worst]):
                worst = k
        slope = heights[best] - heights[worst]
        if step == 0:
            enough = ENOUGH * slope
            if not slope > 1e-10 * (heights[best] - heights[truth]):
                break
        if not slope > enough or best == worst:
            break
        curvature = alone[best, best] + alone[worst, worst] - 2.0 * alone[best, worst]
        curvature += square * (shared[best, best] + shared[worst, worst] - 2.0 * shared[best, worst])
        most = cap - used if worst == truth else alpha[worst]
        change = most
        if curvature * most > slope:
            change = slope / curvature
        if best != truth:
            alpha[best] += change
            used += change
        if worst != truth:
            alpha[worst] = alpha[worst] - change if change < most else 0.0
            used -= change
        gained += change * (slope - 0.5 * change * curvature)
        for k in range(K):
            product = alone[best, k] - alone[worst, k] + square * (shared[best, k] - shared[worst, k])
            heights[k] -= change * product
    return gained


@kernel
def add_class(k, change, direct, table, changes, w):
    """Add change · Λ(k): attributes without features to w, those with features to `changes`."""
    indptr, indices, values = table
    for p in range(indptr[k], indptr[k + 1]):
        c = indices[p]
        if c < direct:
            w[c] += change * values[p]
        else:
            changes[c - direct] += change * values[p]


@kernel
def nonzero(V, changes, labels):
    """Move the nonzero changes to the front and their indices to `labels`, and return their number."""
    m = 0
    for v in range(V):
        if changes[v] != 0.0:
            labels[m], changes[m] = v, changes[v]
            m += 1
    return m


@kernel
def visit_attributes(order, problem, atoms, table, alone, shared, alpha, w, scratch, labels, least, report):
    """Visit examples as visit_classes does; scratch and labels have a row per class, or attribute with features."""
    K, V, direct, cost = len(problem.cost), atoms.n_labels, atoms.direct, problem.cost
    scores, heights, before, changes = scratch[0, :V], scratch[1, :K], scratch[2, :K], scratch[3]
    for j in range(len(order)):
        i = order[j]
        u, truth, limit, own = np.uint64(problem.units[i]), problem.truths[i], problem.cap[i], alpha[i]
        label_scores(u, w, None, atoms, scores)
        scores_of_classes(w, direct, scores, table, heights)
        right, high, used = heights[truth], 0.0, 0.0
        for k in range(K):
            heights[k] += cost[truth, k] - right
            if heights[k] > high:
                high = heights[k]
            used += own[k]
            before[k] = own[k]
        report[PENALTY] += limit * high
        if limit == 0.0 or (high == 0.0 and used == 0.0):
            continue
        gain = improve_block(truth, problem.squares[u], limit, alone, shared, own, heights)
        if not gain > 0.0:
            continue
        for v in range(V):
            changes[v] = 0.0
        total = 0.0
        for k in range(K):
            change = own[k] - before[k]
            if change != 0.0:
                total += change
                add_class(k, -change, direct, table, changes, w)
        add_class(truth, total, direct, table, changes, w)
        m = nonzero(V, changes, labels)
        add_at_labels(u, m, labels, changes, atoms, w)
        report[GAIN] += gain
        if gain > least:
            front = int(report[MOVED])
            order[j], order[front] = order[front], i
            report[MOVED] += 1.0


@kernel
def attribute_totals(problem, atoms, table, alone, shared, alpha, w, scratch, labels):
    """Compute totals as class_totals does; alone and shared are norms of attributes without and with features."""
    cost, lengths, cap = problem.cost, problem.lengths, problem.cap
    K, V, direct, changes = len(cost), atoms.n_labels, atoms.direct, scratch[3]
    linear, losses, mass, entries, excess = 0.0, 0.0, 0.0, K, 0.0
    for i in range(len(problem.units)):
        u, truth = np.uint64(problem.units[i]), problem.truths[i]
        weight = 0.0
        for v in range(V):
            changes[v] = 0.0
        for k in range(K):
            own = alpha[i, k]
            if own > 0.0:
                weight += own
                linear += own * cost[truth, k]
                losses += own * abs(cost[truth, k])
                mass += own * (alone[k] + lengths[u] * shared[k])
                entries += 2  # an entry of w is a sum of sums
                add_class(k, -own, direct, table, changes, w)
        if weight > 0.0:
            mass += weight * (alone[truth] + lengths[u] * shared[truth])
            entries += 2
            add_class(truth, weight, direct, table, changes, w)
            m = nonzero(V, changes, labels)
            add_at_labels(u, m, labels, changes, atoms, w)
            if weight > cap[i]:
                excess = max(excess, (weight - cap[i]) / cap[i])
    return linear, losses, 1.01 * mass, entries, excess  # the factor covers the rounding of mass itself
