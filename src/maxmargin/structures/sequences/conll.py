"""Tagged sentences in columns, the format of CoNLL's shared tasks: a line per token, an empty line after a sentence.

The last column is the label, the others (a word, its part of speech, …) are the token. Columns are separated by
tabs if the first token has any, else by blanks. A line that begins with -DOCSTART- also ends a sentence.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from sys import intern
from typing import Any, Literal, NamedTuple

from maxmargin.inputs.readers.text_file import LONGEST_TOKEN, MARK, TextFile, TextLines, reading, writing
from maxmargin.inputs.tokens.chunk_schemes import named_scheme

DOCUMENT = "-DOCSTART-"
BLANK = " \t"


class ConllSentence(NamedTuple):
    """A sentence with its labels: X, Y = zip(*read_conll(path))."""

    tokens: list[tuple[str, ...]]  # for each token its columns without the label
    labels: list[str]  # empty if the file has none


def read_conll(source: TextFile, labelled: bool = True, chunks: str | None = None) -> list[ConllSentence]:
    r"""Return all sentences of a file in CoNLL columns.

    Parameters
    ----------
    source, labelled, chunks : str, path or text file; bool; str or None
        As for `iterate_conll`.

    Returns
    -------
    list of ConllSentence.

    Examples
    --------
    >>> import io
    >>> from maxmargin.formats import read_conll
    >>> read_conll(io.StringIO("Ada NNP B-PER\nslept VBD O\n"))[0].labels
    ['B-PER', 'O']

    See Also
    --------
    iterate_conll : one sentence at a time.   write_conll : writes such files.
    """
    return list(iterate_conll(source, labelled, chunks))


def iterate_conll(source: TextFile, labelled: bool = True, chunks: str | None = None) -> Iterator[ConllSentence]:
    """Yield the sentences of a file one by one, so that large files need little memory.

    In CoNLL-2000 (chunks) and CoNLL-2002 (named entities) a token is (word, part of speech). Files are read as UTF-8;
    one in another encoding can be given open. A line with another number of columns than the first one raises a
    ValueError with file and line.

    Parameters
    ----------
    source : str, path or text file
        The file to read.
    labelled : bool
        If False, all columns belong to the token, and there are no labels.
    chunks : str or None
        None, "BIO", "BILOU" or "IOBES": convert the labels to this scheme, from any of these or from IOB1; chunks are
        read as conlleval reads them. `formats.scheme_of` returns the scheme of a file.

    Returns
    -------
    iterator of ConllSentence.

    See Also
    --------
    read_conll : all sentences at once.
    """
    scheme = None if chunks is None else named_scheme(chunks)
    with reading(source, LONGEST_TOKEN) as lines:
        for columns in _sentences(lines, least=2 if labelled else 1):
            if not labelled:
                yield ConllSentence(columns, [])
                continue
            labels = [token[-1] for token in columns]
            if scheme is not None:
                labels = scheme.rewritten(labels)
            yield ConllSentence([token[:-1] for token in columns], labels)


def write_conll(
    target: TextFile,
    X: Iterable[Sequence[Any]],
    Y: Iterable[Sequence[Hashable]] | None = None,
    separator: Literal[" ", "\t"] = " ",
) -> None:
    r"""Write sentences in CoNLL columns, with the labels as the last column.

    Parameters
    ----------
    target : str, path or text file
        The file to write; the suffix of a path decides the compression.
    X : iterable
        Sentences, lists of tokens that are tuples of columns or single strings.
    Y : iterable or None
        The labels of each sentence, or None.
    separator : str
        The text between columns. With "\t", columns may contain blanks.

    Examples
    --------
    >>> import sys
    >>> from maxmargin.formats import write_conll
    >>> write_conll(sys.stdout, [[("Ada", "NNP")]], [["B-PER"]])
    Ada NNP B-PER
    <BLANKLINE>

    See Also
    --------
    read_conll : reads such files.
    """
    if separator not in (" ", "\t"):
        raise ValueError(f"separator must be a blank or a tab, got {separator!r}")
    with writing(target) as file:
        for i, (tokens, *labels) in enumerate(zip(X, *([] if Y is None else [Y]), strict=True)):
            if labels and len(labels[0]) != len(tokens):
                raise ValueError(f"sentence {i} has {len(tokens)} tokens but {len(labels[0])} labels")
            for t, (token, *label) in enumerate(zip(tokens, *labels, strict=True)):
                columns = [token, *label] if isinstance(token, str) else [*token, *label]
                file.write(_line(list(map(str, columns)), separator, i, t))
            file.write("\n")


def _sentences(lines: TextLines, least: int) -> Iterator[list[tuple[str, ...]]]:
    """Yield the columns of all tokens, sentence by sentence; each token must have at least `least`."""
    width, tabs = 0, False  # the number of columns of the first token, and whether it has tabs
    sentence: list[tuple[str, ...]] = []
    for line in lines:
        columns = line.split("\t") if tabs else line.replace("\t", " ").split(" ")
        if len(columns) != width or "" in columns or DOCUMENT in line or line.isspace():  # rare
            if _separates(line):
                if sentence:
                    yield sentence
                    sentence = []
                continue
            tabs = tabs if width else "\t" in line.strip(BLANK)
            columns = line.split("\t") if tabs else [*filter(None, line.replace("\t", " ").split(" "))]
            _check(columns, width, least, line, lines)
            width = len(columns)
        sentence.append(tuple(map(intern, columns)))  # each text is stored once
    if sentence:
        yield sentence


def _separates(line: str) -> bool:
    """Return whether a line separates sentences."""
    line = line.strip(BLANK)
    return not line or (line.startswith(DOCUMENT) and line[len(DOCUMENT) :][:1] in ("", *BLANK))


def _check(columns: list[str], width: int, least: int, line: str, lines: TextLines) -> None:
    if len(columns) != (width or max(len(columns), least)):
        expected = f"{width} as in the lines above" if width else "a word and its tag at least"
        raise lines.error(f"found {len(columns)} columns in {line!r}; expected {expected}")
    if "" in columns:
        raise lines.error(f"column {columns.index('') + 1} of {line!r} is empty; expected one tab between two columns")


def _line(columns: list[str], separator: str, i: int, t: int) -> str:
    others = " \t\r\n" if separator == " " or len(columns) == 1 else "\t\r\n"
    for column in columns:
        if not column or column.startswith(MARK) or any(character in column for character in others):
            raise ValueError(
                f"sentence {i}, token {t} has the column {column!r}; expected text without tabs, line breaks and, "
                "unless columns are separated by tabs, blanks"
            )
    line = separator.join(columns)
    if _separates(line):
        raise ValueError(f"sentence {i}, token {t} would be {line!r}, which is read as the end of a sentence")
    return f"{line}\n"
