"""Kernels of the dual of classes, in which a block is solved exactly by projection; see class_dual.py.

alpha[i, k] >= 0 is the weight of wrong label k of example i; alpha[i, truth] is 0, and the truth implicitly has the
rest of the cap. w = Σ alpha[i, k] x_i ⊗ (e_truth - e_k). Example i has the features of unit units[i].
"""

from __future__ import annotations

import numpy as np

from maxmargin.base.compiled.kernel import kernel
from maxmargin.problem.planes.compiled.atoms import label_scores, place_of, value_of

PENALTY, GAIN, MOVED = range(3)  # entries of a report
SMALL = 1e-17  # quadratic terms below this share of the linear one are lost to rounding


@kernel
def best_block(m, square, cap, used, alpha, heights, new):
    """Maximise ⟨new - alpha, heights⟩ - ½ square · ‖new - alpha‖²_G over new >= 0, Σ new <= cap, with G = I + 11'.

    The first m entries of alpha, heights and new are wrong labels, used = Σ alpha. With the truth's share of the cap as
    one more weight this is the projection of u = alpha + heights / square onto a simplex, found by its threshold. While
    the truth keeps some weight, the gain of the others is the loss of the truth, which gives the threshold without the
    cap, and so without cancellation.
    """
    total, count = 0.0, m
    for j in range(m):
        new[j] = alpha[j] + heights[j] / square
        total += new[j]
    threshold = (total - used) / (m + 1)
    while count > 0:
        total, left = 0.0, 0
        for j in range(m):
            if new[j] > threshold:
                total += new[j]
                left += 1
        threshold = (total - used) / (left + 1)
        if left >= count:  # an increase is possible only by rounding
            break
        count = left
    if total - count * threshold > cap:  # the truth keeps nothing
        top = -np.inf
        for j in range(m):
            top = max(top, new[j])
        threshold -= top
        count = m + 1
        while True:
            total, left = 0.0, 0
            for j in range(m):  # differences to the largest are exact if they are small
                if new[j] - top > threshold:
                    total += new[j] - top
                    left += 1
            if left >= count:
                break
            threshold, count = (total - cap) / left, left
        for j in range(m):
            new[j] = max(new[j] - top - threshold, 0.0)
    else:
        for j in range(m):
            new[j] = max(new[j] - threshold, 0.0)


@kernel
def all_on_the_best(m, cap, heights, new):
    """Do the same if the quadratic term is negligible, for example if x = 0."""
    best, high = -1, 0.0
    for j in range(m):
        new[j] = 0.0
        if heights[j] > high:
            best, high = j, heights[j]
    if best >= 0:
        new[best] = cap


@kernel
def add_at_labels(u, m, labels, changes, atoms, w):
    """Add change · value to w[feature, label], for m labels and all features of unit u, two labels per sweep."""
    begin, end = atoms.indptr[u], atoms.indptr[u + np.uint64(1)]
    for j in range(0, m - 1, 2):
        a, b, more, other = labels[j], labels[j + 1], changes[j], changes[j + 1]
        for p in range(begin, end):
            place, value = place_of(p, atoms), value_of(p, atoms)
            w[place + a] += value * more
            w[place + b] += value * other
    if m % 2:
        a, more = labels[m - 1], changes[m - 1]
        for p in range(begin, end):
            w[place_of(p, atoms) + a] += value_of(p, atoms) * more


