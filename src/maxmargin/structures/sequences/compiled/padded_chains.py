"""Losses of label sequences in padded batches, with their gradients, in one call for many sequences.

The rows of a batch may be of float32; all sums are computed in float64. Sequences are processed in blocks, whose
gradients with respect to shared scores are added up separately, so that results do not depend on which thread works on
which block. Notation as in chain.py and chain_sums.py.
"""

from __future__ import annotations

import math

import numpy as np

from maxmargin.base.compiled.kernel import kernel
from maxmargin.base.compiled.label_vectors import label_maxima
from maxmargin.base.compiled.log_sums import log_sum
from maxmargin.structures.sequences.compiled.chain import viterbi
from maxmargin.structures.sequences.compiled.chain_sums import chain_sums


@kernel
def gather(given, truth, augment, factor, first, last, scratch):
    """Write factor · (scores + augment · costs) of the sequences first:last in a row, and their bounds."""
    begin = given.bounds[first]
    n_labels = given.unary.shape[1]
    for j in range(first, last + 1):
        scratch.bounds[j - first] = given.bounds[j] - begin
    for i in range(begin, given.bounds[last]):
        row, own = given.unary[given.rows[i]], scratch.scores[i - begin]
        for k in range(n_labels):
            own[k] = row[k]
        if augment != 0.0:
            price, weight = truth.cost[truth.labels[i]], augment * truth.factors[i]
            for k in range(n_labels):
                own[k] += weight * price[k]
        if factor != 1.0:
            for k in range(n_labels):
                own[k] *= factor


@kernel
def total(given, labels, j):
    """Return the score of the labels of sequence j."""
    begin, end = given.bounds[j], given.bounds[j + 1]
    value = given.start[labels[begin]] + given.end[labels[end - 1]]
    for i in range(begin, end):
        value += given.unary[given.rows[i], labels[i]]
        if i > begin:
            step = given.rows[i] if len(given.transitions) > 1 else 0
            value += given.transitions[step, labels[i - 1], labels[i]]
    return value


@kernel
def count(given, labels, j, weight, block, gradient):
    """Add weight times the number of uses of every score by the labels of sequence j."""
    begin, end = given.bounds[j], given.bounds[j + 1]
    gradient.start[block, labels[begin]] += weight
    gradient.end[block, labels[end - 1]] += weight
    for i in range(begin, end):
        gradient.unary[given.rows[i], labels[i]] += weight
        if i > begin:
            step = given.rows[i] if len(given.transitions) > 1 else block
            gradient.transitions[step, labels[i - 1], labels[i]] += weight


@kernel
def step_viterbi(given, first, last, scratch, labels, best):
    """Find the best labels of the sequences first:last, where every step has transition scores of its own."""
    begin, n_labels = given.bounds[first], given.unary.shape[1]
    K, v = np.uint64(n_labels), scratch.table[0]
    for j in range(first, last):
        a, n = given.bounds[j], given.bounds[j + 1] - given.bounds[j]
        for t in range(n):
            e, now = scratch.scores[a - begin + t], v[t]
            if t == 0:
                for k in range(n_labels):
                    now[k] = given.start[k]
            elif n_labels > 1:
                label_maxima(v[t - 1], K, given.transitions[given.rows[a + t]], K, now)
            else:
                now[0] = v[t - 1, 0] + given.transitions[given.rows[a + t], 0, 0]
            for k in range(n_labels):
                now[k] += e[k]
        label, high = 0, -np.inf
        for k in range(n_labels):
            if v[n - 1, k] + given.end[k] > high:
                label, high = k, v[n - 1, k] + given.end[k]
        best[j] = high
        labels[a + n - 1] = label
        for t in range(n - 2, -1, -1):
            T, now_label = given.transitions[given.rows[a + t + 1]], labels[a + t + 1]
            label, high = 0, -np.inf
            for k in range(n_labels):
                if v[t, k] + T[k, now_label] > high:
                    label, high = k, v[t, k] + T[k, now_label]
            labels[a + t] = label


@kernel
def hinge_blocks(given, truth, augment, weights, blocks, first, last, scratch, values, labels, gradient):
    """Find the best labels of the sequences of the blocks first:last with augment times the loss, and their values.

    If truths are known, the values are those of the hinge: the scores of the truths are subtracted. Unless it is empty,
    weights[j] times the gradient of the value of sequence j is added to `gradient`.
    """
    for block in range(first, last):
        low, high = blocks[block], blocks[block + 1]
        if low == high:
            continue
        gather(given, truth, augment, 1.0, low, high, scratch)
        if len(given.transitions) > 1:
            step_viterbi(given, low, high, scratch, labels, values)
        else:
            own, bounds = labels[given.bounds[low] : given.bounds[high]], scratch.bounds[: high - low + 1]
            T, v = given.transitions[0], scratch.table[0]
            viterbi(scratch.scores, T, given.start, given.end, bounds, v, own, values[low:high])
        for j in range(low, high):
            if len(truth.labels):
                values[j] -= total(given, truth.labels, j)
            if len(gradient.unary) and weights[j] != 0.0:
                count(given, labels, j, weights[j], block, gradient)
                if len(truth.labels):
                    count(given, truth.labels, j, -weights[j], block, gradient)


