"""Sums over all alignments of two sequences; alignment.py has the maxima.

The notation is as in alignment.py; sums replace the maxima in (2) there, and M, X, Y are logarithms. Skipped residues
of a come before those of b, so that every alignment has one path through the states and is counted once:

    log Z = log (exp(score without pairs) + Σ_{i, j} exp(M[i, j] + score after (i, j)))                             (1)

Read from its last pair backwards, an alignment is a sequence of choices: where it ends, and from which state each state
was reached. The probability of a choice is the share of its term in the sum, so the probability of a state follows
from those of later states, by products and sums of positive numbers. The entropy is the sum over all states of
p(state) times the entropy of its choice.                                                                           (2)
"""

from __future__ import annotations

import math

import numpy as np

from maxmargin.base.compiled.kernel import kernel
from maxmargin.base.compiled.log_sums import add_log, log_of
from maxmargin.structures.alignment.compiled.alignment import (
    AT_EXTEND,
    AT_OPEN,
    EXTEND,
    GLOBAL,
    LOCAL,
    OPEN,
    TOTAL,
    score_after,
    score_before,
    score_empty,
)

PAIR, SKIP_A, SKIP_B = 0, 1, 2  # states M, X, Y


@kernel
def pair_score(pair, i, j):
    """Return s[i, j], less the price of a right pair."""
    s = pair.profile[pair.row_of[i], j]
    return s - pair.price if pair.low[i] <= j < pair.high[i] else s


@kernel
def skip_a(of_a, of_b, i, j, further):
    """Return the score of skipping residue i of a after the pair or the skip before it, in column j."""
    if further:
        return of_a[EXTEND, i] + of_b[AT_EXTEND, j + 1]
    return of_a[OPEN, i] + of_b[AT_OPEN, j + 1]


@kernel
def skip_b(of_a, of_b, i, j, further):
    """Return the score of skipping residue j of b, in row i."""
    if further:
        return of_b[EXTEND, j] + of_a[AT_EXTEND, i + 1]
    return of_b[OPEN, j] + of_a[AT_OPEN, i + 1]


@kernel
def fill_sums(pair, mode, v):
    """Write the logarithms of the sums of M, X and Y of a ScoredPair to v (3, n, m); return log Z (1)."""
    of_a, of_b = pair.of_a, pair.of_b
    n, m = v.shape[1], v.shape[2]
    end, sum_of_all = score_empty(mode, of_a, of_b), 1.0
    for i in range(n):
        for j in range(m):
            high_one, total = score_before(mode, i, j, of_a, of_b), 1.0
            if i > 0 and j > 0:
                for k in range(3):
                    if v[k, i - 1, j - 1] > -np.inf:
                        high_one, total = add_log(high_one, total, v[k, i - 1, j - 1])
            v[PAIR, i, j] = log_of(high_one, total) + pair_score(pair, i, j)
            high_one, total = -np.inf, 0.0
            if i > 0:
                for k in range(2):
                    if v[k, i - 1, j] > -np.inf:
                        x = v[k, i - 1, j] + skip_a(of_a, of_b, i, j, k == SKIP_A)
                        high_one, total = add_log(high_one, total, x)
            v[SKIP_A, i, j] = log_of(high_one, total)
            high_one, total = -np.inf, 0.0
            if j > 0:
                for k in range(3):
                    if v[k, i, j - 1] > -np.inf:
                        x = v[k, i, j - 1] + skip_b(of_a, of_b, i, j, k == SKIP_B)
                        high_one, total = add_log(high_one, total, x)
            v[SKIP_B, i, j] = log_of(high_one, total)
            end, sum_of_all = add_log(end, sum_of_all, v[PAIR, i, j] + score_after(mode, i, j, of_a, of_b))
    return log_of(end, sum_of_all)


@kernel
def use_gap(used, u, v, other, q, p):
    """Record that a gap of residues u … v - 1 before residue q of the other sequence has probability p."""
    if v > u:
        used[OPEN, u] += p
        other[AT_OPEN, q] += p
        other[AT_EXTEND, q] += p * (v - u - 1)
        used[TOTAL, v] += p  # TOTAL, as `gap` reads it; spread_sums turns these into shares of EXTEND
        used[TOTAL, u + 1] -= p


@kernel
def use_before(mode, i, j, used_a, used_b, p):
    """Record that the scores that score_before(i, j) reads are used with probability p."""
    if mode == GLOBAL:
        use_gap(used_a, 0, i, used_b, 0, p)
        use_gap(used_b, 0, j, used_a, i, p)
    elif mode != LOCAL:
        if j <= i:
            use_gap(used_b, 0, j, used_a, i, p)
        else:
            use_gap(used_a, 0, i, used_b, j, p)


@kernel
def use_after(mode, i, j, used_a, used_b, p):
    """Record that the scores that score_after(i, j) reads are used with probability p."""
    n, m = used_a.shape[1] - 1, used_b.shape[1] - 1
    if mode == GLOBAL:
        use_gap(used_a, i + 1, n, used_b, j + 1, p)
        use_gap(used_b, j + 1, m, used_a, n, p)
    elif mode != LOCAL:
        if n - i <= m - j:
            use_gap(used_a, i + 1, n, used_b, j + 1, p)
        else:
            use_gap(used_b, j + 1, m, used_a, i + 1, p)


