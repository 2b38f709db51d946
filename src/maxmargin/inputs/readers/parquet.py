"""Tables in Parquet files, some rows at a time. Needs pyarrow: pip install maxmargin[table]."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from maxmargin.base.files.drafts import replacing
from maxmargin.inputs.readers.compressed import ALWAYS, MOST_TIMES

AT_ONCE = 10_000  # rows at a time
LONGEST = 2**24  # limits on texts and lists in the header of a file


@contextmanager
def reading_parquet(path: Any) -> Iterator[_ParquetTable]:
    """Open a file for reading; it must hold less than MOST_TIMES its size, as for compressed text."""
    parquet, arrow_errors = _pyarrow()
    name, size = Path(path).name, os.path.getsize(path)
    try:
        file = parquet.ParquetFile(
            path, memory_map=False, thrift_string_size_limit=LONGEST, thrift_container_size_limit=LONGEST
        )
    except arrow_errors as error:
        raise ValueError(f"{name} is not a Parquet file, or it is damaged: {_first_line(error)}") from None
    with file:
        held = sum(file.metadata.row_group(k).total_byte_size for k in range(file.metadata.num_row_groups))
        if held > max(ALWAYS, MOST_TIMES * size):
            raise ValueError(f"{name} holds {held:,} bytes, more than {MOST_TIMES} times its own size")
        yield _ParquetTable(file, name, arrow_errors)


class _ParquetTable:
    """The rows of a Parquet file in order; errors count them from 1."""

    def __init__(self, file: Any, name: str, arrow_errors: tuple[type[Exception], ...]):
        self._file, self._name, self._errors = file, name, arrow_errors
        self._number = 0
        self.columns: list[str] = list(file.schema_arrow.names)
        if not self.columns:
            raise self.error("the table is empty; expected columns")

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        try:
            for batch in self._file.iter_batches(batch_size=AT_ONCE):
                for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                    self._number += 1
                    yield row
        except self._errors as error:
            raise self.error(f"the file is damaged after this row: {_first_line(error)}") from None

    def error(self, message: str) -> ValueError:
        return ValueError(f"{self._name}, row {self._number}: {message}")


def write_parquet(path: Any, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows of texts and numbers; the first rows decide the type of every column."""
    import pyarrow

    parquet, arrow_errors = _pyarrow()
    rows, schema = iter(rows), None
    with replacing(path) as file, ExitStack() as closing:
        while (some := list(islice(rows, AT_ONCE))) or schema is None:
            cells = [list(column) for column in zip(*some, strict=True)] or [[] for _ in columns]
            try:
                table = pyarrow.table([pyarrow.array(column) for column in cells], names=list(columns))
                table = table if schema is None else table.cast(schema)
            except arrow_errors as error:
                raise ValueError(f"a column has values of several kinds: {_first_line(error)}") from None
            if schema is None:
                schema = table.schema
                writer = closing.enter_context(parquet.ParquetWriter(file, schema))
            writer.write_table(table)


def _pyarrow() -> tuple[Any, tuple[type[Exception], ...]]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise ValueError("Parquet files are read by pyarrow, which is not installed: pip install pyarrow") from None
    return parquet, (pyarrow.ArrowException, OSError, ValueError, OverflowError, NotImplementedError)


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
