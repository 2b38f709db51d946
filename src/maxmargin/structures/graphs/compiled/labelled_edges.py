"""Edges of a labelled graph: sums of their features by the labels of their two ends."""

from __future__ import annotations

from maxmargin.base.compiled.kernel import kernel


@kernel
def edge_differences(edges, features, truth, found, total):
    """Add to `total` the edge features of the true labels minus those of the found ones.

    Feature g of an edge whose ends have the labels k and l counts at total[g, k, l]. An edge whose ends are both right
    adds nothing, not even rounding.
    """
    for e in range(len(edges)):
        i, j = edges[e, 0], edges[e, 1]
        if truth[i] != found[i] or truth[j] != found[j]:
            for g in range(features.shape[1]):
                total[g, truth[i], truth[j]] += features[e, g]
                total[g, found[i], found[j]] -= features[e, g]
