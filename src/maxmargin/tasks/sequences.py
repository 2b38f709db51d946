"""Sequences: ragged feature rows packed into one flat matrix.

A sequence may come as a (T, F) array, a (T, F) sparse matrix, or a list of T tokens, each a dict of features
({"word": "the", "bias": 1.0}) or a list of attribute strings (["word=the", "bias"]). All sequences of a data set come
in one of the three forms.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction import DictVectorizer


class Sequences:
    """A flat (tokens × features) matrix and the boundaries of the sequences: sequence i is rows offsets[i]:offsets[i+1].

    Anything that takes a list of sequences takes this too, without copying.
    """

    def __init__(self, matrix: Any, offsets: Any):
        self.matrix = sparse.csr_array(matrix) if sparse.issparse(matrix) else np.asarray(matrix)
        self.offsets = np.asarray(offsets, dtype=np.int64)
        if self.offsets.ndim != 1 or len(self.offsets) == 0 or self.offsets[0] != 0 or (np.diff(self.offsets) < 0).any():
            raise ValueError("offsets must be a rising list of row numbers that starts with 0")
        if self.offsets[-1] != self.matrix.shape[0]:
            raise ValueError(f"offsets end at {self.offsets[-1]}, but the matrix has {self.matrix.shape[0]} rows")

    @classmethod
    def from_groups(cls, matrix: Any, groups: Any) -> Sequences:
        """From a long table: consecutive rows with the same group value are one sequence."""
        groups = np.asarray(groups)
        if len(groups) != matrix.shape[0]:
            raise ValueError(f"{len(groups)} group values for {matrix.shape[0]} rows")
        starts = np.flatnonzero(groups[1:] != groups[:-1]) + 1
        if len(np.unique(groups)) != len(starts) + min(len(groups), 1):
            raise ValueError("rows of one group must stand together; sort the table by group first")
        return cls(matrix, np.concatenate([[0], starts, [len(groups)]]) if len(groups) else [0])

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, i: int) -> Any:
        if not -len(self) <= i < len(self):
            raise IndexError(f"sequence {i} of {len(self)}")
        i = int(i) % len(self)
        return self.matrix[self.offsets[i] : self.offsets[i + 1]]

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))


class SequencePacker:
    """Turn sequences of any accepted form into Sequences; the form and the features are fixed by `fit`."""

    def __init__(self, unknown_features: str = "ignore"):
        self.unknown_features = unknown_features

    def fit(self, X: Any) -> SequencePacker:
        self.vectorizer: DictVectorizer | None = None
        if not isinstance(X, Sequences) and _form(_first(X)) == "tokens":
            self.vectorizer = DictVectorizer(sparse=True, sort=False).fit(_tokens(X))
            self.n_features = len(self.vectorizer.vocabulary_)
        else:
            self.n_features = (X.matrix if isinstance(X, Sequences) else _first(X)).shape[1]
        return self

    @property
    def feature_names(self) -> list[str] | None:
        return None if self.vectorizer is None else list(self.vectorizer.feature_names_)

    def pack(self, X: Any) -> Sequences:
        """Check and flatten; errors name the sequence."""
        if isinstance(X, Sequences):
            packed = X
        else:
            lengths = [_length(x, i) for i, x in enumerate(X)]
            offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
            if self.vectorizer is not None:
                packed = Sequences(self._vectorize(X), offsets)
            else:
                packed = Sequences(_stack([self._checked(x, i) for i, x in enumerate(X)], self.n_features), offsets)
        empty = np.flatnonzero(np.diff(packed.offsets) == 0)
        if len(empty):
            raise ValueError(f"sequence {empty[0]} is empty; leave out sequences without tokens")
        if packed.matrix.shape[1] != self.n_features:
            raise ValueError(f"sequences have {packed.matrix.shape[1]} features; expected {self.n_features} as in training")
        _check_finite(packed)
        return packed

    def _vectorize(self, X: Any) -> sparse.csr_array:
        assert self.vectorizer is not None
        for i, x in enumerate(X):
            if _form(x) != "tokens":
                raise ValueError(f"sequence {i} is a matrix; expected a list of dicts or attribute lists as in training")
        if self.unknown_features == "error":
            names = self.vectorizer.vocabulary_
            for i, x in enumerate(X):
                for token in x:
                    for name in DictVectorizer(sort=False).fit([_as_dict(token)]).vocabulary_:
                        if name not in names:
                            raise ValueError(f"sequence {i} has the feature {name!r}, which was not seen in training")
        return self.vectorizer.transform(_tokens(X))

    def _checked(self, x: Any, i: int) -> Any:
        if _form(x) == "tokens":
            raise ValueError(f"sequence {i} is a list of tokens; expected a (length, {self.n_features}) matrix")
        if x.shape[1] != self.n_features:
            raise ValueError(f"sequence {i} has {x.shape[1]} features; expected {self.n_features}")
        return x


def _first(X: Any) -> Any:
    if len(X) == 0:
        raise ValueError("no sequences given: at least one example is needed")
    return X[0]


def _form(x: Any) -> str:
    if hasattr(x, "shape"):
        if len(x.shape) != 2:
            raise ValueError(f"a sequence has shape {x.shape}; expected two dimensions, (length, features)")
        return "matrix"
    if isinstance(x, Sequence) and not isinstance(x, str):
        return "tokens"
    raise ValueError(f"a sequence is a {type(x).__name__}; expected a (length, features) matrix or a list of tokens")


def _length(x: Any, i: int) -> int:
    try:
        _form(x)
    except ValueError as error:
        raise ValueError(f"sequence {i}: {error}") from None
    return int(x.shape[0]) if hasattr(x, "shape") else len(x)


def _tokens(X: Any) -> Iterator[Mapping[str, Any]]:
    return (_as_dict(token) for token in chain.from_iterable(X))


def _as_dict(token: Any) -> Mapping[str, Any]:
    if isinstance(token, Mapping):
        return token
    if isinstance(token, str) or not isinstance(token, Sequence):
        raise ValueError(f"a token is {token!r}; expected a dict of features or a list of attribute strings")
    return dict.fromkeys(token, 1.0)


def _stack(matrices: list[Any], n_features: int) -> Any:
    if not matrices:
        return np.zeros((0, n_features))
    if any(sparse.issparse(matrix) for matrix in matrices):
        return sparse.vstack([sparse.csr_array(matrix) for matrix in matrices], format="csr")
    return np.concatenate([np.asarray(matrix, dtype=np.float64) for matrix in matrices])


def _check_finite(packed: Sequences) -> None:
    matrix = packed.matrix
    values = matrix.data if sparse.issparse(matrix) else matrix
    if np.isfinite(values).all():
        return
    rows: NDArray[np.intp] = (
        np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))[~np.isfinite(values)]
        if sparse.issparse(matrix)
        else np.flatnonzero(~np.isfinite(values).all(axis=1))
    )
    i = int(np.searchsorted(packed.offsets, rows[0], side="right")) - 1
    raise ValueError(f"sequence {i}, position {rows[0] - packed.offsets[i]}: features contain NaN or infinity")
