"""Cases: the inputs of decision problems.

Costs of parts are linear in features, and there are two kinds of features:

    of parts              x is a matrix φ with a row for every part; all parts share one weight vector, ĉ_p = ⟨w, φ_p⟩
    of whole examples     x is one row; every part has a weight vector of its own, ĉ_p = ⟨w_p, x⟩
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.checks import refuse_complex
from maxmargin.inputs.matrices import checked_matrix, number_matrix, with_ones
from maxmargin.structures.parts.rows import checked_rows, part_rows, stacked_rows


class Case(NamedTuple):
    """One example: its features, and its own optimiser, if there is one per example."""

    features: Any  # (P, F) of parts, or one row of the whole example
    optimiser: Any = None


class Cases:
    """Inputs of decision problems with all their rows in one matrix; cases[i] is a Case."""

    def __init__(
        self,
        rows: Any,
        bounds: NDArray[np.int64] | None = None,  # the first row of each example; None if every example has one row
        optimisers: Sequence[Any] | None = None,
        is_array: bool = True,  # whether X was an array, so that predictions are one too
    ):
        self.rows, self.bounds, self.optimisers, self.is_array = rows, bounds, optimisers, is_array
        if optimisers is not None and len(optimisers) != len(self):
            raise ValueError(f"there are {len(self)} examples but {len(optimisers)} optimisers; expected one for each")

    @classmethod
    def of(cls, X: Any, features: Callable[[Any], Any] | None = None, optimisers: Sequence[Any] | None = None) -> Cases:
        """Read X: an (n, F) matrix, an (n, P, F) array, a list of (P, F) matrices, or anything with `features`."""
        if isinstance(X, Cases):
            return X
        refuse_complex("X", X)
        if features is not None:
            return cls._of_parts([features(x) for x in X], optimisers)
        if sparse.issparse(X):
            return cls(number_matrix(X, "X"), None, optimisers)
        if isinstance(X, list | tuple) and len(X) and all(len(np.shape(x)) == 2 for x in X):
            return cls._of_parts(list(X), optimisers)
        rows = number_matrix(X, "X must hold numbers: (n, F) features of whole examples, or (n, P, F) of their parts")
        if rows.ndim == 3:
            n, n_parts, n_features = rows.shape
            return cls(rows.reshape(n * n_parts, n_features), np.arange(n + 1) * n_parts, optimisers)
        if rows.ndim != 2:
            raise ValueError(
                f"X has shape {rows.shape}; expected (n, F) features of whole examples, or (n, P, F) of their parts"
            )
        return cls(rows, None, optimisers)

    @classmethod
    def _of_parts(cls, given: list[Any], optimisers: Sequence[Any] | None) -> Cases:
        if not given:
            raise ValueError("no examples given: X is empty; expected at least one example")
        matrices = [part_rows(each, i) for i, each in enumerate(given)]
        n_features = matrices[0].shape[1]
        stacked = stacked_rows([checked_rows(matrix, n_features, i) for i, matrix in enumerate(matrices)])
        bounds = np.append(0, np.cumsum([matrix.shape[0] for matrix in matrices])).astype(np.int64)
        return cls(stacked, bounds, optimisers, is_array=False)

    def __len__(self) -> int:
        return int(self.rows.shape[0]) if self.bounds is None else len(self.bounds) - 1

    def __getitem__(self, i: int) -> Case:
        own = None if self.optimisers is None else self.optimisers[i]
        begin, end = (i, i + 1) if self.bounds is None else self.bounds[i : i + 2]
        rows = self.rows[begin:end]
        return Case(rows[0] if self.bounds is None and not sparse.issparse(rows) else rows, own)

    def __iter__(self) -> Iterator[Case]:
        return (self[i] for i in range(len(self)))

    @property
    def n_features(self) -> int:
        return int(self.rows.shape[1])

    def sizes(self, n_parts: int) -> NDArray[np.int64]:
        """Return the number of parts of every example, n_parts if the features are of whole examples."""
        return np.full(len(self), n_parts, dtype=np.int64) if self.bounds is None else np.diff(self.bounds)

    def checked(self) -> Cases:
        """Return the cases after checking that they have features and that all numbers can be used."""
        if self.n_features == 0:
            raise ValueError("X has no features to learn from; expected at least one column")
        try:
            rows = checked_matrix(self.rows, self.n_features)
        except ValueError as error:
            if self.bounds is None:
                raise
            words = str(error).split(",")  # the message of checked_matrix calls a row an example
            row = int(words[0].removeprefix("example "))
            i = int(np.searchsorted(self.bounds, row, side="right")) - 1
            raise ValueError(f"example {i}: part {row - self.bounds[i]},{','.join(words[1:])}") from None
        return self if rows is self.rows else Cases(rows, self.bounds, self.optimisers, self.is_array)

    def with_constant(self) -> Cases:
        """Return the same cases with one more feature, the constant 1."""
        rows = self.rows
        more = with_ones(rows) if sparse.issparse(rows) else np.hstack([rows, np.ones((rows.shape[0], 1))])
        return Cases(more, self.bounds, self.optimisers, self.is_array)
