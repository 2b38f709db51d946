"""What every module of this folder offers, and what they share."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any, NamedTuple, Protocol, TextIO, TypeVar

from maxmargin.inputs.text_file import TextFile

T = TypeVar("T")
AT_ONCE = 2000  # examples that are read, predicted and written together, so that memory does not grow with the file


class FileExamples(NamedTuple):
    """What `fit`, `score` and `certify` are given."""

    X: Any
    Y: Any
    others: dict[str, Any] = {}  # noqa: RUF012 - a NamedTuple; what else `fit` takes: qid, sample_weight


class FilesOfKind(Protocol):
    """The functions of a module of this folder."""

    def read(self, sources: list[str], estimator: Any, settings: Any, like: FileExamples | None = None) -> FileExamples:
        """The examples of some files, for a model, or for an estimator, whose parameters may follow from the files.

        like : what the estimator will be trained on, where these are to try it on.
        """

    def predicted(self, model: Any, source: TextFile, settings: Any) -> Iterator[tuple[str, Any]]:
        """Of every example of a file the text that is written for it, and its prediction as JSON."""

    def measures(self, model: Any, examples: FileExamples) -> dict[str, float]:
        """How good predictions are, by name."""


def opened(name: str) -> TextFile:
    """The file of this name; - is standard input."""
    return sys.stdin if name == "-" else name


@contextmanager
def written(name: str | None) -> Iterator[TextIO]:
    """The file of this name, to write to; None and - are standard output."""
    from maxmargin.inputs.text_file import writing

    with writing(sys.stdout if name in (None, "-") else name) as file:
        yield file


def some_at_a_time(examples: Iterable[T], at_once: int = AT_ONCE) -> Iterator[list[T]]:
    """Lists of so many."""
    examples = iter(examples)
    while some := list(islice(examples, at_once)):
        yield some
