"""What the command line can learn: kinds of data, each with its estimator. No import here takes long."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple


class Kind(NamedTuple):
    """A kind of data: the name of its estimator, of the module that reads and writes it, and of its formats."""

    name: str
    estimator: str
    files: str
    formats: tuple[str, ...]
    description: str
    hidden: tuple[str, ...] = ()  # parameters that are functions, or that files say
    packs: bool = False  # whether `maxmargin pack` takes it

    def estimator_class(self) -> Any:
        """Imported when it is asked for."""
        return getattr(import_module("maxmargin"), self.estimator)

    def module(self) -> Any:
        """What reads and writes such data: see base.py."""
        return import_module(f"maxmargin.command.files.{self.files}")


KINDS = {
    kind.name: kind
    for kind in (
        Kind(
            "sequences",
            "SequenceLabeler",
            "sequences",
            ("conll", "crfsuite"),
            "a label for every token of a sentence",
            ("features",),
            packs=True,
        ),
        Kind("classes", "MulticlassSVC", "rows", ("svmlight",), "one of several classes for every row"),
        Kind("ordinal", "OrdinalSVC", "rows", ("svmlight",), "classes that are in an order, such as grades"),
        Kind("measure", "MeasureSVC", "rows", ("svmlight",), "two classes, judged by F1, ROC area, …"),
        Kind("ranking", "Ranker", "rows", ("svmlight",), "the rows of every query (qid), best first", ("start",)),
        Kind("parsing", "Parser", "trees", ("brackets",), "a parse tree for every sentence"),
        Kind(
            "dependencies",
            "DependencyParser",
            "arcs",
            ("conllu",),
            "a head and a label for every word",
            ("features",),
        ),
    )
}


def kind_of(model: Any) -> Kind:
    """The kind of data that a model is for."""
    name = type(model).__name__
    for kind in KINDS.values():
        if kind.estimator == name:
            return kind
    known = ", ".join(kind.estimator for kind in KINDS.values())
    raise ValueError(f"the command line has no files for a {name}; it knows {known}. Load it in Python: maxmargin.load")
