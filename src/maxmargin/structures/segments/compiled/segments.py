"""Semi-Markov Viterbi search for the best segmentations of many sequences in one call.

A sequence of T tokens is cut into segments, each with a type k < m and at most L tokens, and tokens outside of them.
Labels are numbered 0 (outside) and k + 1. Notation: o[t] is the score of token t outside, S[t, d, k] the score of the
segment of type k whose last token is t and which has d + 1 tokens (-inf if d > t), A[j, k] the score of label k after
label j, and s and f are the scores of the first and the last label. v[t, k] is the score of the best segmentation of
the first t tokens whose last piece has label k, and u[t, k] of the best one that a piece of label k follows:

    u[0, k] = s[k],    u[t, k] = max_j v[t, j] + A[j, k]                                                          (1)
    v[t, 0] = u[t - 1, 0] + o[t - 1],    v[t, k + 1] = max_d u[t - d - 1, k + 1] + S[t - 1, d, k]                   (2)

(Sarawagi and Cohen 2004). This takes T (L m + m²) steps, because a segment depends on its predecessor's label only.
"""

from __future__ import annotations

import numpy as np

from maxmargin.base.compiled.kernel import kernel


@kernel
def segment_scores(e, by_length, V, indptr, columns, values, units, bounds, sums, S):
    """Compute S of (2) from scores of tokens and of features of whole segments.

    e[t] has the score of token t outside and then, for every type, the scores of t as any, as the first and as the last
    token of a segment. by_length[d, k] is the score of a length. Row u·L + d of the sparse matrix has the features of
    the segment of d + 1 tokens that ends at unit u; V[c, k] is the score of feature c. Without `values`, all are 1.
    """
    L, m = by_length.shape
    for j in range(len(bounds) - 1):
        first = bounds[j]
        for t in range(first, bounds[j + 1]):
            for k in range(m):
                sums[k] = 0.0
            for d in range(L):
                row = S[t, d]
                begin = t - d
                if begin < first:
                    for k in range(m):
                        row[k] = -np.inf
                    continue
                for k in range(m):
                    sums[k] += e[begin, 1 + 3 * k]
                    row[k] = sums[k] + e[begin, 2 + 3 * k] + e[t, 3 + 3 * k] + by_length[d, k]
                at = units[t] * L + d
                for x in range(indptr[at], indptr[at + 1]):
                    value = values[x] if len(values) > 0 else 1.0
                    for k in range(m):
                        row[k] += value * V[columns[x], k]


@kernel
def search(o, S, A, s, f, v, u, length, before, codes):
    """Write the best codes of one sequence, and return their score. Scratch: v, u, length, before."""
    T, L, m = S.shape
    for k in range(m + 1):
        u[0, k] = s[k]
    for t in range(1, T + 1):
        v[t, 0] = u[t - 1, 0] + o[t - 1]
        for k in range(m):
            high, best = -np.inf, 0
            for d in range(min(L, t)):
                value = u[t - d - 1, k + 1] + S[t - 1, d, k]
                if value > high:
                    high, best = value, d
            v[t, k + 1], length[t, k + 1] = high, best
        for k in range(m + 1):
            high, best = -np.inf, 0
            for j in range(m + 1):
                value = v[t, j] + A[j, k]
                if value > high:
                    high, best = value, j
            u[t, k], before[t, k] = high, best
    total, label = -np.inf, 0
    for k in range(m + 1):
        if v[T, k] + f[k] > total:
            total, label = v[T, k] + f[k], k
    t = T
    while t > 0:
        t = write(codes, t, label, length[t, label] if label > 0 else 0)
        label = before[t, label]
    return total


@kernel
def write(codes, t, label, d):
    """Write the codes of the piece of d + 1 tokens that ends before token t, and return its first token."""
    begin = t - d - 1
    for x in range(begin, t):
        codes[x] = 2 * label
    if label > 0:
        codes[begin] = 2 * label - 1
    return begin


@kernel
def viterbi(scores, bounds, v, u, length, before, codes, best):
    """Find the best codes of every sequence bounds[j] : bounds[j + 1], and their scores."""
    o, S, (A, s, f) = scores
    for j in range(len(bounds) - 1):
        a, b = bounds[j], bounds[j + 1]
        best[j] = search(o[a:b], S[a:b], A, s, f, v, u, length, before, codes[a:b])


@kernel
def n_best(scores, n, tables, codes, best):
    """Find the n best segmentations of one sequence, best first, and return their number."""
    o, S, (A, s, f) = scores
    v, u, from_length, from_label, rank_v, rank_u, pointer = tables
    T, L, m = S.shape
    for k in range(m + 1):
        u[0, k, 0] = s[k]
    for t in range(1, T + 1):
        for r in range(n):
            v[t, 0, r] = u[t - 1, 0, r] + o[t - 1]
            from_length[t, 0, r], rank_v[t, 0, r] = 0, r
        for k in range(m):
            for d in range(L):
                pointer[d] = 0  # the lists are sorted: merge their heads
            for r in range(n):
                high, chosen = -np.inf, -1
                for d in range(min(L, t)):
                    if pointer[d] < n:
                        value = u[t - d - 1, k + 1, pointer[d]] + S[t - 1, d, k]
                        if value > high:
                            high, chosen = value, d
                if chosen < 0:
                    break
                v[t, k + 1, r] = high
                from_length[t, k + 1, r], rank_v[t, k + 1, r] = chosen, pointer[chosen]
                pointer[chosen] += 1
        for k in range(m + 1):
            for j in range(m + 1):
                pointer[j] = 0
            for r in range(n):
                high, chosen = -np.inf, -1
                for j in range(m + 1):
                    if pointer[j] < n and v[t, j, pointer[j]] + A[j, k] > high:
                        high, chosen = v[t, j, pointer[j]] + A[j, k], j
                if chosen < 0:
                    break
                u[t, k, r] = high
                from_label[t, k, r], rank_u[t, k, r] = chosen, pointer[chosen]
                pointer[chosen] += 1
    for j in range(m + 1):
        pointer[j] = 0
    for r in range(n):
        high, label = -np.inf, -1
        for j in range(m + 1):
            if pointer[j] < n and v[T, j, pointer[j]] + f[j] > high:
                high, label = v[T, j, pointer[j]] + f[j], j
        if label < 0:
            return r
        best[r] = high
        rank = pointer[label]
        pointer[label] += 1
        t = T
        while t > 0:
            d, rank = from_length[t, label, rank], rank_v[t, label, rank]
            t = write(codes[r], t, label, d)
            label, rank = from_label[t, label, rank], rank_u[t, label, rank]
    return n


