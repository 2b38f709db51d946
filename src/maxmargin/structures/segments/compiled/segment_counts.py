"""Search for the best segmentation for every pair of counts: q predicted segments, m of them right.

A loss that is a function of both, such as 1 - F1 = 1 - 2m / (g + q) with g true segments, is searched exactly in a
table over m and q. The recursion is as in segments.py with a pair (m, q) in every state: c = m (Q + 1) + q. Counts q
above Q are treated as Q, which changes nothing if Q is the number of tokens, or if the loss is constant from Q on.
"""

from __future__ import annotations

import numpy as np

from maxmargin.base.compiled.kernel import kernel
from maxmargin.structures.segments.compiled.segments import write


@kernel
def best_per_counts(o, S, A, s, f, true_length, true_label, g, Q, v, u, best):
    """Fill best[m, q] of one sequence, and v and u, (T + 1, labels, (g + 1)(Q + 1)), for `trace_counts`."""
    T, L, n_types = S.shape
    size = (g + 1) * (Q + 1)
    for k in range(n_types + 1):
        for c in range(size):
            u[0, k, c] = -np.inf
        u[0, k, 0] = s[k]
    seen = 0  # true segments that end before token t
    for t in range(1, T + 1):
        if true_length[t - 1] > 0:
            seen += 1
        for k in range(n_types + 1):
            for c in range(size):
                v[t, k, c] = -np.inf
        for m in range(seen + 1):
            for q in range(min(Q, t) + 1):
                v[t, 0, m * (Q + 1) + q] = u[t - 1, 0, m * (Q + 1) + q] + o[t - 1]
        for k in range(n_types):
            row = v[t, k + 1]
            for d in range(min(L, t)):
                score, before = S[t - 1, d, k], u[t - d - 1, k + 1]
                right = 1 if true_length[t - 1] == d + 1 and true_label[t - 1] == k else 0
                for m in range(min(seen, g - right) + 1):
                    old, new = m * (Q + 1), (m + right) * (Q + 1)
                    for q in range(min(Q, t - d) + 1):
                        to = new + min(q + 1, Q)
                        row[to] = max(row[to], before[old + q] + score)
        for k in range(n_types + 1):
            row = u[t, k]
            for c in range(size):
                row[c] = -np.inf
            for j in range(n_types + 1):
                link, from_ = A[j, k], v[t, j]
                for m in range(seen + 1):
                    for c in range(m * (Q + 1), m * (Q + 1) + min(Q, t) + 1):
                        row[c] = max(row[c], from_[c] + link)
    for m in range(g + 1):
        for q in range(Q + 1):
            best[m, q] = -np.inf
            for k in range(n_types + 1):
                best[m, q] = max(best[m, q], v[T, k, m * (Q + 1) + q] + f[k])


@kernel
def trace_counts(S, A, f, true_length, true_label, Q, v, u, m, q, codes):
    """Write the codes of the segmentation of best[m, q]."""
    T, L, n_types = S.shape
    label, high = 0, -np.inf
    for k in range(n_types + 1):
        if v[T, k, m * (Q + 1) + q] + f[k] > high:
            label, high = k, v[T, k, m * (Q + 1) + q] + f[k]
    t = T
    while t > 0:
        chosen, came = 0, q
        if label > 0:
            high, chosen, came = -np.inf, 0, q
            for d in range(min(L, t)):
                right = 1 if true_length[t - 1] == d + 1 and true_label[t - 1] == label - 1 else 0
                if m < right:
                    continue
                for before in range(q - 1, q + 1):
                    if before < 0 or min(before + 1, Q) != q:
                        continue
                    value = u[t - d - 1, label, (m - right) * (Q + 1) + before] + S[t - 1, d, label - 1]
                    if value > high:
                        high, chosen, came = value, d, before
            if true_length[t - 1] == chosen + 1 and true_label[t - 1] == label - 1:
                m -= 1
            q = came
        t = write(codes, t, label, chosen)
        if t > 0:
            last, high = 0, -np.inf
            for j in range(n_types + 1):
                if v[t, j, m * (Q + 1) + q] + A[j, label] > high:
                    last, high = j, v[t, j, m * (Q + 1) + q] + A[j, label]
            label = last
