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
from typing import Any, NamedTuple, Protocol

from scipy import sparse

from maxmargin.base.checks import check_whole
from maxmargin.base.suggestions import did_you_mean, listed
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
    categorical: Sequence[str] = (),
    needed: Sequence[str] = (),
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
    categorical : sequence of str
        Columns of texts: every text of such a column is a feature with the value 1, named "column=text"; an empty cell
        has none. `names` may contain such features, and texts that it does not contain are ignored.
    needed : sequence of str
        Columns that the table must have.

    Returns
    -------
    iterator of NamedRows.

    See Also
    --------
    read_table_rows : all rows at once.
    """
    check_whole("at_once", at_once, least=1)
    parts = _parts(source, label, query, names, texts, at_once, categorical, needed)
    return (rows for rows in parts if rows.X.shape[0])


def _parts(
    source: TextFile,
    label: str,
    query: str,
    names: Sequence[str] | None,
    texts: bool,
    at_once: int,
    categorical: Sequence[str] = (),
    needed: Sequence[str] = (),
) -> Iterator[NamedRows]:
    """Yield parts of `at_once` rows; the last one may be empty."""
    with reading_table(source) as table:
        check_columns(table, [*needed, *categorical])
        said = {"label": label, "query": query}
        places = {what: table.columns.index(name) for what, name in said.items() if name in table.columns}
        columns = _FeatureCells.of(table, list(said.values()), names, categorical)
        rows, left = RowsCollected(names), iter(table)
        rows.column_of |= {name: j for j, (_, name) in enumerate(columns.numbers)} if names is None else {}
        rows.ignored = set(table.columns) - set(said.values()) - columns.used
        while True:
            for cells in islice(left, at_once):
                values = {what: str(cells[place]) if texts else _said(cells[place]) for what, place in places.items()}
                complaint = rows.add(columns.features(cells, table), **values)
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
    categorical: Sequence[str] = (),
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
    categorical : sequence of str
        Columns of texts, each of which becomes a feature with the value 1; see iterate_table_rows.

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
    >>> rows = read_table_rows(io.StringIO("label,kind\nred,oak\nblue,elm\n"), categorical=["kind"])
    >>> rows.names, rows.X.toarray().tolist()
    (['kind=oak', 'kind=elm'], [[1.0, 0.0], [0.0, 1.0]])

    See Also
    --------
    write_table_rows : writes such files.
    """
    return next(_parts(source, label, query, names, texts, 2**62, categorical))


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


def check_columns(table: Table, names: Sequence[str]) -> None:
    """Raise a MissingColumnError if the table has no column of one of these names."""
    for name in names:
        if name not in table.columns:
            meant = did_you_mean(name, table.columns) or "."
            there = f"there is no column {name!r}{meant} The columns are {listed(table.columns)}"
            raise MissingColumnError(str(table.error(there)), name)


class MissingColumnError(ValueError):
    """A table that does not have a column of this name."""

    def __init__(self, message: str, name: str):
        super().__init__(message)
        self.name = name


class TextCellError(ValueError):
    """A cell of a column that is not categorical and that has no number."""


class _FeatureCells(NamedTuple):
    """The places and names of the columns that are features: numbers, and texts with a feature for each of them."""

    numbers: list[tuple[int, str]]
    texts: list[tuple[int, str]]

    @classmethod
    def of(
        cls, table: Table, others: Sequence[str], names: Sequence[str] | None, categorical: Sequence[str]
    ) -> _FeatureCells:
        """Choose the columns: all but `others`, or those that the features `names` come from."""
        for name in categorical:
            if "=" in name:
                raise table.error(f"the column {name!r} has '=' in its name and cannot be categorical: rename it")
        if names is None:
            wanted = [name for name in table.columns if name not in others and name not in categorical]
        else:
            own = set(table.columns)
            wanted = [name for name in names if name in own or name.partition("=")[0] not in own]
            categorical = list(dict.fromkeys(name.partition("=")[0] for name in names if name not in wanted))
            check_columns(table, [name if name in own else name.partition("=")[0] for name in wanted])
        place = {name: k for k, name in enumerate(table.columns)}
        return cls([(place[name], name) for name in wanted], [(place[name], name) for name in categorical])

    @property
    def used(self) -> set[str]:
        return {name for _, name in (*self.numbers, *self.texts)}

    def features(self, cells: Sequence[Any], table: Table) -> Iterator[tuple[str, float]]:
        """Yield the features of a row."""
        for place, name in self.numbers:
            cell = cells[place]
            value = finite(cell) if isinstance(cell, str) else float(cell) if fits_float(cell) else None
            if value is None:
                found = f"the column {name!r} has {cell!r:.40}; expected a finite number"
                raise TextCellError(str(table.error(found)))
            yield name, value
        for place, name in self.texts:
            if cells[place] not in ("", None):
                yield f"{name}={cells[place]}", 1.0


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
