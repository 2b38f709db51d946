"""ShortestPath: the cheapest path from one node to another in any graph, for costs that are not negative."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order, dijkstra

from maxmargin.arrays import Array
from maxmargin.structures.parts.solvers.base import Optimiser
from maxmargin.structures.parts.solvers.network import Network
from maxmargin.structures.parts.solvers.walks import check_path


class ShortestPath(Optimiser):
    """Parts are the arcs of a graph, outputs the paths from a source to a target that visit no node twice.

        min Σ_{p in path} c_p      with all c_p >= 0                                                                 (1)

    by Dijkstra's algorithm (scipy). Costs below 0 are refused: with cycles among them (1) is hard. They can be had in
    graphs without cycles, by DagPath. A cost of 0 is a cost like others, and of several arcs between two nodes the
    cheapest is taken.

    arcs : pairs (u, v) of nodes, which are any hashable values; the arc at place p is part p.
    source, target : two different nodes, joined by at least one path.
    directed : whether an arc (u, v) leads from u to v only, or both ways.
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
        self._set_pairs()
        reached = breadth_first_order(self._matrix(np.ones(len(self._heads))), self._ends[0], return_predecessors=False)
        if self._ends[1] not in reached:
            raise ValueError(f"no path leads from {source!r} to {target!r}; expected at least one")
        self.n_parts = network.n_arcs

    def _set_pairs(self) -> None:
        """Arcs, in both directions where they have both, in groups of the same two ends: entries of a matrix."""
        network, n = self._network, self._network.n_nodes
        tails, heads, parts = network.tails, network.heads, np.arange(network.n_arcs)
        if not self.directed:
            tails, heads, parts = np.append(tails, heads), np.append(heads, tails), np.append(parts, parts)
        loops = tails == heads
        keys, parts = (tails * n + heads)[~loops], parts[~loops]
        order = np.argsort(keys, kind="stable")
        pairs, self._starts = np.unique(keys[order], return_index=True)
        self._parts = parts[order]  # those of pair k from _starts[k]
        self._heads = (pairs % n).astype(np.int32)
        self._rows = np.searchsorted(pairs // n, np.arange(n + 1)).astype(np.int32)

    def _matrix(self, values: Array) -> sparse.csr_array:
        """Entries that are 0 are entries all the same: nothing in the way of these arrays drops them."""
        return sparse.csr_array((values, self._heads, self._rows), shape=(self._network.n_nodes,) * 2)

    def solve(self, costs: Array) -> Array:
        z, (source, at) = np.zeros(len(costs)), self._ends
        cheapest = np.minimum.reduceat(costs[self._parts], self._starts)
        _, before = dijkstra(self._matrix(cheapest), indices=source, return_predecessors=True)
        while at != source:
            row = self._rows[before[at]]
            pair = row + np.searchsorted(self._heads[row : self._rows[before[at] + 1]], at)
            own = self._parts[self._starts[pair] :][: self._group_size(pair)]
            z[own[costs[own].argmin()]] = 1.0
            at = before[at]
        return z

    def _group_size(self, pair: int) -> int:
        end = self._starts[pair + 1] if pair + 1 < len(self._starts) else len(self._parts)
        return int(end - self._starts[pair])

    def check(self, z: Any) -> None:
        check_path(self._network, self._chosen(z), *self._ends, directed=self.directed)
