"""SpanningTree: the minimum spanning tree of an undirected graph."""

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
    """Minimum spanning tree of a connected undirected graph.

    Parts are the edges of the graph:

        min Σ_{p in tree} c_p                                                                                        (1)

    is solved by Kruskal's algorithm, compiled. Costs may have any sign.

    Parameters
    ----------
    n_nodes : int
        Nodes are the numbers 0 … n_nodes - 1.
    arcs : sequence of pairs
        Unordered pairs (u, v) of nodes; the p-th edge is part p. There may be several between two nodes, and loops,
        which are in no tree.

    See Also
    --------
    Arborescence : For directed graphs.

    Examples
    --------
    >>> from maxmargin import optimisers
    >>> optimisers.SpanningTree(3, [(0, 1), (0, 2), (1, 2)])([1.0, 5.0, 2.0])
    array([1., 0., 1.])
    """

    same_size = True

    saved: ClassVar[Fields] = {"n_nodes": Whole(1, MOST_NODES**2)}

    def __init__(self, n_nodes: int, arcs: Any):
        self.n_nodes = n_nodes
        self.arcs = arcs
        check_whole("n_nodes", n_nodes, least=2)
        self._network = Network(arcs, range(n_nodes))
        self.n_parts = self._network.n_arcs
        self._refuse_unconnected(np.arange(self.n_parts), "the arcs do")

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
        self._refuse_unconnected(chosen, "z does")
        if len(chosen) != self.n_nodes - 1:
            raise ValueError(
                f"z has {len(chosen)} edges; a spanning tree of {self.n_nodes} nodes has {self.n_nodes - 1} edges"
            )

    def _refuse_unconnected(self, edges: Index, what: str) -> None:
        ends = self._network.tails[edges], self._network.heads[edges]
        graph = sparse.coo_array((np.ones(len(edges)), ends), shape=(self.n_nodes, self.n_nodes))
        _, group = connected_components(graph, directed=False)
        if group.any():
            raise ValueError(
                f"{what} not connect the nodes 0 and {np.flatnonzero(group)[0]}; expected a connected graph"
            )
