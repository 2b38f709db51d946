"""Exact maximisation of a sum of tables by eliminating one variable after another.

Each step removes a variable: the sum of all tables that contain it is maximised over it, for every assignment of the
other variables in these tables (its scope), and the maxima form a new table, the step's message. Going back through the
steps, the assignment of each scope is known, and with it the best value of the variable.

The assignments of a scope are enumerated like the digits of a number. A table belongs to the level of its last
digit: level 0 contains the eliminated variable only, level d + 1 depends on digit d and on none behind it. Sums are
kept by level, so that the next assignment adds only the tables of the levels that it changes, mostly of the last.
"""

from __future__ import annotations

from maxmargin.base.compiled.kernel import kernel


@kernel
def add_level(scores, first, last, start, offsets, own, n_labels, totals, level):
    """Compute the sums of one level for all values of the eliminated variable: the level before plus its own tables."""
    for k in range(n_labels):
        totals[level, k] = totals[level - 1, k] if level > 0 else 0.0
    for t in range(first, last):
        at, step = offsets[t - start], own[t]
        for k in range(n_labels):
            totals[level, k] += scores[at]
            at += step


@kernel
def best_of_last_level(scores, first, last, start, offsets, own, n_labels, totals, level):
    """Return the maximum over the eliminated variable of the sums of the last level."""
    if last - first != 1:
        add_level(scores, first, last, start, offsets, own, n_labels, totals, level)
        best = totals[level, 0]
        for k in range(1, n_labels):
            if totals[level, k] > best:
                best = totals[level, k]
        return best
    at, step = offsets[first - start], own[first]  # usually there is one table, and its sums need not be written
    best = totals[level - 1, 0] + scores[at] if level > 0 else scores[at]
    for k in range(1, n_labels):
        at += step
        total = totals[level - 1, k] + scores[at] if level > 0 else scores[at]
        if total > best:
            best = total
    return best


@kernel
def eliminate(scores, n_labels, tables, offsets, digits, totals, labels):
    """Find the assignment with the highest sum of tables; return that sum.

    `scores` has all tables one after another, followed by space for the messages; `tables` is EliminationTables.
    Scratch: offsets, as many as a step has tables; digits, as many as a scope has variables; totals, of that many rows
    and one more, (…, K).
    """
    scope_bounds, levels, base, own = tables.scope_bounds, tables.levels, tables.base, tables.own
    strides, stride_bounds, message = tables.strides, tables.stride_bounds, tables.message
    n_steps = len(tables.variables)
    total = 0.0
    for step in range(n_steps):
        size = scope_bounds[step + 1] - scope_bounds[step]
        level = scope_bounds[step] + step  # level d of this step is levels[level + d]
        start, last = levels[level], levels[level + size + 1]
        for t in range(start, last):
            offsets[t - start] = base[t]
        rows = 1
        for d in range(size):
            digits[d] = 0
            rows *= n_labels
        changed = 0
        for row in range(rows):
            for d in range(changed, size):
                add_level(scores, levels[level + d], levels[level + d + 1], start, offsets, own, n_labels, totals, d)
            best = best_of_last_level(scores, levels[level + size], last, start, offsets, own, n_labels, totals, size)
            scores[message[step] + row] = best
            changed = size
            while changed > 0:  # next assignment: digit d = changed - 1
                d = changed - 1
                digits[d] += 1
                turn = 1
                if digits[d] == n_labels:
                    digits[d] = 0
                    turn = 1 - n_labels
                for t in range(levels[level + changed], last):
                    offsets[t - start] += turn * strides[stride_bounds[t] + d]
                if turn == 1:
                    break
                changed -= 1
        if size == 0:
            total += scores[message[step]]
    for step in range(n_steps - 1, -1, -1):
        size = scope_bounds[step + 1] - scope_bounds[step]
        level = scope_bounds[step] + step
        start, last = levels[level], levels[level + size + 1]
        for t in range(start, last):
            offsets[t - start] = base[t]
            for d in range(size):
                offsets[t - start] += labels[tables.scopes[scope_bounds[step] + d]] * strides[stride_bounds[t] + d]
        add_level(scores, start, last, start, offsets, own, n_labels, totals, 0)
        best = 0
        for k in range(1, n_labels):
            if totals[0, k] > totals[0, best]:
                best = k
        labels[tables.variables[step]] = best
    return total
