"""The features of tokens, some hundreds of tokens at a time, and the matrix that they make.

A token is a list of attribute strings, each a feature of value 1 however often it is listed (["word=the", "bias"]), or
a dict of features:

    {"length": 3, "upper": True}      the feature "length" of value 3, the feature "upper" of value 1
    {"word": "the"}                   the feature "word=the" of value 1
    {"suffix": ["e", "he"]}           the features "suffix=e" and "suffix=he" of value 1 each
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, count, islice
from numbers import Real
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.arrays import Array
from maxmargin.inputs.tokens.vocabulary import Names

AT_ONCE = 1024  # tokens at once: enough to make calls cheap, few enough for the processor's cache
LONG = 128  # the most columns of a row for which comparing all pairs is the fastest sort
# Types of values that are read many at a time.
NUMBERS = {float, int, bool, np.float64, np.float32, np.int64, np.int32, np.bool_}


class TokenFeatures(NamedTuple):
    """The features of consecutive tokens: token t has the entries ends[t] to ends[t + 1].

    Entry e is the feature names[entries[e]], or names[e] if `entries` is None, and has the value values[e], or 1 if
    `values` is None; without values a feature counts once even if a token lists it repeatedly.
    """

    names: Names
    entries: NDArray[np.int64] | None
    values: Array | None
    ends: NDArray[np.int64]

    def columns(self, numbers: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the number of every entry's feature, given the numbers of the names."""
        return numbers if self.entries is None else numbers[self.entries]

    def name(self, e: int) -> str:
        """Return the name of the feature of entry e."""
        k = e if self.entries is None else int(self.entries[e])
        return self.names.some(k, k + 1).strings()[0]


def read_tokens(X: Any, offsets: NDArray[np.int64]) -> Iterator[TokenFeatures]:
    """Read the features of all tokens: many at once if their types are the usual ones, else one by one."""
    tokens, row = chain.from_iterable(X), 0
    while some := list(islice(tokens, AT_ONCE)):
        try:
            read = _read_at_once(some)
        except (TypeError, OverflowError):
            read = None
        yield _read_one_by_one(some, row, offsets) if read is None else read
        row += len(some)


def _read_at_once(tokens: list[Any]) -> TokenFeatures | None:
    """Read tokens and values of the usual types; return None or raise a TypeError for others."""
    kinds = set(map(type, tokens))
    if not (kinds <= {list, tuple} or kinds <= {dict}):
        return None
    ends = ends_of(map(len, tokens), len(tokens))
    return TokenFeatures(Names.of(tokens), None, None, ends) if dict not in kinds else _read_dicts(tokens, ends)


def _read_dicts(dicts: list[dict[Any, Any]], ends: NDArray[np.int64]) -> TokenFeatures | None:
    """Read dicts whose values are numbers and strings of the usual types; return None for others."""
    n = int(ends[-1])
    if str not in map(type, next(filter(None, dicts), {}).values()):
        numbers = list(chain.from_iterable(map(dict.values, dicts)))
        if set(map(type, numbers)) <= NUMBERS:
            return TokenFeatures(Names.of(dicts), None, np.fromiter(numbers, dtype=np.float64, count=n), ends)
    # Names are made of a key and a string only for different pairs, a small share of all. Equal pairs are the same
    # feature with the same value, whatever their types: ("upper", True) is ("upper", 1.0).
    pair_numbers: defaultdict[tuple[Any, Any], int] = defaultdict(count().__next__)  # by order of appearance
    pairs = chain.from_iterable(map(dict.items, dicts))
    entries = np.fromiter(map(pair_numbers.__getitem__, pairs), dtype=np.int64, count=n)
    if not set(map(type, map(itemgetter(1), pair_numbers))) <= NUMBERS | {str}:
        return None
    names = ["=".join(pair) if type(pair[1]) is str else pair[0] for pair in pair_numbers]
    values = np.array([1.0 if type(value) is str else value for _, value in pair_numbers], dtype=np.float64)
    return TokenFeatures(Names.of([names]), entries, values[entries], ends)


def _read_one_by_one(tokens: list[Any], row: int, offsets: NDArray[np.int64]) -> TokenFeatures:
    """Read tokens of any accepted type; errors name the sequence and position. `row` is the row of the first token."""
    names: list[str] = []
    values: list[float] = []
    counts: list[int] = []
    for t, token in enumerate(tokens):
        before = len(names)
        try:
            for name, value in pairs_of(token):
                names.append(name)
                values.append(float(value))
        except (ValueError, OverflowError) as error:
            raise ValueError(f"{place_of(row + t, offsets)}: {error}") from None
        counts.append(len(names) - before)
    return TokenFeatures(Names.of([names]), None, np.array(values), ends_of(counts, len(counts)))


