"""Edges of the complete graph K_n as coordinates, and covariances that depend only on how two edges meet.

A covariance whose entry at two edges depends on whether they are equal, adjacent or disjoint has three eigenspaces, the
same for all such sets: the constant, functions g_u + g_v with Σ g = 0, and their orthogonal complement.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from maxmargin.base.arrays import Array, Index
from maxmargin.counting.sets.items import Items, is_pair
from maxmargin.counting.sets.output_set import Eigenspace
from maxmargin.counting.sets.spectra import Subspace, distinct


class EdgeEigenvalues(NamedTuple):
    """The eigenvalues of a covariance over edges on its three eigenspaces."""

    constant: float  # dimension 1
    vertices: float  # g_u + g_v with Σ g = 0: dimension n - 1 (0 for n = 2)
    rest: float  # dimension n (n - 3) / 2

    @classmethod
    def of(cls, n: int, same: float, share: float, disjoint: float) -> EdgeEigenvalues:
        """Compute the eigenvalues from the entries of the covariance at equal, adjacent and disjoint edges."""
        return cls(
            same + 2 * (n - 2) * share + (n - 2) * (n - 3) / 2 * disjoint,
            same + (n - 4) * share - (n - 3) * disjoint,
            same - 2 * share + disjoint,
        )


class CompleteGraph:
    """The edges {u, v} of K_n, u < v, in the order (0, 1), (0, 2) … (0, n-1), (1, 2) …"""

    def __init__(self, n: int):
        self.n = n
        self.tails, self.heads = (each.astype(np.intp) for each in np.triu_indices(n, 1))

    @property
    def ends(self) -> tuple[Index, Index]:
        """The two vertices of every edge."""
        return self.tails, self.heads

    def __len__(self) -> int:
        return len(self.tails)

    def number(self, u: Any, v: Any) -> Any:
        """Return the coordinates of edges, for numbers or arrays u != v in any order."""
        low, high = np.minimum(u, v), np.maximum(u, v)
        return low * (2 * self.n - low - 1) // 2 + high - low - 1

    def matrix(self, f: Array) -> Array:
        """Return one value per edge as a symmetric (n, n) matrix with a zero diagonal."""
        square = np.zeros((self.n, self.n))
        square[self.tails, self.heads] = f
        return square + square.T

    def cov_apply(self, F: Array, eigenvalues: EdgeEigenvalues) -> Array:
        """Return F S, computed from sums of rows at vertices in O(n²) per row."""
        constant, vertices, rest = self._parts(F)
        return eigenvalues.constant * constant + eigenvalues.vertices * vertices + eigenvalues.rest * rest

    def spectrum(self, eigenvalues: EdgeEigenvalues) -> list[Eigenspace]:
        """Return the eigenspaces of S."""
        n = self.n
        dimensions = (1, n - 1 if n > 2 else 0, n * (n - 3) // 2 if n > 2 else 0)
        projections = (
            lambda rows: self._parts(rows)[0],
            lambda rows: self._parts(rows)[1],
            lambda rows: self._parts(rows)[2],
        )
        return distinct(map(Subspace, eigenvalues, dimensions, projections))

    def edge_numbers(self, edges: Any, vertices: Items) -> Index:
        """Return the coordinates of edges {u, v} or (u, v) of named vertices; raise a ValueError if one is invalid."""
        found: dict[int, Hashable] = {}
        for edge in edges:
            if not is_pair(edge):
                raise ValueError(f"{edge!r} is not an edge; expected two different vertices")
            u, v = (vertices.number(end) for end in edge)
            if u == v:
                raise ValueError(f"the edge {edge!r} joins a vertex with itself; expected two different vertices")
            place = int(self.number(u, v))
            if place in found:
                raise ValueError(f"the edge {edge!r} is repeated; expected every edge at most once")
            found[place] = edge
        return np.array(sorted(found), dtype=np.intp)

    def named(self, places: Any, vertices: Items) -> frozenset[tuple[Hashable, Hashable]]:
        """Return edges as pairs of vertices (u, v), u before v in the order of the vertices."""
        names = vertices.names
        return frozenset((names[self.tails[e]], names[self.heads[e]]) for e in places)

    def _parts(self, F: Array) -> tuple[Array, Array, Array]:
        n = self.n
        F = np.asarray(F, dtype=np.float64)
        constant = np.repeat(F.mean(1, keepdims=True), len(self), axis=1)
        if n == 2:
            return constant, np.zeros_like(F), np.zeros_like(F)
        sums = F @ self._incidence  # equal to (n - 2) g for a function g_u + g_v with Σ g = 0
        g = (sums - sums.mean(1, keepdims=True)) / (n - 2)
        vertices = g[:, self.tails] + g[:, self.heads]
        rest = F - constant - vertices if n > 3 else np.zeros_like(F)
        return constant, vertices, rest

    @cached_property
    def _incidence(self) -> sparse.csr_array:
        places = np.concatenate([np.arange(len(self))] * 2)
        ends = np.concatenate(self.ends)
        return sparse.csr_array((np.ones(len(ends)), (places, ends)), shape=(len(self), self.n))
