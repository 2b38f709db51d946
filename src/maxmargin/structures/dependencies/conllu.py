"""CoNLL-U files: one word per line, ten columns separated by tabs, an empty line after every sentence.

https://universaldependencies.org/format.html. Lines of multiword tokens (ids like 3-4) and of empty nodes (3.1) are not
words of the tree: they are skipped, but kept to be written again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from maxmargin.inputs.readers.text_file import LONGEST_TOKEN, TextFile, TextLines, reading, writing
from maxmargin.structures.dependencies.conllu_sentence import COLUMNS, ConlluSentence
from maxmargin.structures.dependencies.heads import check_tree

OTHER_ID = re.compile(r"(\d+)-(\d+)|(\d+)\.(\d+)")


def read_conllu(source: TextFile, single_root: bool = True) -> list[ConlluSentence]:
    """Return all sentences of a CoNLL-U file.

    Parameters
    ----------
    source, single_root : str, path or text file; bool
        As for `iterate_conllu`.

    Returns
    -------
    list of ConlluSentence.

    See Also
    --------
    iterate_conllu : one sentence at a time.   write_conllu : writes such files.
    """
    return list(iterate_conllu(source, single_root))


def iterate_conllu(source: TextFile, single_root: bool = True) -> Iterator[ConlluSentence]:
    """Yield the sentences of a file one by one, so that large files need little memory.

    A wrong number of columns, ids that do not count the words, heads that are not words, and cycles raise a ValueError
    with file and line. A sentence whose heads are all "_" has no tree.

    Parameters
    ----------
    source : str, path or text file
        The file to read.
    single_root : bool
        If True, several roots of a sentence raise a ValueError as well.

    Returns
    -------
    iterator of ConlluSentence.

    See Also
    --------
    read_conllu : all sentences at once.
    """
    with reading(source, LONGEST_TOKEN) as lines:
        reader = _Sentence()
        for line in lines:
            if line.strip():
                reader.add(line, lines)
                continue
            if reader.begun:
                yield reader.done(lines, single_root)
                reader = _Sentence()
        if reader.begun:
            yield reader.done(lines, single_root)


def write_conllu(target: TextFile, sentences: Iterable[ConlluSentence]) -> None:
    """Write sentences to a CoNLL-U file.

    Parameters
    ----------
    target : str, path or text file
        The file to write; the suffix of a path decides the compression.
    sentences : iterable of ConlluSentence
        The sentences.

    See Also
    --------
    read_conllu : reads such files.
    """
    with writing(target) as file:
        for i, sentence in enumerate(sentences):
            if not isinstance(sentence, ConlluSentence):
                raise ValueError(f"sentence {i} is a {type(sentence).__name__}; expected a ConlluSentence")
            file.writelines(f"{line}\n" for line in _lines(sentence, i))
            file.write("\n")


class _Sentence:
    """The lines of a sentence that have been read."""

    def __init__(self) -> None:
        self.content = ConlluSentence([])
        self.first = 0  # the line of the first word

    @property
    def begun(self) -> bool:
        return bool(self.content.rows or self.content.comments or self.content.others)

    def add(self, line: str, lines: TextLines) -> None:
        content = self.content
        if line.startswith("#"):
            if content.rows:
                raise lines.error("a comment stands among the words of a sentence; expected an empty line before it")
            content.comments.append(line)
            return
        columns = line.split("\t")
        if len(columns) != len(COLUMNS):
            raise lines.error(f"the line has {len(columns)} columns; expected {len(COLUMNS)}, with tabs between them")
        self.first = self.first or lines.number
        if OTHER_ID.fullmatch(columns[0]):
            content.others.append((len(content.rows), line))
            return
        expected = len(content.rows) + 1
        if columns[0] != str(expected):
            raise lines.error(f"the id is {columns[0]!r}; expected {expected}, the next word")
        if columns[6] != "_" and not columns[6].isdecimal():
            raise lines.error(f"the head is {columns[6]!r}; expected the number of a word, 0 or _")
        head = None if columns[6] == "_" else int(columns[6])
        form, lemma, upos, xpos, feats = columns[1:6]
        content.rows.append((form, lemma, upos, xpos, feats, head, columns[7], columns[8], columns[9]))

    def done(self, lines: TextLines, single_root: bool) -> ConlluSentence:
        """Return the checked sentence; errors name the line of its first word."""
        content = self.content
        if not content.rows:
            raise lines.error("there is a sentence without words")
        heads = [row[5] for row in content.rows]
        if any(head is not None for head in heads):
            for m, head in enumerate(heads, 1):
                if head is None:
                    raise lines.error(f"word {m} has no head, but others have one", self.first)
            try:
                check_tree(content.heads, len(content), "the sentence", single_root)
            except ValueError as error:
                raise lines.error(str(error), self.first) from None
        return content


def _lines(sentence: ConlluSentence, i: int) -> Iterator[str]:
    yield from sentence.comments
    for m, row in enumerate([*sentence.rows, None]):
        yield from (line for before, line in sentence.others if before == m)
        if row is None:
            break
        columns = [str(m + 1), *("_" if column is None else str(column) for column in row)]
        for name, column in zip(COLUMNS, columns, strict=True):
            if not column or "\t" in column or "\n" in column or "\r" in column:
                raise ValueError(
                    f"sentence {i}: {name} of word {m + 1} is {column!r}; expected text without tabs or line breaks"
                )
        yield "\t".join(columns)
