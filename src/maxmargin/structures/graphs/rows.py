"""Planes of labelled graphs as sparse rows over atoms."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maxmargin.arrays import Array
from maxmargin.atoms import AtomRows, Atoms
from maxmargin.inputs.labels import Labels
from maxmargin.structures.graphs.inference.model import Relaxed
from maxmargin.structures.graphs.packed_graph import PackedGraph


class LabellingRows:
    """Rows Ψ(x, truth) - Ψ(x, z), one graph after another.

    A row has an entry for every weight of the edges that changes, and two atoms for every wrongly labelled node; of a
    fractional z, an atom for every label with a share of the node.

    places : (G, K, K) the coordinate of edge feature g between two nodes of the labels k and l
    """

    def __init__(self, atoms: Atoms, places: NDArray[np.int64]):
        self.atoms, self.places = atoms, places
        self._indices: list[NDArray[np.int64]] = []
        self._values: list[Array] = []
        self._ends = [0]

    def add_truth(self) -> None:
        """The truth itself: nothing differs."""
        self._close()

    def add_labelling(self, graph: PackedGraph, found: Labels) -> float:
        """A labelling; returns its loss."""
        from maxmargin.structures.graphs.compiled.labelled_edges import edge_differences

        direct, n_labels = self.atoms.arrays.direct, self.atoms.arrays.n_labels
        total = np.zeros(direct)
        edge_differences(graph.edges, graph.edge_features, self.places, graph.truth, found, total)
        wrong = np.flatnonzero(graph.truth != found)
        atoms = direct + graph.units[wrong] * n_labels
        self._add_direct(total)
        self._add(atoms + graph.truth[wrong], np.ones(len(wrong)))
        self._add(atoms + found[wrong], -np.ones(len(wrong)))
        self._close()
        return float(graph.prices[wrong, found[wrong]].sum())

    def add_relaxed(self, graph: PackedGraph, z: Relaxed) -> float:
        """A point of the local polytope; returns its loss, which like Ψ is linear in the shares of the labels."""
        direct, n_labels = self.atoms.arrays.direct, self.atoms.arrays.n_labels
        nodes, edges = -z.nodes, -z.edges
        nodes[np.arange(len(nodes)), graph.truth] += 1
        edges[np.arange(len(edges)), graph.truth[graph.edges[:, 0]], graph.truth[graph.edges[:, 1]]] += 1
        self._add_direct(by_place(self.places, graph.edge_features, edges, direct))
        rows, labels = np.nonzero(nodes)
        self._add(direct + graph.units[rows] * n_labels + labels, nodes[rows, labels])
        self._close()
        return float(np.vdot(graph.prices, z.nodes))

    def last(self, graph: PackedGraph) -> tuple[NDArray[np.int64], Array]:
        """The last row, which is of this graph, with atoms counted as if the graph were the only one."""
        indices = np.concatenate([np.empty(0, dtype=np.int64), *self._indices[self._begun :]])
        values = np.concatenate([np.empty(0), *self._values[self._begun :]])
        others = graph.units[0] * self.atoms.arrays.n_labels
        return np.where(indices < self.atoms.arrays.direct, indices, indices - others), values

    def stacked(self) -> AtomRows:
        """All rows."""
        indices = np.concatenate([np.empty(0, dtype=np.int64), *self._indices]).astype(np.int32)
        values = np.concatenate([np.empty(0), *self._values])
        return AtomRows(self.atoms, np.array(self._ends, dtype=np.int32), indices, values)

    def _add_direct(self, total: Array) -> None:
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


def by_place(places: NDArray[np.int64], features: Array, tables: Array, n_places: int) -> Array:
    """(n_places,) what the edges of a graph add to each weight, by tables (E, K, K) of their labels' shares."""
    sums = features.T @ tables.reshape(len(tables), -1) if len(tables) else np.zeros(places.shape)
    return np.bincount(places.ravel(), sums.ravel(), minlength=n_places).astype(np.float64, copy=False)