@kernel
def spread_sums(pair, mode, v, log_z, share, used_a, used_b):
    """Write the probabilities of all states to share (3, n, m), with pairs in share[PAIR]. Return the entropy (2).

    used_a and used_b, as of_a and of_b: how often each of their scores is expected to be counted (TOTAL is scratch).
    """
    of_a, of_b = pair.of_a, pair.of_b
    n, m = v.shape[1], v.shape[2]
    share[:] = 0.0
    used_a[:] = 0.0
    used_b[:] = 0.0
    choice = score_empty(mode, of_a, of_b) - log_z
    p = math.exp(choice)
    entropy = 0.0
    if p > 0.0:
        entropy -= p * choice
        if mode == GLOBAL:
            use_gap(used_a, 0, n, used_b, 0, p)
            use_gap(used_b, 0, m, used_a, n, p)
    for i in range(n - 1, -1, -1):
        for j in range(m - 1, -1, -1):
            choice = v[PAIR, i, j] + score_after(mode, i, j, of_a, of_b) - log_z
            p = math.exp(choice)
            if p > 0.0:
                entropy -= p * choice
                share[PAIR, i, j] += p
                use_after(mode, i, j, used_a, used_b, p)
            if share[SKIP_B, i, j] > 0.0:
                for k in range(3):
                    choice = v[k, i, j - 1] + skip_b(of_a, of_b, i, j, k == SKIP_B) - v[SKIP_B, i, j]
                    p = share[SKIP_B, i, j] * math.exp(choice)
                    if p > 0.0:
                        entropy -= p * choice
                        share[k, i, j - 1] += p
                        used_b[EXTEND if k == SKIP_B else OPEN, j] += p
                        used_a[AT_EXTEND if k == SKIP_B else AT_OPEN, i + 1] += p
            if share[SKIP_A, i, j] > 0.0:
                for k in range(2):
                    choice = v[k, i - 1, j] + skip_a(of_a, of_b, i, j, k == SKIP_A) - v[SKIP_A, i, j]
                    p = share[SKIP_A, i, j] * math.exp(choice)
                    if p > 0.0:
                        entropy -= p * choice
                        share[k, i - 1, j] += p
                        used_a[EXTEND if k == SKIP_A else OPEN, i] += p
                        used_b[AT_EXTEND if k == SKIP_A else AT_OPEN, j + 1] += p
            if share[PAIR, i, j] > 0.0:
                rest = pair_score(pair, i, j) - v[PAIR, i, j]
                choice = score_before(mode, i, j, of_a, of_b) + rest
                p = share[PAIR, i, j] * math.exp(choice)
                if p > 0.0:
                    entropy -= p * choice
                    use_before(mode, i, j, used_a, used_b, p)
                if i > 0 and j > 0:
                    for k in range(3):
                        choice = v[k, i - 1, j - 1] + rest
                        p = share[PAIR, i, j] * math.exp(choice)
                        if p > 0.0:
                            entropy -= p * choice
                            share[k, i - 1, j - 1] += p
    for used in (used_a, used_b):
        behind = 0.0
        for t in range(used.shape[1] - 2, -1, -1):
            behind += used[TOTAL, t + 1]
            used[EXTEND, t] += behind
    return max(entropy, 0.0)


@kernel
def draw_alignment(pair, mode, v, log_z, uniforms, pairs):
    """Draw an alignment with its probability: its pairs are the last ones in `pairs`; return their number.

    Every choice takes one of the numbers between 0 and 1: at most one for every residue, and two.
    """
    of_a, of_b = pair.of_a, pair.of_b
    n, m = v.shape[1], v.shape[2]
    left_over, i, j = uniforms[0] - math.exp(score_empty(mode, of_a, of_b) - log_z), -1, -1
    for row in range(n):
        for column in range(m):
            if left_over < 0.0:
                break
            p = math.exp(v[PAIR, row, column] + score_after(mode, row, column, of_a, of_b) - log_z)
            if p > 0.0:  # the last possible one, if rounding leaves a remainder
                i, j = row, column
                left_over -= p
    top, state, drawn = len(pairs), PAIR, 1
    while i >= 0:
        left_over, came = uniforms[drawn], -1
        drawn += 1
        if state == PAIR:
            top -= 1
            pairs[top, 0], pairs[top, 1] = i, j
            rest = pair_score(pair, i, j) - v[PAIR, i, j]
            p = math.exp(score_before(mode, i, j, of_a, of_b) + rest)
            if p > 0.0:
                left_over -= p
            if i > 0 and j > 0:
                for k in range(3):
                    p = math.exp(v[k, i - 1, j - 1] + rest)
                    if p > 0.0 and left_over >= 0.0:
                        came = k
                        left_over -= p
            if came < 0:
                return len(pairs) - top
            i, j, state = i - 1, j - 1, came
        elif state == SKIP_A:
            for k in range(2):
                p = math.exp(v[k, i - 1, j] + skip_a(of_a, of_b, i, j, k == SKIP_A) - v[SKIP_A, i, j])
                if p > 0.0 and left_over >= 0.0:
                    came = k
                    left_over -= p
            i, state = i - 1, came
        else:
            for k in range(3):
                p = math.exp(v[k, i, j - 1] + skip_b(of_a, of_b, i, j, k == SKIP_B) - v[SKIP_B, i, j])
                if p > 0.0 and left_over >= 0.0:
                    came = k
                    left_over -= p
            j, state = j - 1, came
    return 0
