"""Moments of the counts of labels and of adjacent labels over all sequences of one length.

A score Σ_t u[y_t] + Σ_t T[y_t, y_{t+1}] of a uniform sequence is a sum of uncorrelated terms. Decompose T into its
mean, rows r, columns c (both of mean 0) and the doubly centred rest D; then, with u centred,

    Var = (1/K) Σ_t ‖u + [t < L] r + [t > 1] c‖² + ((L-1)/K²) ‖D‖².                                             (1)

So S has the eigenvalue (L-1)/K² on all D; 0 on the two constants; and on the triples (u, r, c), in each of their K-1
dimensions, the three eigenvalues of a (3, 3) matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log, sqrt
from typing import NamedTuple

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.counting.sets.output_set import Eigenspace
from maxmargin.counting.sets.spectra import Subspace, distinct


class _Parts(NamedTuple):
    triple: Array  # (k, 3, K): u, √K r, √K c, each of mean 0
    rest: Array  # (k, K, K): the doubly centred rest D
    constants: tuple[Array, Array]  # (k,) each: the means of u and T


class FreeChain:
    """All K^L sequences of labels."""

    def __init__(self, n_labels: int, length: int):
        K, L = self.n_labels, self.length = n_labels, length
        self.log_size = L * log(K)
        self.mean = np.concatenate([np.full(K, L / K), np.full(K * K, (L - 1) / K**2)])
        steps, inner = L - 1, max(L - 2, 0)
        side = steps / sqrt(K)
        self.triple = np.array([[L, side, side], [side, steps / K, inner / K], [side, inner / K, steps / K]]) / K

    def cov_apply(self, F: Array) -> Array:
        """Return F S by (1)."""
        parts, K = self._parts(F), self.n_labels
        zero = np.zeros(len(F))
        return self._whole(
            _Parts(
                np.einsum("ij,kjl->kil", self.triple, parts.triple), (self.length - 1) / K**2 * parts.rest, (zero, zero)
            )
        )

    def cov_spectrum(self) -> list[Eigenspace]:
        """Return the eigenspaces, at most five."""
        K, L = self.n_labels, self.length
        values, vectors = np.linalg.eigh(self.triple)
        values[values < 1e-13 * values[-1]] = 0.0
        parts = [
            Subspace(float(value), K - 1, self._along(vector)) for value, vector in zip(values, vectors.T, strict=True)
        ]
        return distinct(
            [*parts, Subspace((L - 1) / K**2, (K - 1) ** 2, self._doubly_centred), Subspace(0.0, 2, self._constant)]
        )

    def sample(self, rng: np.random.Generator) -> list[int]:
        """Draw a uniform sequence."""
        return rng.integers(self.n_labels, size=self.length).tolist()

    def _parts(self, F: Array) -> _Parts:
        K = self.n_labels
        u, T = F[:, :K], F[:, K:].reshape(len(F), K, K)
        overall = T.mean((1, 2))
        r, c = T.mean(2) - overall[:, None], T.mean(1) - overall[:, None]
        rest = T - overall[:, None, None] - r[:, :, None] - c[:, None, :]
        triple = np.stack([u - u.mean(1, keepdims=True), sqrt(K) * r, sqrt(K) * c], axis=1)
        return _Parts(triple, rest, (u.mean(1), overall))

    def _whole(self, parts: _Parts) -> Array:
        K = self.n_labels
        u, r, c = parts.triple[:, 0], parts.triple[:, 1] / sqrt(K), parts.triple[:, 2] / sqrt(K)
        T = parts.rest + r[:, :, None] + c[:, None, :] + parts.constants[1][:, None, None]
        return np.concatenate([u + parts.constants[0][:, None], T.reshape(len(T), K * K)], axis=1)

    def _along(self, vector: Array) -> Callable[[Array], Array]:
        def project(rows: Array) -> Array:
            parts, zero = self._parts(rows), np.zeros(len(rows))
            size = np.einsum("i,kil->kl", vector, parts.triple)
            return self._whole(_Parts(vector[:, None] * size[:, None, :], np.zeros_like(parts.rest), (zero, zero)))

        return project

    def _doubly_centred(self, rows: Array) -> Array:
        parts, zero = self._parts(rows), np.zeros(len(rows))
        return self._whole(_Parts(np.zeros_like(parts.triple), parts.rest, (zero, zero)))

    def _constant(self, rows: Array) -> Array:
        parts = self._parts(rows)
        return self._whole(_Parts(np.zeros_like(parts.triple), np.zeros_like(parts.rest), parts.constants))
