"""What the command line can learn: kinds of data, each with its estimator. No import here takes long."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

ROWS = ("svmlight", "table", "jsonl")
TOKENS = ("conll", "crfsuite", "table", "jsonl")
RECORDS = ("jsonl",)


class Kind(NamedTuple):
    """A kind of data: the name of its estimator, of the module that reads and writes it, and of its formats."""

    name: str
    estimator: str
    files: str
    formats: tuple[str, ...]
    description: str
    hidden: tuple[str, ...] = ()  # parameters that are functions, or that files say
    more_files: tuple[tuple[str, str], ...] = ()  # options that name a file: --option, and what the file is
    has_c: bool = True  # whether it has C, which can be chosen
    packs: bool = False  # whether `maxmargin pack` takes it
    pack_options: tuple[str, ...] = ()  # options of its own that `maxmargin pack` has for it
    shown: tuple[str, ...] = ()  # parameters that are objects elsewhere, and can be texts here

    def estimator_class(self) -> Any:
        """Imported when it is asked for."""
        return getattr(import_module("maxmargin"), self.estimator)

    def module(self) -> Any:
        """What reads and writes such data: see base.py."""
        return import_module(f"maxmargin.command.files.{self.files}")


TEMPLATES = ("features", "templates in TOML [default: usual ones for the columns]")
KINDS = {
    kind.name: kind
    for kind in (
        Kind(
            "sequences",
            "SequenceLabeler",
            "sequences",
            TOKENS,
            "a label for every token of a sentence",
            ("features",),
            (TEMPLATES,),
            packs=True,
            pack_options=("hash_bits",),
        ),
        Kind(
            "segments",
            "SegmentLabeler",
            "sequences",
            TOKENS,
            "labelled segments of sentences, such as names",
            ("features", "segment_features"),
            (TEMPLATES,),
        ),
        Kind(
            "classes",
            "MulticlassSVC",
            "rows",
            ROWS,
            "one of several classes for every row",
            packs=True,
            pack_options=("fit_intercept",),
        ),
        Kind("ordinal", "OrdinalSVC", "rows", ROWS, "classes that are in an order, such as grades", packs=True),
        Kind(
            "taxonomy",
            "TaxonomySVC",
            "rows",
            (*ROWS, "arff"),
            "classes that are in a tree",
            (),
            (("tree", "a node on every line, and after it the nodes above it"),),
        ),
        Kind(
            "measure",
            "MeasureSVC",
            "rows",
            ROWS,
            "two classes, judged by F1, ROC area, …",
            packs=True,
            pack_options=("fit_intercept",),
        ),
        Kind("ranking", "Ranker", "rows", ROWS, "the rows of every query (qid), best first", ("start",), packs=True),
        Kind(
            "multilabel",
            "CountingMultilabel",
            "label_sets",
            ("arff", "svmlight", "jsonl"),
            "any number of labels for every row",
            (),
            (("labels", "of ARFF: the XML file of labels [default: the one beside DATA]"),),
            has_c=False,
        ),
        Kind("parsing", "Parser", "trees", ("brackets",), "a parse tree for every sentence"),
        Kind(
            "dependencies",
            "DependencyParser",
            "arcs",
            ("conllu",),
            "a head and a label for every word",
            ("features",),
        ),
        Kind(
            "alignment",
            "Aligner",
            "alignments",
            ("fasta", "msa", "a3m", "stockholm"),
            "scores that align two sequences",
            shown=("prior",),
        ),
        Kind(
            "homologs",
            "HomologRanker",
            "records",
            RECORDS,
            "which of several sequences is related to one",
            shown=("prior",),
        ),
        Kind(
            "motifs",
            "MotifFinder",
            "motifs",
            ("fasta",),
            "what sequences have in common, somewhere",
            (),
            (("without", "sequences without the motif [default: some are made up]"),),
        ),
        Kind("graphs", "GraphLabeler", "records", RECORDS, "a label for every node of a graph", ("stack",)),
        Kind("clustering", "Clusterer", "records", RECORDS, "which items belong together"),
        Kind("assignment", "Assigner", "records", RECORDS, "which row belongs to which column", ("features",)),
        Kind(
            "diversity",
            "Diversifier",
            "records",
            RECORDS,
            "few documents that cover many subtopics",
            ("vectorizer",),
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
