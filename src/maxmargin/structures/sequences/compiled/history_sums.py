"""Sums over all label sequences of chains with histories; histories.py has the maxima.

With the notation there, the logarithms of the masses of all paths into a history and out of it are

    a[0, root] = 0,  a[t+1, h] = e[t, label(h)] + log Σ over steps p into h of exp(a[t, source] + g[p] + x[t, pair]) (1)
    b[T, h] = f[h],  b[t, h] = log Σ over steps p out of h of exp(g[p] + x[t, pair] + e[t, label] + b[t+1, target])  (2)
    log Z = log Σ_h exp(a[T, h] + f[h]),      p(history h after t labels) = exp(a[t, h] + b[t, h] - log Z)           (3)
    p(step p at t) = exp(a[t, source] + g[p] + x[t, pair] + e[t, label] + b[t+1, target] - log Z)                    (4)

The sums of (1) and (2) are products of numbers, exp(a - max a) times exp(g - max g), with an exponential per history
instead of one per step; a sum that comes close to underflow is computed in logarithms.
"""

from __future__ import annotations

import math

import numpy as np

from maxmargin.base.compiled.kernel import kernel
from maxmargin.base.compiled.log_sums import add_log, draw, log_of
from maxmargin.structures.sequences.compiled.chain_sums import entropy_of
from maxmargin.structures.sequences.compiled.histories import pair_scores

SMALL = 1e-200  # sums below this may have lost digits
NOTHING = -60.0  # histories with probabilities below exp(NOTHING) are skipped


@kernel
def exps(logs, begin, end, out):
    """Set out = exp(logs - max logs) at begin:end, and return the maximum."""
    high = -np.inf
    for h in range(begin, end):
        high = max(high, logs[h])
    for h in range(begin, end):
        out[h] = math.exp(logs[h] - high) if high > -np.inf else 0.0
    return high


@kernel
def pair_masses(t, units, pairs, weights, x, X):
    """Compute x of position t and X = exp(x - max x); return the maximum. Without pairs, they are 0 and 1."""
    n = pairs.n_pairs
    if t == 0 or n == 0:
        return 0.0
    pair_scores(units[t], pairs, weights, x)
    return exps(x, 0, n, X)


@kernel
def log_forward(e, units, scored, scratch):
    """Compute (1); return log Z."""
    steps, g, f, pairs, weights = scored
    G, shift, x, X, a, masses = scratch.factors, scratch.shift, scratch.x, scratch.X, scratch.a, scratch.rows[0]
    length, k = len(e), len(steps.rows) - 1
    a[0, 0] = 0.0
    for t in range(length):
        level, depth = min(t + 1, k), min(t, k)
        first, row = steps.levels[level], steps.rows[depth]
        high = exps(a[t], steps.levels[depth], steps.levels[depth + 1], masses)
        more = pair_masses(t, units, pairs, weights, x, X)
        featured = t > 0 and pairs.n_pairs > 0
        for h in range(first, steps.levels[level + 1]):
            begin, end = steps.begins[row + h - first], steps.begins[row + h - first + 1]
            total = 0.0
            for p in range(begin, end):
                part = masses[steps.source[p]] * G[p]
                total += part * X[steps.pair[p]] if featured else part
            if total > SMALL:
                a[t + 1, h] = math.log(total) + high + shift + more + e[t, steps.label[h]]
                continue
            top, rest = -np.inf, 0.0
            for p in range(begin, end):
                value = a[t, steps.source[p]] + g[p] + (x[steps.pair[p]] if featured else 0.0)
                if value > -np.inf:
                    top, rest = add_log(top, rest, value)
            a[t + 1, h] = log_of(top, rest) + e[t, steps.label[h]]
    level = min(length, k)
    top, rest = -np.inf, 0.0
    for h in range(steps.levels[level], steps.levels[level + 1]):
        if a[length, h] + f[h] > -np.inf:
            top, rest = add_log(top, rest, a[length, h] + f[h])
    return log_of(top, rest)


@kernel
def log_backward(e, units, scored, scratch):
    """Compute (2)."""
    steps, g, f, pairs, weights = scored
    G, shift, x, X, b = scratch.factors, scratch.shift, scratch.x, scratch.X, scratch.b
    masses, gain = scratch.rows[0], scratch.rows[1]
    length, k = len(e), len(steps.rows) - 1
    level = min(length, k)
    for h in range(steps.levels[level], steps.levels[level + 1]):
        b[length, h] = f[h]
    for t in range(length - 1, -1, -1):
        level, depth = min(t + 1, k), min(t, k)
        first, last = steps.levels[level], steps.levels[level + 1]
        for h in range(first, last):
            gain[h] = e[t, steps.label[h]] + b[t + 1, h]
        high = exps(gain, first, last, masses)
        more = pair_masses(t, units, pairs, weights, x, X)
        featured = t > 0 and pairs.n_pairs > 0
        for h in range(steps.levels[depth], steps.levels[depth + 1]):
            total = 0.0
            for i in range(steps.outs[h], steps.outs[h + 1]):
                p = steps.out[i]
                part = masses[steps.target[p]] * G[p]
                total += part * X[steps.pair[p]] if featured else part
            if total > SMALL:
                b[t, h] = math.log(total) + high + shift + more
                continue
            top, rest = -np.inf, 0.0
            for i in range(steps.outs[h], steps.outs[h + 1]):
                p = steps.out[i]
                value = gain[steps.target[p]] + g[p] + (x[steps.pair[p]] if featured else 0.0)
                if value > -np.inf:
                    top, rest = add_log(top, rest, value)
            b[t, h] = log_of(top, rest)


