"""Pairs of items with a direction, φ_uv = -φ_vu, as one coordinate for u < v.

An antisymmetric function of two items is the sum of a *gradient* g_u - g_v and of a *circulation*, whose sums over v
are all 0. Covariances that are invariant under renaming items have at most these two eigenspaces.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy import sparse

from maxmargin.base.arrays import Array, Index
from maxmargin.counting.sets.complete_graph import CompleteGraph
from maxmargin.counting.sets.output_set import Eigenspace
from maxmargin.counting.sets.spectra import Subspace, distinct


class SignedPairs:
    """The pairs u < v of n items in the order of CompleteGraph, each with a direction."""

    def __init__(self, n: int):
        self.n = n
        self.graph = CompleteGraph(n)
        d, (tails, heads) = len(self.graph), (self.graph.tails, self.graph.heads)
        signs = np.concatenate([np.ones(d), -np.ones(d)])
        places = np.concatenate([np.arange(d), np.arange(d)])
        self._incidence = sparse.csr_array((signs, (places, np.concatenate([tails, heads]))), shape=(d, n))

    def __len__(self) -> int:
        return len(self.graph)

    @property
    def ends(self) -> tuple[Index, Index]:
        """The items u and v of every coordinate."""
        return self.graph.tails, self.graph.heads

    def matrix(self, f: Array) -> Array:
        """Return one value per pair as an antisymmetric (n, n) matrix."""
        square = np.zeros((self.n, self.n))
        square[self.graph.tails, self.graph.heads] = f
        return square - square.T

    def of_arcs(self, tails: Index, heads: Index) -> Array:
        """Return φ of some directed pairs: +1 from the smaller to the larger number, -1 the other way."""
        phi = np.zeros(len(self))
        phi[self.graph.number(tails, heads)] = np.where(tails < heads, 1.0, -1.0)
        return phi

    def cov_apply(self, F: Array, gradients: float, circulations: float) -> Array:
        """Return F S for the S with these eigenvalues, in O(n²) per row."""
        F = np.asarray(F, dtype=np.float64)
        return circulations * F + (gradients - circulations) * self._gradients(F)

    def spectrum(self, gradients: float, circulations: float) -> list[Eigenspace]:
        """Return the eigenspaces of the S with these eigenvalues."""
        n = self.n
        return distinct(
            [
                Subspace(gradients, n - 1, lambda rows: self.cov_apply(rows, 1.0, 0.0)),
                Subspace(circulations, (n - 1) * (n - 2) // 2, lambda rows: self.cov_apply(rows, 0.0, 1.0)),
            ]
        )

    def _gradients(self, F: Array) -> Array:
        sums = F @ self._incidence  # equal to n g for a function g_u - g_v with Σ g = 0
        return (sums[:, self.graph.tails] - sums[:, self.graph.heads]) / self.n


@lru_cache(maxsize=32)
def signed_pairs(n: int) -> SignedPairs:
    """Return SignedPairs(n), cached."""
    return SignedPairs(n)
