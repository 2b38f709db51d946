"""Arcs among interchangeable nodes, and between them and marked nodes: sources, sinks, roots.

A covariance over such arcs that is invariant under renaming the n inner nodes maps functions that transform in one way
to functions that transform in the same way, so it is determined by a few numbers (Schur's lemma). The ways are

    as constants:                         one number for every kind of arc;
    as a function g of nodes, Σ g = 0:    multiples of g_v on arcs from or to marked nodes, of g_u - g_v and g_u + g_v
                                          on inner arcs u -> v;                                                   (1)
    as the rest of inner arcs:            symmetric and antisymmetric functions with sums 0 at every node.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from maxmargin.base.arrays import Array, Index
from maxmargin.counting.sets.complete_digraph import ArcEigenvalues, complete_digraph
from maxmargin.counting.sets.complete_graph import EdgeEigenvalues
from maxmargin.counting.sets.output_set import Eigenspace
from maxmargin.counting.sets.spectra import EQUAL, Subspace, distinct

Map = Callable[[Array], Array]  # rows to rows

SYMMETRIC = ArcEigenvalues(EdgeEigenvalues(0.0, 0.0, 1.0), 0.0, 0.0)
CIRCULATING = ArcEigenvalues(EdgeEigenvalues(0.0, 0.0, 0.0), 0.0, 1.0)


@dataclass
class InnerArcs:
    """Coordinates of arcs, grouped by the kind of their arc."""

    n: int  # inner nodes
    marked: list[int]  # arcs between two marked nodes, one coordinate each
    ends: list[Index]  # arcs between a marked node and the inner ones, n coordinates each
    inner: Index  # (n (n-1),) arcs u -> v of inner nodes in the order (0, 1), (0, 2) … (1, 0), (1, 2) …

    @property
    def dim(self) -> int:
        return len(self.marked) + sum(map(len, self.ends)) + len(self.inner)

    def spectrum(self, cov_apply: Map) -> list[Eigenspace]:
        """Return the eigenspaces of a covariance that is invariant under renaming inner nodes."""
        parts = [*self._constant_parts(cov_apply), *self._linear_parts(cov_apply), *self._other_parts(cov_apply)]
        largest = max(part.value for part in parts)
        # Outputs satisfy linear equations, for each of which an eigenvalue is 0. Small values are rounding errors, as
        # they would be for arcs of probability 1e-16.
        return distinct(part if part.value > EQUAL * largest else part._replace(value=0.0) for part in parts)

    def matrices(self, F: Array) -> Array:
        """Return the inner arcs of every row as (k, n, n) matrices with a zero diagonal."""
        result = np.zeros((len(F), self.n, self.n))
        result[:, ~np.eye(self.n, dtype=bool)] = F[:, self.inner]
        return result

    def _constant_parts(self, cov_apply: Map) -> list[Subspace]:
        kinds = [*np.array(self.marked, dtype=np.intp).reshape(-1, 1), *self.ends, self.inner]
        basis = np.zeros((len(kinds), self.dim))
        for row, places in zip(basis, kinds, strict=True):
            row[places] = 1.0
        basis = basis[basis.any(axis=1)]
        basis /= np.linalg.norm(basis, axis=1, keepdims=True)
        values, vectors = np.linalg.eigh(basis @ cov_apply(basis).T)
        return [Subspace(float(value), 1, _onto(row)) for value, row in zip(values, vectors.T @ basis, strict=True)]

    def _linear_parts(self, cov_apply: Map) -> list[Subspace]:
        if self.n < 2:
            return []
        g = np.zeros((1, self.n))
        g[0, :2] = np.sqrt(0.5), -np.sqrt(0.5)
        kinds = len(self.ends) + (2 if self.n > 2 else 1)  # with two nodes g_u + g_v is 0
        one_each = np.concatenate([self._linear([c * g for c in row]) for row in np.eye(kinds)])
        values, vectors = np.linalg.eigh(one_each @ cov_apply(one_each).T)
        return [
            Subspace(float(value), self.n - 1, self._onto_linear(vector))
            for value, vector in zip(values, vectors.T, strict=True)
        ]

    def _linear(self, fields: list[Array]) -> Array:
        """Return the second line of (1), given one (k, n) function of nodes per kind; an isometry on each of them."""
        result = np.zeros((len(fields[0]), self.dim))
        for places, field in zip(self.ends, fields, strict=False):
            result[:, places] = field
        tails, heads = np.nonzero(~np.eye(self.n, dtype=bool))
        difference, *total = fields[len(self.ends) :]
        result[:, self.inner] = (difference[:, tails] - difference[:, heads]) / np.sqrt(2 * self.n)
        for field in total:
            result[:, self.inner] += (field[:, tails] + field[:, heads]) / np.sqrt(2 * (self.n - 2))
        return result

    def _onto_linear(self, vector: Array) -> Map:
        def project(rows: Array) -> Array:
            matrices = self.matrices(rows)
            out, into = matrices.sum(axis=2), matrices.sum(axis=1)
            fields = [*(rows[:, places] for places in self.ends), (out - into) / np.sqrt(2 * self.n)]
            if len(fields) < len(vector):
                fields.append((out + into) / np.sqrt(2 * (self.n - 2)))
            along = np.zeros((len(rows), self.n))
            for c, field in zip(vector, fields, strict=True):
                along += c * field
            along -= along.mean(axis=1, keepdims=True)
            return self._linear([c * along for c in vector])

        return project

    def _other_parts(self, cov_apply: Map) -> list[Subspace]:
        n, parts = self.n, []
        if n >= 3:
            ring = _ring(n, [1.0, 1.0, 1.0])
            parts.append(((n - 1) * (n - 2) // 2, ring - ring.T, CIRCULATING))
        if n >= 4:
            ring = _ring(n, [1.0, -1.0, 1.0, -1.0])
            parts.append((n * (n - 3) // 2, ring + ring.T, SYMMETRIC))
        return [
            Subspace(self._value_at(matrix, cov_apply), dimension, self._onto_inner(onto))
            for dimension, matrix, onto in parts
        ]

    def _value_at(self, matrix: Array, cov_apply: Map) -> float:
        """Return the eigenvalue of this function of inner arcs."""
        row = np.zeros((1, self.dim))
        row[0, self.inner] = matrix[~np.eye(self.n, dtype=bool)]
        return float(np.vdot(row, cov_apply(row)) / np.vdot(row, row))

    def _onto_inner(self, onto: ArcEigenvalues) -> Map:
        def project(rows: Array) -> Array:
            result = np.zeros(rows.shape)
            result[:, self.inner] = complete_digraph(self.n).cov_apply(rows[:, self.inner], onto)
            return result

        return project


def _onto(direction: Array) -> Map:
    return lambda rows: np.outer(rows @ direction, direction)


def _ring(n: int, values: list[float]) -> Array:
    """Return a matrix with these values on the arcs 0 -> 1 -> 2 … -> 0."""
    matrix = np.zeros((n, n))
    places = np.arange(len(values))
    matrix[places, np.roll(places, -1)] = values
    return matrix
