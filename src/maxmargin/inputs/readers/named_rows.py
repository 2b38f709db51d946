"""Rows of named features with labels and queries, as tables and JSON lines hold them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.checks import is_finite, is_real


class NamedRows(NamedTuple):
    """Rows of a file, as estimators take them.

    Attributes
    ----------
    X : sparse array of shape (n, features)
        The matrix of features.
    y : array or None
        Labels, numbers or texts; None if the file has no labels.
    qid : array or None
        Queries, numbers or texts; None if the file has no queries.
    names : list of str
        The names of the columns of X.
    ignored : int
        The number of features of the file that were not requested.
    """

    X: sparse.csr_array
    y: NDArray[Any] | None  # numbers, or texts (objects); None if the file has no labels
    qid: NDArray[Any] | None  # the same for queries
    names: list[str]  # names of the columns of X
    ignored: int = 0  # features of the file that were not requested


class RowsCollected:
    """A collector of rows. The first label, and the first query, decides whether they are numbers or texts.

    names : the columns to read, if they are known; other features are ignored then.
    """

    def __init__(self, names: Sequence[str] | None = None):
        self.column_of = {} if names is None else {name: j for j, name in enumerate(names)}
        self.fixed = names is not None
        self.first: dict[str, type] = {}
        self.ignored: set[str] = set()
        self.clear()

    def clear(self) -> None:
        """Begin again after rows were taken."""
        self._values: list[float] = []
        self._columns: list[int] = []
        self._ends = [0]
        self._said: dict[str, list[Any]] = {}

    def __len__(self) -> int:
        return len(self._ends) - 1

    def add(self, features: Iterable[tuple[str, float]], **said: Any) -> str:
        """Add a row with its features, each once, and its label and query; return an error message, or ''."""
        for what, value in said.items():
            number = is_real(value)
            if not (fits_float(value) if number else isinstance(value, str)):
                return f"the {what} is {value!r:.40}; expected a text or a finite number"
            kind = float if number else str
            if self.first.setdefault(what, kind) is not kind:
                other = ("a text", "the first is a number") if number is False else ("a number", "the first is a text")
                return f"the {what} is {other[0]}, {value!r:.40}, but {other[1]}; expected all of one kind"
            self._said.setdefault(what, []).append(value)
        for name, value in features:
            column = self.column_of.get(name)
            if column is None:
                if self.fixed:  # a feature that was not requested
                    self.ignored.add(name)
                    continue
                column = self.column_of[name] = len(self.column_of)
            if value:
                self._columns.append(column)
                self._values.append(value)
        self._ends.append(len(self._values))
        return ""

    def taken(self) -> NamedRows:
        """Return the rows that were added."""
        values = np.array(self._values, dtype=np.float64)
        columns, ends = np.array(self._columns, dtype=np.int32), np.array(self._ends, dtype=np.int64)
        X = sparse.csr_array((values, columns, ends), shape=(len(self), len(self.column_of)))
        X.sort_indices()
        return NamedRows(X, self._array("label"), self._array("query"), list(self.column_of), len(self.ignored))

    def _array(self, what: str) -> NDArray[Any] | None:
        values = self._said.get(what)
        if values is None:
            return None
        if self.first[what] is str:
            return np.array(values, dtype=object)
        whole = what == "query" and all(float(value).is_integer() and abs(value) < 2**63 for value in values)
        return np.array(values, dtype=np.int64 if whole else np.float64)


def fits_float(value: Any) -> bool:
    """Return whether this is a real number that is finite as a float."""
    if type(value) is float:  # the usual case
        return isfinite(value)
    try:
        return is_finite(value)
    except OverflowError:  # a whole number of hundreds of digits
        return False


def as_text_or_number(value: Any) -> Any:
    """Return a label in the form in which files hold it: numpy scalars become Python numbers."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return value
