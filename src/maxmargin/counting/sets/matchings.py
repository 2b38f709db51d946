"""Matchings: pairs of vertices without a common vertex, all of them or only the perfect ones."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import gammaln

from maxmargin.base.arrays import Array
from maxmargin.counting.decoders.matching import best_matching
from maxmargin.counting.sets.complete_graph import EdgeEigenvalues
from maxmargin.counting.sets.indicator import indicator
from maxmargin.counting.sets.items import Items, ItemsLike, collection
from maxmargin.counting.sets.output_set import DecodedOutput, Eigenspace
from maxmargin.counting.sets.pair_set import VertexPairSet
from maxmargin.counting.sets.scores import finite_scores

Edge = tuple[Hashable, Hashable]


class Matchings(VertexPairSet):
    """The set of all matchings of the complete graph of N vertices, with the empty one; φ has one coordinate per edge.

    Their number is T(N) with T(n) = T(n-1) + (n-1) T(n-2): the last vertex is single or matched with one of the others.
    In ratios r_n = T(n-1)/T(n), which do not overflow, with r_1 = 1 and 1/r_n = 1 + (n-1) r_{n-1},

        log T(N) = -Σ_n log r_n,     μ_e = T(N-2)/T(N) = r_N r_{N-1},     E[φ_e φ_e'] = μ r_{N-2} r_{N-3}            (1)

    for disjoint edges, 0 for those that share a vertex.

    An output is a frozenset of pairs (u, v) of vertices. Pairs are accepted in either order, in any set, list or tuple.
    Decoding is exact: see decoders/matching.py. Samples are uniform.

    Parameters
    ----------
    vertices : int or iterable
        The number N >= 2 of vertices, or their names. Coordinates are in the order (0, 1), (0, 2) …, (1, 2) ….

    Examples
    --------
    >>> from maxmargin.counting import Matchings
    >>> sorted(Matchings(3).decode([1.0, -1.0, 2.0]).y)
    [(1, 2)]

    See Also
    --------
    PerfectMatchings : matchings that leave no vertex single.
    """

    _perfect = False

    def __init__(self, vertices: ItemsLike):
        self.vertices = vertices
        _ = self._items  # raises an error now if the vertices are invalid

    def log_size(self) -> float:
        return -float(np.log(self._ratios).sum())

    def mean(self) -> Array:
        return np.full(self.dim, self._together()[0])

    def cov_apply(self, F: Array) -> Array:
        return self._graph.cov_apply(F, self._eigenvalues())

    def cov_spectrum(self) -> list[Eigenspace]:
        return self._graph.spectrum(self._eigenvalues())

    def features(self, y: Any) -> Array:
        graph, vertices = self._graph, self._items
        chosen = graph.edge_numbers(collection(y, "matching", "edge"), vertices)
        degrees = np.bincount(np.append(graph.tails[chosen], graph.heads[chosen]), minlength=len(vertices))
        if (degrees > 1).any():
            name = vertices.names[int(degrees.argmax())]
            raise ValueError(f"vertex {name!r} is in {degrees.max()} edges; expected at most one")
        if self._perfect and (degrees == 0).any():
            name = vertices.names[int(degrees.argmin())]
            raise ValueError(f"vertex {name!r} is in no edge; expected every vertex in one")
        return indicator(chosen, self.dim)

    def decode(self, f: Array) -> DecodedOutput:
        f = finite_scores(f, self.dim)
        pairs, exact = best_matching(self._graph.matrix(f), self._perfect)
        chosen = [int(self._graph.number(u, v)) for u, v in pairs]
        return DecodedOutput(self._graph.named(chosen, self._items), float(f[chosen].sum()), exact)

    def outputs(self) -> Iterator[frozenset[Edge]]:
        names = self._items.names

        def pair_up(left: list[int]) -> Iterator[list[Edge]]:
            if not left:
                yield []
                return
            u, *others = left
            if not self._perfect:
                yield from pair_up(others)
            for v in others:
                for more in pair_up([each for each in others if each != v]):
                    yield [(names[u], names[v]), *more]

        return map(frozenset, pair_up(list(range(len(names)))))

    def sample(self, rng: np.random.Generator) -> frozenset[Edge]:
        """Draw a uniform matching: in a random order of the vertices, the last of n is single with probability r_n."""
        left = rng.permutation(len(self._items)).tolist()
        chosen = []
        while left:
            u = left.pop()
            if left and rng.random() >= self._alone(len(left) + 1):
                chosen.append(int(self._graph.number(u, left.pop())))
        return self._graph.named(chosen, self._items)

    # --- the law

    @cached_property
    def _ratios(self) -> Array:
        """The ratios r_1 … r_N of (1)."""
        ratios = [1.0]
        for n in range(2, len(self._items) + 1):
            ratios.append(1 / (1 + (n - 1) * ratios[-1]))
        return np.array(ratios)

    def _alone(self, n: int) -> float:
        """Return the probability that a given vertex of n is single."""
        return float(self._ratios[n - 1])

    def _together(self) -> tuple[float, float]:
        """Return the probabilities of one edge and of two disjoint ones, 0 if there are none."""
        one = float(np.prod(self._ratios[-2:]))
        return one, float(np.prod(self._ratios[-4:])) if len(self._items) >= 4 else 0.0

    def _eigenvalues(self) -> EdgeEigenvalues:
        one, two = self._together()
        return EdgeEigenvalues.of(len(self._items), one - one**2, -(one**2), two - one**2)


class PerfectMatchings(Matchings):
    """The set of all matchings of an even number N of vertices that leave none single: 1 · 3 · 5 ⋯ (N-1) of them.

        μ = 1/(N-1),     E[φ_e φ_e'] = 1/((N-1)(N-3)) for disjoint edges, 0 for those that share a vertex:

    S has one nonzero eigenvalue, (N-2)/((N-1)(N-3)), on the functions of edges with sum 0 at every vertex.

    Outputs, coordinates, decoding and samples are as in Matchings.

    Parameters
    ----------
    vertices : int or iterable
        The number N of vertices, or their names.

    Examples
    --------
    >>> from maxmargin.counting import PerfectMatchings
    >>> sorted(PerfectMatchings(4).decode([1.0, 2.0, 3.0, 3.0, 2.0, 5.0]).y)
    [(0, 3), (1, 2)]

    See Also
    --------
    Matchings : matchings that may leave vertices single.
    """

    _perfect = True

    def log_size(self) -> float:
        half = len(self._items) // 2
        return float(gammaln(2 * half + 1) - gammaln(half + 1) - half * np.log(2))

    @cached_property
    def _items(self) -> Items:
        vertices = Items(self.vertices, least=2, called="vertex")
        if len(vertices) % 2:
            raise ValueError(f"{len(vertices)} vertices have no perfect matching; expected an even number of them")
        return vertices

    def _alone(self, n: int) -> float:
        return 0.0

    def _together(self) -> tuple[float, float]:
        n = len(self._items)
        return 1 / (n - 1), 1 / ((n - 1) * (n - 3)) if n >= 4 else 0.0

    def _eigenvalues(self) -> EdgeEigenvalues:
        n = len(self._items)
        return EdgeEigenvalues(0.0, 0.0, (n - 2) / ((n - 1) * (n - 3)))
