"""Labelled units: the best single label, and the features of true labels minus those of found ones."""

from __future__ import annotations

import numpy as np


def best_value(scores, cost, truth, weight):
    """The highest score plus weighted cost of every unit."""
    return [max(scores[j, k] + weight[j] * cost[truth[j], k] for k in range(len(cost))) for j in range(len(scores))]


def features(n_labels, units, labels, linked):
    """Ψ of one labelled sequence whose position t has the features units[t]: transitions, start, end, then features."""
    direct = n_labels * (n_labels + 2) if linked else 0
    psi = np.zeros(direct + units.shape[1] * n_labels)
    for t, k in enumerate(labels):
        for feature in range(units.shape[1]):
            psi[direct + feature * n_labels + k] += units[t, feature]
        if linked and t > 0:
            psi[labels[t - 1] * n_labels + k] += 1
    if linked:
        psi[n_labels**2 + labels[0]] += 1
        psi[n_labels**2 + n_labels + labels[-1]] += 1
    return psi
