"""Arcs of the complete digraph as coordinates, with separate coordinates φ_uv and φ_vu.

A covariance over arcs that is invariant under renaming items and under reversing all arcs maps symmetric functions to
symmetric and antisymmetric to antisymmetric ones. So it has the three eigenspaces of edges (complete_graph.py) and the
two of directed pairs (signed_pairs.py).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from maxmargin.base.arrays import Array, Index
from maxmargin.counting.sets.complete_graph import EdgeEigenvalues
from maxmargin.counting.sets.indicator import indicator
from maxmargin.counting.sets.output_set import Eigenspace
from maxmargin.counting.sets.signed_pairs import signed_pairs
from maxmargin.counting.sets.spectra import Subspace, distinct


class ArcEigenvalues(NamedTuple):
    """The eigenvalues of a covariance over arcs on its five eigenspaces."""

    edges: EdgeEigenvalues  # the eigenvalues of symmetric functions
    gradients: float  # g_u - g_v
    circulations: float  # antisymmetric with sums 0 at every item


class CompleteDigraph:
    """The arcs (u, v), u != v, of n items, in the order (0, 1), (0, 2) … (0, n-1), (1, 0), (1, 2) …"""

    def __init__(self, n: int):
        self.n = n
        self.pairs = signed_pairs(n)
        graph = self.pairs.graph
        self._there, self._back = self.number(graph.tails, graph.heads), self.number(graph.heads, graph.tails)
        self._off_diagonal = ~np.eye(n, dtype=bool)

    def __len__(self) -> int:
        return self.n * (self.n - 1)

    @property
    def ends(self) -> tuple[Index, Index]:
        """The items u and v of every coordinate."""
        tails, heads = np.nonzero(self._off_diagonal)
        return tails, heads

    def number(self, tails: Any, heads: Any) -> Any:
        """Return the coordinates of arcs."""
        return tails * (self.n - 1) + heads - (heads > tails)

    def matrix(self, f: Array) -> Array:
        """Return one value per arc as an (n, n) matrix with a zero diagonal."""
        square = np.zeros((self.n, self.n))
        square[self._off_diagonal] = f
        return square

    def of_arcs(self, tails: Index, heads: Index) -> Array:
        """Return φ, which is 1 for these arcs and 0 for all others."""
        return indicator(self.number(tails, heads), len(self))

    def cov_apply(self, F: Array, eigenvalues: ArcEigenvalues) -> Array:
        """Return F S for the S with these eigenvalues, in O(n²) per row."""
        F = np.asarray(F, dtype=np.float64)
        there, back = F[:, self._there], F[:, self._back]
        symmetric = self.pairs.graph.cov_apply((there + back) / 2, eigenvalues.edges)
        antisymmetric = self.pairs.cov_apply((there - back) / 2, eigenvalues.gradients, eigenvalues.circulations)
        result = np.empty_like(F)
        result[:, self._there] = symmetric + antisymmetric
        result[:, self._back] = symmetric - antisymmetric
        return result

    def spectrum(self, eigenvalues: ArcEigenvalues) -> list[Eigenspace]:
        """Return the eigenspaces of the S with these eigenvalues."""
        n = self.n
        dimensions = (1, n - 1, n * (n - 3) // 2, n - 1, (n - 1) * (n - 2) // 2)
        values = (*eigenvalues.edges, eigenvalues.gradients, eigenvalues.circulations)
        return distinct(Subspace(values[k], dimensions[k], self._projection(k)) for k in range(5))

    def _projection(self, k: int) -> Any:
        only = np.eye(5)[k].tolist()
        this_space = ArcEigenvalues(EdgeEigenvalues(*only[:3]), *only[3:])
        return lambda rows: self.cov_apply(rows, this_space)


@lru_cache(maxsize=32)
def complete_digraph(n: int) -> CompleteDigraph:
    """Return CompleteDigraph(n), cached."""
    return CompleteDigraph(n)
