"""Viterbi over label histories, for many sequences in one call; chain.py has the case of a single label before.

A history is the last k labels, or all at the beginning of a sequence; a step appends a label (step_arrays.py). With the
scores e[t, label] of units, g[p] of steps, f[h] of ends, and x[t, pair] of the pair of labels that a step ends with,

    v[0, root] = 0,    v[t + 1, h] = e[t, label(h)] + max over steps p into h of v[t, source(p)] + g[p] + x[t, pair(p)]

Steps between histories of k labels that share the labels in the middle form small tables (Blocks), which are processed
as vectors; if too few cells of a table are allowed, the allowed steps are visited one by one. As in chain.py, labels
are recovered backwards.
"""

from __future__ import annotations

import numpy as np

from maxmargin.base.compiled.kernel import kernel
from maxmargin.base.compiled.label_vectors import label_maxima
from maxmargin.inputs.labels.compiled.labelling import unit_differences


@kernel
def add_parts(w, parts, scores):
    """Add the sum of w at parts[p] to scores[p]."""
    for p in range(len(parts)):
        for n in range(parts.shape[1]):
            if parts[p, n] >= 0:
                scores[p] += w[parts[p, n]]


@kernel
def pair_scores(unit, pairs, weights, x):
    """Compute x of a unit."""
    for q in range(pairs.n_pairs):
        x[q] = 0.0
    for p in range(pairs.indptr[unit], pairs.indptr[unit + 1]):
        value, row = pairs.values[p], weights[pairs.places[p] : pairs.places[p] + pairs.n_pairs]
        for q in range(pairs.n_pairs):
            x[q] += value * row[q]


@kernel
def step_by_step(steps, g, targets, first, row, before, here, now):
    """Set now[h] to the best score of each of these histories, whose steps begin at begins[row + h - first]."""
    for i in range(len(targets)):
        h, high = targets[i], -np.inf
        for p in range(steps.begins[row + h - first], steps.begins[row + h - first + 1]):
            high = max(high, before[steps.source[p]] + g[p])
        now[h] = high + here[steps.label[h]]


@kernel
def in_tables(blocks, table, before, here, found, now):
    """Set now[h] to the best score of the histories of all blocks."""
    for i in range(len(blocks.first)):
        first, height, width = blocks.first[i], blocks.height[i], blocks.width[i]
        begin = blocks.begin[i]
        sources, cells = before[first : first + height], table[begin : begin + height * width]
        label_maxima(sources, np.uint64(height), cells, np.uint64(width), found)
        column = blocks.columns[i]
        targets, labels = blocks.target[column : blocks.columns[i + 1]], blocks.label[column:]
        for c in range(len(targets)):
            now[targets[c]] = found[c] + here[labels[c]]


@kernel
def fill_table(blocks, g, table):
    """Write the scores of steps to the cells of their tables, and -inf to the others."""
    table[:] = -np.inf
    for p in range(len(g)):
        if blocks.cell[p] >= 0:
            table[blocks.cell[p]] = g[p]


@kernel
def forward(e, units, scored, blocks, scratch, v):
    """Fill v with best path scores. scratch: x, a row of labels, all histories, scores of steps, the current table."""
    steps, g, pairs = scored.steps, scored.each, scored.pairs
    k = len(steps.rows) - 1
    x, found, everyone, plus, table = scratch
    v[0, 0] = 0.0
    for t in range(len(e)):
        level = min(t + 1, k)
        first, end = steps.levels[level], steps.levels[level + 1]
        before, now, here = v[t], v[t + 1], e[t]
        featured = t > 0 and pairs.n_pairs > 0
        if featured:
            pair_scores(units[t], pairs, scored.weights, x)
            if k == 1:  # the steps into a history have different pairs
                for p in range(steps.begins[steps.rows[1]], len(g)):
                    plus[p] = g[p] + x[steps.pair[p]]
                    if blocks.cell[p] >= 0:
                        table[blocks.cell[p]] = plus[p]
        if t < k:
            step_by_step(steps, g, everyone[first:end], first, steps.rows[t], before, here, now)
        else:
            step_by_step(
                steps, plus if featured and k == 1 else g, blocks.loose, first, steps.rows[k], before, here, now
            )
            in_tables(blocks, table, before, here, found, now)
        if featured and k > 1:
            for h in range(first, end):
                now[h] += x[steps.ending[h]]


