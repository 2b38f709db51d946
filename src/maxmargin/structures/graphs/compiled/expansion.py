"""α-expansion: moves in which any set of nodes may take one label α, each found by a cut.

The choice between keeping a label (0) and taking α (1) is a problem with two labels. Nodes that roof duality decides
are moved, the others keep their labels; this never lowers the score (the decided labels are an autarky, Boros and
Hammer 2002), and it is the best move if all edges of the move prefer equal labels.
"""

from __future__ import annotations

from maxmargin.base.compiled.kernel import kernel
from maxmargin.structures.graphs.compiled.two_labels import roof_dual, single_cut


@kernel
def move_scores(unary, edges, pair, labels, alpha, move_unary, move_pair):
    """Write the two-label problem of a move."""
    for i in range(len(unary)):
        move_unary[i, 0] = unary[i, labels[i]]
        move_unary[i, 1] = unary[i, alpha]
    for e in range(len(edges)):
        k, m = labels[edges[e, 0]], labels[edges[e, 1]]
        move_pair[e, 0, 0] = pair[e, k, m]
        move_pair[e, 0, 1] = pair[e, k, alpha]
        move_pair[e, 1, 0] = pair[e, alpha, m]
        move_pair[e, 1, 1] = pair[e, alpha, alpha]


@kernel
def move_gain(edges, move_unary, move_pair, decided):
    """Return the increase of the score if the nodes with decided[i] == 1 move, summed over the terms that change."""
    gain = 0.0
    for i in range(len(move_unary)):
        if decided[i] == 1:
            gain += move_unary[i, 1] - move_unary[i, 0]
    for e in range(len(edges)):
        k, m = decided[edges[e, 0]] == 1, decided[edges[e, 1]] == 1
        if k or m:
            gain += move_pair[e, int(k), int(m)] - move_pair[e, 0, 0]
    return gain


@kernel
def expand(unary, edges, pair, arcs, least, labels, move_unary, move_pair, cut, decided):
    """Move the labels, one α after another, until no α gains more than `least`; return the number of moves tried.

    Scratch: move_unary (N, 2), move_pair (E, 2, 2), decided (N,), and the CutArrays `cut`.
    """
    n_nodes, n_labels = unary.shape
    tried, idle, alpha = 0, 0, 0
    while idle < n_labels:
        move_scores(unary, edges, pair, labels, alpha, move_unary, move_pair)
        n_turned = single_cut(move_unary, edges, move_pair, arcs, cut, decided)
        if n_turned > 0:
            roof_dual(move_unary, edges, move_pair, arcs, cut, decided)
        if move_gain(edges, move_unary, move_pair, decided) > least:
            for i in range(n_nodes):
                if decided[i] == 1:
                    labels[i] = alpha
            idle = 0 if n_turned > 0 else 1  # after the best move, the same α cannot gain more
        else:
            idle += 1
        tried += 1
        alpha = (alpha + 1) % n_labels
    return tried
