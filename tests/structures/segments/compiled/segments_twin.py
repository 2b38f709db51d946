"""Plain forms of the searches and sums over segmentations, by listing all of them."""

from functools import cache
from itertools import pairwise

import numpy as np


@cache
def segmentations(T, L, m):
    """All ways to cut T tokens: lists of pieces (begin, end, label), label 0 for a token outside."""
    if T == 0:
        return [[]]
    found = [[*rest, (T - 1, T, 0)] for rest in segmentations(T - 1, L, m)]
    for length in range(1, min(L, T) + 1):
        found += [[*rest, (T - length, T, k + 1)] for rest in segmentations(T - length, L, m) for k in range(m)]
    return found


def score(o, S, A, s, f, pieces):
    total = s[pieces[0][2]] + f[pieces[-1][2]]
    for begin, end, label in pieces:
        total += S[end - 1, end - begin - 1, label - 1] if label else o[begin]
    return total + sum(A[a[2], b[2]] for a, b in pairwise(pieces))


def codes(pieces):
    found = []
    for begin, end, label in pieces:
        found += [2 * label - 1, *[2 * label] * (end - begin - 1)] if label else [0]
    return found


def pieces_of(codes):
    found = []
    for t, code in enumerate(codes):
        if code == 0 or code % 2:
            found.append((t, t + 1, (code + 1) // 2))
        else:
            found[-1] = (found[-1][0], t + 1, found[-1][2])
    return found


def segments(pieces):
    return {piece for piece in pieces if piece[2]}


def distribution(values):
    high = max(values)
    masses = np.exp(np.array(values) - high)
    return masses / masses.sum(), high + np.log(masses.sum())
