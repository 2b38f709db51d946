"""The dual of classes in plain numbers, without rounding: blocks are solved by trying all supports."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, combinations

import numpy as np


def rational(array):
    return [Fraction(float(value)) for value in np.ravel(array)]


def gain(square, heights, changes):
    """What the dual gains by these changes of the wrong labels' weights: planes have products x² (I + 11')."""
    total = sum(changes)
    products = sum(change * change for change in changes) + total * total
    return sum(c * h for c, h in zip(changes, heights, strict=True)) - square * products / 2


def best_block(square, cap, alpha, heights):
    """The best weights of the wrong labels, by trying all sets of those that are not 0, and Σ = cap or not."""
    square, cap, alpha, heights = Fraction(square), Fraction(cap), rational(alpha), rational(heights)
    labels = range(len(alpha))
    best, most = [Fraction(0)] * len(alpha), None
    for support in chain.from_iterable(combinations(labels, size) for size in range(len(alpha) + 1)):
        for full in (False, True):
            new = _stationary(support, full, square, cap, alpha, heights)
            if new is not None and min(new) >= 0 and sum(new) <= cap:
                gained = gain(square, heights, [a - b for a, b in zip(new, alpha, strict=True)])
                if most is None or gained > most:
                    best, most = new, gained
    return best, most


def _stationary(support, full, square, cap, alpha, heights):
    """The point without slope on this support, either with Σ new = cap, or wherever it is."""
    kept = sum(heights[k] / square for k in support) - sum(alpha[k] for k in range(len(alpha)) if k not in support)
    if full:
        if not support:
            return None
        total = cap - sum(alpha)
        level = (kept - total) / len(support)
    else:
        level = kept / (len(support) + 1)
    return [alpha[k] + heights[k] / square - level if k in support else Fraction(0) for k in range(len(alpha))]


def visit(order, X, truths, cost, cap, alpha):
    """α after the blocks of these examples were solved in turn, Σ cap · slack as it was seen, and the gain."""
    alpha, K = [rational(row) for row in alpha], len(cost)
    rows, cost = [rational(x) for x in X], [rational(row) for row in cost]
    penalty = gained = Fraction(0)
    for i in order:
        w = weights(rows, truths, alpha, K)
        scores = [sum(x * v for x, v in zip(rows[i], w[k], strict=True)) for k in range(K)]
        y = truths[i]
        wrong = [k for k in range(K) if k != y]
        heights = [scores[k] - scores[y] + cost[y][k] for k in wrong]
        penalty += Fraction(float(cap[i])) * max(0, *heights)
        square = sum(x * x for x in rows[i])
        if square and cap[i]:
            new, more = best_block(square, float(cap[i]), [alpha[i][k] for k in wrong], heights)
            gained += more
            for k, value in zip(wrong, new, strict=True):
                alpha[i][k] = value
    return alpha, penalty, gained


def weights(rows, truths, alpha, K):
    """w = Σ α x ⊗ (e_truth - e_k), one list per label."""
    w = [[Fraction(0)] * len(rows[0]) for _ in range(K)]
    for row, y, own in zip(rows, truths, alpha, strict=True):
        for k, value in enumerate(own):
            for f, x in enumerate(row):
                w[y][f] += value * x
                w[k][f] -= value * x
    return w
