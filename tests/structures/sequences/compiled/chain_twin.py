"""Label sequences: scores, the best one, the n best, the best of every loss."""

from __future__ import annotations

from itertools import product

import numpy as np


def augment(e, cost, truth, weight):
    """The unit scores with the loss added."""
    augmented = np.array(e, dtype=float)
    for t in range(len(truth)):
        for k in range(len(cost)):
            augmented[t, k] += weight[t] * cost[truth[t], k]
    return augmented


def score(e, T, s, f, labels):
    """What a label sequence scores; -inf if it takes a forbidden step."""
    total = s[labels[0]] + f[labels[-1]]
    for t, k in enumerate(labels):
        total += e[t, k]
        if t > 0:
            total += T[labels[t - 1], k]
    return total


def loss(cost, truth, weight, labels):
    return sum(weight[t] * cost[truth[t], labels[t]] for t in range(len(labels)))


def sequences(e, T, s, f):
    """Every allowed label sequence with its score."""
    for labels in product(range(e.shape[1]), repeat=len(e)):
        value = score(e, T, s, f, labels)
        if value > -np.inf:
            yield labels, value


def viterbi(e, T, s, f):
    """The highest score of a label sequence, by dynamic programming with plain loops; -inf if none is allowed."""
    best = [s[k] + e[0, k] for k in range(e.shape[1])]
    for t in range(1, len(e)):
        best = [e[t, k] + max(best[j] + T[j, k] for j in range(len(best))) for k in range(len(best))]
    return max(best[k] + f[k] for k in range(len(best)))


def n_best(e, T, s, f, n):
    """The n highest scores, highest first."""
    return sorted((value for _, value in sequences(e, T, s, f)), reverse=True)[:n]


def best_per_loss(e, T, s, f, cost, truth, weight):
    """{loss: the highest score of a sequence with that loss}."""
    best = {}
    for labels, value in sequences(e, T, s, f):
        paid = loss(cost, truth, weight, labels)
        best[paid] = max(value, best.get(paid, -np.inf))
    return best
