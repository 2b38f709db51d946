"""The best labelling of trees and forests by dynamic programming, in time proportional to the number of edges."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maxmargin.structures.graphs.compiled.sorted_arcs import Indices, SortedArcs
from maxmargin.structures.graphs.inference.model import Answer, PairwiseModel


class ForestOrder(NamedTuple):
    """The nodes of a forest in an order that has parents before children."""

    order: Indices  # (N,) the node numbers in this order
    parent: Indices  # (N,) the parent of every node, -1 for a root
    link: Indices  # (N,) the edge from every node to its parent, -1 for a root


def forest_order(n_nodes: int, edges: Any) -> ForestOrder | None:
    """Return the order in which dynamic programming visits a graph, or None if the graph has a cycle.

    Two edges between the same nodes are a cycle.

    Parameters
    ----------
    n_nodes : int
        The number of nodes.
    edges : array of shape (E, 2)
        The node numbers of the ends of every edge.

    Returns
    -------
    ForestOrder or None. It depends on the edges only, so it can be reused if the scores change.
    """
    from maxmargin.structures.graphs.compiled.forest_labels import breadth_first

    arcs = SortedArcs.of(n_nodes, edges)
    order, parent, link = (np.empty(n_nodes, dtype=np.int32) for _ in range(3))
    spanned = breadth_first(arcs.bounds, arcs.head, arcs.edge, order, parent, link)
    return ForestOrder(order, parent, link) if spanned == len(arcs.forward) else None


def is_forest(n_nodes: int, edges: Any) -> bool:
    """Return whether a graph has no cycle.

    Parameters
    ----------
    n_nodes : int
        The number of nodes.
    edges : array of shape (E, 2)
        The node numbers of the ends of every edge.

    Returns
    -------
    bool.

    Examples
    --------
    >>> from maxmargin.inference import is_forest
    >>> is_forest(3, [(0, 1), (1, 2)]), is_forest(3, [(0, 1), (1, 2), (0, 2)])
    (True, False)
    """
    return forest_order(n_nodes, edges) is not None


def best_forest(model: PairwiseModel, order: ForestOrder | None = None) -> Answer:
    """Find the best labelling of a graph without cycles, with a proof.

    Parameters
    ----------
    model : PairwiseModel
        The model.
    order : ForestOrder or None
        `forest_order` of the graph, if it is known already.

    Returns
    -------
    Answer.

    Raises
    ------
    ValueError, if the graph has a cycle.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.inference import PairwiseModel, best_forest
    >>> model = PairwiseModel.of([[1.0, 0.0], [0.0, 0.2]], [(0, 1)], [np.eye(2)])
    >>> best_forest(model).labels.tolist()
    [0, 0]

    See Also
    --------
    best_junction_tree : for graphs with few cycles.
    """
    from maxmargin.structures.graphs.compiled.forest_labels import best_labels

    order = forest_order(model.n_nodes, model.edges) if order is None else order
    if order is None:
        raise ValueError(
            f"the graph of {model.n_nodes} nodes and {model.n_edges} edges has a cycle; best_forest needs a graph "
            "without cycles. Use best_junction_tree if the graph has few cycles, else a relaxation"
        )
    below = np.empty_like(model.unary)
    choice = np.empty(model.unary.shape, dtype=np.int32)
    labels = np.empty(model.n_nodes, dtype=np.int32)
    found = float(best_labels(*model, *order, below, choice, labels))
    value = model.value(labels)
    return Answer(labels, value, max(value, found))
