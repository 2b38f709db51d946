"""Arborescence: the minimum directed spanning tree of a graph."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order

from maxmargin.base.arrays import Array, Index
from maxmargin.base.checks import check_whole
from maxmargin.base.files.fields import Whole
from maxmargin.base.files.objects import Fields
from maxmargin.structures.parts.optimisers.base import MOST_NODES, Optimiser
from maxmargin.structures.parts.optimisers.network import Network


class ArcHeaps(NamedTuple):
    """Scratch arrays of the search, which hold skew heaps of arcs; see compiled/arborescence.py."""

    reduced: Array  # the reduced cost of each arc
    added: Array  # for each arc, a number that is still to be added to the costs of all arcs below it in the heap
    left: Index  # the left child of each arc in the heap, -1 if there is none
    right: Index  # the right child of each arc in the heap, -1 if there is none


class Arborescence(Optimiser):
    """Minimum spanning arborescence: the spanning tree of lowest cost whose arcs all lead away from a root.

    Parts are the arcs of a directed graph:

        min Σ_{p in tree} c_p                                                                                        (1)

    is solved by the algorithm of Chu, Liu and Edmonds in O(arcs · log arcs). Costs may have any sign.

    Parameters
    ----------
    n_nodes : int
        Nodes are the numbers 0 … n_nodes - 1.
    arcs : sequence of pairs
        Pairs (u, v) of nodes; the p-th arc is part p. Several arcs may lead from u to v. Loops and arcs into the root
        are never chosen.
    root : int
        A node with a path to all others.

    See Also
    --------
    SpanningTree : For undirected graphs.

    Examples
    --------
    >>> from maxmargin import optimisers
    >>> optimisers.Arborescence(3, [(0, 1), (0, 2), (1, 2)])([1.0, 5.0, 2.0])
    array([1., 0., 1.])
    """

    same_size = True

    saved: ClassVar[Fields] = {"n_nodes": Whole(1, MOST_NODES**2)}

    def __init__(self, n_nodes: int, arcs: Any, root: int = 0):
        self.n_nodes = n_nodes
        self.arcs = arcs
        self.root = root
        check_whole("n_nodes", n_nodes, least=2)
        if check_whole("root", root, least=0) >= n_nodes:
            raise ValueError(f"root is {root}, but nodes are numbered from 0 to {n_nodes - 1}")
        self._network = network = Network(arcs, range(n_nodes))
        self.n_parts = network.n_arcs
        self._refuse_unreached(np.arange(self.n_parts), "the arcs")
        self._useful = np.flatnonzero((network.tails != network.heads) & (network.heads != root))
        self._tails, self._heads = network.tails[self._useful], network.heads[self._useful]

    def solve(self, costs: Array) -> Array:
        return self.solve_rows(costs[None])[0]

    def solve_rows(self, costs: Array) -> Array:
        from maxmargin.structures.parts.optimisers.compiled.arborescence import cheapest_arborescences

        chosen, n_arcs = np.zeros(costs.shape), len(self._useful)
        (reduced, added), (left, right) = np.empty((2, n_arcs)), np.empty((2, n_arcs), dtype=np.intp)
        heaps = ArcHeaps(reduced, added, left, right)
        nodes, ends = np.empty((6, 2 * self.n_nodes), dtype=np.intp), (self._tails, self._heads)
        cheapest_arborescences(costs, self._useful, *ends, self.n_nodes, self.root, heaps, nodes, chosen)
        return chosen

    def check(self, z: Any) -> None:
        chosen = self._chosen(z)
        entered = np.bincount(self._network.heads[chosen], minlength=self.n_nodes)
        expected = np.ones(self.n_nodes, dtype=np.intp)
        expected[self.root] = 0
        for v in np.flatnonzero(entered != expected):
            raise ValueError(f"{entered[v]} arcs of z lead to node {v}; expected {expected[v]}")
        self._refuse_unreached(chosen, "z")

    def _refuse_unreached(self, arcs: Index, what: str) -> None:
        ends = self._network.tails[arcs], self._network.heads[arcs]
        graph = sparse.csr_array((np.ones(len(arcs)), ends), shape=(self.n_nodes, self.n_nodes))
        reached = breadth_first_order(graph, self.root, return_predecessors=False)
        if len(reached) < self.n_nodes:
            missing = np.setdiff1d(np.arange(self.n_nodes), reached)[0]
            raise ValueError(
                f"{what} cannot reach node {missing} from the root {self.root}; expected a path to every node"
            )
