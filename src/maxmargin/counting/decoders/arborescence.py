"""The tree of arcs away from a root with the highest score."""

from __future__ import annotations

import numpy as np

from maxmargin.base.arrays import Array, Index


def best_heads(scores: Array) -> Index:
    """Return the tails of the arcs into nodes 1 … n-1 of the tree from node 0 with the highest sum of scores.

    scores : (n, n); scores[h, m] is the score of the arc from h to m, -inf if there is none. All nodes can be reached
        from node 0. Column 0 and the diagonal are not read.
    """
    from maxmargin.structures.dependencies.compiled.arborescence import best_arborescence, contraction

    n = len(scores) - 1
    scratch, heads = contraction(n), np.empty(n, dtype=np.int32)
    scratch.scores[:] = scores
    best_arborescence(n, False, scratch, heads)
    return heads.astype(np.intp)