@kernel
def block_step(truth, square, limit, price, weights, heights, own, own_heights, new, labels):
    """Compute the best weights of an example from its current weights and the scores of its labels in `heights`.

    Returns the gain of the dual, the example's slack, the number m of labels whose weights may change, and the total
    change of the weights of wrong labels. The first m entries of `labels`, `own` and `new` are these labels with their
    old and new weights; alpha and w are not changed yet.
    """
    K, right, used, high, low, mean, count = len(heights), heights[truth], 0.0, 0.0, np.inf, 0.0, 0
    for k in range(K):
        heights[k] += price[k] - right
    heights[truth] = -np.inf  # the truth has no plane
    for k in range(K):
        if heights[k] > high:
            high = heights[k]
        if weights[k] > 0.0:
            used += weights[k]
            mean += heights[k]
            low = min(low, heights[k])
            count += 1
    if limit == 0.0 or (high == 0.0 and count == 0):
        return 0.0, high, 0, 0.0
    if used < limit:  # the truth has weight, of height 0
        count += 1
        if used < limit * (1.0 - 1e-12):  # beyond rounding
            low = min(low, 0.0)
    if not high - low > 1e-10 * high:
        return 0.0, high, 0, 0.0
    # the threshold of the projection is at least the mean height of all labels of positive weight, over the square
    mean /= count
    m = 0
    for k in range(K):
        if heights[k] >= mean or weights[k] > 0.0:
            labels[m], own[m], own_heights[m] = k, weights[k], heights[k]
            m += 1
    if square * limit <= SMALL * (high - low):
        all_on_the_best(m, limit, own_heights, new)
    else:
        best_block(m, square, limit, used, own, own_heights, new)
    gain, moved, total = 0.0, 0.0, 0.0
    for c in range(m):
        change = new[c] - own[c]
        gain += change * own_heights[c]
        moved += change * change
        total += change
    gain -= 0.5 * square * (moved + total * total)
    return gain, high, m, total


@kernel
def take_step(truth, m, total, weights, own, new, labels):
    """Store the new weights that `block_step` computed, and return the number of labels at which w changes.

    The first entries of `labels` and `new` are these labels and the factors of the example's features there.
    """
    changed = 0
    for c in range(m):
        if new[c] != own[c]:
            weights[labels[c]] = new[c]
            labels[changed], new[changed] = labels[c], own[c] - new[c]
            changed += 1
    labels[changed], new[changed] = truth, total
    return changed + 1


@kernel
def visit_classes(order, problem, atoms, alpha, w, limits, scratch, labels, least, report):
    """Solve the blocks of these examples in turn; those that gained more than `least` move to the front of `order`.

    limits: bounds of weights, applied when they are read (compiled/label_vectors.py); updates of w are not clipped.
    report: Σ cap · slack before each step, the gain of the dual, and the number of examples moved to the front.
    scratch, labels: 4 and one row of length K.
    """
    heights, own, own_heights, new = scratch[0], scratch[1], scratch[2], scratch[3]
    for j in range(len(order)):
        i = order[j]
        u, truth, limit = np.uint64(problem.units[i]), problem.truths[i], problem.cap[i]
        label_scores(u, w, limits, atoms, heights)
        gain, slack, m, total = block_step(
            truth, problem.squares[u], limit, problem.cost[truth], alpha[i], heights, own, own_heights, new, labels
        )
        report[PENALTY] += limit * slack
        if not gain > 0.0:
            continue
        changed = take_step(truth, m, total, alpha[i], own, new, labels)
        add_at_labels(u, changed, labels, new, atoms, w)
        report[GAIN] += gain
        if gain > least:
            front = int(report[MOVED])
            order[j], order[front] = order[front], i
            report[MOVED] += 1.0


@kernel
def class_totals(problem, atoms, alpha, w, row):
    """Add w = Σ α a to `w` and return the linear part of the dual.

    Further results are for bounds on rounding errors: Σ α|b|; an upper bound on Σ α‖a‖; the number of terms; and the
    largest relative excess of an example's Σ α over its cap.
    """
    K, cost, cap = atoms.n_labels, problem.cost, problem.cap
    linear, losses, mass, entries, excess = 0.0, 0.0, 0.0, K, 0.0
    for i in range(len(problem.units)):
        u, truth = np.uint64(problem.units[i]), problem.truths[i]
        weight = 0.0
        for k in range(K):
            row[k] = -alpha[i, k]
            if alpha[i, k] > 0.0:
                weight += alpha[i, k]
                linear += alpha[i, k] * cost[truth, k]
                losses += alpha[i, k] * abs(cost[truth, k])
                entries += 1
        if weight > 0.0:
            row[truth] = weight
            mass += 1.5 * weight * problem.lengths[u]  # ‖a‖ is √2 ‖x‖
            for p in range(atoms.indptr[u], atoms.indptr[u + np.uint64(1)]):
                value, place = value_of(p, atoms), place_of(p, atoms)
                at = w[place : place + np.uint64(K)]
                for k in range(K):
                    at[k] += value * row[k]
            if weight > cap[i]:
                excess = max(excess, (weight - cap[i]) / cap[i])
    return linear, losses, mass, entries, excess
