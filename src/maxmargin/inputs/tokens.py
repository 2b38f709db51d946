"""Sequences: ragged feature rows packed into one flat matrix.

A sequence may come as a (T, F) array, a (T, F) sparse matrix, or a list of T tokens. A token is a list of attribute
strings, each a feature of value 1 however often it is listed (["word=the", "bias"]), or a dict of features:

    {"length": 3, "upper": True}      the feature "length" of value 3, the feature "upper" of value 1
    {"word": "the"}                   the feature "word=the" of value 1
    {"suffix": ["e", "he"]}           the features "suffix=e" and "suffix=he" of value 1 each

All sequences of a data set are matrices, or all are lists of tokens. To read tokens takes as long as some passes of
training: whoever needs them twice calls `read_once` first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.checks import refuse_complex
from maxmargin.inputs.matrices import bad_number


class Sequences:
    """A flat (tokens × features) matrix and the bounds of the sequences: sequence i is rows offsets[i]:offsets[i+1].

    Anything that takes a list of sequences takes this too, without copying. Columns of a data frame keep their names.
    """

    def __init__(self, matrix: Any, offsets: Any):
        self.feature_names = column_names(matrix)
        refuse_complex("the matrix of sequences", matrix)
        make = sparse.csr_array if sparse.issparse(matrix) else np.asarray
        self.matrix: Any = make(matrix, dtype=np.float64)
        self.offsets = _row_numbers(offsets)
        if self.matrix.ndim != 2:
            raise ValueError(f"the matrix has shape {self.matrix.shape}; expected two dimensions, (tokens, features)")
        if len(self.offsets) == 0 or self.offsets[0] != 0 or (np.diff(self.offsets) < 0).any():
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


class TokenSequences(Sequences):
    """Lists of tokens that have been read: a column for every feature that they have, in order of appearance."""

    def __init__(self, X: Any):
        offsets, features = _offsets(X, "tokens"), _features(X)
        numbers: defaultdict[str, int] = defaultdict()
        numbers.default_factory = numbers.__len__  # a new name gets the next number
        columns = np.fromiter(map(numbers.__getitem__, features.names), dtype=np.int32, count=len(features.names))
        super().__init__(_matrix(features, columns, len(numbers)), offsets)
        self.vocabulary: dict[str, int] = dict(numbers)
        self.feature_names = list(numbers)

    def features(self) -> TokenFeatures:
        """The same by name."""
        names = list(self.vocabulary)
        return TokenFeatures([names[k] for k in self.matrix.indices], self.matrix.data, self.matrix.indptr)


def read_once(X: Any) -> Any:
    """Lists of tokens as TokenSequences, so that `fit` and `pack` need not read them; other inputs as they are."""
    first = None if hasattr(X, "shape") and len(X.shape) != 1 else next(iter(X), None)
    is_token_list = isinstance(first, Sequence) and not isinstance(first, str) and not hasattr(first, "shape")
    return TokenSequences(X) if is_token_list else X


class SequencePacker:
    """Turn sequences of any accepted form into Sequences; the form and the features are fixed by `fit`.

    unknown : "ignore" or "error": what to do with a feature of a token that `fit` has not seen.
    """

    def __init__(self, unknown: str = "ignore"):
        if unknown not in ("ignore", "error"):
            raise ValueError(f"unknown must be 'ignore' or 'error', got {unknown!r}")
        self.unknown = unknown

    def fit(self, X: Any) -> SequencePacker:
        """Learn the form of the sequences and their features: for tokens, in order of appearance."""
        self.vocabulary: dict[str, int] | None = None  # of tokens
        self._columns: list[str] | None = None
        X = read_once(X)
        if isinstance(X, TokenSequences):
            self.vocabulary, self.n_features = X.vocabulary, len(X.vocabulary)
        elif isinstance(X, Sequences):
            self._columns, self.n_features = X.feature_names, int(X.matrix.shape[1])
        elif sparse.issparse(X):
            raise ValueError("X is one sparse matrix; expected a list of sequences, or Sequences(matrix, offsets)")
        elif len(X) == 0:
            raise ValueError("no sequences given: at least one example is needed")
        else:
            first = next(iter(X))
            _form(first, 0)
            self._columns, self.n_features = column_names(first), int(first.shape[1])
        return self

    @property
    def feature_names(self) -> list[str] | None:
        """The features of tokens or the columns of data frames, in the order of the matrix; None for other matrices."""
        return self._columns if self.vocabulary is None else list(self.vocabulary)

    def pack(self, X: Any, may_be_empty: bool = False) -> Sequences:
        """Check and flatten; errors name the sequence. In prediction sequences may be empty."""
        packed = self._packed(X)
        empty = np.flatnonzero(np.diff(packed.offsets) == 0)
        if len(empty) and not may_be_empty:
            raise ValueError(f"sequence {empty[0]} is empty; leave out sequences without tokens")
        if packed.matrix.shape[1] != self.n_features:
            raise ValueError(
                f"sequences have {packed.matrix.shape[1]} features; expected {self.n_features} as in training"
            )
        _check_finite(packed)
        return packed

    def _packed(self, X: Any) -> Sequences:
        if isinstance(X, Sequences) and not isinstance(X, TokenSequences):
            return X
        if sparse.issparse(X):
            raise ValueError("X is one sparse matrix; expected a list of sequences, or Sequences(matrix, offsets)")
        if self.vocabulary is None:
            if isinstance(X, TokenSequences):
                raise _wrong_form(0, "matrix")
            offsets = _offsets(X, "matrix")
            filled = [_checked(x, i, self.n_features) for i, x in enumerate(X) if offsets[i] < offsets[i + 1]]
            return Sequences(_stack(filled, self.n_features), offsets)
        if not isinstance(X, TokenSequences):
            offsets = _offsets(X, "tokens")
            return Sequences(self._looked_up(_features(X), offsets), offsets)
        if X.vocabulary == self.vocabulary:
            return X
        return Sequences(self._looked_up(X.features(), X.offsets), X.offsets)

    def _looked_up(self, features: TokenFeatures, offsets: NDArray[np.int64]) -> sparse.csr_array:
        """The matrix of token features: one dictionary look-up per feature, everything else on whole arrays."""
        assert self.vocabulary is not None
        names, values, ends = features
        columns = np.fromiter(map(self.vocabulary.get, names, repeat(-1)), dtype=np.int32, count=len(names))
        known = columns >= 0
        if not known.all():
            if self.unknown == "error":
                k = int(np.argmin(known))
                place = _place(offsets, int(np.searchsorted(ends, k, side="right")) - 1)
                raise ValueError(f"{place} has the feature {names[k]!r}, which was not seen in training")
            ends = np.concatenate([[0], np.cumsum(known)])[ends]
            columns, values = columns[known], None if values is None else values[known]
        return _matrix(TokenFeatures(names, values, ends), columns, self.n_features)


class TokenFeatures(NamedTuple):
    """The features of all tokens in a row: token t has those from ends[t] to ends[t + 1]."""

    names: list[str]
    values: NDArray[np.float64] | None  # None: a feature is there (1) or not (0), however often it is listed
    ends: NDArray[np.int64]


_NUMBERS = {float, int, bool, np.float64, np.float32, np.int64, np.int32, np.bool_}


def _features(X: Any) -> TokenFeatures:
    """The features of all tokens, by calls that loop in C where they can, else with a look at every token."""
    try:
        read = _read_at_once(list(chain.from_iterable(X)))
    except (TypeError, OverflowError):
        read = None
    return _read_one_by_one(X) if read is None else read


def _read_at_once(tokens: list[Any]) -> TokenFeatures | None:
    """Tokens and values of the usual types; None where there are others."""
    kinds = set(map(type, tokens))
    if not (kinds <= {list, tuple} or kinds <= {dict}):
        return None
    names = list(chain.from_iterable(tokens))
    if not set(map(type, names)) <= {str}:
        return None
    values = None
    if dict in kinds:
        found = list(chain.from_iterable(map(dict.values, tokens)))
        kinds = set(map(type, found))
        if not kinds <= _NUMBERS | {str}:
            return None
        if str in kinds:
            names = [f"{name}={v}" if type(v) is str else name for name, v in zip(names, found, strict=True)]
            found = [1.0 if type(v) is str else v for v in found]
        values = np.fromiter(found, dtype=np.float64, count=len(found))
    return TokenFeatures(names, values, _ends(map(len, tokens), len(tokens)))


def _read_one_by_one(X: Any) -> TokenFeatures:
    """Any tokens: the same as `_read_at_once` where that has an answer; errors name the sequence and the position."""
    names: list[str] = []
    values: list[float] = []
    counts: list[int] = []
    for i, x in enumerate(X):
        for t, token in enumerate(x):
            before = len(names)
            try:
                for name, value in _pairs(token):
                    names.append(name)
                    values.append(float(value))
            except (ValueError, OverflowError) as error:
                raise ValueError(f"sequence {i}, position {t}: {error}") from None
            counts.append(len(names) - before)
    return TokenFeatures(names, np.array(values), _ends(counts, len(counts)))


def _pairs(token: Any) -> Iterator[tuple[str, Any]]:
    """The features of one token."""
    if isinstance(token, Mapping):
        for name, value in token.items():
            _check_name(name)
            if isinstance(value, str):
                yield f"{name}={value}", 1.0
            elif isinstance(value, Real | np.bool_):
                yield name, value
            elif isinstance(value, Sequence) and all(isinstance(item, str) for item in value):
                yield from ((f"{name}={item}", 1.0) for item in value)
            else:
                raise ValueError(f"the feature {name!r} is {value!r}; expected a number, a string or a list of strings")
    elif isinstance(token, Sequence) and not isinstance(token, str):
        for name in token:
            _check_name(name)
        yield from ((name, 1.0) for name in dict.fromkeys(token))
    else:
        raise ValueError(f"the token is {token!r}; expected a dict of features or a list of attribute strings")


def _check_name(name: Any) -> None:
    if not isinstance(name, str):
        raise ValueError(f"the feature name {name!r} is no string; rows of numbers come as a (length, features) array")


def _ends(counts: Iterable[int], n: int) -> NDArray[np.int64]:
    ends = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.fromiter(counts, dtype=np.int64, count=n), out=ends[1:])
    return ends


def _matrix(features: TokenFeatures, columns: NDArray[np.int32], n_features: int) -> sparse.csr_array:
    values = np.ones(len(columns)) if features.values is None else features.values
    matrix = sparse.csr_array((values, columns, features.ends), shape=(len(features.ends) - 1, n_features))
    matrix.sum_duplicates()
    if features.values is None:
        matrix.data[:] = 1.0
    return matrix


def _form(x: Any, i: int) -> str:
    if hasattr(x, "shape"):
        if len(x.shape) != 2:
            raise ValueError(f"sequence {i} has shape {x.shape}; expected two dimensions, (length, features)")
        return "matrix"
    if isinstance(x, Sequence) and not isinstance(x, str):
        return "tokens"
    raise ValueError(f"sequence {i} is a {type(x).__name__}; expected a (length, features) matrix or a list of tokens")


def _offsets(X: Any, form: str) -> NDArray[np.int64]:
    """Where every sequence begins; all must have this form."""
    lengths = []
    for i, x in enumerate(X):
        if _is_empty(x):
            lengths.append(0)
            continue
        if _form(x, i) != form:
            raise _wrong_form(i, form)
        lengths.append(int(x.shape[0]) if form == "matrix" else len(x))
    return _ends(lengths, len(lengths))


def _is_empty(x: Any) -> bool:
    """Whether this is a sequence without positions, which has every form."""
    if hasattr(x, "shape"):
        return len(x.shape) > 0 and x.shape[0] == 0
    return isinstance(x, Sequence) and not isinstance(x, str) and len(x) == 0


def _wrong_form(i: int, form: str) -> ValueError:
    what, expected = ("a list of tokens", "matrix") if form == "matrix" else ("a matrix", "list of tokens")
    return ValueError(f"sequence {i} is {what}; expected a {expected} like the first sequence in training")


def _checked(x: Any, i: int, n_features: int) -> Any:
    """A matrix of numbers of the right width."""
    if x.shape[1] != n_features:
        raise ValueError(f"sequence {i} has {x.shape[1]} features; expected {n_features} as in training")
    refuse_complex(f"sequence {i}", x)
    if sparse.issparse(x):
        return sparse.csr_array(x, dtype=np.float64)
    try:
        return np.asarray(x, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"sequence {i} is a matrix of {np.asarray(x).dtype}, not of numbers") from None


def _row_numbers(offsets: Any) -> NDArray[np.int64]:
    given = np.asarray(offsets)
    if given.dtype.kind not in "iuf" or given.ndim != 1:
        raise ValueError(f"offsets must be a rising list of row numbers that starts with 0, got {offsets!r}")
    broken = np.flatnonzero(given != np.floor(given))
    if len(broken):
        raise ValueError(f"offsets[{broken[0]}] is {given[broken[0]]}; expected whole numbers of rows")
    return given.astype(np.int64)


def _stack(matrices: list[Any], n_features: int) -> Any:
    if not matrices:
        return np.zeros((0, n_features))
    if any(sparse.issparse(matrix) for matrix in matrices):
        return sparse.vstack([sparse.csr_array(matrix) for matrix in matrices], format="csr")
    return np.concatenate(matrices)


def _check_finite(packed: Sequences) -> None:
    place = bad_number(packed.matrix)
    if place is not None:
        row, _, what = place
        raise ValueError(f"{_place(packed.offsets, row)}: features contain {what}")


def column_names(matrix: Any) -> list[str] | None:
    """Those of a data frame, where all are strings."""
    names = list(getattr(matrix, "columns", ()))
    return names if names and all(isinstance(name, str) for name in names) else None


def _place(offsets: NDArray[np.int64], row: int) -> str:
    i = int(np.searchsorted(offsets, row, side="right")) - 1
    return f"sequence {i}, position {row - offsets[i]}"
