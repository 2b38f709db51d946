"""Two labels: a minimum cut if edges prefer equal labels, roof duality otherwise.

A model of two labels is submodular if every edge prefers equal labels, pair[e,0,0] + pair[e,1,1] >= pair[e,0,1] +
pair[e,1,0]. Its best labelling is a minimum cut (Greig, Porteous and Seheult 1989; Kolmogorov and Zabih 2004). For all
other models one maximum flow finds the optimum of the relaxation over the local polytope: roof duality.
"""

from __future__ import annotations

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.structures.graphs.compiled.cut_arrays import CutArrays
from maxmargin.structures.graphs.compiled.sorted_arcs import SortedArcs
from maxmargin.structures.graphs.inference.forest import best_forest
from maxmargin.structures.graphs.inference.messages import improved
from maxmargin.structures.graphs.inference.model import Answer, Labels, PairwiseModel, Relaxed


def submodular(model: PairwiseModel) -> bool:
    """Return whether all edges of a model of two labels prefer equal labels.

    Parameters
    ----------
    model : PairwiseModel
        The model.

    Returns
    -------
    bool.
    """
    _two_labels(model, "submodular")
    return bool((_preferences(model) >= 0).all())


def best_cut(model: PairwiseModel, arcs: SortedArcs | None = None) -> Answer:
    """Find the best labelling of a submodular model of two labels, proved by the flow.

    Parameters
    ----------
    model : PairwiseModel
        The model.
    arcs : SortedArcs or None
        `SortedArcs.of` the graph, if it is known already.

    Returns
    -------
    Answer.

    Raises
    ------
    ValueError, if an edge prefers different labels.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.inference import PairwiseModel, best_cut
    >>> model = PairwiseModel.of([[1.0, 0.0], [0.0, 0.2]], [(0, 1)], [np.eye(2)])
    >>> best_cut(model).labels.tolist()
    [0, 0]

    See Also
    --------
    best_roof_dual : for edges that prefer different labels.
    """
    _two_labels(model, "best_cut")
    arcs = SortedArcs.of(model.n_nodes, model.edges) if arcs is None else arcs
    answer = _cut(model, arcs, CutArrays.of(model.n_nodes, model.n_edges))
    if answer is None:
        edge = int(np.flatnonzero(_preferences(model) < 0)[0])
        raise ValueError(
            f"edge {edge} between the nodes {tuple(model.edges[edge].tolist())} prefers different labels: its scores "
            f"{model.pair[edge].tolist()} have a lower sum on the diagonal. A minimum cut needs edges that prefer "
            "equal labels; use roof duality (best_roof_dual)"
        )
    return answer


def best_roof_dual(model: PairwiseModel, arcs: SortedArcs | None = None) -> Answer:
    """Find the optimum of the relaxation and a labelling, for two labels and any edges.

    The relaxation has a solution in which every node has one label or is halved between the two. The labels of nodes
    that are not halved belong to some best labelling (persistency; Hammer, Hansen and Simeone 1984). Nodes are halved
    only if every solution halves them. If none is, the labelling is optimal; otherwise `relaxed` is this solution, and
    the halved nodes are labelled by dynamic programming on a spanning forest of strong edges, followed by changes of
    single nodes.

    If all edges prefer equal labels, this is `best_cut`.

    Parameters
    ----------
    model : PairwiseModel
        The model.
    arcs : SortedArcs or None
        `SortedArcs.of` the graph, if it is known already.

    Returns
    -------
    Answer.
    """
    from maxmargin.structures.graphs.compiled.two_labels import roof_dual

    _two_labels(model, "best_roof_dual")
    arcs = SortedArcs.of(model.n_nodes, model.edges) if arcs is None else arcs
    cut, decided = CutArrays.of(model.n_nodes, model.n_edges), np.empty(model.n_nodes, dtype=np.int32)
    answer = _cut(model, arcs, cut)
    if answer is not None:
        return answer
    roof_dual(*model, tuple(arcs), tuple(cut), decided)
    upper = _bound(model, arcs, cut)
    halved = decided < 0
    if not halved.any():
        value = model.value(decided)
        return Answer(decided, value, max(value, upper))
    labels = _completed(model, decided)
    value = model.value(labels)
    relaxed = _halved(model, decided)
    return Answer(labels, value, max(value, relaxed.value, upper), relaxed)


