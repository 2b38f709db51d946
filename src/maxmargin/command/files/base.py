"""What every module of this folder offers, and what they share."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TextIO, TypeVar

from maxmargin.command.errors import UsageError
from maxmargin.command.kinds import kind_of
from maxmargin.inputs.readers.text_file import TextFile

T = TypeVar("T")
AT_ONCE = 2000  # examples that are read, predicted and written together, so that memory does not grow with the file


class FileExamples(NamedTuple):
    """What `fit`, `score` and `certify` are given."""

    X: Any
    Y: Any
    others: dict[str, Any] = {}  # noqa: RUF012 - a NamedTuple; what else `fit` takes: qid, sample_weight
    remembered: dict[str, Any] = {}  # noqa: RUF012 - likewise; what the fitted model keeps of the files, such as names


class FilesOfKind(Protocol):
    """The functions of a module of this folder."""

    def read(self, sources: list[str], estimator: Any, settings: Any, like: FileExamples | None = None) -> FileExamples:
        """The examples of some files, for a model, or for an estimator, whose parameters may follow from the files.

        like : what the estimator will be trained on, where these are to try it on.
        """

    def predicted(self, model: Any, source: str, settings: Any) -> Iterator[tuple[str, Any]]:
        """Of every example of a file (its name, or -) the text that is written for it, and its prediction as JSON."""

    def measures(self, model: Any, examples: FileExamples) -> dict[str, float]:
        """How good predictions are, by name."""


# What the name of a file says of its format.
SUFFIXES = {
    "conll": (".conll", ".iob", ".bio"),
    "conllu": (".conllu",),
    "crfsuite": (".crfsuite",),
    "table": (".csv", ".tsv", ".parquet"),
    "jsonl": (".jsonl",),
    "svmlight": (".svm", ".svmlight", ".libsvm", ".letor"),
    "arff": (".arff",),
    "brackets": (".mrg", ".trees"),
    "fasta": (".fasta", ".fa"),
    "msa": (".afa", ".msa"),
    "a3m": (".a3m", ".a2m"),
    "stockholm": (".sto", ".stk", ".stockholm"),
}


def named_format(name: str | None) -> str | None:
    """The format that the name of a file says; None where it says none."""
    suffixes = Path(name or "").suffixes[-2:]
    while suffixes and suffixes[-1].lower() in (".gz", ".xz", ".bz2"):
        suffixes.pop()
    last = suffixes[-1].lower() if suffixes else ""
    return next((each for each, several in SUFFIXES.items() if last in several), None)


def format_of(name: str, estimator: Any, settings: Any) -> str:
    """The format of a file: the one that is asked for, that its name says, or the first of its kind."""
    kind = kind_of(estimator)
    if settings.format is not None:
        if settings.format not in kind.formats:
            raise UsageError(f"--format is {settings.format}; {kind.name} are read from {', '.join(kind.formats)}")
        return str(settings.format)
    said = named_format(name)
    return said if said in kind.formats else kind.formats[0]


def say(sentence: str) -> None:
    """On standard error, what was left out or repaired."""
    print(f"maxmargin: {sentence}", file=sys.stderr)


def opened(name: str) -> TextFile:
    """The file of this name; - is standard input."""
    return sys.stdin if name == "-" else name


@contextmanager
def written(name: str | None) -> Iterator[TextIO]:
    """The file of this name, to write to; None and - are standard output."""
    from maxmargin.inputs.readers.text_file import writing

    with writing(sys.stdout if name in (None, "-") else name) as file:
        yield file


def some_at_a_time(examples: Iterable[T], at_once: int = AT_ONCE) -> Iterator[list[T]]:
    """Lists of so many."""
    examples = iter(examples)
    while some := list(islice(examples, at_once)):
        yield some
