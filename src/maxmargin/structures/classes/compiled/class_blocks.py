"""Kernels of the dual of classes: a block is solved at once, by projection; see class_blocks.py.

alpha[i, k] >= 0 is the weight of wrong label k of example i, alpha[i, truth] is 0 and stands for what is left of the
cap; w = Σ alpha[i, k] x_i ⊗ (e_truth - e_k). Example i has the features of unit units[i].
"""

from __future__ import annotations

import numpy as np

from maxmargin.compiled.atoms import label_scores
from maxmargin.compiled.kernel import kernel

PENALTY, GAIN, MOVED = range(3)  # places in a report
SMALL = 1e-17  # below this share a quadratic term is lost beside the linear one


@kernel
def best_block(truth, square, cap, alpha, heights, new):
    """new = argmax over {new >= 0, Σ new <= cap} of ⟨new - alpha, heights⟩ - ½ square · ‖new - alpha‖²_G, G = I + 11'.

    With the truth's share of the cap as one more weight that is a projection onto a simplex, of u = alpha + heights /
    square. It is found by its threshold: while the truth keeps some weight, what the others have more is what the truth
    has less, which gives the threshold without the cap, and so without losing what is small beside it.
    """
    K = len(alpha)
    used, total, count = 0.0, 0.0, K - 1
    for k in range(K):
        if k != truth:
            used += alpha[k]
            new[k] = alpha[k] + heights[k] / square
            total += new[k]
    threshold = (total - used) / K
    while count > 0:
        total, left = 0.0, 0
        for k in range(K):
            if k != truth and new[k] > threshold:
                total += new[k]
                left += 1
        threshold = (total - used) / (left + 1)
        if left >= count:  # more than before only by rounding
            break
        count = left
    if total - count * threshold > cap:  # the truth keeps nothing
        top = -np.inf
        for k in range(K):
            if k != truth:
                top = max(top, new[k])
        threshold -= top
        count = K
        while True:
            total, left = 0.0, 0
            for k in range(K):  # differences to the largest are exact where they matter
                if k != truth and new[k] - top > threshold:
                    total += new[k] - top
                    left += 1
            if left >= count:
                break
            threshold, count = (total - cap) / left, left
        for k in range(K):
            new[k] = max(new[k] - top - threshold, 0.0)
    else:
        for k in range(K):
            new[k] = max(new[k] - threshold, 0.0)
    new[truth] = 0.0


@kernel
def all_on_the_best(truth, cap, heights, new):
    """The same where the quadratic term counts for nothing: of x = 0, for example."""
    best = truth
    for k in range(len(new)):
        new[k] = 0.0
        if heights[k] > heights[best]:
            best = k
    if best != truth:
        new[best] = cap


@kernel
def block_step(truth, square, limit, price, own, heights, new):
    """The best weights `new` of an example with the weights `own`, from the scores of its labels in `heights`.

    Returns what the dual gains by them and the example's slack. If that is more than 0, `heights` are the factors of
    the example's features by which w changes, one for every label.
    """
    K = len(heights)
    right = heights[truth]
    high, low, used = 0.0, np.inf, 0.0
    for k in range(K):
        heights[k] += price[k] - right
        if own[k] > 0.0:
            low = min(low, heights[k])
            used += own[k]
    heights[truth] = 0.0
    for k in range(K):
        high = max(high, heights[k])
    if used < limit * (1.0 - 1e-12):  # the truth has weight, beyond rounding
        low = min(low, 0.0)
    if limit == 0.0 or not high - low > 1e-10 * high:
        return 0.0, high
    if square * limit <= SMALL * (high - low):
        all_on_the_best(truth, limit, heights, new)
    else:
        best_block(truth, square, limit, own, heights, new)
    gain, moved, total = 0.0, 0.0, 0.0
    for k in range(K):
        change = new[k] - own[k]
        gain += change * heights[k]
        moved += change * change
        total += change
    gain -= 0.5 * square * (moved + total * total)
    if gain > 0.0:
        for k in range(K):
            heights[k] = own[k] - new[k]
        heights[truth] = total
    return gain, high


@kernel
def visit_classes(
    order, units, truths, cost, squares, cap, K, indptr, places, values, alpha, w, scratch, least, report
):
    """Solve the blocks of these examples in turn; those that gained more than `least` move to the front of `order`.

    report: Σ cap · slack as it was seen, what the dual gained, and how many moved.
    """
    heights, new = scratch[0], scratch[1]
    for j in range(len(order)):
        i = order[j]
        u, truth, own = np.uint64(units[i]), truths[i], alpha[i]
        label_scores(u, w, K, indptr, places, values, heights)
        gain, slack = block_step(truth, squares[u], cap[i], cost[truth], own, heights, new)
        report[PENALTY] += cap[i] * slack
        if not gain > 0.0:
            continue
        for k in range(K):
            own[k] = new[k]
        for p in range(indptr[u], indptr[u + np.uint64(1)]):
            value, row = values[p], w[places[p] : places[p] + K]
            for k in range(K):
                row[k] += value * heights[k]
        report[GAIN] += gain
        if gain > least:
            front = int(report[MOVED])
            order[j], order[front] = order[front], i
            report[MOVED] += 1.0


@kernel
def class_totals(units, truths, cost, lengths, cap, K, indptr, places, values, alpha, w, row):
    """Add w = Σ α a to `w` and return the linear part of the dual.

    Then what rounding needs to know: Σ α|b|; Σ α‖a‖, or more; how many numbers were added up; the share by which
    Σ α of an example exceeds its cap.
    """
    linear, losses, mass, entries, excess = 0.0, 0.0, 0.0, K, 0.0
    for i in range(len(units)):
        u, truth = np.uint64(units[i]), truths[i]
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
            mass += 1.5 * weight * lengths[u]  # ‖a‖ is √2 ‖x‖
            for p in range(indptr[u], indptr[u + np.uint64(1)]):
                value, at = values[p], w[places[p] : places[p] + K]
                for k in range(K):
                    at[k] += value * row[k]
            if weight > cap[i]:
                excess = max(excess, (weight - cap[i]) / cap[i])
    return linear, losses, mass, entries, excess
