"""Trees and forests: the best labelling by dynamic programming, in time proportional to the edges."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maxmargin.structures.graphs.inference.arcs import Indices, SortedArcs
from maxmargin.structures.graphs.inference.model import Answer, PairwiseModel


class ForestOrder(NamedTuple):
    """The nodes of a forest, parents before children."""

    order: Indices  # (N,) node numbers
    parent: Indices  # (N,) parent of every node, -1 at a root
    link: Indices  # (N,) the edge to the parent, -1 at a root


def forest_order(n_nodes: int, edges: Any) -> ForestOrder | None:
    """The order in which dynamic programming visits a graph, once per graph; None where it has a cycle.

    Two edges between the same nodes are a cycle.
    """
    from maxmargin.structures.graphs.compiled.forest_labels import breadth_first

    arcs = SortedArcs.of(n_nodes, edges)
    order, parent, link = (np.empty(n_nodes, dtype=np.int32) for _ in range(3))
    spanned = breadth_first(arcs.bounds, arcs.head, arcs.edge, order, parent, link)
    return ForestOrder(order, parent, link) if spanned == len(arcs.forward) else None


def is_forest(n_nodes: int, edges: Any) -> bool:
    """Whether a graph has no cycle."""
    return forest_order(n_nodes, edges) is not None


def best_forest(model: PairwiseModel, order: ForestOrder | None = None) -> Answer:
    """The best labelling of a graph without cycles, proved.

    order : `forest_order` of the graph, where it is known already
    """
    from maxmargin.structures.graphs.compiled.forest_labels import best_labels

    order = forest_order(model.n_nodes, model.edges) if order is None else order
    if order is None:
        raise ValueError(
            f"the graph of {model.n_nodes} nodes and {model.n_edges} edges has a cycle; best_forest needs one without. "
            "Use best_junction_tree where cycles are few, else a relaxation"
        )
    below = np.empty_like(model.unary)
    choice = np.empty(model.unary.shape, dtype=np.int32)
    labels = np.empty(model.n_nodes, dtype=np.int32)
    found = float(best_labels(*model, *order, below, choice, labels))
    value = model.value(labels)
    return Answer(labels, value, max(value, found))
