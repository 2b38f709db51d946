"""Sums over all label sequences of first-order chains, where chain.py has maxima.

Notation as there: e[t, k] unit scores, T, s, f scores of links. The mass of all paths into (t, k) and out of it is

    a[0, k] = exp(s[k] + e[0, k]),    a[t, k] = exp(e[t, k]) Σ_j a[t-1, j] exp(T[j, k])                         (1)
    b[-1, k] = exp(f[k]),             b[t, j] = Σ_k exp(T[j, k] + e[t+1, k]) b[t+1, k]                          (2)
    Z = Σ_k a[-1, k] exp(f[k]),       p(y_t = k) = a[t, k] b[t, k] / Z                                          (3)
    p(y_t = j, y_{t+1} = k) = a[t, j] exp(T[j, k] + e[t+1, k]) b[t+1, k] / Z                                    (4)

`log_*` keep logarithms of all masses and suit any scores. `masses_*` keep the masses themselves, normalised at every
position, which takes an exponential per label instead of one per pair of labels. They are correct if no mass that
counts underflows, which `masses_fit` checks.
"""

from __future__ import annotations

import math

import numpy as np

from maxmargin.base.compiled.exponentials import exponentials
from maxmargin.base.compiled.kernel import kernel
from maxmargin.base.compiled.label_vectors import label_masses
from maxmargin.base.compiled.log_sums import draw, log_sum

LARGEST = 690.0  # masses are stored as numbers between exp(-LARGEST) and exp(LARGEST)
SMALL = 1e-200  # a running product below this is written out


@kernel
def log_forward(e, T, s, f, a, row):
    """Compute the logarithms of (1), and return log Z."""
    length, K = e.shape
    for k in range(K):
        a[0, k] = s[k] + e[0, k]
    for t in range(1, length):
        for k in range(K):
            for j in range(K):
                row[j] = a[t - 1, j] + T[j, k]
            a[t, k] = log_sum(row) + e[t, k]
    for k in range(K):
        row[k] = a[length - 1, k] + f[k]
    return log_sum(row)


@kernel
def log_backward(e, T, f, b, row):
    """Compute the logarithms of (2)."""
    length, K = e.shape
    for k in range(K):
        b[length - 1, k] = f[k]
    for t in range(length - 2, -1, -1):
        for j in range(K):
            for k in range(K):
                row[k] = T[j, k] + e[t + 1, k] + b[t + 1, k]
            b[t, j] = log_sum(row)


@kernel
def log_pairs(t, e, T, a, b, log_z, scale, pairs):
    """Add scale · (4) for positions t and t + 1 to pairs."""
    K = e.shape[1]
    for j in range(K):
        for k in range(K):
            pairs[j, k] += scale * math.exp(a[t, j] + T[j, k] + e[t + 1, k] + b[t + 1, k] - log_z)


@kernel
def masses_fit(e, spread, steps, shifted, highs):
    """Return whether masses of these scores can be stored as numbers; set highs to max e[t], shifted to e - highs.

    With scores of links and labels shifted to be at most 0, each at least -r, and every label reachable from any other
    in `steps` steps, Σ_j a[t, j] <= K^steps Σ_j a[t - steps, j] and a[t, k] >= exp(-r steps) Σ_j a[t - steps, j]:
    no share of the mass is below exp(-steps (r + log K)); likewise backwards. One more step is the one being computed.
    """
    length, K = e.shape
    lowest = 0.0
    for t in range(length):
        high = e[t, 0]
        for k in range(1, K):
            high = max(high, e[t, k])
        for k in range(K):
            difference = e[t, k] - high
            shifted[t, k] = difference
            lowest = min(lowest, difference)
        highs[t] = high
    return (steps + 1.0) * (spread - lowest + math.log(K)) <= LARGEST


@kernel
def masses_forward(E, highs, masses, a, c):
    """Compute (1), every a[t] multiplied by c[t] so that its sum is 1; return log Z. E[t] is exp(e[t] - highs[t])."""
    length, K = E.shape
    labels, M, shifts = np.uint64(K), masses.links, masses.shifts
    log_z, product = shifts[1] + shifts[2] + (length - 1) * shifts[0], 1.0
    for t in range(length):
        now = a[t]
        if t == 0:
            for k in range(K):
                now[k] = masses.start[k]
        else:
            label_masses(a[t - 1], labels, M, labels, now)
        total = 0.0
        for k in range(K):
            now[k] *= E[t, k]
            total += now[k]
        scale = 1.0 / total
        for k in range(K):
            now[k] *= scale
        c[t] = scale
        log_z += highs[t]
        product *= total
        if product < SMALL or product > 1.0 / SMALL:
            log_z += math.log(product)
            product = 1.0
    last = 0.0
    for k in range(K):
        last += a[length - 1, k] * masses.end[k]
    c[length] = 1.0 / last
    return log_z + math.log(product) + math.log(last)


@kernel
def masses_backward(masses, E, c, b, ahead):
    """Compute (2), every b[t] scaled so that a[t] · b[t] of masses_forward is (3); ahead[t] = c[t] · E[t] · b[t]."""
    length, K = E.shape
    labels = np.uint64(K)
    for k in range(K):
        b[length - 1, k] = masses.end[k] * c[length]
    for t in range(length - 1, 0, -1):
        for k in range(K):
            ahead[t, k] = E[t, k] * b[t, k] * c[t]
        label_masses(ahead[t], labels, masses.turned, labels, b[t - 1])


