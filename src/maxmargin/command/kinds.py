"""The kinds of data that the command line can learn from, each with its estimator. Importing this module is fast."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

ROWS = ("svmlight", "table", "jsonl")
TOKENS = ("conll", "crfsuite", "table", "jsonl")
SPANS = ("doccano", "prodigy", "label_studio", "brat")
RECORDS = ("jsonl",)


class Kind(NamedTuple):
    """A kind of data: its name, its estimator, the module that reads and writes it, and its file formats."""

    name: str
    estimator: str
    files: str  # the name of the module in command/files
    formats: tuple[str, ...]
    description: str  # for the help text
    hidden: tuple[str, ...] = ()  # parameters that are functions, or that files determine
    more_files: tuple[tuple[str, str], ...] = ()  # options that name a file, and their help
    has_c: bool = True  # whether the estimator has C
    packs: bool = False  # whether `maxmargin pack` supports it
    pack_options: tuple[str, ...] = ()  # its own options of `maxmargin pack`
    shown: tuple[str, ...] = ()  # parameters that may be texts on the command line
    unit: str = "examples"  # the name of several examples

    def estimator_class(self) -> Any:
        """Import and return the estimator."""
        return getattr(import_module("maxmargin"), self.estimator)

    def module(self) -> Any:
        """Import and return the module that reads and writes such data; see base.py."""
        return import_module(f"maxmargin.command.files.{self.files}")


TEMPLATES = ("features", "Feature templates in TOML [default: common ones for the columns].")
KINDS = {
    kind.name: kind
    for kind in (
        Kind(
            "sequences",
            "SequenceLabeler",
            "sequences",
            (*TOKENS, *SPANS),
            "a label for every token of a sentence",
            ("features",),
            (TEMPLATES,),
            packs=True,
            pack_options=("hash_bits",),
            unit="sentences",
        ),
        Kind(
            "segments",
            "SegmentLabeler",
            "sequences",
            TOKENS,
            "labelled segments of sentences, such as names",
            ("features", "segment_features"),
            (TEMPLATES,),
            unit="sentences",
        ),
        Kind(
            "classes",
            "MulticlassSVC",
            "rows",
            ROWS,
            "one of several classes for every row",
            packs=True,
            pack_options=("fit_intercept",),
            unit="rows",
        ),
        Kind("ordinal", "OrdinalSVC", "rows", ROWS, "ordered classes, such as grades", packs=True, unit="rows"),
        Kind(
            "taxonomy",
            "TaxonomySVC",
            "rows",
            (*ROWS, "arff"),
            "classes of a taxonomy",
            (),
            (("tree", "The taxonomy: on every line a node, followed by its parents."),),
            unit="rows",
        ),
        Kind(
            "measure",
            "MeasureSVC",
            "rows",
            ROWS,
            "two classes, trained for F1, ROC area, …",
            packs=True,
            pack_options=("fit_intercept",),
            unit="rows",
        ),
        Kind(
            "ranking",
            "Ranker",
            "rows",
            ROWS,
            "a ranking of the rows of every query (learning to rank)",
            ("start",),
            packs=True,
            unit="rows",
        ),
        Kind(
            "multilabel",
            "CountingMultilabel",
            "label_sets",
            ("arff", "svmlight", "jsonl"),
            "any number of labels for every row",
            (),
            (("labels", "The XML file with the labels of an ARFF file [default: the one next to DATA]."),),
            has_c=False,
            unit="rows",
        ),
        Kind("parsing", "Parser", "trees", ("brackets",), "a parse tree for every sentence", unit="trees"),
        Kind(
            "dependencies",
            "DependencyParser",
            "arcs",
            ("conllu",),
            "a dependency tree: a head and a label for every word",
            ("features",),
            unit="sentences",
        ),
        Kind(
            "alignment",
            "Aligner",
            "alignments",
            ("fasta", "msa", "a3m", "stockholm"),
            "alignments of two sequences",
            shown=("prior",),
            unit="alignments",
        ),
        Kind(
            "homologs",
            "HomologRanker",
            "records",
            RECORDS,
            "which of several sequences is homologous to a given one",
            shown=("prior",),
            unit="records",
        ),
        Kind(
            "motifs",
            "MotifFinder",
            "motifs",
            ("fasta",),
            "a motif that sequences share",
            (),
            (("without", "A file of sequences without the motif [default: random ones]."),),
            unit="sequences",
        ),
        Kind(
            "graphs", "GraphLabeler", "records", RECORDS, "a label for every node of a graph", ("stack",), unit="graphs"
        ),
        Kind("clustering", "Clusterer", "records", RECORDS, "clusters of items", unit="records"),
        Kind(
            "assignment",
            "Assigner",
            "records",
            RECORDS,
            "assignments of rows to columns",
            ("features",),
            unit="records",
        ),
        Kind(
            "diversity",
            "Diversifier",
            "records",
            RECORDS,
            "a few documents that cover many subtopics",
            ("vectorizer",),
            unit="records",
        ),
    )
}


def kind_of(model: Any) -> Kind:
    """Return the kind of data of a model; raise a ValueError if the command line does not support it."""
    name = type(model).__name__
    for kind in KINDS.values():
        if kind.estimator == name:
            return kind
    known = ", ".join(kind.estimator for kind in KINDS.values())
    raise ValueError(
        f"the command line does not support a {name}; it supports {known}. Load it in Python: maxmargin.load"
    )
