"""Rows of sparse features in the format of SVMlight, which LIBSVM, SVMrank and LETOR share.

    3 qid:7 1:0.5 9:-2 # anything

A row is a number (a class, a relevance), optionally the number of its query, and features with increasing numbers,
counted from 1. scikit-learn parses the rows; this module adds errors that name the file and the line, and refuses
everything that is not a number. https://www.cs.cornell.edu/people/tj/svm_light/
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.arrays import Array
from maxmargin.base.checks import check_whole, is_finite
from maxmargin.inputs.readers.multilabel_rows import MultilabelRows, NumberedNames
from maxmargin.inputs.readers.text_file import TextFile, TextLines, reading, writing

LARGEST = 2**31 - 1  # the largest number of a feature


class SvmlightRows(NamedTuple):
    """Rows of a file, as estimators take them.

    Attributes
    ----------
    X : sparse array of shape (n, features)
        The matrix of features.
    y : array of shape (n,)
        The label, a number, of every row.
    qid : array of shape (n,) or None
        Query numbers, or None if no row has one.
    """

    X: sparse.csr_array
    y: Array
    qid: NDArray[np.int64] | None  # None if no row has one


def read_svmlight(source: TextFile, n_features: int | None = None, zero_based: bool = False) -> SvmlightRows:
    r"""Return all rows of a file.

    Parameters
    ----------
    source : str, path or text file
        The file to read.
    n_features : int or None
        The number of columns of X; None: as many as the file needs.
    zero_based : bool
        Whether features are counted from 0. A file that counts from 1 can also be read this way: its feature j is then
        column j, and column 0 is empty.

    Returns
    -------
    SvmlightRows.

    Examples
    --------
    >>> import io
    >>> from maxmargin.formats import read_svmlight
    >>> rows = read_svmlight(io.StringIO("1 2:0.5\n-1 1:3\n"))
    >>> rows.X.toarray().tolist(), rows.y.tolist()
    ([[0.0, 0.5], [3.0, 0.0]], [1.0, -1.0])

    See Also
    --------
    iterate_svmlight : some rows at a time.   write_svmlight : writes such files.
    """
    with reading(source) as lines:
        return _parsed(_RowsRead(lines, iter(lines)), n_features, zero_based)


def iterate_svmlight(
    source: TextFile, n_features: int | None = None, zero_based: bool = False, at_once: int = 10_000
) -> Iterator[SvmlightRows]:
    """Yield the rows of a file, `at_once` lines at a time, so that large files need little memory.

    Parameters
    ----------
    source : str, path or text file
        The file to read.
    n_features : int or None
        The number of columns of X; None: every part has as many as it needs.
    zero_based : bool
        Whether features are counted from 0.
    at_once : int
        The number of lines per part.

    Returns
    -------
    iterator of SvmlightRows.

    See Also
    --------
    read_svmlight : all rows at once.
    """
    return _iterated(source, n_features, zero_based, at_once)


def read_multilabel_svmlight(
    source: TextFile, n_features: int | None = None, zero_based: bool = False
) -> MultilabelRows:
    r"""Return all rows of a file whose labels are numbers separated by commas, "1,3 2:0.5", or missing, "2:0.5".

    Y has a column for every label of the file, in increasing order, and `labels` are these numbers as texts.

    Parameters
    ----------
    source : str, path or text file
        The file to read.
    n_features : int or None
        The number of columns of X; None: as many as the file needs.
    zero_based : bool
        Whether features are counted from 0.

    Returns
    -------
    MultilabelRows.

    Examples
    --------
    >>> import io
    >>> from maxmargin.formats import read_multilabel_svmlight
    >>> rows = read_multilabel_svmlight(io.StringIO("1,3 2:0.5\n3 1:1\n"))
    >>> rows.labels, rows.Y.tolist()
    (['1', '3'], [[1, 1], [0, 1]])

    See Also
    --------
    iterate_multilabel_svmlight : some rows at a time.   write_svmlight : writes such files.
    """
    with reading(source) as lines:
        return _with_marks(_parsed(_RowsRead(lines, iter(lines)), n_features, zero_based, multilabel=True), zero_based)


def iterate_multilabel_svmlight(
    source: TextFile, n_features: int | None = None, zero_based: bool = False, at_once: int = 10_000
) -> Iterator[MultilabelRows]:
    """Yield the rows of a multi-label file, `at_once` lines at a time; every part has columns for its own labels.

    Parameters
    ----------
    source : str, path or text file
        The file to read.
    n_features : int or None
        The number of columns of X; None: every part has as many as it needs.
    zero_based : bool
        Whether features are counted from 0.
    at_once : int
        The number of lines per part.

    Returns
    -------
    iterator of MultilabelRows.

    See Also
    --------
    read_multilabel_svmlight : all rows at once.
    """
    parts = _iterated(source, n_features, zero_based, at_once, multilabel=True)
    return (_with_marks(rows, zero_based) for rows in parts)


def _iterated(
    source: TextFile, n_features: int | None, zero_based: bool, at_once: int, multilabel: bool = False
) -> Iterator[SvmlightRows]:
    check_whole("at_once", at_once, least=1)
    queries = None
    with reading(source) as lines:
        numbered = iter(lines)
        while True:
            rows = _RowsRead(lines, islice(numbered, at_once), queries)
            parsed, queries = _parsed(rows, n_features, zero_based, multilabel), rows.queries
            if parsed.X.shape[0]:
                yield parsed
            if lines.number < rows.before + at_once:
                return


def _with_marks(rows: SvmlightRows, zero_based: bool) -> MultilabelRows:
    X, labels, _ = rows
    columns = {label: k for k, label in enumerate(sorted({label for row in labels for label in row}))}
    Y = np.zeros((len(labels), len(columns)), dtype=np.int64)
    for i, row in enumerate(labels):
        Y[i, [columns[label] for label in row]] = 1
    first = 0 if zero_based else 1
    return MultilabelRows(X, Y, list(map(_written, columns)), NumberedNames(X.shape[1], first))


def write_svmlight(target: TextFile, X: Any, y: Any, qid: Any = None, zero_based: bool = False) -> None:
    """Write rows to a file.

    Parameters
    ----------
    target : str, path or text file
        The file to write.
    X : array of shape (n, features)
        The matrix of features.
    y : array-like
        Numbers, or lists of numbers if rows have any number of labels.
    qid : array-like or None
        Query numbers, or None.
    zero_based : bool
        Whether column j of X is feature j of the file, instead of j + 1.

    Examples
    --------
    >>> import sys
    >>> from maxmargin.formats import write_svmlight
    >>> write_svmlight(sys.stdout, [[0.0, 0.5]], [1])
    1 2:0.5

    See Also
    --------
    read_svmlight : reads such files.
    """
    matrix = sparse.csr_array(X, dtype=np.float64, copy=True)
    matrix.sum_duplicates()
    if len(y) != matrix.shape[0] or (qid is not None and len(qid) != len(y)):
        raise ValueError(f"X has {matrix.shape[0]} rows, but there are {len(y)} labels and {len(qid or y)} query ids")
    if not np.isfinite(matrix.data).all():
        raise ValueError("X has a number that is not finite")
    first = 0 if zero_based else 1
    with writing(target) as file:
        for i, label in enumerate(y):
            begin, end = matrix.indptr[i : i + 2]
            query = [] if qid is None else [f"qid:{int(qid[i])}"]
            pairs = zip(matrix.indices[begin:end].tolist(), matrix.data[begin:end].tolist(), strict=True)
            features = [f"{j + first}:{_written(value)}" for j, value in pairs if value]
            several = label if isinstance(label, Iterable) and not isinstance(label, str) else [label]
            labels = ",".join(_written(each) for each in several)
            file.write(f"{' '.join([labels, *query, *features])}\n")


def _written(value: Any) -> str:
    if not is_finite(value):
        raise ValueError(
            f"a label is {value!r}; expected a finite number, because svmlight files cannot hold text labels"
        )
    number = float(value)
    return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)


class _RowsRead:
    """Some lines as a file object for scikit-learn's loader; it remembers which lines are not rows.

    queries : whether rows have query numbers; None: decided by the first row.
    """

    def __init__(self, lines: TextLines, some: Iterator[str], queries: bool | None = None):
        self.lines, self.some, self.queries = lines, some, queries
        self.before = lines.number
        self.others: list[int] = []
        self.line = ""

    def read(self) -> None:
        """Exist because the loader looks for this method; it is never called."""

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from self._rows()
        except ValueError:
            self.line = ""  # not a parsing error; it names its line itself
            raise

    def _rows(self) -> Iterator[bytes]:
        for line in self.some:
            if not line or line[0] in "# \t":
                line = line.lstrip()
                if not line or line[0] == "#":
                    self.others.append(self.lines.number)
                    continue
            self.line = line
            if ("qid:" in line) != self.queries:
                self._check_query(line)
            yield line.encode()

    def _check_query(self, line: str) -> None:
        has = any(field.startswith("qid:") for field in line.partition("#")[0].split()[1:2])
        if self.queries is None:
            self.queries = has
        if has != self.queries:
            which = ("no qid", "others have one") if self.queries else ("a qid", "others have none")
            raise self.lines.error(f"the row has {which[0]}, but {which[1]}")

    def error(self, row: int, message: str) -> ValueError:
        """Return an error about a row, counted from the first of these lines."""
        number = self.before + 1 + row
        for other in self.others:
            number += other <= number
        return self.lines.error(message, number)


def _parsed(rows: _RowsRead, n_features: int | None, zero_based: bool, multilabel: bool = False) -> SvmlightRows:
    from sklearn.datasets import load_svmlight_file

    try:
        X, y, qid = load_svmlight_file(rows, query_id=True, zero_based=True, multilabel=multilabel)
    except (ValueError, OverflowError) as error:
        complaint = _complaint(rows.line, multilabel) if rows.line else ""
        raise (rows.lines.error(complaint or str(error)) if rows.line else error) from None
    matrix = sparse.csr_array(X)
    begins, columns = matrix.indptr, matrix.indices
    if not zero_based:
        if len(columns) and columns.min() == 0:
            row = int(np.searchsorted(begins, np.argmin(columns), side="right")) - 1
            raise rows.error(row, "the row has a feature 0; expected numbers from 1 on, or zero_based=True")
        matrix = sparse.csr_array((matrix.data, columns - 1, begins), shape=(len(y), max(matrix.shape[1] - 1, 0)))
    labels = np.array([not np.isfinite(each).all() for each in y], dtype=bool) if multilabel else ~np.isfinite(y)
    for wrong, what in ((~np.isfinite(matrix.data), "a feature"), (labels, "a label")):
        if wrong.any():
            k = int(np.argmax(wrong))
            row = k if what == "a label" else int(np.searchsorted(begins, k, side="right")) - 1
            raise rows.error(row, f"the row has {what} that is not a finite number")
    if n_features is not None:
        if len(columns) and matrix.indices.max() >= n_features:
            row = int(np.searchsorted(begins, np.argmax(columns), side="right")) - 1
            raise rows.error(row, f"the row has the feature {columns.max()}; expected at most {n_features} features")
        matrix = sparse.csr_array((matrix.data, matrix.indices, begins), shape=(len(y), n_features))
    return SvmlightRows(matrix, y, qid if rows.queries else None)


def _complaint(line: str, multilabel: bool = False) -> str:
    """Return an error message for a row that the loader refuses; empty if the reason is unknown."""
    label, *fields = line.partition("#")[0].split() or [""]
    if multilabel:
        label, fields = ("", [label, *fields]) if ":" in label else (label, fields)
        for each in filter(None, [label]) if "," not in label else label.split(","):
            if not _is(float, each):
                return f"a label is {each!r}; expected numbers with commas between them"
    elif not _is(float, label):
        return f"the label is {label!r}; expected a number"
    last = -1
    for k, field in enumerate(fields):
        name, colon, value = field.partition(":")
        if k == 0 and name == "qid":
            if not _is(int, value) or abs(int(value)) >= 2**63:
                return f"the query is {field!r}; expected a whole number, qid:7"
            continue
        if not colon or not _is(int, name) or not _is(float, value):
            return f"{field!r} is not a feature; expected its number and its value, 3:0.5"
        if not 0 <= int(name) <= LARGEST:
            return f"{field!r} has a number that no feature can have; expected 1 to {LARGEST}"
        if int(name) <= last:
            return f"the feature {name} comes after {last}; expected rising numbers, each once"
        last = int(name)
    return ""


def _is(kind: type, text: str) -> bool:
    try:
        kind(text)
    except ValueError:
        return False
    return True