@kernel
def add_steps(a, ahead, n, weight, outer):
    """Add Σ_t weight · a[t - 1, i] · ahead[t, k] over t in 1 : n to outer[i, k].

    Four positions are added in one sweep over a row, in their order: the same bits as one after the other, with a
    quarter of the reading and writing.
    """
    K = outer.shape[0]
    whole = 1 + 4 * ((n - 1) // 4)
    for t in range(1, whole, 4):
        p, q, r, s = ahead[t], ahead[t + 1], ahead[t + 2], ahead[t + 3]
        for i in range(K):
            first, second, third, fourth = (
                weight * a[t - 1, i],
                weight * a[t, i],
                weight * a[t + 1, i],
                weight * a[t + 2, i],
            )
            row = outer[i]
            for k in range(K):
                row[k] = (((row[k] + first * p[k]) + second * q[k]) + third * r[k]) + fourth * s[k]
    for t in range(whole, n):
        for i in range(K):
            share = weight * a[t - 1, i]
            for k in range(K):
                outer[i, k] += share * ahead[t, k]


@kernel
def chain_sums(scores, links, masses, spread, steps, bounds, weights, scratch, log_z, p, pairs):
    """Compute log Z of every sequence bounds[j] : bounds[j + 1], and p of (3).

    links are (T, s, f); masses and scratch are defined in sum_arrays.py. Unless it is empty, Σ_j weights[j] Σ_t of (4)
    is added to pairs.
    """
    T, s, f = links
    K, outer = scores.shape[1], scratch.outer
    row, highs, c = scratch.rows[0, :K], scratch.rows[1], scratch.rows[2]
    outer[:] = 0.0
    for j in range(len(bounds) - 1):
        begin, end = bounds[j], bounds[j + 1]
        n = end - begin
        e, now = scores[begin:end], p[begin:end]
        if n == 0:
            log_z[j] = 0.0
            continue
        a, b, ahead = scratch.space[0, :n], scratch.space[1, :n], scratch.space[2, :n]
        E = scratch.flat[: n * K].reshape((n, K))
        if K > 1 and masses_fit(e, spread, steps, E, highs):
            exponentials(scratch.flat[: n * K])
            log_z[j] = masses_forward(E, highs, masses, a, c)
            masses_backward(masses, E, c, b, ahead)
            for t in range(n):
                for k in range(K):
                    now[t, k] = a[t, k] * b[t, k]
            if len(pairs):
                add_steps(a, ahead, n, weights[j], outer)
        else:
            log_z[j] = log_forward(e, T, s, f, a, row)
            log_backward(e, T, f, b, row)
            for t in range(n):
                for k in range(K):
                    now[t, k] = math.exp(a[t, k] + b[t, k] - log_z[j])
            if len(pairs):
                for t in range(n - 1):
                    log_pairs(t, e, T, a, b, log_z[j], weights[j], pairs)
    if len(pairs):
        for i in range(K):
            for k in range(K):
                pairs[i, k] += outer[i, k] * masses.links[i, k]


@kernel
def log_stretch(e, T, s, f, a, b, begin, end, labels, before, after, row):
    """Return the log-mass of paths with these labels at begin:end, whose neighbours are allowed ones.

    before[k] and after[k]: True if label k is allowed at begin - 1 and at end, if the sequence has these positions.
    """
    length, K = e.shape
    total = s[labels[0]] if begin == 0 else 0.0
    for k in range(K):
        row[k] = a[begin - 1, k] + T[k, labels[0]] if begin > 0 and before[k] else -np.inf
    if begin > 0:
        total = log_sum(row)
    for t in range(begin, end):
        total += e[t, labels[t - begin]]
        if t > begin:
            total += T[labels[t - begin - 1], labels[t - begin]]
    last = labels[end - begin - 1]
    for k in range(K):
        row[k] = T[last, k] + e[end, k] + b[end, k] if end < length and after[k] else -np.inf
    return total + (log_sum(row) if end < length else f[last])


@kernel
def entropy_of(p):
    """Return -Σ p log p."""
    total = 0.0
    for k in range(len(p)):
        if p[k] > 0.0:
            total -= p[k] * math.log(p[k])
    return total


@kernel
def chain_entropies(scores, T, s, f, bounds, a, b, row, pairs, entropies):
    """Compute -Σ p(y) log p(y) of every sequence: a sum over neighbours, minus positions that are counted twice.

    A difference of log Z and a mean score would cancel if scores are large.
    """
    K = scores.shape[1]
    for j in range(len(bounds) - 1):
        entropies[j] = 0.0
        e = scores[bounds[j] : bounds[j + 1]]
        if len(e) == 0:
            continue
        log_z = log_forward(e, T, s, f, a, row)
        log_backward(e, T, f, b, row)
        total = 0.0
        for t in range(len(e)):
            if 0 < t < len(e) - 1 or len(e) == 1:
                for k in range(K):
                    row[k] = math.exp(a[t, k] + b[t, k] - log_z)
                total += entropy_of(row) if len(e) == 1 else -entropy_of(row)
            if t < len(e) - 1:
                pairs[:] = 0.0
                log_pairs(t, e, T, a, b, log_z, 1.0, pairs)
                for i in range(K):
                    total += entropy_of(pairs[i])
        entropies[j] = max(total, 0.0)


@kernel
def sample_chains(scores, T, s, f, bounds, a, row, uniforms, labels):
    """Draw label sequences, labels[r] the r-th of each, from the end backwards: p(y_t | y_{t+1}) ∝ a[t] exp(T)."""
    K = scores.shape[1]
    for j in range(len(bounds) - 1):
        begin, end = bounds[j], bounds[j + 1]
        if begin == end:
            continue
        log_forward(scores[begin:end], T, s, f, a, row)
        for r in range(len(labels)):
            for t in range(end - begin - 1, -1, -1):
                for k in range(K):
                    row[k] = a[t, k] + (f[k] if t == end - begin - 1 else T[k, labels[r, begin + t + 1]])
                labels[r, begin + t] = draw(row, uniforms[r, begin + t])
