"""SpanningTree: the cheapest edges that hold a graph together."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from maxmargin.base.arrays import Array, Index
from maxmargin.base.checks import check_whole
from maxmargin.base.files.fields import Whole
from maxmargin.base.files.objects import Fields
from maxmargin.structures.parts.optimisers.base import MOST_NODES, Optimiser
from maxmargin.structures.parts.optimisers.network import Network


class SpanningTree(Optimiser):
    """Parts are the edges of a connected graph, outputs its spanning trees.

        min Σ_{p in tree} c_p                                                                                        (1)

    by Kruskal's algorithm: edges from the cheapest to the dearest, but for those that close a cycle. Compiled. Costs
    may have any sign: every tree has n_nodes - 1 edges.

    n_nodes : nodes are the numbers 0 … n_nodes - 1.
    arcs : pairs (u, v) of nodes, whose order is of no account; the edge at place p is part p. There may be several
        between two nodes, and loops, which are in no tree.
    """

    same_size = True

    saved: ClassVar[Fields] = {"n_nodes": Whole(1, MOST_NODES**2)}

    def __init__(self, n_nodes: int, arcs: Any):
        self.n_nodes = n_nodes
        self.arcs = arcs
        check_whole("n_nodes", n_nodes, least=2)
        self._network = Network(arcs, range(n_nodes))
        self.n_parts = self._network.n_arcs
        self._refuse_apart(np.arange(self.n_parts), "the arcs do")

    def solve(self, costs: Array) -> Array:
        return self.solve_rows(costs[None])[0]

    def solve_rows(self, costs: Array) -> Array:
        from maxmargin.inputs.labels.compiled.spanning_forest import spanning_forests

        n_rows, n_arcs = costs.shape
        order = np.argsort(costs, axis=1, kind="stable").ravel()
        taken, counts = np.empty(n_rows * (self.n_nodes - 1), dtype=np.int64), np.empty(n_rows, dtype=np.int64)
        graphs = n_arcs * np.arange(n_rows + 1), np.full(n_rows, self.n_nodes)
        parent = np.empty(self.n_nodes, dtype=np.int32)
        spanning_forests(order, *graphs, self._network.tails, self._network.heads, parent, taken, counts)
        chosen = np.zeros(costs.shape)
        chosen[np.repeat(np.arange(n_rows), counts), taken] = 1.0
        return chosen

    def check(self, z: Any) -> None:
        chosen = self._chosen(z)
        self._refuse_apart(chosen, "z does")
        if len(chosen) != self.n_nodes - 1:
            raise ValueError(
                f"z has {len(chosen)} edges; a spanning tree of {self.n_nodes} nodes has {self.n_nodes - 1}"
            )

    def _refuse_apart(self, edges: Index, what: str) -> None:
        ends = self._network.tails[edges], self._network.heads[edges]
        graph = sparse.coo_array((np.ones(len(edges)), ends), shape=(self.n_nodes, self.n_nodes))
        _, group = connected_components(graph, directed=False)
        if group.any():
            raise ValueError(
                f"{what} not connect the nodes 0 and {np.flatnonzero(group)[0]}; expected a connected graph"
            )
