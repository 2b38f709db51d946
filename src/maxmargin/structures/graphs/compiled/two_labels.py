"""Labellings with two labels as cuts: the minimum cut, and roof duality where edges prefer different labels.

A table p of two by two scores is a sum over its two nodes and one number for nodes that differ,

    p[k, l] = p[0, 0] + (p[1, 0] - p[0, 0] + f) k + (p[1, 1] - p[1, 0] - f) l - (c - f) [k=0, l=1] - f [k=1, l=0],

with c = p[0, 0] + p[1, 1] - p[0, 1] - p[1, 0] and any f. If c >= 0, the last two terms are arcs of capacity f and c - f
between the nodes, flow along them changes f, and label 1 is the side of the source. If c < 0, the same is written with
the label of the second node flipped (`turned`): the arcs then lead to the second node's opposite.

Roof duality (Hammer, Hansen and Simeone 1984; Boros, Hansen and Hammer) gives every node i an opposite at number N + i
and every arc a mirror image. A node on the source's side whose opposite is on the sink's is decided, and has that
label in some best labelling; if no edge is turned, the two halves are equal and one of them is enough.
"""

from __future__ import annotations

from maxmargin.base.compiled.kernel import kernel
from maxmargin.structures.graphs.compiled.cut_arrays import CutArrays
from maxmargin.structures.graphs.compiled.max_flow import SINK, SOURCE, components, max_flow
from maxmargin.structures.graphs.compiled.sorted_arcs import SortedArcs

RELATIVE_TOL = 1e-14  # rounding errors: of capacities relative to the largest, of an edge relative to its scores


@kernel
def split_tables(unary, edges, pair, gain, weight, turned):
    """Write the scores of two labels as gains of label 1 and weights |c| of edges, at f = |c| / 2.

    Return the largest of all these numbers, and the number of turned edges.
    """
    largest = 0.0
    n_turned = 0
    for i in range(len(unary)):
        gain[i] = unary[i, 1] - unary[i, 0]
    for e in range(len(edges)):
        c = (pair[e, 0, 0] - pair[e, 0, 1]) + (pair[e, 1, 1] - pair[e, 1, 0])
        scale = abs(pair[e, 0, 0]) + abs(pair[e, 0, 1]) + abs(pair[e, 1, 0]) + abs(pair[e, 1, 1])
        if abs(c) <= RELATIVE_TOL * scale:  # only rounding: this edge has no preference
            c = 0.0
        i, j = edges[e, 0], edges[e, 1]
        if c >= 0:
            turned[e] = 0
            weight[e] = c
            gain[i] += pair[e, 1, 0] - pair[e, 0, 0] + c / 2
            gain[j] += pair[e, 1, 1] - pair[e, 1, 0] - c / 2
        else:
            turned[e] = 1
            n_turned += 1
            weight[e] = -c
            gain[i] += pair[e, 1, 1] - pair[e, 0, 1] - c / 2
            gain[j] -= pair[e, 1, 0] - pair[e, 1, 1] + c / 2
        largest = max(largest, weight[e])
    for i in range(len(unary)):
        largest = max(largest, abs(gain[i]))
    return largest, n_turned


@kernel
def double(edges, arcs, cut):
    """Write the graph with the opposites of all nodes; arc numbers of an opposite are those of its node plus 2E."""
    gain, weight, turned, capacity, supply = cut.gain, cut.weight, cut.turned, cut.capacity, cut.supply
    bounds, head2, reverse2 = cut.bounds, cut.head, cut.reverse
    n_nodes, n_edges = len(gain), len(weight)
    n_arcs = 2 * n_edges
    for i in range(n_nodes):
        bounds[i] = arcs.bounds[i]
        bounds[n_nodes + i] = n_arcs + arcs.bounds[i]
        supply[i] = gain[i]
        supply[n_nodes + i] = -gain[i]
    bounds[2 * n_nodes] = 2 * n_arcs
    for e in range(n_edges):
        i, j = edges[e, 0], edges[e, 1]
        a = arcs.forward[e]
        b = arcs.reverse[a]
        over = n_nodes if turned[e] else 0  # from a node to an opposite
        arcs_over = n_arcs if turned[e] else 0
        head2[a] = j + over
        head2[b] = i + over
        head2[n_arcs + a] = n_nodes + j - over
        head2[n_arcs + b] = n_nodes + i - over
        reverse2[a] = b + arcs_over
        reverse2[b] = a + arcs_over
        reverse2[n_arcs + a] = n_arcs + b - arcs_over
        reverse2[n_arcs + b] = n_arcs + a - arcs_over
        half = weight[e] / 2
        capacity[a] = half
        capacity[b] = half
        capacity[n_arcs + a] = half
        capacity[n_arcs + b] = half