@kernel
def trace_back(units, scored, x, v, labels):
    """Recover the labels of the best path through v, which `forward` has filled; return its score, -inf if none."""
    steps, g, f, pairs, weights = scored
    length, k = len(units), len(steps.rows) - 1
    level = min(length, k)
    now, best = np.int64(-1), -np.inf
    for h in range(steps.levels[level], steps.levels[level + 1]):
        if v[length, h] + f[h] > best:
            now, best = np.int64(h), v[length, h] + f[h]
    if now < 0:
        labels[:] = 0
        return best
    for t in range(length - 1, -1, -1):
        labels[t] = steps.label[now]
        row = steps.rows[min(t, k)] + now - steps.levels[min(t + 1, k)]
        featured = t > 0 and pairs.n_pairs > 0
        if featured:
            pair_scores(units[t], pairs, weights, x)
        chosen, high = steps.begins[row], -np.inf
        for p in range(steps.begins[row], steps.begins[row + 1]):
            value = v[t, steps.source[p]] + g[p]
            if featured:
                value += x[steps.pair[p]]
            if value > high:
                chosen, high = p, value
        now = np.int64(steps.source[chosen])
    return best


@kernel
def viterbi(scores, units, scored, blocks, bounds, scratch, v, labels, best):
    """Find the best labels and their score for every sequence bounds[j]:bounds[j + 1].

    v is scratch space for the histories of the longest sequence, with one row more.
    """
    fill_table(blocks, scored.each, scratch[4])
    for j in range(len(bounds) - 1):
        begin, end = bounds[j], bounds[j + 1]
        forward(scores[begin:end], units[begin:end], scored, blocks, scratch, v)
        best[j] = trace_back(units[begin:end], scored, scratch[0], v, labels[begin:end])


@kernel
def n_best(e, units, scored, x, n, v, come_step, come_rank, pointer, labels, best):
    """Find the n best label sequences of one sequence, best first, and return how many there are. See chain.n_best.

    pointer has a number for every step.
    """
    steps, g, f, pairs, weights = scored
    length, k = len(e), len(steps.rows) - 1
    v[0, 0, 0] = 0.0
    for t in range(length):
        level = min(t + 1, k)
        first = steps.levels[level]
        featured = t > 0 and pairs.n_pairs > 0
        if featured:
            pair_scores(units[t], pairs, weights, x)
        for h in range(first, steps.levels[level + 1]):
            row = steps.rows[min(t, k)] + h - first
            for p in range(steps.begins[row], steps.begins[row + 1]):
                pointer[p] = 0
            for r in range(n):
                chosen, high = -1, -np.inf
                for p in range(steps.begins[row], steps.begins[row + 1]):
                    if pointer[p] < n:
                        value = v[t, steps.source[p], pointer[p]] + g[p]
                        if featured:
                            value += x[steps.pair[p]]
                        if value > high:
                            chosen, high = p, value
                if chosen < 0:
                    break
                v[t + 1, h, r] = high + e[t, steps.label[h]]
                come_step[t + 1, h, r], come_rank[t + 1, h, r] = chosen, pointer[chosen]
                pointer[chosen] += 1
    level = min(length, k)
    first, end = steps.levels[level], steps.levels[level + 1]
    for h in range(end - first):
        pointer[h] = 0
    for r in range(n):
        now, high = np.int64(-1), -np.inf
        for h in range(first, end):
            if pointer[h - first] < n and v[length, h, pointer[h - first]] + f[h] > high:
                now, high = np.int64(h), v[length, h, pointer[h - first]] + f[h]
        if now < 0:
            return r
        best[r] = high
        rank = pointer[now - first]
        pointer[now - first] += 1
        for t in range(length - 1, -1, -1):
            labels[r, t] = steps.label[now]
            step, rank = come_step[t + 1, now, rank], come_rank[t + 1, now, rank]
            now = np.int64(steps.source[step])
    return n


@kernel
def first_refused(steps, n_labels, bounds, labels):
    """Return the first position whose label may not follow, or may not be the last one; -1 if there is none.

    Labels from n_labels on denote missing ones: the rest of such a sequence is not checked.
    """
    for j in range(len(bounds) - 1):
        now = np.int64(0)
        for t in range(bounds[j], bounds[j + 1]):
            if labels[t] >= n_labels:
                now = np.int64(-1)
                break
            step = steps.follow[now, labels[t]]
            if step < 0:
                return t
            now = np.int64(steps.target[step])
        if now > 0 and steps.closed[now] != 0.0:
            return bounds[j + 1] - 1
    return np.int64(-1)