@kernel
def step_sums(given, b, first, last, weights, scratch, log_z, gradient):
    """Compute log Z and the probabilities of labels, where every step has transition scores of its own.

    The probabilities of the steps, times weights[j], are added to the gradient unless it is empty.
    """
    begin, K, row = given.bounds[first], given.unary.shape[1], scratch.row
    alpha, beta = scratch.table[0], scratch.table[1]
    for j in range(first, last):
        at, n = given.bounds[j], given.bounds[j + 1] - given.bounds[j]
        e = scratch.scores[at - begin : at - begin + n]
        for k in range(K):
            alpha[0, k] = b * given.start[k] + e[0, k]
            beta[n - 1, k] = b * given.end[k]
        for t in range(1, n):
            T = given.transitions[given.rows[at + t]]
            for k in range(K):
                for i in range(K):
                    row[i] = alpha[t - 1, i] + b * T[i, k]
                alpha[t, k] = log_sum(row) + e[t, k]
        for t in range(n - 2, -1, -1):
            T = given.transitions[given.rows[at + t + 1]]
            for i in range(K):
                for k in range(K):
                    row[k] = b * T[i, k] + e[t + 1, k] + beta[t + 1, k]
                beta[t, i] = log_sum(row)
        for k in range(K):
            row[k] = alpha[n - 1, k] + beta[n - 1, k]
        log_z[j] = log_sum(row)
        for t in range(n):
            for k in range(K):
                scratch.shares[at - begin + t, k] = math.exp(alpha[t, k] + beta[t, k] - log_z[j])
        if len(gradient.unary):
            for t in range(1, n):
                step = given.rows[at + t]
                T, into = given.transitions[step], gradient.transitions[step]
                for i in range(K):
                    for k in range(K):
                        p = math.exp(alpha[t - 1, i] + b * T[i, k] + e[t, k] + beta[t, k] - log_z[j])
                        into[i, k] += weights[j] * p


@kernel
def spread_shares(given, first, last, weights, block, scratch, gradient):
    """Add weights[j] times the probabilities of labels to the gradient."""
    begin, K = given.bounds[first], given.unary.shape[1]
    for j in range(first, last):
        a, z = given.bounds[j], given.bounds[j + 1]
        for i in range(a, z):
            into, p = gradient.unary[given.rows[i]], scratch.shares[i - begin]
            for k in range(K):
                into[k] += weights[j] * p[k]
        for k in range(K):
            gradient.start[block, k] += weights[j] * scratch.shares[a - begin, k]
            gradient.end[block, k] += weights[j] * scratch.shares[z - 1 - begin, k]


@kernel
def soft_blocks(given, truth, soft, augment, weights, blocks, first, last, scratch, values, gradient):
    """Compute the smooth maxima of the sequences of the blocks first:last, as hinge_blocks does the maxima."""
    b, K = soft.sharpness, given.unary.shape[1]
    shared = len(given.transitions) == 1
    for block in range(first, last):
        low, high = blocks[block], blocks[block + 1]
        if low == high:
            continue
        gather(given, truth, augment, b, low, high, scratch)
        if shared:
            begin, bounds = given.bounds[low], scratch.bounds[: high - low + 1]
            n = given.bounds[high] - begin
            own = weights[low:high] if len(gradient.unary) else weights[:0]
            pairs = scratch.pairs if len(gradient.unary) else scratch.pairs[:0]
            pairs[:] = 0.0
            chain_sums(
                scratch.scores[:n], soft.links, soft.masses, soft.spread, soft.steps, bounds, own, scratch.sums,
                values[low:high], scratch.shares[:n], pairs,
            )  # fmt: skip
            if len(gradient.unary):
                for i in range(K):
                    for k in range(K):
                        gradient.transitions[block, i, k] += pairs[i, k]
        else:
            step_sums(given, b, low, high, weights, scratch, values, gradient)
        if len(gradient.unary):
            spread_shares(given, low, high, weights, block, scratch, gradient)
        for j in range(low, high):
            values[j] /= b
            if len(truth.labels):
                values[j] -= total(given, truth.labels, j)
                if len(gradient.unary):
                    count(given, truth.labels, j, -weights[j], block, gradient)
