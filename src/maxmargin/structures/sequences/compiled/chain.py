"""Viterbi over first-order chains, for many sequences in one call.

Notation: e[t, k] unit scores, T[j, k] score of label k after j, s and f scores of starting and ending. Best path score
into (t, k):   v[0, k] = s[k] + e[0, k],   v[t, k] = e[t, k] + max_j (v[t-1, j] + T[j, k]).
Only scores are stored on the way forward (in vector registers, many labels a sweep). Labels are recovered backwards,
where one column per position is searched again. -inf in T, s, f forbids a link.
"""

from __future__ import annotations

import numpy as np

from maxmargin.base.compiled.kernel import kernel
from maxmargin.base.compiled.label_vectors import label_maxima


@kernel
def unroll(offsets, ids, bounds, units):
    """Write the units of the sequences `ids` one after another: sequence j gets units[bounds[j] : bounds[j + 1]]."""
    top = 0
    bounds[0] = 0
    for j in range(len(ids)):
        for u in range(offsets[ids[j]], offsets[ids[j] + 1]):
            units[top] = u
            top += 1
        bounds[j + 1] = top


@kernel
def augment(scores, cost, truth, weight):
    """Add the loss to the scores: scores[t, k] += weight[t] · cost[truth[t], k]."""
    for t in range(len(truth)):
        if weight[t] != 0.0:
            row, price = scores[t], cost[truth[t]]
            for k in range(scores.shape[1]):
                row[k] += weight[t] * price[k]


@kernel
def forward(e, T, s, v):
    """Fill v with best path scores."""
    length, n_labels = e.shape
    K = np.uint64(n_labels)
    for k in range(n_labels):
        v[0, k] = s[k] + e[0, k]
    for t in range(1, length):
        now = v[t]
        if n_labels > 1:
            label_maxima(v[t - 1], K, T, K, now)
        else:
            now[0] = v[t - 1, 0] + T[0, 0]
        for k in range(n_labels):
            now[k] += e[t, k]


@kernel
def trace_back(length, T, f, v, labels):
    """Recover the labels of the best path through v, as filled by `forward`, and return its score."""
    n_labels = len(f)
    last, best = 0, -np.inf
    for k in range(n_labels):
        if v[length - 1, k] + f[k] > best:
            last, best = k, v[length - 1, k] + f[k]
    labels[length - 1] = last
    for t in range(length - 2, -1, -1):
        now = labels[t + 1]
        last, high = 0, -np.inf
        for k in range(n_labels):
            if v[t, k] + T[k, now] > high:
                last, high = k, v[t, k] + T[k, now]
        labels[t] = last
    return best


@kernel
def viterbi(scores, T, s, f, bounds, v, labels, best):
    """Find the best labels and their score for every sequence bounds[j]:bounds[j + 1].

    v is scratch space for the longest sequence.
    """
    for j in range(len(bounds) - 1):
        begin, end = bounds[j], bounds[j + 1]
        forward(scores[begin:end], T, s, v)
        best[j] = trace_back(end - begin, T, f, v, labels[begin:end])


@kernel
def n_best(e, T, s, f, n, v, come_label, come_rank, pointer, labels, best):
    """Find the n best label sequences of one sequence, best first; return how many there are.

    v[t, k, r], -inf at first, is the r-th best score of a path into (t, k); every entry remembers the (label, rank)
    that it came from. The r-th best into a cell extends one of the r best into some predecessor, so n per cell are
    enough.
    """
    length, n_labels = e.shape
    for k in range(n_labels):
        v[0, k, 0] = s[k] + e[0, k]
    for t in range(1, length):
        for k in range(n_labels):
            for j in range(n_labels):
                pointer[j] = 0  # the predecessors' lists are sorted: merge their heads
            for r in range(n):
                from_label, high = -1, -np.inf
                for j in range(n_labels):
                    if pointer[j] < n and v[t - 1, j, pointer[j]] + T[j, k] > high:
                        from_label, high = j, v[t - 1, j, pointer[j]] + T[j, k]
                if from_label < 0:
                    break
                v[t, k, r] = high + e[t, k]
                come_label[t, k, r], come_rank[t, k, r] = from_label, pointer[from_label]
                pointer[from_label] += 1
    for j in range(n_labels):
        pointer[j] = 0
    for r in range(n):
        label, high = -1, -np.inf
        for j in range(n_labels):
            if pointer[j] < n and v[length - 1, j, pointer[j]] + f[j] > high:
                label, high = j, v[length - 1, j, pointer[j]] + f[j]
        if label < 0:
            return r
        best[r] = high
        rank = pointer[label]
        pointer[label] += 1
        for t in range(length - 1, -1, -1):
            labels[r, t] = label
            label, rank = come_label[t, label, rank], come_rank[t, label, rank]
    return n


@kernel
def best_per_loss(e, T, s, f, price, v, best):
    """Set best[c] to the highest score of a label sequence with loss c, for costs that are whole numbers.

    v[t, k, c] is the best score into (t, k) with loss c so far; trace_loss reads it. This gives the exact most violated
    output for every violation that depends on the output only through its loss and its score.
    """
    length, K = e.shape
    top = 0  # the highest loss possible so far
    for t in range(length):
        now = v[t]
        most = 0
        for k in range(K):
            most = max(most, price[t, k])
        for k in range(K):
            row = now[k]
            for c in range(top + most + 1):
                row[c] = -np.inf
            paid = price[t, k]
            if t == 0:
                row[paid] = s[k] + e[0, k]
            else:
                for j in range(K):
                    before, link = v[t - 1, j], T[j, k]
                    for c in range(top + 1):
                        row[c + paid] = max(row[c + paid], before[c] + link)
                for c in range(top + 1):
                    row[c + paid] += e[t, k]
        top += most
    for c in range(top + 1):
        best[c] = -np.inf
        for k in range(K):
            best[c] = max(best[c], v[length - 1, k, c] + f[k])


@kernel
def trace_loss(T, f, price, v, loss, labels):
    """Recover the labels of best[loss] of best_per_loss."""
    length, K = price.shape
    last, high = 0, -np.inf
    for k in range(K):
        if v[length - 1, k, loss] + f[k] > high:
            last, high = k, v[length - 1, k, loss] + f[k]
    labels[length - 1] = last
    for t in range(length - 2, -1, -1):
        now = labels[t + 1]
        loss -= price[t + 1, now]
        last, high = 0, -np.inf
        for k in range(K):
            if v[t, k, loss] + T[k, now] > high:
                last, high = k, v[t, k, loss] + T[k, now]
        labels[t] = last