@kernel
def put(indices, values, top, index, value):
    """Append an entry to a row, and return the number of entries."""
    indices[top], values[top] = index, value
    return top + 1


@kernel
def put_token(indices, values, top, at, code, ends, other, other_ends, sign):
    """Append the atoms that a token has with this code but not with the other; its atoms begin at `at`."""
    if code == 0:
        return top if other == 0 else put(indices, values, top, at, sign)
    label = (code - 1) // 2
    same = other > 0 and (other - 1) // 2 == label
    column = at + 1 + 3 * label
    if not same:
        top = put(indices, values, top, column, sign)
    if code % 2 == 1 and not (same and other % 2 == 1):
        top = put(indices, values, top, column + 1, sign)
    if ends and not (same and other_ends):
        top = put(indices, values, top, column + 2, sign)
    return top


@kernel
def put_segment(indices, values, top, unit, length, label, L, m, K, matrix, sign):
    """Append the coordinates of a segment that ends at this unit: its length and its features."""
    indptr, columns, numbers = matrix
    top = put(indices, values, top, K * K + 2 * K + (length - 1) * m + label, sign)
    first = K * K + 2 * K + L * m
    at = unit * L + length - 1
    for x in range(indptr[at], indptr[at + 1]):
        value = numbers[x] if len(numbers) > 0 else 1.0
        top = put(indices, values, top, first + columns[x] * m + label, sign * value)
    return top


@kernel
def put_links(indices, values, top, K, code, before, first, last, sign):
    """Append the coordinates of the start, the transition and the end at a token."""
    label = (code + 1) // 2
    if first:
        top = put(indices, values, top, K * K + label, sign)
    elif code == 0 or code % 2 == 1:
        top = put(indices, values, top, ((before + 1) // 2) * K + label, sign)
    if last:
        top = put(indices, values, top, K * K + K + label, sign)
    return top


@kernel
def differences(direct, L, m, matrix, units, bounds, truth, true_length, found, found_length, rows):
    """Write Ψ(x, truth) - Ψ(x, found) as PlaneRows over atoms, one per sequence; common features are left out.

    `true_length` and `found_length` are the lengths of the segments that end at every token, or 0.
    """
    K, C, top, indices, values = m + 1, 1 + 3 * m, 0, rows.indices, rows.values
    for j in range(len(bounds) - 1):
        first, last = bounds[j], bounds[j + 1] - 1
        for t in range(first, last + 1):
            unit, one, other = units[t], truth[t], found[t]
            one_ends, other_ends = true_length[t], found_length[t]
            at = direct + unit * C
            top = put_token(indices, values, top, at, one, one_ends > 0, other, other_ends > 0, 1.0)
            top = put_token(indices, values, top, at, other, other_ends > 0, one, one_ends > 0, -1.0)
            same = one_ends == other_ends and (one + 1) // 2 == (other + 1) // 2
            if one_ends > 0 and not same:
                top = put_segment(indices, values, top, unit, one_ends, (one - 1) // 2, L, m, K, matrix, 1.0)
            if other_ends > 0 and not same:
                top = put_segment(indices, values, top, unit, other_ends, (other - 1) // 2, L, m, K, matrix, -1.0)
            before, its = truth[max(t - 1, first)], found[max(t - 1, first)]
            if one != other or before != its:
                top = put_links(indices, values, top, K, one, before, t == first, t == last, 1.0)
                top = put_links(indices, values, top, K, other, its, t == first, t == last, -1.0)
        rows.indptr[j + 1] = top


@kernel
def token_shares(P, bounds, shares):
    """Sum P of every type over the segments that a token is in, that it begins, and that it ends.

    The columns of `shares`, initially 0, are those of e in `segment_scores`.
    """
    L, m = P.shape[1:]
    for j in range(len(bounds) - 1):
        for t in range(bounds[j], bounds[j + 1]):
            for d in range(min(L, t - bounds[j] + 1)):
                for k in range(m):
                    p = P[t, d, k]
                    shares[t - d, 2 + 3 * k] += p
                    shares[t, 3 + 3 * k] += p
                    for x in range(t - d, t + 1):
                        shares[x, 1 + 3 * k] += p


@kernel
def add_features(P, indptr, columns, values, units, total):
    """Add to total[c, k] the sum of P times the value of feature c over the segments of type k that have it."""
    L, m = P.shape[1:]
    for t in range(len(units)):
        for d in range(L):
            at = units[t] * L + d
            for x in range(indptr[at], indptr[at + 1]):
                value = values[x] if len(values) > 0 else 1.0
                for k in range(m):
                    total[columns[x], k] += value * P[t, d, k]
