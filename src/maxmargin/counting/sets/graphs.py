"""Graphs on given vertices: all graphs, and those whose edges form a clique."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.counting.sets.complete_graph import EdgeEigenvalues
from maxmargin.counting.sets.indicator import indicator
from maxmargin.counting.sets.items import Items, ItemsLike, collection
from maxmargin.counting.sets.output_set import DecodedOutput, Eigenspace
from maxmargin.counting.sets.pair_set import VertexPairSet
from maxmargin.counting.sets.scores import finite_scores
from maxmargin.counting.sets.subsets import AllIndicators, SizedSubsetOutputs, SubsetOutputs


class EdgeSets(VertexPairSet, AllIndicators):
    """The set of all graphs on N vertices, φ the indicator of their E = N(N-1)/2 possible edges.

        |Y| = 2^E,     μ = 1/2,     S = I/4

    (Gärtner and Vembu 2009, section 5.5, where exponents must count different edges, not their vertices).

    Parameters
    ----------
    vertices : int or iterable
        The number of vertices or their names. Outputs are frozensets of edges (u, v), u before v in the order of the
        vertices; {u, v} and (v, u) are accepted, too.

    Examples
    --------
    >>> from maxmargin.counting import EdgeSets
    >>> sorted(EdgeSets(3).decode([1.0, -1.0, 2.0]).y)
    [(0, 1), (1, 2)]

    See Also
    --------
    Cliques, Matchings, SpanningTrees : graphs with more structure.
    """

    def __init__(self, vertices: ItemsLike):
        self.vertices = vertices
        _ = self._items

    def features(self, y: Any) -> Array:
        edges = collection(y, "graph", "edge")
        return indicator(self._graph.edge_numbers(edges, self._items), self.dim)

    def decode(self, f: Array) -> DecodedOutput:
        f = finite_scores(f, self.dim)
        chosen = np.flatnonzero(f > 0)
        return DecodedOutput(self._graph.named(chosen, self._items), float(np.sum(f[chosen])), True)

    def outputs(self) -> Iterator[frozenset]:
        edges = list(combinations(self._items.names, 2))
        for size in range(len(edges) + 1):
            yield from map(frozenset, combinations(edges, size))

    def sample(self, rng: np.random.Generator) -> frozenset:
        return self._graph.named(np.flatnonzero(rng.random(self.dim) < 0.5), self._items)


class _VertexSets(VertexPairSet):
    """A set whose outputs are sets of vertices, φ the indicator of the pairs inside."""

    def _eigenvalues(self) -> EdgeEigenvalues:
        raise NotImplementedError

    def cov_apply(self, F: Array) -> Array:
        return self._graph.cov_apply(F, self._eigenvalues())

    def cov_spectrum(self) -> list[Eigenspace]:
        return self._graph.spectrum(self._eigenvalues())

    def features(self, y: Any) -> Array:
        inside = indicator(self._items.numbers(y, "clique"), len(self._items))
        return inside[self._graph.tails] * inside[self._graph.heads]

    def _decoded(self, f: Array, members: NDArray[np.bool_], exact: bool) -> DecodedOutput:
        inside = members[self._graph.tails] & members[self._graph.heads]
        return DecodedOutput(frozenset(self._items.named(np.flatnonzero(members))), float(np.sum(f[inside])), exact)


class Cliques(_VertexSets, SubsetOutputs):
    """The set of all sets of vertices, φ the indicator of the pairs inside: the edges of a clique.

        |Y| = 2^N,     μ = 1/4,     M = 2^-|e ∪ e'|: 1/4 for one edge, 1/8 for two that share a vertex, 1/16 otherwise

    (Gärtner and Vembu 2009, section 5.5, where e ∪ e' is printed as e ∩ e'). As in the paper the 2^N sets of vertices
    are counted, although those with less than two vertices all have φ = 0.

    Decoding, quadratic 0/1 programming, is NP-hard. It is exact if at most 20 vertices remain after those are fixed
    that are in or out of some optimum for certain; otherwise it is a tabu search.

    Parameters
    ----------
    vertices : int or iterable
        The number of vertices or their names. Outputs are frozensets of vertices.

    Examples
    --------
    >>> from maxmargin.counting import Cliques
    >>> sorted(Cliques(3).decode([1.0, -1.0, 2.0]).y)
    [0, 1, 2]

    See Also
    --------
    KCliques : cliques of one size.
    """

    def __init__(self, vertices: ItemsLike):
        self.vertices = vertices
        _ = self._items

    def mean(self) -> Array:
        return np.full(self.dim, 0.25)

    def _eigenvalues(self) -> EdgeEigenvalues:
        n = len(self._items)
        return EdgeEigenvalues((2 * n - 1) / 16, (n - 1) / 16, 1 / 16)

    def decode(self, f: Array) -> DecodedOutput:
        from maxmargin.counting.decoders.heaviest_clique import heaviest_clique

        f = finite_scores(f, self.dim)
        return self._decoded(f, *heaviest_clique(self._graph.matrix(f)))


class KCliques(_VertexSets, SizedSubsetOutputs):
    """The set of all sets of k of N vertices, φ the indicator of the pairs inside.

    With p_j = k(k-1)…(k-j+1) / N(N-1)…(N-j+1), the probability that j given vertices are inside: μ = p_2, and M is p_2
    for one edge, p_3 for two that share a vertex and p_4 otherwise. All outputs have the same number of edges, so S is
    0 on the constant; its other eigenvalues are

        p_2 (k-1)(N-k)/(N-2) on g_u + g_v,     p_2 (N-k)(N-k-1)/((N-2)(N-3)) elsewhere.

    Decoding is NP-hard: exact for N <= 20 or at most 50000 outputs, otherwise a tabu search over exchanges of vertices.

    Parameters
    ----------
    vertices : int or iterable
        The number of vertices or their names. Outputs are frozensets of vertices.
    size : int
        The number k >= 2 of vertices of a clique.

    Examples
    --------
    >>> from maxmargin.counting import KCliques
    >>> sorted(KCliques(3, 2).decode([1.0, -1.0, 2.0]).y)
    [1, 2]

    See Also
    --------
    Cliques : cliques of any size.
    """

    def __init__(self, vertices: ItemsLike, size: int):
        self.vertices = vertices
        self.size = size
        _ = self._items

    @cached_property
    def _items(self) -> Items:
        items = Items(self.vertices, least=2, called="vertex")
        self._check_size(items, 2, "vertices")
        return items

    @property
    def _pair(self) -> float:
        n, k = len(self._items), self.size
        return k * (k - 1) / (n * (n - 1))

    def mean(self) -> Array:
        return np.full(self.dim, self._pair)

    def _eigenvalues(self) -> EdgeEigenvalues:
        n, k = len(self._items), self.size
        vertices = self._pair * (k - 1) * (n - k) / (n - 2) if n > 2 else 0.0
        rest = self._pair * (n - k) * (n - k - 1) / ((n - 2) * (n - 3)) if n > 3 else 0.0
        return EdgeEigenvalues(0.0, vertices, rest)

    def features(self, y: Any) -> Array:
        phi = super().features(y)
        if len(y) != self.size:
            raise ValueError(f"the clique has {len(y)} vertices; expected {self.size}")
        return phi

    def decode(self, f: Array) -> DecodedOutput:
        from maxmargin.counting.decoders.heaviest_clique import heaviest_clique_of

        f = finite_scores(f, self.dim)
        return self._decoded(f, *heaviest_clique_of(self._graph.matrix(f), self.size))
