"""Sums over all segmentations (forward-backward), where segments.py has maxima.

The notation is as in segments.py, with logarithms of sums over segmentations instead of maxima. a[t, k] is the sum over
all segmentations of the first t tokens whose last piece has label k, and α[t, k] over those that a piece of label k
follows. b[t, k] is the sum over all segmentations of the tokens from t on after a piece of label k, and β[t, k] over
those whose first piece has label k:

    a[t, 0] = α[t-1, 0] + o[t-1],  a[t, k+1] = log Σ_d exp(α[t-d-1, k+1] + S[t-1, d, k])                           (1)
    α[0, k] = s[k],                α[t, k] = log Σ_j exp(a[t, j] + A[j, k])                                       (2)
    β[t, 0] = o[t] + b[t+1, 0],    β[t, k+1] = log Σ_d exp(S[t+d, d, k] + b[t+d+1, k+1])                           (3)
    b[T, k] = f[k],                b[t, j] = log Σ_k exp(A[j, k] + β[t, k])                                       (4)

    log Z = log Σ_k exp(a[T, k] + f[k]),    p(segment) = exp(α + S + b - log Z)                                    (5)
    p(a piece of label j ends at t, and one of label k follows) = exp(a[t, j] + A[j, k] + β[t, k] - log Z)        (6)

Sampling and the entropy go backwards through (1) and (2).
"""

from __future__ import annotations

import math

import numpy as np

from maxmargin.base.compiled.kernel import kernel
from maxmargin.base.compiled.log_sums import add_log, draw, log_of, log_sum
from maxmargin.structures.segments.compiled.segments import write


@kernel
def forward(o, S, A, s, f, a, alpha, row):
    """Compute (1) and (2) of one sequence, and return log Z."""
    T, L, m = S.shape
    for k in range(m + 1):
        alpha[0, k] = s[k]
    for t in range(1, T + 1):
        a[t, 0] = alpha[t - 1, 0] + o[t - 1]
        for k in range(m):
            high, total = -np.inf, 0.0
            for d in range(min(L, t)):
                x = alpha[t - d - 1, k + 1] + S[t - 1, d, k]
                if x > -np.inf:
                    high, total = add_log(high, total, x)
            a[t, k + 1] = log_of(high, total)
        for k in range(m + 1):
            for j in range(m + 1):
                row[j] = a[t, j] + A[j, k]
            alpha[t, k] = log_sum(row[: m + 1])
    for k in range(m + 1):
        row[k] = a[T, k] + f[k]
    return log_sum(row[: m + 1])


@kernel
def backward(o, S, A, f, b, beta, row):
    """Compute (3) and (4) of one sequence."""
    T, L, m = S.shape
    for k in range(m + 1):
        b[T, k] = f[k]
    for t in range(T - 1, -1, -1):
        beta[t, 0] = o[t] + b[t + 1, 0]
        for k in range(m):
            high, total = -np.inf, 0.0
            for d in range(min(L, T - t)):
                x = S[t + d, d, k] + b[t + d + 1, k + 1]
                if x > -np.inf:
                    high, total = add_log(high, total, x)
            beta[t, k + 1] = log_of(high, total)
        for j in range(m + 1):
            for k in range(m + 1):
                row[k] = A[j, k] + beta[t, k]
            b[t, j] = log_sum(row[: m + 1])


@kernel
def probability(x):
    """Compute exp(x) of a log-probability, which rounding may have raised above 0."""
    return math.exp(min(x, 0.0))


