"""Weights of edges: which weights there are, and the scores they give to pairs of labels at the ends of an edge.

    score of the labels k and l at edge e = Σ_g f_eg W[g, k, l],      W linear in the first `count` coordinates of w

Full tables have a weight for every pair of labels, Potts edges one for all pairs of equal labels. Attractive edges are
enforced by bounds of single weights; two labels use a basis in which submodularity is such a bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np

from maxmargin.base.arrays import Array

Pairwise = Literal["full", "potts"]
PAIRWISE = get_args(Pairwise)


class EdgeWeights:
    """The weights of G edge features and K labels, at the beginning of w."""

    count: int  # the number of weights
    single = True  # whether the shown values are learnt weights and not sums of them

    def tables(self, w: Array) -> Array:
        """Return W, a (G, K, K) array."""
        raise NotImplementedError

    def shown(self, w: Array) -> Array:
        """Return the weights as a model shows them: (G, K, K), or (G,) if all pairs of equal labels share one."""
        return self.tables(w)

    def pair_scores(self, w: Array, edge_features: Array) -> Array:
        """Return the (E, K, K) scores of all label pairs at all edges."""
        tables = self.tables(w)
        n_labels = tables.shape[1]
        if not len(edge_features):  # without edges the number of their features is unknown
            return np.empty((0, n_labels, n_labels))
        return (edge_features @ tables.reshape(len(tables), n_labels**2)).reshape(-1, n_labels, n_labels)

    def gathered(self, sums: Array) -> Array:
        """Return the (count,) coordinates of Ψ, given sums of edge features by the labels of their ends (G, K, K)."""
        raise NotImplementedError

    def attractive(self) -> tuple[Array, Array]:
        """Return bounds of the weights under which edges with features >= 0 prefer equal labels."""
        raise NotImplementedError


class FullTables(EdgeWeights):
    """A weight for every pair of labels; undirected features have one for both orders of two labels."""

    def __init__(self, directed: Sequence[bool], n_labels: int):
        self.coordinates = np.empty((len(directed), n_labels, n_labels), dtype=np.int64)
        self.count = 0
        for table, one_way in zip(self.coordinates, directed, strict=True):
            if one_way:
                table[:] = self.count + np.arange(n_labels**2).reshape(n_labels, n_labels)
            else:
                rows, columns = np.triu_indices(n_labels)
                table[rows, columns] = table[columns, rows] = self.count + np.arange(len(rows))
            self.count = int(table.max()) + 1

    def tables(self, w: Array) -> Array:
        return w[self.coordinates]

    def gathered(self, sums: Array) -> Array:
        return np.bincount(self.coordinates.ravel(), sums.ravel(), minlength=self.count).astype(np.float64, copy=False)

    def attractive(self) -> tuple[Array, Array]:
        low, high = np.full(self.count, -np.inf), np.full(self.count, np.inf)
        equal = np.eye(self.coordinates.shape[1], dtype=bool)
        low[self.coordinates[:, equal]], high[self.coordinates[:, ~equal]] = 0.0, 0.0
        return low, high


class Potts(EdgeWeights):
    """One weight per edge feature, for equal labels: W[g, k, l] = w_g [k = l]."""

    def __init__(self, n_features: int, n_labels: int):
        self.count, self.n_labels = n_features, n_labels

    def tables(self, w: Array) -> Array:
        return w[: self.count, None, None] * np.eye(self.n_labels)

    def shown(self, w: Array) -> Array:
        return w[: self.count]

    def gathered(self, sums: Array) -> Array:
        return np.asarray(np.trace(sums, axis1=1, axis2=2))

    def attractive(self) -> tuple[Array, Array]:
        return np.zeros(self.count), np.full(self.count, np.inf)


class SubmodularTables(EdgeWeights):
    """Full tables of two labels, in an orthonormal basis in which one coordinate is their submodularity.

    Bounds of single weights then express the whole condition W[0, 0] + W[1, 1] >= W[0, 1] + W[1, 0]: the last
    coordinate of every feature is >= 0, and coordinates of single ends are free. ‖w‖ equals the norm of the tables, so
    nothing else changes.
    """

    single = False

    # Tables of the basis vectors: all pairs, the first end, the second end, equal ends; of both orders as one number
    # (whose square counts once in ‖w‖²): all pairs, one label or the other, equal ends.
    ONE_WAY = np.array([[[1, 1], [1, 1]], [[1, 1], [-1, -1]], [[1, -1], [1, -1]], [[1, -1], [-1, 1]]]) / 2.0
    BOTH_WAYS = np.array([[[1, 1], [1, 1]], [[1, 0], [0, -1]], [[1, -2], [-2, 1]]]) / np.sqrt([[[3]], [[2]], [[6]]])

    def __init__(self, directed: Sequence[bool]):
        bases = [self.ONE_WAY if one_way else self.BOTH_WAYS for one_way in directed]
        ends = np.append(0, np.cumsum([len(basis) for basis in bases])).astype(np.int64)
        self.count, self.equal = int(ends[-1]), ends[1:] - 1
        self.owner = np.repeat(np.arange(len(bases)), np.diff(ends))
        self.basis = np.concatenate([np.empty((0, 2, 2)), *bases])  # (count, 2, 2)

    def tables(self, w: Array) -> Array:
        tables = np.zeros((len(self.equal), 2, 2))
        np.add.at(tables, self.owner, w[: self.count, None, None] * self.basis)
        return tables

    def pair_scores(self, w: Array, edge_features: Array) -> Array:
        """Return the pair scores, computed from the parts of ONE_WAY so that the preference is a sum of numbers >= 0.

        Preferences computed in this way are negative by at most rounding errors, which a minimum cut treats as zero.
        """
        if not len(edge_features):
            return np.empty((0, 2, 2))
        shares = self.basis.reshape(-1, 4) @ self.ONE_WAY.reshape(4, 4).T  # (count, 4); of the last part none is < 0
        parts = np.zeros((len(self.equal), 4))
        np.add.at(parts, self.owner, w[: self.count, None] * shares)
        return np.asarray((edge_features @ parts) @ self.ONE_WAY.reshape(4, 4)).reshape(-1, 2, 2)

    def gathered(self, sums: Array) -> Array:
        return np.asarray(np.einsum("ckl,ckl->c", self.basis, sums[self.owner]))

    def attractive(self) -> tuple[Array, Array]:
        low = np.full(self.count, -np.inf)
        low[self.equal] = 0.0
        return low, np.full(self.count, np.inf)


def edge_weights(pairwise: str, directed: Any, n_features: int, n_labels: int, attractive: bool) -> EdgeWeights:
    """Return the edge weights for these options of a task."""
    if pairwise not in PAIRWISE:
        raise ValueError(f"pairwise must be 'full' or 'potts', got {pairwise!r}")
    if pairwise == "potts":
        if not isinstance(directed, bool | np.bool_):
            raise ValueError(
                f"directed is {directed!r}, but with pairwise='potts' the ends of an edge are interchangeable; leave it"
            )
        return Potts(n_features, n_labels)
    flags = _directions(directed, n_features)
    return SubmodularTables(flags) if attractive and n_labels == 2 else FullTables(flags, n_labels)


def _directions(directed: Any, n_features: int) -> list[bool]:
    """Return for each edge feature whether it is directed."""
    flags = [directed] * n_features if isinstance(directed, bool | np.bool_) else directed
    if not isinstance(flags, Sequence | np.ndarray) or not all(isinstance(each, bool | np.bool_) for each in flags):
        raise ValueError(f"directed must be True, False, or a list of them, got {directed!r}")
    if len(flags) != n_features:
        raise ValueError(f"directed has {len(flags)} values; expected {n_features}, one per edge feature")
    return [bool(each) for each in flags]
