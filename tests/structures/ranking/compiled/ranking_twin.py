"""Rankings written out: which pairs are swapped, what a ranking loses, and all rankings of a query."""

from __future__ import annotations

from itertools import combinations
from math import log2


def swapped_pairs(levels, scores, threshold):
    """Pairs (i, j) of a higher and a lower level with s_i - s_j below the threshold, and those that equal it."""
    pairs = [(i, j) for i in range(len(levels)) for j in range(len(levels)) if levels[i] > levels[j]]
    below = [(i, j) for i, j in pairs if scores[i] - scores[j] < threshold]
    ties = [(i, j) for i, j in pairs if scores[i] - scores[j] == threshold]
    return pairs, below, ties


def swapped_by(levels, order):
    """The pairs that a ranking has the wrong way round."""
    place = {row: position for position, row in enumerate(order)}
    pairs = swapped_pairs(levels, [0.0] * len(levels), 0.0)[0]
    return pairs, [(i, j) for i, j in pairs if place[j] < place[i]]


def coefficients(n, swapped, weights):
    """Of every row in Σ (x_i - x_j) over swapped pairs."""
    total = [0.0] * n
    for i, j in swapped:
        total[i] += weights[i] * weights[j]
        total[j] -= weights[i] * weights[j]
    return total


def margin(scores, swapped, weights):
    """Σ (s_i - s_j) over swapped pairs."""
    return sum(weights[i] * weights[j] * (scores[i] - scores[j]) for i, j in swapped)


def weight_of_gains(gains, weights):
    """Σ over pairs of the differences of their gains, each as often as the weights of its rows say."""
    rows = range(len(gains))
    return sum(weights[i] * weights[j] * (gains[i] - gains[j]) for i in rows for j in rows if gains[i] > gains[j])


def swapped_by_gains(gains, scores, weights, lam):
    """Coefficients, loss and margin of the pairs whose scores differ by less than λ times their gains, undivided."""
    total, loss, margin = [0.0] * len(gains), 0.0, 0.0
    for i in range(len(gains)):
        for j in range(len(gains)):
            apart = gains[i] - gains[j]
            if apart > 0 and scores[i] - scores[j] < lam * apart:
                weight = weights[i] * weights[j] * apart
                total[i] += weight
                total[j] -= weight
                loss += weight * apart
                margin += weight * (scores[i] - scores[j])
    return total, loss, margin


def insertion_gain(j, k, relevant, score, n_irrelevant, lam):
    """What moving the j-th irrelevant row from the end to just above the k-th relevant one adds to λΔ + ⟨w, Ψ⟩."""
    R, gain = len(relevant), 0.0
    for i in range(k, R + 1):
        gain += lam / R * (i / (i + j - 1) - i / (i + j))
        gain -= (relevant[i - 1] - score) / (R * n_irrelevant)
    return gain


def average_precision(relevant_in_order):
    """Of a list of true and false."""
    hits, total = 0, 0.0
    for position, relevant in enumerate(relevant_in_order, start=1):
        if relevant:
            hits += 1
            total += hits / position
    return total / hits


def dcg(gains_in_order, k=None):
    """Discounted cumulated gain of the first k rows."""
    return sum(gain / log2(1 + p) for p, gain in enumerate(gains_in_order[:k], start=1))


def interleavings(sizes):
    """All ways to order the rows of several segments that keep each segment's own order, as lists of row numbers."""
    if not sizes:
        yield []
        return
    n, first = sum(sizes), sizes[0]
    for places in combinations(range(n), first):
        for rest in interleavings(sizes[1:]):
            others = (first + row for row in rest)
            own = iter(range(first))
            yield [next(own) if place in places else next(others) for place in range(n)]
