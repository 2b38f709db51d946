"""Sums over all assignments of a sum of tables (elimination.py finds the best one, with the same arguments).

A step's message is the logarithm of a sum over the removed variable instead of a maximum. Going back through the steps,
the *count* of a message's entry is the probability of that assignment of the scope; it is distributed over the values
of the removed variable in proportion to their shares of the sum, and from there over the entries of the step's tables.
The counts of the given tables are their probabilities. On a forest this is the sum-product algorithm.
"""

from __future__ import annotations

import math

from maxmargin.base.compiled.kernel import kernel
from maxmargin.base.compiled.log_sums import draw, log_sum


@kernel
def begin(start, last, base, size, offsets, digits):
    """Go to the first assignment of a scope."""
    for t in range(start, last):
        offsets[t - start] = base[t]
    for d in range(size):
        digits[d] = 0


@kernel
def count_on(start, last, size, n_labels, tables, offsets, digits):
    """Go to the next assignment of a scope; the last digit is the fastest."""
    for d in range(size - 1, -1, -1):
        digits[d] += 1
        turn = 1
        if digits[d] == n_labels:
            digits[d] = 0
            turn = 1 - n_labels
        for t in range(start, last):
            offsets[t - start] += turn * tables.strides[tables.stride_bounds[t] + d]
        if turn == 1:
            break


@kernel
def add_tables(scores, start, last, offsets, own, row):
    """Set row[k] to the sum of a step's tables at an assignment of its scope and value k of the removed variable."""
    for k in range(len(row)):
        row[k] = 0.0
    for t in range(start, last):
        at = offsets[t - start]
        for k in range(len(row)):
            row[k] += scores[at]
            at += own[t]


@kernel
def sum_out(scores, n_labels, tables, offsets, digits, row):
    """Write all messages; return log Σ exp of all assignments. Scratch: row, (K,); the others as in `eliminate`."""
    scope_bounds, levels, own, message = tables.scope_bounds, tables.levels, tables.own, tables.message
    total = 0.0
    for step in range(len(tables.variables)):
        size = scope_bounds[step + 1] - scope_bounds[step]
        level = scope_bounds[step] + step
        start, last = levels[level], levels[level + size + 1]
        begin(start, last, tables.base, size, offsets, digits)
        for at in range(n_labels**size):
            add_tables(scores, start, last, offsets, own, row)
            scores[message[step] + at] = log_sum(row)
            count_on(start, last, size, n_labels, tables, offsets, digits)
        if size == 0:
            total += scores[message[step]]
    return total


@kernel
def share_out(scores, n_labels, tables, offsets, digits, row, counts):
    """Add probabilities to counts, which are like scores and 0 before; return the entropy, which is a sum, too."""
    scope_bounds, levels, own, message = tables.scope_bounds, tables.levels, tables.own, tables.message
    entropy = 0.0
    for step in range(len(tables.variables) - 1, -1, -1):
        size = scope_bounds[step + 1] - scope_bounds[step]
        level = scope_bounds[step] + step
        start, last = levels[level], levels[level + size + 1]
        begin(start, last, tables.base, size, offsets, digits)
        for at in range(n_labels**size):
            whole = 1.0 if size == 0 else counts[message[step] + at]
            if whole > 0.0:
                add_tables(scores, start, last, offsets, own, row)
                for k in range(n_labels):
                    share = math.exp(row[k] - scores[message[step] + at])
                    if share > 0.0:
                        entropy -= whole * share * math.log(share)
                        for t in range(start, last):
                            counts[offsets[t - start] + k * own[t]] += whole * share
            count_on(start, last, size, n_labels, tables, offsets, digits)
    return entropy


@kernel
def draw_labels(scores, n_labels, tables, offsets, row, uniforms, labels):
    """Draw labels[r] of every variable with the uniform numbers of row r, one per step, after `sum_out`."""
    scopes, scope_bounds, levels = tables.scopes, tables.scope_bounds, tables.levels
    strides, stride_bounds = tables.strides, tables.stride_bounds
    for r in range(len(labels)):
        for step in range(len(tables.variables) - 1, -1, -1):
            size = scope_bounds[step + 1] - scope_bounds[step]
            level = scope_bounds[step] + step
            start, last = levels[level], levels[level + size + 1]
            for t in range(start, last):
                offsets[t - start] = tables.base[t]
                for d in range(size):
                    offsets[t - start] += labels[r, scopes[scope_bounds[step] + d]] * strides[stride_bounds[t] + d]
            add_tables(scores, start, last, offsets, tables.own, row)
            labels[r, tables.variables[step]] = draw(row, uniforms[r, step])
