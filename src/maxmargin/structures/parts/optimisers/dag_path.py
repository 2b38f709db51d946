"""DagPath: the shortest path from one node to another in a graph without cycles."""

from __future__ import annotations

from collections.abc import Hashable
from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np

from maxmargin.base.arrays import Array, Index
from maxmargin.structures.parts.optimisers.base import Optimiser
from maxmargin.structures.parts.optimisers.network import Network
from maxmargin.structures.parts.optimisers.walks import check_path


class DagPath(Optimiser):
    """Shortest path in a directed acyclic graph, with costs of any sign.

    Parts are the arcs of the graph, outputs the paths from a source to a target:

        min Σ_{p in path} c_p,      by      ahead_u = min_{arcs p: u -> v} c_p + ahead_v,  ahead_target = 0          (1)

    This takes one compiled pass over the arcs for every row of costs. `same_size` is true if all paths have equally
    many arcs, as in grids and lattices.

    Parameters
    ----------
    arcs : sequence of pairs
        Pairs (u, v) of nodes, which are any hashable values; the p-th arc is part p. Several arcs may lead from u to v.
    source, target : hashable
        Two different nodes, joined by at least one path.

    See Also
    --------
    ShortestPath : For graphs with cycles.
    GridPath : Paths through a grid.

    Examples
    --------
    >>> from maxmargin import optimisers
    >>> path = optimisers.DagPath([("a", "b"), ("b", "c"), ("a", "c")], "a", "c")
    >>> path([1.0, 1.0, 3.0])
    array([1., 1., 0.])
    """

    def __init__(self, arcs: Any, source: Hashable, target: Hashable):
        self.arcs = arcs
        self.source = source
        self.target = target
        self._network = network = Network(arcs)
        self._ends = network.number(source, "source"), network.number(target, "target")
        if source == target:
            raise ValueError(f"source and target are both {source!r}; expected two different nodes")
        self._useful = self._arcs_on_paths()
        self._tails, self._heads = network.tails[self._useful], network.heads[self._useful]
        self.n_parts = network.n_arcs
        self.same_size = self._equally_long()

    def solve(self, costs: Array) -> Array:
        return self.solve_rows(costs[None])[0]

    def solve_rows(self, costs: Array) -> Array:
        from maxmargin.structures.parts.optimisers.compiled.dag_path import cheapest_paths

        n_nodes = self._network.n_nodes
        chosen, ahead, onward = np.zeros(costs.shape), np.empty(n_nodes), np.empty(n_nodes, dtype=np.intp)
        cheapest_paths(costs, self._useful, self._tails, self._heads, *self._ends, ahead, onward, chosen)
        return chosen

    def check(self, z: Any) -> None:
        check_path(self._network, self._chosen(z), *self._ends)

    # --- the graph

    def _arcs_on_paths(self) -> Index:
        """Return the arcs on paths from source to target, in reverse topological order of their tails."""
        network, (source, target) = self._network, self._ends
        sorter: TopologicalSorter = TopologicalSorter()
        for tail, head in zip(network.tails.tolist(), network.heads.tolist(), strict=True):
            sorter.add(head, tail)
        try:
            order = list(sorter.static_order())
        except CycleError as error:
            cycle = " -> ".join(repr(network.names[i]) for i in error.args[1])
            raise ValueError(f"the arcs have a cycle, {cycle}; expected none. ShortestPath takes cycles") from None
        rank = np.empty(network.n_nodes, dtype=np.intp)
        rank[order] = np.arange(network.n_nodes)
        forward = np.argsort(rank[network.tails], kind="stable")
        begun, leads = np.zeros(network.n_nodes, dtype=bool), np.zeros(network.n_nodes, dtype=bool)
        begun[source] = leads[target] = True
        for p in forward:
            begun[network.heads[p]] |= begun[network.tails[p]]
        for p in forward[::-1]:
            leads[network.tails[p]] |= leads[network.heads[p]]
        if not leads[source]:
            raise ValueError(f"no path leads from {self.source!r} to {self.target!r}; expected at least one")
        return forward[begun[network.tails[forward]] & leads[network.heads[forward]]][::-1].copy()

    def _equally_long(self) -> bool:
        """Return whether all paths have equally many arcs."""
        length = np.full(self._network.n_nodes, -1)  # number of arcs from a node to the target
        length[self._ends[1]] = 0
        for p in self._useful:
            tail, head = self._network.tails[p], self._network.heads[p]
            if length[tail] not in (-1, length[head] + 1):
                return False
            length[tail] = length[head] + 1
        return True
