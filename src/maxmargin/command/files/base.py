"""The functions that every module of this folder offers, and functions that the modules share."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TextIO, TypeVar

from maxmargin.command.errors import UsageError
from maxmargin.command.kinds import kind_of
from maxmargin.command.streams import standard_input
from maxmargin.inputs.readers.text_file import TextFile

T = TypeVar("T")
AT_ONCE = 2000  # examples at once, so that memory does not grow with the file


class FileExamples(NamedTuple):
    """The arguments of `fit`, `score` and `certify`."""

    X: Any
    Y: Any
    others: dict[str, Any] = {}  # noqa: RUF012 - a NamedTuple; further arguments of `fit`: qid, sample_weight
    remembered: dict[str, Any] = {}  # noqa: RUF012 - likewise; what the fitted model keeps from the files, such as names


class FilesOfKind(Protocol):
    """The functions of a module of this folder."""

    def read(self, sources: list[str], estimator: Any, settings: Any, like: FileExamples | None = None) -> FileExamples:
        """Return the examples of some files, for a model, or for an estimator whose parameters may depend on the files.

        like : the training data of the estimator, if these files are validation data.
        """

    def predicted(self, model: Any, source: str, settings: Any) -> Iterator[tuple[str, Any]]:
        """Yield, for every example of a file (its name, or -), the text to write and the prediction for JSON."""

    def measures(self, model: Any, examples: FileExamples) -> dict[str, float]:
        """Return measures of the quality of predictions, by name."""


# Formats by the suffix of a file.
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
    """Return the format that a file name implies, or None."""
    last = last_suffix(name)
    return next((each for each, several in SUFFIXES.items() if last in several), None)


def last_suffix(name: str | None) -> str:
    """Return the suffix of a file name in small letters, without that of its compression; an empty text for none."""
    suffixes = Path(name or "").suffixes[-2:]
    while suffixes and suffixes[-1].lower() in (".gz", ".xz", ".bz2"):
        suffixes.pop()
    return suffixes[-1].lower() if suffixes else ""


def format_of(name: str, estimator: Any, settings: Any) -> str:
    """Return the format of a file: the requested one, the one its name implies, or the first of its kind."""
    kind = kind_of(estimator)
    if settings.format is not None:
        if settings.format not in kind.formats:
            raise UsageError(
                f"--format is {settings.format}; expected one of {', '.join(kind.formats)} for {kind.name}"
            )
        return str(settings.format)
    said = named_format(name)
    return said if said in kind.formats else kind.formats[0]


def say(sentence: str) -> None:
    """Print a sentence about skipped or repaired data on standard error."""
    print(f"maxmargin: {sentence}", file=sys.stderr)


def opened(name: str) -> TextFile:
    """Return the file of this name; - is standard input."""
    return standard_input() if name == "-" else name


@contextmanager
def written(name: str | None) -> Iterator[TextIO]:
    """Open the file of this name for writing; None and - are standard output."""
    from maxmargin.inputs.readers.text_file import writing

    with writing(sys.stdout if name in (None, "-") else name) as file:
        yield file


def check_not_input(output: str | None, inputs: Iterable[str | None], option: str = "-o") -> None:
    """Raise a UsageError if what an option writes would replace a file that the command reads for another purpose."""
    if output is None or output == "-" or not os.path.isfile(output):
        return
    for name in inputs:
        if name is not None and os.path.isfile(name) and os.path.samefile(name, output):
            raise UsageError(f"{option} {output} would replace {name}, which this command reads: give another file")


def some_at_a_time(examples: Iterable[T], at_once: int = AT_ONCE) -> Iterator[list[T]]:
    """Yield lists of at most `at_once` examples."""
    examples = iter(examples)
    while some := list(islice(examples, at_once)):
        yield some
