"""Tagged sentences in columns, the format of CoNLL's shared tasks: a line per token, an empty line after a sentence.

The last column is the label, the others (a word, its part of speech, …) are the token. Columns are what is between
tabs if the first token has any, else what is between blanks. A line that begins with -DOCSTART- ends a sentence, too.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from sys import intern
from typing import Any, NamedTuple

from maxmargin.inputs.readers.text_file import MARK, TextFile, TextLines, reading, writing
from maxmargin.inputs.tokens.chunk_schemes import named_scheme

DOCUMENT = "-DOCSTART-"
BLANK = " \t"


class ConllSentence(NamedTuple):
    """A sentence: X, Y = zip(*read_conll(path))."""

    tokens: list[tuple[str, ...]]  # of each its columns but for the label
    labels: list[str]  # empty where the file has none


def read_conll(source: TextFile, labelled: bool = True, chunks: str | None = None) -> list[ConllSentence]:
    """All sentences of a file; see iterate_conll."""
    return list(iterate_conll(source, labelled, chunks))


def iterate_conll(source: TextFile, labelled: bool = True, chunks: str | None = None) -> Iterator[ConllSentence]:
    """The sentences of a file one by one, so that large files need little memory.

    In CoNLL-2000 (chunks) and CoNLL-2002 (named entities) a token is (word, part of speech). Files are read as UTF-8;
    one in another encoding can be given open. A line with another number of columns than the first one raises a
    ValueError with file and line.

    labelled : False: all columns are the token's, and there are no labels.
    chunks : None, "BIO", "BILOU" or "IOBES": write the chunks in labels of this scheme, whichever of these (or IOB1)
        the file has; chunks are read as conlleval reads them. `formats.scheme_of` says what a file has.
    """
    scheme = None if chunks is None else named_scheme(chunks)
    with reading(source) as lines:
        for columns in _sentences(lines, least=2 if labelled else 1):
            if not labelled:
                yield ConllSentence(columns, [])
                continue
            labels = [token[-1] for token in columns]
            if scheme is not None:
                labels = scheme.rewritten(labels)
            yield ConllSentence([token[:-1] for token in columns], labels)


def write_conll(
    target: TextFile, X: Iterable[Sequence[Any]], Y: Iterable[Sequence[Hashable]] | None = None, separator: str = " "
) -> None:
    r"""Write sentences of tokens (tuples of columns, or one string each), and their labels as the last column.

    With the separator "\t" columns may have blanks in them. The file's name decides how it is compressed.
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
    """The columns of all tokens, sentence by sentence; of each there must be so many."""
    width, tabs = 0, False  # of the first token
    sentence: list[tuple[str, ...]] = []
    for line in lines:
        columns = line.split("\t") if tabs else line.replace("\t", " ").split(" ")
        if len(columns) != width or "" in columns or DOCUMENT in line or line.isspace():  # rarely
            if _separates(line):
                if sentence:
                    yield sentence
                    sentence = []
                continue
            tabs = tabs if width else "\t" in line.strip(BLANK)
            columns = line.split("\t") if tabs else [*filter(None, line.replace("\t", " ").split(" "))]
            _check(columns, width, least, line, lines)
            width = len(columns)
        sentence.append(tuple(map(intern, columns)))  # each text once, however many tokens have it
    if sentence:
        yield sentence


def _separates(line: str) -> bool:
    """Whether a line is none of a token."""
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
