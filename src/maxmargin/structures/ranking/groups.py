"""Groups: the input of tasks whose outputs are about many rows of a matrix (a sample, the answers to a query)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.checks import refuse_complex

Indices = NDArray[np.int64]


class Groups(Sequence[Any]):
    """Sequence of groups of rows of one matrix; element g is the matrix of its rows, made on access.

    Group g has the rows number rows[bounds[g]] … rows[bounds[g + 1] - 1].

    Parameters
    ----------
    matrix : array or sparse matrix of shape (n, F)
        All rows.
    rows : array of int
        Row numbers, group by group.
    bounds : array of shape (n_groups + 1,)
        The limits of the groups in `rows`.

    See Also
    --------
    Ranking, TopK, Contingency : Tasks that take them as X.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import tasks
    >>> groups, names = tasks.Groups.by(np.array([[1.0], [2.0], [3.0]]), ["a", "b", "a"])
    >>> names.tolist(), groups[0].tolist()
    (['a', 'b'], [[1.0], [3.0]])
    """

    def __init__(self, matrix: Any, rows: Indices, bounds: Indices):
        self.matrix, self.rows, self.bounds = matrix, rows, bounds

    @classmethod
    def by(cls, matrix: Any, keys: Any) -> tuple[Groups, NDArray[Any]]:
        """Group rows with equal keys, in order of appearance; return the groups and their keys."""
        keys = np.asarray(keys)
        names, first, group = np.unique(keys, return_index=True, return_inverse=True)
        appearance = np.argsort(first)
        number = np.empty_like(appearance)
        number[appearance] = np.arange(len(names))
        rows = np.argsort(number[group], kind="stable")
        bounds = np.append(0, np.cumsum(np.bincount(number[group])))
        return cls(matrix, rows, bounds), names[appearance]

    @classmethod
    def of(cls, X: Any) -> Groups:
        """Stack a list of matrices, one per group."""
        if isinstance(X, Groups):
            return X
        for g, x in enumerate(X):
            refuse_complex(f"group {g}", x)
        blocks = [x if sparse.issparse(x) else np.asarray(x, dtype=float) for x in X]
        for g, block in enumerate(blocks):
            if block.ndim != 2:
                raise ValueError(f"group {g} has shape {block.shape}; expected a matrix, a row per example")
            if block.shape[1] != blocks[0].shape[1]:
                raise ValueError(f"group {g} has {block.shape[1]} columns; expected {blocks[0].shape[1]} as in group 0")
        bounds = np.append(0, np.cumsum([block.shape[0] for block in blocks]))
        packed = any(map(sparse.issparse, blocks))
        return cls(sparse.vstack(blocks, format="csr") if packed else np.vstack(blocks), np.arange(bounds[-1]), bounds)

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def __getitem__(self, g: Any) -> Any:
        return self.matrix[self.members(range(len(self))[g])]

    @property
    def sizes(self) -> Indices:
        """The number of rows of every group."""
        return np.diff(self.bounds)

    def members(self, g: int) -> Indices:
        """Return the row numbers of a group."""
        return self.rows[self.bounds[g] : self.bounds[g + 1]]

    def of_rows(self, values: NDArray[Any]) -> list[NDArray[Any]]:
        """Split one value per row of the matrix into one array per group."""
        return [values[self.members(g)] for g in range(len(self))]


def query_ids(qid: Any, n: int) -> NDArray[Any]:
    """Return one query id per row; without any, all rows are one query."""
    ids = np.zeros(n, dtype=int) if qid is None else np.asarray(qid)
    if ids.shape != (n,):
        raise ValueError(f"qid has shape {ids.shape}; expected ({n},), the query of every row")
    if ids.dtype.kind in "biuU":  # such arrays have no missing values and one type
        return ids
    missing = [i for i, each in enumerate(ids.tolist()) if each is None or each != each]
    if missing:
        raise ValueError(f"qid[{missing[0]}] is {ids[missing[0]]}; every row must belong to a query")
    kinds = sorted({type(each).__name__ for each in ids.tolist()})
    if ids.dtype == object and len(kinds) > 1:
        raise ValueError(f"qid mixes {' and '.join(kinds)}; expected ids of one kind")
    return ids