@kernel
def segment_sums(scores, bounds, weights, scratch, log_z, outside, P, pairs):
    """Compute log Z of every sequence, the probabilities of tokens outside and, in P, of segments (5).

    Σ_j weights[j] Σ_t of (6) is added to `pairs`, unless there are no weights.
    """
    o, S, (A, s, f) = scores
    a, alpha, b, beta, row = scratch
    L, m = S.shape[1:]
    for j in range(len(bounds) - 1):
        first, last = bounds[j], bounds[j + 1]
        T = last - first
        if T == 0:
            log_z[j] = 0.0
            continue
        e, segments = o[first:last], S[first:last]
        z = forward(e, segments, A, s, f, a, alpha, row)
        log_z[j] = z
        backward(e, segments, A, f, b, beta, row)
        for t in range(T):
            outside[first + t] = 0.0
            if z > -np.inf:
                outside[first + t] = probability(alpha[t, 0] + e[t] + b[t + 1, 0] - z)
            for d in range(L):
                for k in range(m):
                    P[first + t, d, k] = 0.0
                    if d <= t and z > -np.inf:
                        x = alpha[t - d, k + 1] + segments[t, d, k] + b[t + 1, k + 1] - z
                        P[first + t, d, k] = probability(x)
        if len(weights) > 0 and z > -np.inf:
            for t in range(1, T):
                for k in range(m + 1):
                    for i in range(m + 1):
                        pairs[i, k] += weights[j] * probability(a[t, i] + A[i, k] + beta[t, k] - z)


@kernel
def uncertainty(p, x):
    """Compute -p x, where the conditional log-probability x may be -inf or, by rounding, above 0."""
    return -p * min(x, 0.0) if p > 0.0 else 0.0


@kernel
def segment_entropies(scores, bounds, scratch, entropies):
    """Compute the entropy -Σ p log p of every sequence by the chain rule, from the last label backwards.

    No term is negative, so that nothing cancels.
    """
    o, S, (A, s, f) = scores
    a, alpha, b, beta, row = scratch
    L, m = S.shape[1:]
    for j in range(len(bounds) - 1):
        first, last = bounds[j], bounds[j + 1]
        T, total = last - first, 0.0
        if T > 0:
            e, segments = o[first:last], S[first:last]
            z = forward(e, segments, A, s, f, a, alpha, row)
            backward(e, segments, A, f, b, beta, row)
            for k in range(m + 1):
                x = a[T, k] + f[k] - z
                total += uncertainty(probability(x), x)
            for t in range(1, T + 1):
                for k in range(m):
                    for d in range(min(L, t)):
                        step = alpha[t - d - 1, k + 1] + segments[t - 1, d, k]
                        if step > -np.inf:
                            total += uncertainty(probability(step + b[t, k + 1] - z), step - a[t, k + 1])
                if t < T:
                    for k in range(m + 1):
                        for i in range(m + 1):
                            step = a[t, i] + A[i, k]
                            if step > -np.inf:
                                total += uncertainty(probability(step + beta[t, k] - z), step - alpha[t, k])
        entropies[j] = total


@kernel
def sample_segments(scores, bounds, scratch, uniform, codes):
    """Write one sample of all sequences to every codes[r], using the numbers uniform[r], two for every token."""
    o, S, (A, s, f) = scores
    a, alpha, row = scratch.a, scratch.alpha, scratch.row
    L, m = S.shape[1:]
    for j in range(len(bounds) - 1):
        first, last = bounds[j], bounds[j + 1]
        T = last - first
        if T == 0:
            continue
        e, segments = o[first:last], S[first:last]
        forward(e, segments, A, s, f, a, alpha, row)
        for r in range(len(codes)):
            for k in range(m + 1):
                row[k] = a[T, k] + f[k]
            label = draw(row[: m + 1], uniform[r, 2 * last - 1])
            t = T
            while t > 0:
                length = 0
                if label > 0:
                    for d in range(min(L, t)):
                        row[d] = alpha[t - d - 1, label] + segments[t - 1, d, label - 1]
                    length = draw(row[: min(L, t)], uniform[r, 2 * (first + t) - 2])
                t = write(codes[r, first:last], t, label, length)
                if t > 0:
                    for k in range(m + 1):
                        row[k] = a[t, k] + A[k, label]
                    label = draw(row[: m + 1], uniform[r, 2 * (first + t) - 1])
