"""The features of a labelled graph, node by node and edge by edge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.problem.contract.pieces import Pieces, Unit
from maxmargin.structures.graphs.edge_weights import EdgeWeights

if TYPE_CHECKING:
    from maxmargin.structures.graphs.nodes import Nodes


def graph_pieces(x: Nodes, labels: NDArray[Any], n_labels: int, edge_weights: EdgeWeights) -> Pieces:
    """Return Ψ(x, z) of a Graph with these numbers of labels at the nodes of x."""
    features = sparse.coo_array(x.features)
    at = features.coords[0].astype(np.int64)
    indices = edge_weights.count + features.coords[1].astype(np.int64) * n_labels + labels[at]
    nodes = Pieces([Unit("node", i) for i in range(x.n_nodes)], at, indices, features.data)
    return nodes.joined(_edge_pieces(x, labels, n_labels, edge_weights)) if len(x.edges) else nodes


def _edge_pieces(x: Nodes, labels: NDArray[Any], n_labels: int, edge_weights: EdgeWeights) -> Pieces:
    edges, given = np.asarray(x.edges), np.asarray(x.edge_features)
    units = [Unit("edge", (i, j)) for i, j in edges.tolist()]
    ends = labels[edges]
    rows = sparse.lil_array((len(edges), edge_weights.count)).tocsr()
    for a, b in np.unique(ends, axis=0).tolist():
        own = (ends == (a, b)).all(axis=1)
        basis = np.zeros((given.shape[1], edge_weights.count))  # what a unit of every feature adds at these labels
        for g in range(len(basis)):
            one = np.zeros((given.shape[1], n_labels, n_labels))
            one[g, a, b] = 1.0
            basis[g] = edge_weights.gathered(one)
        rows = rows + sparse.csr_array(own[:, None] * given) @ sparse.csr_array(basis)
    return Pieces.of_rows(units, rows)