@kernel
def mirror(reverse, forward, turned, capacity):
    """Give every arc and its mirror image the mean of their residual capacities."""
    n_edges = len(forward)
    n_arcs = 2 * n_edges
    for e in range(n_edges):
        a = forward[e]
        b = reverse[a]
        if turned[e]:
            mean = (capacity[a] + capacity[b]) / 2
            back = (capacity[n_arcs + a] + capacity[n_arcs + b]) / 2
            capacity[a] = capacity[b] = mean
            capacity[n_arcs + a] = capacity[n_arcs + b] = back
        else:
            mean = (capacity[a] + capacity[n_arcs + b]) / 2
            back = (capacity[b] + capacity[n_arcs + a]) / 2
            capacity[a] = capacity[n_arcs + b] = mean
            capacity[b] = capacity[n_arcs + a] = back


@kernel
def single_cut(unary, edges, pair, arcs, cut, decided):
    """Find the best labelling if no edge is turned; return the number of turned edges, and stop if there are any.

    The label of every node is written to `decided`. The capacity of an edge's forward arc is its f. `arcs` is
    SortedArcs and `cut` CutArrays, or plain tuples of the same.
    """
    arcs, cut = SortedArcs(*arcs), CutArrays(*cut)
    n_nodes, weight, capacity = len(unary), cut.weight, cut.capacity
    largest, n_turned = split_tables(unary, edges, pair, cut.gain, weight, cut.turned)
    if n_turned > 0:
        return n_turned
    for e in range(len(edges)):
        a = arcs.forward[e]
        capacity[a] = weight[e] / 2
        capacity[arcs.reverse[a]] = weight[e] / 2
    max_flow(n_nodes, arcs.bounds, arcs.head, arcs.reverse, cut.gain, capacity, RELATIVE_TOL * largest, cut.work)
    for i in range(n_nodes):
        decided[i] = 1 if cut.work[0, i] == SOURCE else 0
    return 0


@kernel
def flow_messages(pair, forward, turned, capacity, messages):
    """Write the scores that a flow moves from an edge to its nodes, see PairwiseModel.bound."""
    for e in range(len(pair)):
        f = capacity[forward[e]]
        t = turned[e]
        messages[e, 0, 0] = 0.0
        messages[e, 0, 1] = pair[e, 1, t] - pair[e, 0, t] + f
        messages[e, 1, t] = 0.0
        messages[e, 1, 1 - t] = pair[e, 1, 1 - t] - pair[e, 1, t] - f


@kernel
def roof_dual(unary, edges, pair, arcs, cut, decided):
    """Decide nodes by roof duality: `decided` is 0, 1, or -1 where both labels are still possible.

    A node is undecided only where every solution of the relaxation halves it. The capacity of an edge's forward arc is
    its f. `arcs` is SortedArcs and `cut` CutArrays, or plain tuples of the same.
    """
    arcs, cut = SortedArcs(*arcs), CutArrays(*cut)
    n_nodes, capacity, work = len(unary), cut.capacity, cut.work
    largest, _ = split_tables(unary, edges, pair, cut.gain, cut.weight, cut.turned)
    double(edges, arcs, cut)
    tol = RELATIVE_TOL * largest
    max_flow(2 * n_nodes, cut.bounds, cut.head, cut.reverse, cut.supply, capacity, tol, work)
    tree, n_undecided = work[0], 0
    for i in range(n_nodes):
        one = tree[i] == SOURCE or tree[n_nodes + i] == SINK
        zero = tree[i] == SINK or tree[n_nodes + i] == SOURCE
        decided[i] = -1
        if one != zero:
            decided[i] = 1 if one else 0
        else:
            n_undecided += 1
    mirror(arcs.reverse, arcs.forward, cut.turned, capacity)
    if n_undecided == 0:
        return n_undecided
    # A residual arc means: if its tail is on the source's side, so is its head. A node that implies its opposite and is
    # implied by it is halved; of any other two opposites, the implied one goes to the source's side.
    skip, component = tree, work[1]
    for i in range(n_nodes):
        skip[i] = skip[n_nodes + i] = decided[i] >= 0
    components(2 * n_nodes, cut.bounds, cut.head, capacity, tol, skip, component, work[2], work[3], work[4], work[5])
    for i in range(n_nodes):
        if decided[i] < 0 and component[i] != component[n_nodes + i]:
            decided[i] = 1 if component[i] < component[n_nodes + i] else 0
            n_undecided -= 1
    return n_undecided
