"""Labelled units: the best single label, and the planes of wrong labels as sparse rows over atoms."""

from __future__ import annotations

import numpy as np

from maxmargin.base.compiled.kernel import kernel


@kernel
def best_labels(scores, cost, truth, weight, found):
    """Set found[j] = argmax_k scores[j, k] + weight[j] · cost[truth[j], k].

    Of tied labels the truth is preferred, then the lowest number.
    """
    for j in range(len(found)):
        best = truth[j]
        high = scores[j, best] + weight[j] * cost[truth[j], best]
        for k in range(scores.shape[1]):
            value = scores[j, k] + weight[j] * cost[truth[j], k]
            if value > high:
                best, high = k, value
        found[j] = best


@kernel
def link_differences(K, begin, end, truth, found, indices, values, top):
    """Append the transition, start and end features of the true labels minus those of the found ones."""
    start, stop = K * K, K * K + K
    if truth[begin] != found[begin]:
        indices[top], values[top] = start + truth[begin], 1.0
        indices[top + 1], values[top + 1] = start + found[begin], -1.0
        top += 2
    if truth[end - 1] != found[end - 1]:
        indices[top], values[top] = stop + truth[end - 1], 1.0
        indices[top + 1], values[top + 1] = stop + found[end - 1], -1.0
        top += 2
    for t in range(begin + 1, end):
        if truth[t] != found[t] or truth[t - 1] != found[t - 1]:
            indices[top], values[top] = truth[t - 1] * K + truth[t], 1.0
            indices[top + 1], values[top + 1] = found[t - 1] * K + found[t], -1.0
            top += 2
    return top


@kernel
def unit_differences(given, begin, end, found, rows, top):
    """Append the features of wrongly labelled units at their true labels minus those at the found ones.

    A wrong label of unit t costs weight[t] · cost[priced[t], label]. Return the new end of the entries, and the loss.
    """
    total, truth, indices, values = 0.0, given.truth, rows.indices, rows.values
    for t in range(begin, end):
        if truth[t] != found[t]:
            total += given.weight[t] * given.cost[given.priced[t], found[t]]
            atom = given.direct + given.units[t] * given.n_labels
            indices[top], values[top] = atom + truth[t], 1.0
            indices[top + 1], values[top + 1] = atom + found[t], -1.0
            top += 2
    return top, total


@kernel
def differences(linked, given, found, rows):
    """Write Ψ(x, truth) - Ψ(x, found) of every example as rows over atoms, with its loss.

    `given` is LabelledUnits, and `rows` PlaneRows. With `linked`, neighbouring units have transition features.
    """
    top = np.int64(0)  # typed, so that `link_differences` is compiled only once
    for j in range(len(given.bounds) - 1):
        begin, end = given.bounds[j], given.bounds[j + 1]
        if linked:
            top = link_differences(given.n_labels, begin, end, given.truth, found, rows.indices, rows.values, top)
        top, rows.offset[j] = unit_differences(given, begin, end, found, rows, top)
        rows.indptr[j + 1] = top
