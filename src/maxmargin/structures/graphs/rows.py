"""Planes of labelled graphs as sparse rows over atoms."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.inputs.labels.labels import Labels
from maxmargin.problem.planes.atoms import AtomRows, Atoms
from maxmargin.structures.graphs.edge_weights import EdgeWeights
from maxmargin.structures.graphs.inference.model import Relaxed
from maxmargin.structures.graphs.packed_graph import PackedGraph


class LabellingRows:
    """Rows Ψ(x, truth) - Ψ(x, z), one graph after another.

    A row has an entry for every weight of edges that changes, and two atoms for every wrongly labelled node; for a
    fractional z, an atom for every label with a share of the node.
    """

    def __init__(self, atoms: Atoms, edge_weights: EdgeWeights):
        self.atoms, self.edge_weights = atoms, edge_weights
        self._indices: list[NDArray[np.int64]] = []
        self._values: list[Array] = []
        self._ends = [0]

    def add_labelling(self, graph: PackedGraph, found: Labels) -> float:
        """Add the row of a labelling and return its loss."""
        from maxmargin.structures.graphs.compiled.labelled_edges import edge_differences

        direct, n_labels = self.atoms.arrays.direct, self.atoms.arrays.n_labels
        sums = np.zeros((graph.edge_features.shape[1], n_labels, n_labels))
        edge_differences(graph.edges, graph.edge_features, graph.truth, found, sums)
        wrong = np.flatnonzero(graph.truth != found)
        atoms = direct + graph.units[wrong] * n_labels
        self._add_edges(graph, sums)
        self._add(atoms + graph.truth[wrong], np.ones(len(wrong)))
        self._add(atoms + found[wrong], -np.ones(len(wrong)))
        self._close()
        return float(graph.prices[wrong, found[wrong]].sum())

    def add_relaxed(self, graph: PackedGraph, z: Relaxed) -> float:
        """Add the row of a point of the local polytope, and return its loss; both are linear in label shares."""
        direct, n_labels = self.atoms.arrays.direct, self.atoms.arrays.n_labels
        nodes, edges = -z.nodes, -z.edges
        nodes[np.arange(len(nodes)), graph.truth] += 1
        edges[np.arange(len(edges)), graph.truth[graph.edges[:, 0]], graph.truth[graph.edges[:, 1]]] += 1
        self._add_edges(graph, added_up(graph.edge_features, edges))
        rows, labels = np.nonzero(nodes)
        self._add(direct + graph.units[rows] * n_labels + labels, nodes[rows, labels])
        self._close()
        return float(np.vdot(graph.prices, z.nodes))

    def last(self, graph: PackedGraph) -> tuple[NDArray[np.int64], Array]:
        """Return the last row, which belongs to this graph, with atoms counted as if the graph were the only one."""
        indices = np.concatenate([np.empty(0, dtype=np.int64), *self._indices[self._begun :]])
        values = np.concatenate([np.empty(0), *self._values[self._begun :]])
        others = graph.units[0] * self.atoms.arrays.n_labels
        return np.where(indices < self.atoms.arrays.direct, indices, indices - others), values

    def stacked(self) -> AtomRows:
        """Return all rows."""
        indices = np.concatenate([np.empty(0, dtype=np.int64), *self._indices]).astype(np.int32)
        values = np.concatenate([np.empty(0), *self._values])
        return AtomRows(self.atoms, np.array(self._ends, dtype=np.int32), indices, values)

    def _add_edges(self, graph: PackedGraph, sums: Array) -> None:
        if not len(graph.edges):  # the number of their features is unknown
            return
        total = self.edge_weights.gathered(sums)
        used = np.flatnonzero(total)
        self._add(used, total[used])

    def _add(self, indices: NDArray[np.int64], values: Array) -> None:
        self._indices.append(indices)
        self._values.append(values)

    def _close(self) -> None:
        added = self._indices[self._closed :]
        self._ends.append(self._ends[-1] + sum(map(len, added)))
        self._begun, self._closed = self._closed, len(self._indices)

    _closed = 0  # how many of the arrays belong to rows that are complete,
    _begun = 0  # and to all of these but the last


def added_up(features: Array, tables: Array) -> Array:
    """Return the (G, K, K) sums of the features of all edges, weighted by the (E, K, K) shares of label pairs."""
    n_labels = tables.shape[1]
    return np.asarray((features.T @ tables.reshape(len(tables), n_labels**2)).reshape(-1, n_labels, n_labels))
