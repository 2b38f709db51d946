"""SpanningTrees: edges that connect a graph without a cycle."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree

from maxmargin.base.arrays import Array, Index
from maxmargin.counting.sets.complete_graph import EdgeEigenvalues
from maxmargin.counting.sets.indicator import indicator
from maxmargin.counting.sets.items import ItemsLike, collection
from maxmargin.counting.sets.matrix_tree import TreeLaw, unreachable
from maxmargin.counting.sets.output_set import DecodedOutput, Eigenspace
from maxmargin.counting.sets.pair_set import VertexPairSet
from maxmargin.counting.sets.scores import finite_scores

Edge = tuple[Hashable, Hashable]


class SpanningTrees(VertexPairSet):
    """The set of all spanning trees of a connected graph; φ has one coordinate per edge, 1 for edges of the tree.

    Moments follow from the matrix-tree theorem (see matrix_tree.py). In the complete graph there are N^(N-2) trees
    (Cayley); an edge is in a tree with probability 2/N, two adjacent edges with 3/N², two disjoint ones with 4/N².

    An output is a frozenset of pairs (u, v) of vertices. Pairs are accepted in either order, in any set, list or tuple.
    Decoding is exact (Kruskal). Samples follow the distribution of the moments.

    Parameters
    ----------
    vertices : int or iterable
        The number of vertices, or their names.
    edges : sequence of pairs or None
        Pairs of vertices, in the order of the coordinates; None for all, in the order (0, 1), (0, 2) …, (1, 2) ….
    weights : sequence of float or None
        Positive numbers w_e, one per edge: trees then have the probability ∝ Π w_e instead of a uniform one, in μ, S
        and samples. log_size remains the log of the number of trees.

    Examples
    --------
    >>> from maxmargin.counting import SpanningTrees
    >>> sorted(SpanningTrees(3).decode([1.0, -1.0, 2.0]).y)
    [(0, 1), (1, 2)]

    See Also
    --------
    Arborescences : trees of directed arcs.
    """

    def __init__(
        self, vertices: ItemsLike, edges: Sequence[Edge] | None = None, weights: Sequence[float] | None = None
    ):
        self.vertices = vertices
        self.edges = edges
        self.weights = weights
        _ = self._ends, self._read_weights()  # raises an error now if edges or weights are invalid

    @property
    def uniform(self) -> bool:  # type: ignore[override]
        return self.weights is None

    def log_size(self) -> float:
        n = len(self._items)
        if self.edges is None:
            return (n - 2) * float(np.log(n))
        return self._law.log_total if self.weights is None else self._both_ways(None).log_total

    def mean(self) -> Array:
        if self._symmetric:
            return np.full(self.dim, 2 / len(self._items))
        return self._law.mean().reshape(2, -1).sum(axis=0)

    def cov_apply(self, F: Array) -> Array:
        if self._symmetric:
            return self._graph.cov_apply(F, self._eigenvalues())
        # An edge is in the tree in one of its two directions, so φ is the sum over its two arcs.
        arcs = self._law.cov_apply(np.tile(F, 2))
        return arcs[:, : self.dim] + arcs[:, self.dim :]

    def cov_spectrum(self) -> list[Eigenspace] | None:
        return self._graph.spectrum(self._eigenvalues()) if self._symmetric else None

    def features(self, y: Any) -> Array:
        places = self._graph.edge_numbers(collection(y, "spanning tree", "edge"), self._items)
        chosen = np.array([self._coordinate(int(place)) for place in places], dtype=np.intp)
        n = len(self._items)
        if len(chosen) != n - 1:
            raise ValueError(f"{len(chosen)} edges were found; a spanning tree of {n} vertices has {n - 1}")
        tails, heads = self._ends[0][chosen], self._ends[1][chosen]
        unreached = unreachable(n, np.concatenate([tails, heads]), np.concatenate([heads, tails]))
        if unreached:
            names = self._items.names
            raise ValueError(
                f"the edges do not connect the vertices {names[0]!r} and {names[unreached[0]]!r}, "
                "so some of them close a cycle; expected a spanning tree"
            )
        return indicator(chosen, self.dim)

    def decode(self, f: Array) -> DecodedOutput:
        f = finite_scores(f, self.dim)
        # Only the order of the scores matters, and ranks, unlike scores, are never 0, which scipy reads as no edge.
        ranks = np.empty(self.dim)
        ranks[np.argsort(-f, kind="stable")] = np.arange(1, self.dim + 1)
        n = len(self._items)
        tree = minimum_spanning_tree(csr_array((ranks, self._ends), shape=(n, n)))
        chosen = np.flatnonzero(np.isin(ranks, tree.data))
        return DecodedOutput(self._named(chosen), float(f[chosen].sum()), True)

    def outputs(self) -> Iterator[frozenset[Edge]]:
        n, (tails, heads) = len(self._items), self._ends

        def grow(chosen: list[int], trees: list[int], e: int) -> Iterator[list[int]]:
            if len(chosen) == n - 1:
                yield chosen
            elif len(chosen) + self.dim - e >= n - 1:
                u, v = trees[tails[e]], trees[heads[e]]
                if u != v:
                    yield from grow([*chosen, e], [u if each == v else each for each in trees], e + 1)
                yield from grow(chosen, trees, e + 1)

        return map(self._named, grow([], list(range(n)), 0))

    def sample(self, rng: np.random.Generator) -> frozenset[Edge]:
        return self._named(self._law.sample(rng) % self.dim)

    # --- the graph

    @property
    def _symmetric(self) -> bool:
        """True if all edges are interchangeable."""
        return self.edges is None and self.weights is None

    @cached_property
    def _places(self) -> dict[int, int]:
        """A dict from the number of an edge in the complete graph to its coordinate."""
        found: dict[int, int] = {}
        for edge in () if self.edges is None else self.edges:
            (place,) = self._graph.edge_numbers([edge], self._items).tolist()
            if place in found:
                raise ValueError(f"the edge {edge!r} is given twice; expected every edge once")
            found[place] = len(found)
        return found

    @cached_property
    def _ends(self) -> tuple[Index, Index]:
        if self.edges is None:
            return self._graph.ends
        places = list(self._places)
        tails, heads = self._graph.tails[places], self._graph.heads[places]
        unreached = unreachable(len(self._items), np.concatenate([tails, heads]), np.concatenate([heads, tails]))
        if unreached:
            names = self._items.names
            raise ValueError(
                f"the graph has no spanning tree: its edges do not connect {names[0]!r} and {names[unreached[0]]!r}"
            )
        return tails, heads

    def _coordinate(self, place: int) -> int:
        if self.edges is None:
            return place
        if place not in self._places:
            (edge,) = self._graph.named([place], self._items)
            raise ValueError(f"{edge!r} is not an edge of the graph; expected edges such as {self.coordinates[0]!r}")
        return self._places[place]

    def _named(self, chosen: Any) -> frozenset[Edge]:
        names, (tails, heads) = self._items.names, self._ends
        return frozenset((names[tails[e]], names[heads[e]]) for e in chosen)

    # --- the law

    def _eigenvalues(self) -> EdgeEigenvalues:
        """Return the eigenvalues for the complete graph, which follow from 2/N, 3/N² and 4/N²."""
        n = len(self._items)
        return EdgeEigenvalues(0.0, 1 / n, 2 * (n - 1) / n**2)

    def _read_weights(self) -> Array | None:
        if self.weights is None:
            return None
        weights = np.array(self.weights, dtype=np.float64)
        if weights.shape != (self.dim,):
            raise ValueError(f"weights have the shape {weights.shape}; expected one for each of the {self.dim} edges")
        bad = np.flatnonzero(~((weights > 0) & (weights < np.inf)))
        if len(bad):
            edge = self.coordinates[bad[0]]
            raise ValueError(f"the weight of edge {edge!r} is {weights[bad[0]]}; expected a positive finite number")
        return weights

    @cached_property
    def _law(self) -> TreeLaw:
        return self._both_ways(self._read_weights())

    def _both_ways(self, weights: Array | None) -> TreeLaw:
        """Return the distribution of directed trees in which arcs e and dim + e are the two directions of edge e."""
        tails, heads = self._ends
        return TreeLaw(
            len(self._items),
            np.concatenate([tails, heads]),
            np.concatenate([heads, tails]),
            None if weights is None else np.tile(weights, 2),
        )