@kernel
def add_paths(steps, pairs, first_pair, units, labels, bounds, weights, total):
    """Add Σ_j weights[j] · the features of steps, ends and pairs of sequence j to total."""
    for j in range(len(bounds) - 1):
        now = np.int64(0)
        for t in range(bounds[j], bounds[j + 1]):
            step = steps.follow[now, labels[t]]
            for n in range(steps.parts.shape[1]):
                if steps.parts[step, n] >= 0:
                    total[steps.parts[step, n]] += weights[j]
            if t > bounds[j] and pairs.n_pairs > 0:
                for p in range(pairs.indptr[units[t]], pairs.indptr[units[t] + 1]):
                    total[first_pair + pairs.places[p] + steps.pair[step]] += weights[j] * pairs.values[p]
            now = np.int64(steps.target[step])
        for n in range(steps.ends.shape[1]):
            if steps.ends[now, n] >= 0:
                total[steps.ends[now, n]] += weights[j]


@kernel
def count_paths(steps, pairs, units, labels, bounds, weights, taken, ended, featured):
    """Add weights[j] for every step and end of sequence j, and weights[j] times its features of pairs."""
    for j in range(len(bounds) - 1):
        now = np.int64(0)
        for t in range(bounds[j], bounds[j + 1]):
            step = steps.follow[now, labels[t]]
            taken[step] += weights[j]
            if t > bounds[j] and pairs.n_pairs > 0:
                for p in range(pairs.indptr[units[t]], pairs.indptr[units[t] + 1]):
                    featured[pairs.places[p] + steps.pair[step]] += weights[j] * pairs.values[p]
            now = np.int64(steps.target[step])
        ended[now] += weights[j]


@kernel
def path_scores(scored, units, labels, bounds, scores):
    """Add the scores of the steps, the end and the pairs of sequence j to scores[j]."""
    steps, g, f, pairs, weights = scored
    for j in range(len(bounds) - 1):
        now = np.int64(0)
        for t in range(bounds[j], bounds[j + 1]):
            step = steps.follow[now, labels[t]]
            scores[j] += g[step]
            if t > bounds[j] and pairs.n_pairs > 0:
                for p in range(pairs.indptr[units[t]], pairs.indptr[units[t] + 1]):
                    scores[j] += pairs.values[p] * weights[pairs.places[p] + steps.pair[step]]
            now = np.int64(steps.target[step])
        scores[j] += f[now]


@kernel
def different_parts(right, wrong, indices, values, top):
    """Append the weights that only one of two steps (or ends) has."""
    for n in range(len(right)):
        if right[n] != wrong[n]:
            if right[n] >= 0:
                indices[top], values[top] = right[n], 1.0
                top += 1
            if wrong[n] >= 0:
                indices[top], values[top] = wrong[n], -1.0
                top += 1
    return top


@kernel
def step_differences(steps, pairs, first_pair, begin, end, given, found, rows, top):
    """Append the features of steps, ends and pairs of the true labels minus those of the found ones."""
    now, other = np.int64(0), np.int64(0)
    units, indices, values = given.units, rows.indices, rows.values
    for t in range(begin, end):
        p, q = steps.follow[now, given.truth[t]], steps.follow[other, found[t]]
        now, other = np.int64(steps.target[p]), np.int64(steps.target[q])
        if p != q:
            top = different_parts(steps.parts[p], steps.parts[q], indices, values, top)
            if t > begin and pairs.n_pairs > 0 and steps.pair[p] != steps.pair[q]:
                for i in range(pairs.indptr[units[t]], pairs.indptr[units[t] + 1]):
                    at = first_pair + pairs.places[i]
                    indices[top], values[top] = at + steps.pair[p], pairs.values[i]
                    indices[top + 1], values[top + 1] = at + steps.pair[q], -pairs.values[i]
                    top += 2
    return different_parts(steps.ends[now], steps.ends[other], indices, values, top)


@kernel
def differences(steps, pairs, first_pair, given, found, rows):
    """Write Ψ(x, truth) - Ψ(x, found) of every example as rows over atoms, with its loss; see labelling.differences."""
    top = np.int64(0)
    for j in range(len(given.bounds) - 1):
        begin, end = given.bounds[j], given.bounds[j + 1]
        top = step_differences(steps, pairs, first_pair, begin, end, given, found, rows, top)
        top, rows.offset[j] = unit_differences(given, begin, end, found, rows, top)
        rows.indptr[j + 1] = top
