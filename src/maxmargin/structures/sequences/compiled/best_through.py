"""The highest score of a label sequence that has a given label at a given position, for all labels and positions.

With the notation of chain.py, v[t, k] is the best score of a path into (t, k), and u[t, k] that of a path out of it:

    u[-1, k] = f[k],    u[t, j] = max_k (T[j, k] + e[t+1, k] + u[t+1, k]),    through[t, k] = v[t, k] + u[t, k]      (1)

Label histories (histories.py) have the same equations, and a label the maximum over all histories that end with it.
"""

from __future__ import annotations

import numpy as np

from maxmargin.base.compiled.kernel import kernel
from maxmargin.base.compiled.label_vectors import label_maxima
from maxmargin.structures.sequences.compiled.chain import forward as chain_forward
from maxmargin.structures.sequences.compiled.histories import fill_table, pair_scores
from maxmargin.structures.sequences.compiled.histories import forward as history_forward


@kernel
def chain_best_through(scores, T, turned, s, f, bounds, v, u, row, through):
    """Compute (1) for every sequence bounds[j] : bounds[j + 1].

    turned is T with rows and columns exchanged; v and u are scratch space for the longest sequence, row for the labels.
    """
    n_labels = scores.shape[1]
    K = np.uint64(n_labels)
    for j in range(len(bounds) - 1):
        begin, end = bounds[j], bounds[j + 1]
        length = end - begin
        if length == 0:
            continue
        e = scores[begin:end]
        chain_forward(e, T, s, v)
        for k in range(n_labels):
            u[length - 1, k] = f[k]
        for t in range(length - 2, -1, -1):
            for k in range(n_labels):
                row[k] = e[t + 1, k] + u[t + 1, k]
            if n_labels > 1:
                label_maxima(row, K, turned, K, u[t])
            else:
                u[t, 0] = row[0] + turned[0, 0]
        for t in range(length):
            for k in range(n_labels):
                through[begin + t, k] = v[t, k] + u[t, k]


@kernel
def histories_best_through(scores, units, scored, blocks, bounds, scratch, v, u, through):
    """Compute (1) for every sequence bounds[j] : bounds[j + 1].

    scratch is as in histories.viterbi; v and u have one row more than the longest sequence has positions.
    """
    steps, g, f, pairs = scored.steps, scored.each, scored.ends, scored.pairs
    k, x = len(steps.rows) - 1, scratch[0]
    fill_table(blocks, g, scratch[4])
    through[:] = -np.inf
    for j in range(len(bounds) - 1):
        begin, end = bounds[j], bounds[j + 1]
        length = end - begin
        if length == 0:
            continue
        e, at = scores[begin:end], units[begin:end]
        history_forward(e, at, scored, blocks, scratch, v)
        level = min(length, k)
        for h in range(steps.levels[level], steps.levels[level + 1]):
            u[length, h] = f[h]
        for t in range(length - 1, -1, -1):
            level, depth = min(t + 1, k), min(t, k)
            featured = t > 0 and pairs.n_pairs > 0
            if featured:
                pair_scores(at[t], pairs, scored.weights, x)
            for h in range(steps.levels[level], steps.levels[level + 1]):
                label = steps.label[h]
                through[begin + t, label] = max(through[begin + t, label], v[t + 1, h] + u[t + 1, h])
            for h in range(steps.levels[depth], steps.levels[depth + 1]):
                high = -np.inf
                for i in range(steps.outs[h], steps.outs[h + 1]):
                    p = steps.out[i]
                    to = steps.target[p]
                    value = e[t, steps.label[to]] + u[t + 1, to] + g[p]
                    if featured:
                        value += x[steps.pair[p]]
                    high = max(high, value)
                u[t, h] = high