def pairs_of(token: Any) -> Iterator[tuple[str, Any]]:
    """Yield the features of one token as pairs (name, value)."""
    if isinstance(token, Mapping):
        for name, value in token.items():
            _check_name(name)
            if isinstance(value, str):
                yield "=".join((name, f"{value}")), 1.0  # subclasses of str count as plain strings
            elif isinstance(value, Real | np.bool_):
                yield name, value
            elif isinstance(value, Sequence) and all(isinstance(item, str) for item in value):
                yield from (("=".join((name, f"{item}")), 1.0) for item in value)
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
        raise ValueError(
            f"the feature name {name!r} is not a string; give rows of numbers as a (length, features) array"
        )


# --- as a matrix


class Growing:
    """An array that can be appended to. Concatenating parts at the end would need twice the memory."""

    def __init__(self, kind: Any):
        self._numbers, self.size = np.empty(0, dtype=kind), 0

    def append(self, numbers: NDArray[Any]) -> None:
        end = self.size + len(numbers)
        if end > len(self._numbers):
            wider = np.empty(2 * end, dtype=self._numbers.dtype)  # untouched memory is not allocated
            wider[: self.size] = self.array
            self._numbers = wider
        self._numbers[self.size : end] = numbers
        self.size = end

    @property
    def array(self) -> NDArray[Any]:
        """The numbers appended so far."""
        return self._numbers[: self.size]


class FeatureRows(NamedTuple):
    """Rows of a matrix: row t has the increasing columns[ends[t] : ends[t + 1]], and values there, all 1 if None."""

    columns: NDArray[np.int32]
    values: Array | None
    ends: NDArray[np.int64]

    @classmethod
    def of(cls, columns: NDArray[np.int32], values: Array | None, ends: NDArray[np.int64]) -> FeatureRows:
        """Make rows from columns in any order, -1 to leave one out; equal ones add up or, without values, count once.

        The given arrays are overwritten.
        """
        from maxmargin.inputs.tokens.compiled.feature_rows import tidy_rows

        for t in np.flatnonzero(np.diff(ends) > LONG):
            part = slice(ends[t], ends[t + 1])
            different, where = np.unique(columns[part], return_inverse=True)
            columns[part] = -1
            columns[part][: len(different)] = different
            if values is not None:
                values[part][: len(different)] = np.bincount(where, values[part])
        scratch = (*np.empty((3, LONG), dtype=np.int32), np.empty(LONG))
        tidy_rows(values is None, LONG, ends, columns, np.empty(0) if values is None else values, *scratch)
        return cls(columns[: ends[-1]], None if values is None else values[: ends[-1]], ends)

    @classmethod
    def stacked(cls, parts: Iterable[FeatureRows]) -> FeatureRows:
        """Concatenate rows. The parts may come from a generator, because none of them is kept."""
        columns, ends, values = Growing(np.int32), Growing(np.int64), None
        ends.append(np.zeros(1, dtype=np.int64))
        for part in parts:
            if values is None and part.values is not None:
                values = Growing(np.float64)
                values.append(np.broadcast_to(1.0, columns.size))
            if values is not None:
                values.append(np.broadcast_to(1.0, len(part.columns)) if part.values is None else part.values)
            ends.append(part.ends[1:] + columns.size)
            columns.append(part.columns)
        return cls(columns.array, None if values is None else values.array, ends.array)

    def to_matrix(self, n_features: int) -> sparse.csr_array:
        """Return the rows as a CSR array with n_features columns."""
        values = np.ones(len(self.columns)) if self.values is None else self.values
        # Same type as the columns; otherwise scipy would copy them.
        ends = self.ends.astype(np.int32) if self.ends[-1] < 2**31 else self.ends
        matrix = sparse.csr_array((values, self.columns, ends), shape=(len(self.ends) - 1, n_features))
        matrix.has_canonical_format = True  # avoids a check by scipy
        return matrix


def ends_of(counts: Iterable[int], n: int) -> NDArray[np.int64]:
    """Return the cumulative sums of n counts, after a zero."""
    ends = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.fromiter(counts, dtype=np.int64, count=n), out=ends[1:])
    return ends


def place_of(row: int, offsets: NDArray[np.int64]) -> str:
    """Return the name of a row for errors."""
    i = int(np.searchsorted(offsets, row, side="right")) - 1
    return f"sequence {i}, position {row - offsets[i]}"
