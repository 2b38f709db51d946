"""ShortestPath: the shortest path from one node to another in any graph, for costs that are not negative."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order

from maxmargin.base.arrays import Array
from maxmargin.structures.parts.optimisers.base import Optimiser
from maxmargin.structures.parts.optimisers.network import Network
from maxmargin.structures.parts.optimisers.walks import check_path


class ShortestPath(Optimiser):
    """Shortest path in any graph by Dijkstra's algorithm, with nonnegative costs.

    Parts are the arcs of a graph, outputs the paths from a source to a target that visit no node twice:

        min Σ_{p in path} c_p      with all c_p >= 0                                                                 (1)

    The algorithm is compiled in this package: SciPy's function takes a matrix, which cannot represent costs of 0 and
    parallel arcs, and needs 90 µs for a grid of 5 × 5 nodes instead of 1. Negative costs are refused, because (1) is
    NP-hard with negative cycles; DagPath takes them in graphs without cycles.

    Parameters
    ----------
    arcs : sequence of pairs
        Pairs (u, v) of nodes, which are any hashable values; the p-th arc is part p. Several arcs may lead from u to v.
    source, target : hashable
        Two different nodes, joined by at least one path.
    directed : bool
        Whether an arc (u, v) leads from u to v only, or both ways.

    See Also
    --------
    DagPath : Costs of any sign in acyclic graphs.

    Examples
    --------
    >>> from maxmargin import optimisers
    >>> path = optimisers.ShortestPath([("a", "b"), ("b", "c"), ("a", "c")], "a", "c", directed=False)
    >>> path([1.0, 1.0, 3.0])
    array([1., 1., 0.])
    """

    nonnegative = True

    def __init__(self, arcs: Any, source: Hashable, target: Hashable, directed: bool = True):
        self.arcs = arcs
        self.source = source
        self.target = target
        self.directed = directed
        self._network = network = Network(arcs)
        self._ends = network.number(source, "source"), network.number(target, "target")
        if source == target:
            raise ValueError(f"source and target are both {source!r}; expected two different nodes")
        self.n_parts = network.n_arcs
        self._set_leaving()
        self._refuse_unreached()

    def _set_leaving(self) -> None:
        """Sort arcs by their tails; undirected arcs occur twice."""
        network = self._network
        tails, heads, parts = network.tails, network.heads, np.arange(network.n_arcs)
        if not self.directed:
            tails, heads, parts = np.append(tails, heads), np.append(heads, tails), np.append(parts, parts)
        order = np.argsort(tails, kind="stable")
        self._tails, self._heads, self._parts = tails[order], heads[order], parts[order]
        self._starts = np.searchsorted(self._tails, np.arange(network.n_nodes + 1))

    def _refuse_unreached(self) -> None:
        shape = (self._network.n_nodes,) * 2
        graph = sparse.csr_array((np.ones(len(self._heads)), self._heads, self._starts), shape=shape)
        if self._ends[1] not in breadth_first_order(graph, self._ends[0], return_predecessors=False):
            raise ValueError(f"no path leads from {self.source!r} to {self.target!r}; expected at least one")

    def solve(self, costs: Array) -> Array:
        return self.solve_rows(costs[None])[0]

    def solve_rows(self, costs: Array) -> Array:
        from maxmargin.structures.parts.optimisers.compiled.shortest_path import shortest_paths

        chosen, distance = np.zeros(costs.shape), np.empty(self._network.n_nodes)
        arrived, place, heap = np.empty((3, self._network.n_nodes), dtype=np.intp)
        shortest_paths(
            costs, self._starts, self._parts, self._tails, self._heads, *self._ends,
            distance, arrived, place, heap, chosen,
        )  # fmt: skip
        return chosen

    def check(self, z: Any) -> None:
        check_path(self._network, self._chosen(z), *self._ends, directed=self.directed)
