"""PairTable: the pairs of several examples in one table, from which searches compute scores and planes."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from maxmargin.base.arrays import Array, Index
from maxmargin.problem.planes.atoms import AtomRows, Atoms
from maxmargin.problem.planes.planes import Rows
from maxmargin.structures.clustering.pairs import Pairs


class PairTable:
    """Concatenated pairs of several examples, as flat arrays for compiled functions.

    Pair e of the table has the items first[e] and second[e], numbered within its example g, and row e of the matrix;
    the pairs of g are bounds[g] … bounds[g + 1] - 1. With the constant feature, the last column of the matrix is 1.
    """

    def __init__(self, examples: list[Pairs], n_features: int, constant: bool):
        for i, x in enumerate(examples):
            if x.n_features not in (None, n_features):
                raise ValueError(
                    f"example {i} has {x.n_features} features per pair; expected {n_features} as in training"
                )
        self.bounds = np.append(0, np.cumsum([len(x.pairs) for x in examples])).astype(np.int64)
        self.n_items = np.array([x.n_items for x in examples], dtype=np.int64)
        joined = np.concatenate([x.pairs for x in examples]) if examples else np.empty((0, 2), dtype=np.int64)
        self.first, self.second = (np.ascontiguousarray(joined[:, side], dtype=np.int32) for side in (0, 1))
        self.matrix = _stacked([x.features for x in examples if len(x.pairs)], n_features, constant)

        # sparse rows are scored and combined as atoms with a single label
        self.atoms = Atoms(self.matrix, 1, 0) if sparse.issparse(self.matrix) else None

    def __len__(self) -> int:
        return len(self.n_items)

    def rows(self, g: int) -> slice:
        """Return the slice of the pairs of example g."""
        return slice(int(self.bounds[g]), int(self.bounds[g + 1]))

    def scores(self, w: Array, ids: Index) -> list[Array]:
        """Compute ⟨w, x_e⟩ of all pairs e, for each of these examples.

        Each example is computed on its own, because BLAS rounds differently for different numbers of rows, and results
        must not depend on the other examples of the batch.
        """
        if self.atoms is None:
            return [self.matrix[self.rows(g)] @ w for g in ids]
        return [self.atoms.scores(w, np.arange(self.bounds[g], self.bounds[g + 1]))[:, 0] for g in ids]

    @property
    def plane_atoms(self) -> Atoms:
        """The atoms of the rows that `combined` returns."""
        return Atoms.coordinates(self.matrix.shape[1]) if self.atoms is None else self.atoms

    def combined(self, factors: sparse.csr_array) -> Rows:
        """Return the rows Σ_e factors[j, e] · x_e, dense for a dense matrix, else as rows over atoms."""
        if self.atoms is None:
            return np.asarray(factors @ self.matrix)
        indptr, indices = factors.indptr.astype(np.int32), factors.indices.astype(np.int32)
        return AtomRows(self.atoms, indptr, indices, factors.data)


def _stacked(blocks: list[Any], n_features: int, constant: bool) -> Any:
    n_rows = sum(block.shape[0] for block in blocks)
    if any(map(sparse.issparse, blocks)):
        joined = sparse.csr_array(sparse.vstack(list(map(sparse.csr_array, blocks)), format="csr"), dtype=np.float64)
        if constant:
            joined = sparse.csr_array(sparse.hstack([joined, np.ones((n_rows, 1))], format="csr"))
        return joined
    matrix = np.ones((n_rows, n_features + constant))
    begin = 0
    for block in blocks:
        matrix[begin : begin + len(block), :n_features] = block
        begin += len(block)
    return matrix