@kernel
def step_shares(t, e, units, scored, log_z, scratch):
    """Compute (4) of the steps to position t, which are scratch.rows[2, first:end]; return first and end."""
    steps, g, pairs, weights = scored.steps, scored.each, scored.pairs, scored.weights
    x, a, b, shares = scratch.x, scratch.a, scratch.b, scratch.rows[2]
    k = len(steps.rows) - 1
    level, depth = min(t + 1, k), min(t, k)
    row = steps.rows[depth]
    first, end = steps.begins[row], steps.begins[row + steps.levels[level + 1] - steps.levels[level]]
    featured = t > 0 and pairs.n_pairs > 0
    if featured:
        pair_scores(units[t], pairs, weights, x)
    for p in range(first, end):
        h, to = steps.source[p], steps.target[p]
        if a[t, h] + b[t, h] - log_z < NOTHING:
            shares[p] = 0.0
        else:
            score = g[p] + (x[steps.pair[p]] if featured else 0.0)
            shares[p] = math.exp(a[t, h] + score + e[t, steps.label[to]] + b[t + 1, to] - log_z)
    return first, end


@kernel
def label_shares(e, steps, a, b, log_z, p):
    """Compute p[t, label] of (3)."""
    k = len(steps.rows) - 1
    p[:] = 0.0
    for t in range(len(e)):
        level = min(t + 1, k)
        for h in range(steps.levels[level], steps.levels[level + 1]):
            p[t, steps.label[h]] += math.exp(a[t + 1, h] + b[t + 1, h] - log_z)


@kernel
def history_sums(scores, units, scored, bounds, rates, scratch, log_z, p, expected):
    """Compute log Z of every sequence and (3) of labels.

    Unless rates is empty, Σ_j rates[j] Σ_t of (4) is added to expected.steps, and the same of ends and of features of
    pairs to its other arrays.
    """
    steps, pairs = scored.steps, scored.pairs
    X, a, b, shares = scratch.X, scratch.a, scratch.b, scratch.rows[2]
    for j in range(len(bounds) - 1):
        begin, end = bounds[j], bounds[j + 1]
        if begin == end:
            log_z[j] = 0.0
            continue
        e, at = scores[begin:end], units[begin:end]
        log_z[j] = log_forward(e, at, scored, scratch)
        if log_z[j] == -np.inf:
            p[begin:end] = 0.0
            continue
        log_backward(e, at, scored, scratch)
        label_shares(e, steps, a, b, log_z[j], p[begin:end])
        if len(rates) == 0:
            continue
        for t in range(len(e)):
            first, last = step_shares(t, e, at, scored, log_z[j], scratch)
            for s in range(first, last):
                expected.steps[s] += rates[j] * shares[s]
            if t > 0 and pairs.n_pairs > 0:
                X[:] = 0.0
                for s in range(first, last):
                    X[steps.pair[s]] += rates[j] * shares[s]
                for i in range(pairs.indptr[at[t]], pairs.indptr[at[t] + 1]):
                    value, place = pairs.values[i], pairs.places[i]
                    for q in range(pairs.n_pairs):
                        expected.pairs[place + q] += value * X[q]
        level = min(len(e), len(steps.rows) - 1)
        for h in range(steps.levels[level], steps.levels[level + 1]):
            expected.ends[h] += rates[j] * math.exp(a[len(e), h] + scored.ends[h] - log_z[j])


@kernel
def history_entropy(e, units, scored, log_z, scratch):
    """Compute -Σ p(y) log p(y): the sum over steps, less the histories between them, which were counted twice."""
    steps, a, b, shares = scored.steps, scratch.a, scratch.b, scratch.rows[2]
    k, total = len(steps.rows) - 1, 0.0
    for t in range(len(e)):
        first, end = step_shares(t, e, units, scored, log_z, scratch)
        total += entropy_of(shares[first:end])
        if t > 0:
            depth = min(t, k)
            begin, last = steps.levels[depth], steps.levels[depth + 1]
            for h in range(begin, last):
                shares[h - begin] = math.exp(a[t, h] + b[t, h] - log_z)
            total -= entropy_of(shares[: last - begin])
    return max(total, 0.0)


@kernel
def sample_histories(e, units, scored, scratch, row, uniforms, labels):
    """Draw label sequences, labels[r] the r-th, from the end backwards: p(step) ∝ exp(a[source] + g + x)."""
    (steps, g, f, pairs, weights), x, a = scored, scratch.x, scratch.a
    length, k = len(e), len(steps.rows) - 1
    for r in range(len(labels)):
        level = min(length, k)
        first, end = steps.levels[level], steps.levels[level + 1]
        for h in range(first, end):
            row[h - first] = a[length, h] + f[h]
        # One number for the end and one for each position: the step to the first label is not a choice.
        now = first + draw(row[: end - first], uniforms[r, length - 1])
        for t in range(length - 1, -1, -1):
            labels[r, t] = steps.label[now]
            if t == 0:
                break
            if pairs.n_pairs > 0:
                pair_scores(units[t], pairs, weights, x)
            at = steps.rows[min(t, k)] + now - steps.levels[min(t + 1, k)]
            begin, last = steps.begins[at], steps.begins[at + 1]
            for p in range(begin, last):
                row[p - begin] = a[t, steps.source[p]] + g[p]
                if pairs.n_pairs > 0:
                    row[p - begin] += x[steps.pair[p]]
            now = np.int64(steps.source[begin + draw(row[: last - begin], uniforms[r, t - 1])])
