"""Read sentences from files of label sequences in any supported format, and write predicted labels."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from io import StringIO
from typing import Any, Protocol

from maxmargin.command.files.base import opened
from maxmargin.inputs.readers.tables import reading_table
from maxmargin.structures.sequences.conll import ConllSentence, iterate_conll
from maxmargin.structures.sequences.crfsuite import CrfsuiteSequence, iterate_crfsuite
from maxmargin.structures.sequences.jsonl import numbered_sequences as jsonl_sequences
from maxmargin.structures.sequences.table import numbered_sequences as table_sequences

FileSentence = ConllSentence | CrfsuiteSequence


class TokenFile(Protocol):
    """A file of label sequences in one of the formats.

    names : the names of the token columns, if the file has any; set when the first sentence has been read.
    """

    names: list[str] | None

    def __iter__(self) -> Iterator[tuple[FileSentence, Any]]:
        """Yield pairs of a sentence and the data that `with_labels` needs to write it."""

    def with_labels(self, written: Any, labels: Sequence[Any]) -> str:
        """Return the text of a sentence with predicted labels; `written` is the second element of its pair."""


def token_file(form: str, name: str, columns: Sequence[str] | None, labelled: bool, settings: Any) -> TokenFile:
    """Return the file of this name and format.

    columns : the names of the columns that a model needs, if it makes features from columns.
    labelled : whether the file must have labels; if not, a column of labels is ignored.
    """
    if form == "crfsuite":
        return CrfsuiteFile(name)
    if form == "jsonl":
        return JsonlFile(name)
    if form == "table":
        return TableFile(name, columns, settings.id or "sequence", settings.label or "label")
    return ConllFile(name, None if labelled or columns is None else columns)


class ConllFile:
    """A file with columns separated by blanks; predictions are an additional column, as conlleval reads them."""

    names: list[str] | None = None

    def __init__(self, name: str, columns: Sequence[str] | None):
        self.file, self.columns = name, columns

    def __iter__(self) -> Iterator[tuple[FileSentence, Any]]:
        for sentence in iterate_conll(opened(self.file), labelled=self.columns is None):
            yield (sentence if self.columns is None else self._wanted(sentence)), sentence.tokens

    def _wanted(self, sentence: ConllSentence) -> ConllSentence:
        assert self.columns is not None
        found, width = len(sentence.tokens[0]), len(self.columns)
        if found not in (width, width + 1):
            names = ", ".join(self.columns)
            raise ValueError(f"the file has {found} columns; expected {width} ({names}), or these and a label column")
        return sentence if found == width else ConllSentence([token[:width] for token in sentence.tokens], [])

    def with_labels(self, written: Any, labels: Sequence[Any]) -> str:
        separator = "\t" if any(" " in column for token in written for column in token) else " "
        lines = (f"{separator.join((*token, label))}\n" for token, label in zip(written, labels, strict=True))
        return "".join(lines) + "\n"


class CrfsuiteFile:
    """A file with the features of a token on every line; predictions are written as labels only, one per line."""

    names: list[str] | None = None

    def __init__(self, name: str):
        self.file = name

    def __iter__(self) -> Iterator[tuple[FileSentence, Any]]:
        return ((sequence, None) for sequence in iterate_crfsuite(opened(self.file)))

    def with_labels(self, written: Any, labels: Sequence[Any]) -> str:
        return "".join(f"{label}\n" for label in labels) + "\n"


class JsonlFile:
    """A file with a JSON record on every line; predictions are an additional key, "predicted"."""

    names: list[str] | None = None

    def __init__(self, name: str):
        self.file = name

    def __iter__(self) -> Iterator[tuple[FileSentence, Any]]:
        return ((sequence, record.fields) for record, sequence in jsonl_sequences(opened(self.file)))

    def with_labels(self, written: Any, labels: Sequence[Any]) -> str:
        return json.dumps({**written, "predicted": list(labels)}, ensure_ascii=False) + "\n"


class TableFile:
    """A table with a token on every row; predictions are an additional column, "predicted"."""

    def __init__(self, name: str, columns: Sequence[str] | None, sequence: str, label: str):
        self.file, self.columns, self.sequence, self.label = name, columns, sequence, label
        self.names: list[str] | None = None
        self._begun = False

    def __iter__(self) -> Iterator[tuple[FileSentence, Any]]:
        with reading_table(opened(self.file)) as table:
            for name, tokens, labels in table_sequences(table, self.sequence, self.label, self.columns):
                if self.names is None:
                    others = (self.sequence, self.label)
                    self.names = list(self.columns or (each for each in table.columns if each not in others))
                yield ConllSentence(tokens, labels), (name, tokens, labels)

    def with_labels(self, written: Any, labels: Sequence[Any]) -> str:
        name, tokens, truth = written
        text = StringIO()
        writer = csv.writer(text, lineterminator="\n")
        if not self._begun:
            truths = [self.label] if truth else []
            writer.writerow([self.sequence, *(self.names or ()), *truths, "predicted"])
            self._begun = True
        for t, token in enumerate(tokens):
            writer.writerow([name, *token, *truth[t : t + 1], labels[t]])
        return text.getvalue()
