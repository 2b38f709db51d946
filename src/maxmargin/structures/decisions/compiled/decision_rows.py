"""Costs to ask an optimiser for, and rows of planes from its answers, of many examples in one call.

Parts of example i are bounds[i] … bounds[i + 1] - 1 in arrays of all examples (truth, added); arrays of the examples
that are asked for have theirs one after the other.
"""

from __future__ import annotations

import numpy as np

from maxmargin.base.compiled.kernel import kernel


@kernel
def augment(costs, factor, added, bounds, ids, lam):
    """costs <- factor · costs - λ · added, with one λ for each example."""
    at = 0
    for j in range(len(ids)):
        for p in range(bounds[ids[j]], bounds[ids[j] + 1]):
            costs[at] = factor * costs[at] - lam[j] * added[p]
            at += 1


@kernel
def difference_rows(costs, found, truth, added, bounds, ids, sign, factor, ends, indices, values, loss):
    """Rows sign · factor · (found - truth) over atoms, and losses added·(found - truth).

    Returns whether no answer is worse than the truth at its costs, and no loss is negative; otherwise somebody has to
    look closer, and what was written is worth nothing.
    """
    at = top = 0
    for j in range(len(ids)):
        ends[j] = top
        better = lost = 0.0
        for p in range(bounds[ids[j]], bounds[ids[j] + 1]):
            more = found[at] - truth[p]
            if more != 0.0:
                better -= sign * costs[at] * more
                lost += added[p] * more
                indices[top] = p
                values[top] = sign * factor * more
                top += 1
            at += 1
        if better < 0.0 or lost < 0.0:
            return False
        loss[j] = lost
    ends[len(ids)] = np.int32(top)
    return True
