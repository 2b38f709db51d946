"""Rows with one label, or with any number of labels, in JSON lines.

{"label": "red", "query": 7, "features": {"size": 2.5, "round": 1}}
{"labels": ["red", "ripe"], "features": [2.5, 1]}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from scipy import sparse

from maxmargin.base.checks import check_whole
from maxmargin.inputs.readers.json_lines import JsonRecord, iterate_records, write_records
from maxmargin.inputs.readers.multilabel_rows import MultilabelRows
from maxmargin.inputs.readers.named_rows import NamedRows, RowsCollected, as_text_or_number, fits_float
from maxmargin.inputs.readers.text_file import TextFile


def iterate_jsonl_rows(
    source: TextFile, names: Sequence[str] | None = None, at_once: int = 10_000
) -> Iterator[NamedRows]:
    r"""Yield rows, `at_once` at a time: {"label": …, "query": …, "features": {name: number} or [numbers]}.

    Features in a list are named "0", "1", … Features that a row does not have are 0. Labels and queries are texts or
    numbers, the same for all rows; either may be missing in all rows.

    Parameters
    ----------
    source : str, path or text file
        The file to read.
    names : sequence of str or None
        The columns to read; None reads all. Without it, later parts may have more columns than earlier ones.
    at_once : int
        The number of rows per part.

    Returns
    -------
    iterator of NamedRows.

    Examples
    --------
    >>> import io
    >>> from maxmargin.formats import iterate_jsonl_rows
    >>> file = io.StringIO('{"label": "red", "features": {"size": 2.5}}\n')
    >>> [(rows.names, rows.y.tolist()) for rows in iterate_jsonl_rows(file)]
    [(['size'], ['red'])]

    See Also
    --------
    read_jsonl_rows : all rows at once.
    """
    check_whole("at_once", at_once, least=1)
    records, rows = iterate_records(source), RowsCollected(names)
    keys: set[str] | None = None
    while True:
        for record in islice(records, at_once):
            has = {key for key in ("label", "query") if key in record}
            keys = has if keys is None else keys
            if has != keys:
                key = min(has ^ keys)
                which = ("a", "none") if key in has else ("no", "one")
                raise record.error(f"there is {which[0]} {key!r}, but the first row has {which[1]}")
            complaint = rows.add(features_of(record), **{key: record.fields[key] for key in sorted(has)})
            if complaint:
                raise record.error(complaint)
        if not len(rows):
            return
        yield rows.taken()
        rows.clear()


def read_jsonl_rows(source: TextFile, names: Sequence[str] | None = None) -> NamedRows:
    r"""Return all rows of a file; see iterate_jsonl_rows.

    Parameters
    ----------
    source : str, path or text file
        The file to read.
    names : sequence of str or None
        The columns to read; None reads all.

    Returns
    -------
    NamedRows.

    Examples
    --------
    >>> import io
    >>> from maxmargin.formats import read_jsonl_rows
    >>> read_jsonl_rows(io.StringIO('{"label": "red", "features": {"size": 2.5}}\n')).X.toarray()
    array([[2.5]])

    See Also
    --------
    write_jsonl_rows : writes such files.
    """
    return _only(list(iterate_jsonl_rows(source, names, at_once=2**62)), names)


def write_jsonl_rows(target: TextFile, X: Any, y: Any = None, qid: Any = None, names: Any = None) -> None:
    """Write the rows of a sparse or dense matrix; named features that are 0 are left out.

    Parameters
    ----------
    target : str, path or text file
        The file to write.
    X : array of shape (n, features)
        The matrix of features.
    y, qid : array-like or None
        Labels and queries, or None.
    names : sequence of str or None
        The names of the columns; None writes features as lists.

    Examples
    --------
    >>> import sys
    >>> from maxmargin.formats import write_jsonl_rows
    >>> write_jsonl_rows(sys.stdout, [[2.5, 0.0]], ["red"], names=["size", "round"])
    {"label": "red", "features": {"size": 2.5}}

    See Also
    --------
    read_jsonl_rows : reads such files.
    """
    write_records(target, _row_records(X, y, qid, names))


def iterate_multilabel_jsonl(
    source: TextFile, names: Sequence[str] | None = None, at_once: int = 10_000
) -> Iterator[MultilabelRows]:
    """Yield rows, `at_once` at a time: {"labels": [texts], "features": {name: number} or [numbers]}.

    Every part has columns for the labels of its own rows, in order of appearance; rows without "labels" have none.

    Parameters
    ----------
    source : str, path or text file
        The file to read.
    names : sequence of str or None
        The columns to read; None reads all.
    at_once : int
        The number of rows per part.

    Returns
    -------
    iterator of MultilabelRows.

    See Also
    --------
    read_multilabel_jsonl : all rows at once.
    """
    check_whole("at_once", at_once, least=1)
    records, rows = iterate_records(source), RowsCollected(names)
    while True:
        labels, marks = dict[str, int](), list[list[int]]()
        for record in islice(records, at_once):
            said = record.listed("labels", "a list of texts") if "labels" in record else []
            if not all(isinstance(label, str) for label in said) or len(set(said)) < len(said):
                raise record.error(f"the labels are {said!r:.60}; expected different texts")
            marks.append([labels.setdefault(label, len(labels)) for label in said])
            rows.add(features_of(record))
        if not marks:
            return
        Y = np.zeros((len(marks), len(labels)), dtype=np.int64)
        for i, row in enumerate(marks):
            Y[i, row] = 1
        taken = rows.taken()
        yield MultilabelRows(taken.X, Y, list(labels), taken.names)
        rows.clear()


def read_multilabel_jsonl(source: TextFile, names: Sequence[str] | None = None) -> MultilabelRows:
    r"""Return all rows of a file with any number of labels per row; see iterate_multilabel_jsonl.

    Parameters
    ----------
    source : str, path or text file
        The file to read.
    names : sequence of str or None
        The columns to read; None reads all.

    Returns
    -------
    MultilabelRows.

    Examples
    --------
    >>> import io
    >>> from maxmargin.formats import read_multilabel_jsonl
    >>> read_multilabel_jsonl(io.StringIO('{"labels": ["red", "ripe"], "features": [2.5]}\n')).labels
    ['red', 'ripe']

    See Also
    --------
    write_multilabel_jsonl : writes such files.
    """
    for rows in iterate_multilabel_jsonl(source, names, at_once=2**62):
        return rows
    empty = RowsCollected(names or ()).taken()
    return MultilabelRows(empty.X, np.zeros((0, 0), dtype=np.int64), [], empty.names)


def write_multilabel_jsonl(target: TextFile, X: Any, Y: Any, labels: Sequence[str], names: Any = None) -> None:
    """Write rows with any number of labels.

    Parameters
    ----------
    target : str, path or text file
        The file to write.
    X : array of shape (n, features)
        The matrix of features.
    Y : array of shape (n, labels)
        Zeros and ones: whether each row has each label.
    labels : sequence of str
        The names of the labels.
    names : sequence of str or None
        The names of the columns of X; None writes features as lists.

    See Also
    --------
    read_multilabel_jsonl : reads such files.
    """
    found = ([labels[int(k)] for k in np.flatnonzero(row)] for row in np.asarray(Y))
    rows = _row_records(X, None, None, names)
    write_records(target, ({"labels": each, **row} for each, row in zip(found, rows, strict=True)))


def _only(parts: list[NamedRows], names: Sequence[str] | None) -> NamedRows:
    return parts[0] if parts else RowsCollected(names or ()).taken()


def _row_records(X: Any, y: Any, qid: Any, names: Any) -> Iterator[dict[str, Any]]:
    matrix = sparse.csr_array(X)
    for i in range(matrix.shape[0]):
        said = {key: as_text_or_number(each[i]) for key, each in (("label", y), ("query", qid)) if each is not None}
        part = slice(matrix.indptr[i], matrix.indptr[i + 1])
        values = dict(zip(matrix.indices[part].tolist(), matrix.data[part].tolist(), strict=True))
        if names is None:
            features: Any = [values.get(j, 0.0) for j in range(matrix.shape[1])]
        else:
            features = {str(names[j]): value for j, value in values.items() if value}
        yield {**said, "features": features}


def features_of(record: JsonRecord) -> Iterator[tuple[str, float]]:
    """Yield the names and values of the features of a record."""
    features = record.value("features", '{"name": number, …} or a list of numbers')
    if isinstance(features, dict):
        pairs: Iterable[tuple[str, Any]] = features.items()
    elif isinstance(features, list):
        pairs = ((str(j), value) for j, value in enumerate(features))
    else:
        raise record.error(f"'features' is {features!r:.40}; expected {{name: number, …}} or a list of numbers")
    for name, value in pairs:
        if not fits_float(value):
            raise record.error(f"the feature {name!r} is {value!r:.40}; expected a finite number")
        yield name, float(value)
