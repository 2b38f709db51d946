"""Long tables, one row per token or document, with a header: CSV, or Parquet if pyarrow is installed.

    query,label,length,links
    7,2,0.5,3
    7,0,0.25,1

The name of a file decides its format: .parquet, .tsv with tabs between columns, and otherwise commas; CSV may be
compressed.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any, Protocol

from scipy import sparse

from maxmargin.base.checks import check_whole
from maxmargin.inputs.readers.named_rows import NamedRows, RowsCollected, as_text_or_number, fits_float
from maxmargin.inputs.readers.text_file import MARK, TextFile, TextLines, finite, reading, writing


class Table(Protocol):
    """A table that is read row by row."""

    columns: list[str]

    def __iter__(self) -> Iterator[Sequence[Any]]:
        """Yield the cells of every row, in the order of the columns."""

    def error(self, message: str) -> ValueError:
        """Return an error about the current row, to be raised."""


@contextmanager
def reading_table(source: TextFile) -> Iterator[Table]:
    """Open a table whose columns have different names."""
    if is_parquet(source):
        from maxmargin.inputs.readers.parquet import reading_parquet

        with reading_parquet(source) as rows:
            yield _with_different_names(rows)
        return
    with reading(source) as lines:
        yield _with_different_names(_CsvTable(lines, _delimiter(source)))


def write_table(target: TextFile, columns: Sequence[str], rows: Iterable[Sequence[Any]], head: bool = True) -> None:
    """Write rows of texts and numbers below the names of their columns; the name of the file decides the format."""
    if len(set(columns)) < len(columns) or not columns:
        raise ValueError(f"columns are {list(columns)}; expected at least one name, and different names")
    if is_parquet(target):
        from maxmargin.inputs.readers.parquet import write_parquet

        write_parquet(target, columns, rows)
        return
    with writing(target) as file:
        writer = csv.writer(file, delimiter=_delimiter(target), lineterminator="\n")
        for i, row in enumerate(chain([columns] if head else [], rows)):
            for cell in row:
                if isinstance(cell, str) and ("\r" in cell or (i == 0 and cell.startswith(MARK))):
                    raise ValueError(f"row {i} has {cell!r:.40}, which a table cannot hold")
            writer.writerow(row)


def is_parquet(file: TextFile) -> bool:
    """Return whether the name of a file ends in .parquet."""
    return isinstance(file, str | os.PathLike) and Path(file).suffix.lower() == ".parquet"


# --- rows with labels


def iterate_table_rows(
    source: TextFile,
    label: str = "label",
    query: str = "query",
    names: Sequence[str] | None = None,
    texts: bool = False,
    at_once: int = 10_000,
) -> Iterator[NamedRows]:
    """Yield rows of numbers, `at_once` at a time, with labels and optionally queries.

    Parameters
    ----------
    source : str, path or text file
        The file to read.
    label, query : str
        The names of their columns; a table without one has rows without it. All other columns are features.
    names : sequence of str or None
        The columns to read as features, in this order; None: all others.
    texts : bool
        Whether labels and queries stay texts even if they look like numbers.
    at_once : int
        The number of rows per part.

    Returns
    -------
    iterator of NamedRows.

    See Also
    --------
    read_table_rows : all rows at once.
    """
    check_whole("at_once", at_once, least=1)
    return (rows for rows in _parts(source, label, query, names, texts, at_once) if rows.X.shape[0])


def _parts(
    source: TextFile, label: str, query: str, names: Sequence[str] | None, texts: bool, at_once: int
) -> Iterator[NamedRows]:
    """Yield parts of `at_once` rows; the last one may be empty."""
    with reading_table(source) as table:
        said = {"label": label, "query": query}
        places = {what: table.columns.index(name) for what, name in said.items() if name in table.columns}
        features = [name for name in table.columns if name not in said.values()] if names is None else list(names)
        missing = [name for name in features if name not in table.columns]
        if missing:
            raise table.error(f"there is no column {missing[0]!r}; expected {', '.join(features)}"[:300])
        columns = [(table.columns.index(name), name) for name in features]
        rows, left = RowsCollected(features), iter(table)
        rows.ignored = set(table.columns) - set(said.values()) - set(features)
        while True:
            for cells in islice(left, at_once):
                values = {what: str(cells[place]) if texts else _said(cells[place]) for what, place in places.items()}
                complaint = rows.add(_numbers(cells, columns, table), **values)
                if complaint:
                    raise table.error(complaint)
            yield rows.taken()
            if not len(rows):
                return
            rows.clear()


def read_table_rows(
    source: TextFile,
    label: str = "label",
    query: str = "query",
    names: Sequence[str] | None = None,
    texts: bool = False,
) -> NamedRows:
    r"""Return all rows of a table; see iterate_table_rows.

    Parameters
    ----------
    source : str, path or text file
        The file to read.
    label, query : str
        The names of their columns; a table without one has rows without it. All other columns are features.
    names : sequence of str or None
        The columns to read as features, in this order; None: all others.
    texts : bool
        Whether labels and queries stay texts even if they look like numbers.

    Returns
    -------
    NamedRows.

    Examples
    --------
    >>> import io
    >>> from maxmargin.formats import read_table_rows
    >>> rows = read_table_rows(io.StringIO("label,size\nred,2.5\nblue,1\n"))
    >>> rows.y.tolist(), rows.X.toarray().tolist()
    (['red', 'blue'], [[2.5], [1.0]])

    See Also
    --------
    write_table_rows : writes such files.
    """
    return next(_parts(source, label, query, names, texts, at_once=2**62))


def write_table_rows(
    target: TextFile,
    X: Any,
    y: Any = None,
    qid: Any = None,
    names: Sequence[str] | None = None,
    label: str = "label",
    query: str = "query",
    head: bool = True,
) -> None:
    """Write the rows of a sparse or dense matrix as a table.

    Parameters
    ----------
    target : str, path or text file
        The file to write.
    X : array of shape (n, features)
        The matrix of features.
    y, qid : array-like or None
        Labels and queries, or None.
    names : sequence of str or None
        The names of the columns of X; None: "0", "1", ….
    label, query : str
        The names of the columns of labels and queries.
    head : bool
        Whether to write the header; False continues an open CSV file.

    Examples
    --------
    >>> import sys
    >>> import numpy as np
    >>> from maxmargin.formats import write_table_rows
    >>> write_table_rows(sys.stdout, np.array([[2.5]]), ["red"], names=["size"])
    label,size
    red,2.5

    See Also
    --------
    read_table_rows : reads such files.
    """
    said = [(name, each) for name, each in ((query, qid), (label, y)) if each is not None]
    names = list(map(str, range(X.shape[1]))) if names is None else [str(name) for name in names]
    if len(names) != X.shape[1]:
        raise ValueError(f"there are {len(names)} names for {X.shape[1]} columns")
    matrix = sparse.csr_array(X)

    def rows() -> Iterator[list[Any]]:
        for i in range(matrix.shape[0]):
            yield [*(as_text_or_number(each[i]) for _, each in said), *matrix[[i]].toarray()[0].tolist()]

    write_table(target, [*(name for name, _ in said), *names], rows(), head)


def _numbers(cells: Sequence[Any], columns: list[tuple[int, str]], table: Table) -> Iterator[tuple[str, float]]:
    for place, name in columns:
        cell = cells[place]
        value = finite(cell) if isinstance(cell, str) else float(cell) if fits_float(cell) else None
        if value is None:
            raise table.error(f"the column {name!r} has {cell!r:.40}; expected a finite number")
        yield name, value


def _said(cell: Any) -> Any:
    """Return a label or query: a number if the text is one."""
    number = finite(cell) if isinstance(cell, str) else None
    if number is None:
        return cell
    return int(cell) if cell.strip("+-").isascii() and cell.strip("+-").isdecimal() and len(cell) < 19 else number


# --- CSV


class _CsvTable:
    """A CSV file; a quoted cell may continue on the next line."""

    def __init__(self, lines: TextLines, delimiter: str):
        self._lines = lines
        self._rows = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter, strict=True)
        self.columns: list[str] = self._next() or []
        if not self.columns:
            raise lines.error("the table is empty; expected the names of its columns")

    def __iter__(self) -> Iterator[list[str]]:
        while (row := self._next()) is not None:
            if len(row) != len(self.columns):
                raise self.error(f"the row has {len(row)} cells; expected {len(self.columns)}, one for each column")
            yield row

    def error(self, message: str) -> ValueError:
        return self._lines.error(message)

    def _next(self) -> list[str] | None:
        """Return the next row that is not empty, or None."""
        try:
            return next(filter(None, self._rows), None)
        except csv.Error as error:
            raise self._lines.error(f"this is not a row of a table: {error}") from None


def _delimiter(file: TextFile) -> str:
    if not isinstance(file, str | os.PathLike):
        return ","
    suffixes = [suffix.lower() for suffix in Path(file).suffixes]
    return "\t" if ".tsv" in suffixes[-2:] else ","


def _with_different_names(table: Table) -> Table:
    seen: set[str] = set()
    for name in table.columns:
        if name in seen:
            raise table.error(f"two columns are named {name!r}; expected different names")
        seen.add(name)
    return table
