"""Alignments with affine gaps that depend on the position: scores, the best, the best per number of right pairs.

Tables of gap scores have the rows OPEN, EXTEND, AT_OPEN, AT_EXTEND as in the compiled module, but no sums.
"""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np


def alignments(n, m):
    """Every alignment of n and m residues, as a list of pairs."""
    for k in range(min(n, m) + 1):
        for rows in combinations(range(n), k):
            for columns in combinations(range(m), k):
                yield list(zip(rows, columns, strict=True))


def gap(skipped, residues, other, place):
    """The score of a gap that skips these residues and stands before `place` in the other sequence."""
    total = 0.0
    for t, residue in enumerate(residues):
        total += skipped[min(t, 1), residue] + other[2 + min(t, 1), place]
    return total


def gaps(n, m, mode, pairs):
    """The gaps that cost something, as (skipped sequence, residues, place in the other sequence)."""
    if not pairs:
        return [(0, range(n), 0), (1, range(m), n)] if mode == "global" else []
    found = []
    (p, q), (i, j) = pairs[0], pairs[-1]
    before = [(0, range(p), 0), (1, range(q), p)]
    after = [(0, range(i + 1, n), j + 1), (1, range(j + 1, m), n)]
    if mode == "overlap":
        before = [(1, range(q), p)] if q <= p else [(0, range(p), q)]
        after = [(0, range(i + 1, n), j + 1)] if n - i <= m - j else [(1, range(j + 1, m), i + 1)]
    if mode != "local":
        found += before
    for (i, j), (k, h) in pairwise(pairs):
        found += [(0, range(i + 1, k), j + 1), (1, range(j + 1, h), k)]
    return found + (after if mode != "local" else [])


def score(S, of_a, of_b, mode, pairs):
    """What an alignment scores."""
    tables = of_a, of_b
    total = sum(S[i, j] for i, j in pairs)
    for sequence, residues, place in gaps(*S.shape, mode, pairs):
        total += gap(tables[sequence], residues, tables[1 - sequence], place)
    return total


def best(S, of_a, of_b, mode):
    """The highest score, from the best score of an alignment that ends with each pair."""
    n, m = S.shape
    zero = np.zeros_like(S)
    upto = np.zeros((n, m))
    highest = score(zero, of_a, of_b, mode, [])
    rest = np.zeros((n, m))  # what all that comes after a pair scores: what it scores alone, without what comes before
    for i in range(n):
        for j in range(m):
            before = [g for g in gaps(n, m, mode, [(i, j)]) if g[1].stop <= (j if g[0] else i)]
            alone = score(zero, of_a, of_b, mode, [(i, j)])
            tables = of_a, of_b
            begin = sum(gap(tables[s], residues, tables[1 - s], place) for s, residues, place in before)
            rest[i, j] = alone - begin
            options = [begin]
            for k in range(i):
                for h in range(j):
                    between = gap(of_a, range(k + 1, i), of_b, h + 1) + gap(of_b, range(h + 1, j), of_a, i)
                    options.append(upto[k, h] + between)
            upto[i, j] = S[i, j] + max(options)
            highest = max(highest, upto[i, j] + rest[i, j])
    return highest


def augmented(S, low, high, price):
    """Pair scores lowered by `price` where low[i] <= j < high[i]."""
    lowered = np.array(S, dtype=float)
    for i in range(len(S)):
        lowered[i, low[i] : high[i]] -= price
    return lowered


def right(pairs, low, high):
    return sum(bool(low[i] <= j < high[i]) for i, j in pairs)


def best_per_right(S, of_a, of_b, mode, low, high):
    """{number of right pairs: the highest score of an alignment with so many}."""
    found = {}
    for pairs in alignments(*S.shape):
        count = right(pairs, low, high)
        found[count] = max(score(S, of_a, of_b, mode, pairs), found.get(count, -np.inf))
    return found
