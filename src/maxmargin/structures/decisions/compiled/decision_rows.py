"""Loss-augmented costs of many examples, and rows of planes from the optimiser's answers.

The parts of example i are bounds[i] … bounds[i + 1] - 1 in arrays of all examples (truth, added). The other arrays
hold only the parts of the examples `ids`, concatenated.
"""

from __future__ import annotations

import numpy as np

from maxmargin.base.compiled.kernel import kernel


@kernel
def augment(costs, factor, added, bounds, ids, lam):
    """Set costs to factor · costs - λ · added, with one λ for each example."""
    at = 0
    for j in range(len(ids)):
        for p in range(bounds[ids[j]], bounds[ids[j] + 1]):
            costs[at] = factor * costs[at] - lam[j] * added[p]
            at += 1


@kernel
def difference_rows(costs, found, truth, added, bounds, ids, sign, factor, ends, indices, values, loss):
    """Write the rows sign · factor · (found - truth) over atoms, and the losses added·(found - truth).

    Returns False if an answer is worse than the truth at its costs or a loss is negative: the outputs are then invalid,
    and the caller must find out why.
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
