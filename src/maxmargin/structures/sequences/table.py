"""Label sequences in long tables: one row per token, the rows of a sequence together.

sequence,word,tag,label
1,Ada,NNP,B-PER
1,slept,VBD,O
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import chain, groupby
from sys import intern
from typing import Any

from maxmargin.inputs.readers.tables import Table, check_columns, reading_table, write_table
from maxmargin.inputs.readers.text_file import TextFile
from maxmargin.inputs.tokens.chunk_schemes import named_scheme
from maxmargin.structures.sequences.conll import ConllSentence


def read_table_sequences(
    source: TextFile, sequence: str = "sequence", label: str = "label", chunks: str | None = None
) -> list[ConllSentence]:
    r"""Return all label sequences of a long table.

    Parameters
    ----------
    source, sequence, label, chunks : str, path or text file; str; str; str or None
        As for `iterate_table_sequences`.

    Returns
    -------
    list of ConllSentence.

    Examples
    --------
    >>> import io
    >>> from maxmargin.formats import read_table_sequences
    >>> read_table_sequences(io.StringIO("sequence,word,label\n1,Ada,B-PER\n1,slept,O\n"))[0].labels
    ['B-PER', 'O']

    See Also
    --------
    iterate_table_sequences : one sequence at a time.   write_table_sequences : writes such files.
    """
    return list(iterate_table_sequences(source, sequence, label, chunks))


def iterate_table_sequences(
    source: TextFile, sequence: str = "sequence", label: str = "label", chunks: str | None = None
) -> Iterator[ConllSentence]:
    """Yield the sequences of a table (CSV or Parquet) one by one.

    All columns but two belong to the tokens. A sequence whose rows are not together raises a ValueError.

    Parameters
    ----------
    source : str, path or text file
        The file to read.
    sequence : str
        The column that identifies the sequence of a row.
    label : str
        The column of labels; it may be missing.
    chunks : str or None
        None, "BIO", "BILOU" or "IOBES", as for `iterate_conll`.

    Returns
    -------
    iterator of ConllSentence.

    See Also
    --------
    read_table_sequences : all sequences at once.
    """
    scheme = None if chunks is None else named_scheme(chunks)
    with reading_table(source) as table:
        for _, tokens, labels in numbered_sequences(table, sequence, label):
            yield ConllSentence(tokens, labels if scheme is None or not labels else scheme.rewritten(labels))


def numbered_sequences(
    table: Table, sequence: str, label: str, columns: Sequence[str] | None = None
) -> Iterator[tuple[str, list[tuple[str, ...]], list[str]]]:
    """Yield the identifier of every sequence, its tokens, and its labels, empty if the table has none.

    columns : the columns of tokens, in this order; None: all other columns.
    """
    columns = token_columns(table, sequence, label) if columns is None else columns
    check_columns(table, [sequence, *columns])
    places = [table.columns.index(name) for name in columns]
    own, labels = table.columns.index(sequence), table.columns.index(label) if label in table.columns else None
    seen: set[str] = set()
    texts = (tuple(_text(cell, table) for cell in row) for row in table)
    for name, rows in groupby(texts, key=lambda row: row[own]):
        if name in seen:
            raise table.error(f"the {sequence} {name!r} begins a second time; expected all of its rows together")
        seen.add(name)
        together = list(rows)
        tokens = [tuple(intern(row[place]) for place in places) for row in together]  # each text is stored once
        yield name, tokens, [] if labels is None else [intern(row[labels]) for row in together]


def token_columns(table: Table, sequence: str, label: str) -> list[str]:
    """Return the names of the columns of tokens."""
    check_columns(table, [sequence])
    found = [name for name in table.columns if name not in (sequence, label)]
    if not found:
        raise table.error("there is no column of tokens; expected at least one")
    return found


def write_table_sequences(
    target: TextFile,
    X: Iterable[Sequence[Any]],
    Y: Iterable[Sequence[Hashable]] | None = None,
    columns: Sequence[str] | None = None,
    sequence: str = "sequence",
    label: str = "label",
) -> None:
    """Write label sequences as a long table; sequences are numbered from 1.

    Parameters
    ----------
    target : str, path or text file
        The file to write.
    X : iterable
        Sequences of tokens, tuples of columns or single strings.
    Y : iterable or None
        The labels of each sequence, or None.
    columns : sequence of str or None
        The names of columns; None: "word", or "word", "column2", ….
    sequence, label : str
        The names of the columns of sequences and labels.

    See Also
    --------
    read_table_sequences : reads such files.
    """
    pairs = enumerate(zip(X, *([] if Y is None else [Y]), strict=True), 1)
    first = next(pairs, None)
    width = 1 if first is None or not len(first[1][0]) or isinstance(first[1][0][0], str) else len(first[1][0][0])
    if columns is None:
        columns = ["word", *(f"column{k}" for k in range(2, width + 1))]

    def rows() -> Iterator[list[Any]]:
        for i, (tokens, *labels) in chain([] if first is None else [first], pairs):
            if not len(tokens):
                raise ValueError(f"sequence {i - 1} is empty; leave out sequences without tokens")
            if labels and len(labels[0]) != len(tokens):
                raise ValueError(f"sequence {i - 1} has {len(tokens)} tokens but {len(labels[0])} labels")
            for t, token in enumerate(tokens):
                cells = [token] if isinstance(token, str) else list(token)
                if len(cells) != len(columns):
                    raise ValueError(f"sequence {i - 1}, token {t} has {len(cells)} columns; expected {len(columns)}")
                yield [str(i), *cells, *(str(each[t]) for each in labels)]

    write_table(target, [sequence, *columns, *([] if Y is None else [label])], rows())


def _text(cell: Any, table: Table) -> str:
    if cell is None:
        raise table.error("a cell is missing; expected a text")
    return str(cell)