def _two_labels(model: PairwiseModel, name: str) -> None:
    if model.n_labels != 2:
        raise ValueError(f"{name} is for two labels, the model has {model.n_labels}; use expansion or a relaxation")


def _preferences(model: PairwiseModel) -> Array:
    """Return the preference of every edge for equal labels.

    It is pair[e,0,0] + pair[e,1,1] - pair[e,0,1] - pair[e,1,0], where differences due to rounding are set to 0.
    """
    from maxmargin.structures.graphs.compiled.two_labels import split_tables

    weight, turned = np.empty(model.n_edges), np.empty(model.n_edges, dtype=np.int32)
    split_tables(*model, np.empty(model.n_nodes), weight, turned)
    return np.where(turned, -weight, weight)


def _cut(model: PairwiseModel, arcs: SortedArcs, cut: CutArrays) -> Answer | None:
    """Return the minimum cut, or None if an edge prefers different labels."""
    from maxmargin.structures.graphs.compiled.two_labels import single_cut

    labels = np.empty(model.n_nodes, dtype=np.int32)
    if single_cut(*model, tuple(arcs), tuple(cut), labels):
        return None
    value = model.value(labels)
    return Answer(labels, value, max(value, _bound(model, arcs, cut)))


def _bound(model: PairwiseModel, arcs: SortedArcs, cut: CutArrays) -> float:
    """Return the bound that a flow proves."""
    from maxmargin.structures.graphs.compiled.two_labels import flow_messages

    messages = np.empty((model.n_edges, 2, 2))
    flow_messages(model.pair, arcs.forward, cut.turned, cut.capacity, messages)
    return model.bound(messages)


def _halved(model: PairwiseModel, decided: Labels) -> Relaxed:
    """Return the solution of the relaxation: undecided nodes are halved, and edges between them take the better half.

    An edge with a decided node has no choice. Between two halved nodes a table with these sums is a mixture of equal
    labels and different ones, and its score is linear, so one of the two is best.
    """
    nodes = np.where(decided[:, None] < 0, 0.5, decided[:, None] == np.arange(2))
    first, second = model.edges.T
    tables = nodes[first][:, :, None] * nodes[second][:, None, :]
    both = np.flatnonzero((decided[first] < 0) & (decided[second] < 0))
    equal = _preferences(model)[both] >= 0
    tables[both] = np.where(equal[:, None, None], np.eye(2) / 2, np.eye(2)[::-1] / 2)
    return Relaxed(nodes, tables, model.relaxed_value(nodes, tables))


def _completed(model: PairwiseModel, decided: Labels) -> Labels:
    """Label the undecided nodes: a forest of their strongest edges exactly, then each node given all others."""
    from maxmargin.inputs.labels.compiled.spanning_forest import spanning_forests

    halved = decided < 0
    nodes = np.flatnonzero(halved)
    number = np.cumsum(halved) - 1  # the number of each node among the undecided nodes
    first, second = model.edges.T
    unary = model.unary.copy()
    for here, there, pair in ((first, second, model.pair), (second, first, model.pair.transpose(0, 2, 1))):
        known = np.flatnonzero(halved[here] & ~halved[there])  # edges to decided nodes are scores of the undecided one
        np.add.at(unary, here[known], pair[known, :, decided[there[known]]])
    inner = np.flatnonzero(halved[first] & halved[second])
    order = inner[np.argsort(-np.abs(_preferences(model)[inner]), kind="stable")].astype(np.int64)
    taken, counts = np.empty(model.n_nodes, dtype=np.int64), np.zeros(1, dtype=np.int64)
    bounds, sizes = np.array([0, len(order)], dtype=np.int64), np.array([model.n_nodes], dtype=np.int64)
    parent = np.empty(model.n_nodes, dtype=np.int32)
    spanning_forests(
        order, bounds, sizes, np.ascontiguousarray(first), np.ascontiguousarray(second), parent, taken, counts
    )
    forest = taken[: counts[0]]
    part = PairwiseModel.of(unary[nodes], number[model.edges[forest]], model.pair[forest])
    labels = decided.copy()
    labels[nodes] = best_forest(part).labels
    return improved(model, labels)
