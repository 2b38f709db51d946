"""maxmargin convert: write sequences, rows or alignments in another format, some at a time."""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import Any, Literal, TextIO

from maxmargin.base.suggestions import did_you_mean
from maxmargin.command.errors import UsageError
from maxmargin.command.files.base import SUFFIXES, check_not_input, last_suffix, named_format, opened, say, written
from maxmargin.inputs.tokens.chunk_schemes import SCHEMES
from maxmargin.inputs.tokens.token_templates import TokenTemplates

Pair = tuple[Any, Any]  # tokens and labels
Write = Callable[[TextIO], None]
SEQUENCES = ("conll", "crfsuite", "conllu", "table", "jsonl")
ROWS = ("svmlight", "table", "jsonl")
ALIGNMENTS = ("msa", "a3m", "stockholm")
AT_ONCE = 10_000


def run(settings: argparse.Namespace) -> int:
    """Read and write the examples."""
    if settings.to is None:
        _check_suffix(settings.output)
    source = settings.source or _named(settings.data) or "conll"
    target = settings.to or _named(settings.output) or ("conll" if source == "conllu" else source)
    content = settings.content or _content(source, target)
    formats = {"sequences": SEQUENCES, "rows": ROWS, "alignments": ALIGNMENTS}[content]
    if source not in formats or target not in formats or target == "conllu":
        raise UsageError(
            f"{content} cannot be converted from {source} to {target}; expected two of {', '.join(formats)}"
        )
    if content != "sequences" and (settings.chunks or settings.features):
        raise UsageError("--chunks and --features are for sequences only")
    if target == "table" and (settings.output or "").endswith(".parquet"):
        raise UsageError("this command writes tables as CSV; maxmargin.formats.write_table_rows writes Parquet")
    check_not_input(settings.output, [settings.features])
    # errors are raised before the file is created
    write = {"sequences": _sequences, "rows": _rows, "alignments": _alignments}[content](source, target, settings)
    with written(settings.output) as file:
        write(file)
    return 0


def _named(file: str | None) -> str | None:
    """Return the format that a file name implies; FASTA means rows of an alignment here."""
    found = named_format(file)
    return "msa" if found == "fasta" else found


def _check_suffix(output: str | None) -> None:
    """Raise a UsageError if the name of the file to write has a suffix that says nothing about its format."""
    suffix = last_suffix(output)
    if suffix in ("", ".txt") or _named(output) is not None:
        return
    written = {*SEQUENCES, *ROWS, *ALIGNMENTS, "fasta"}
    known = [each for form, suffixes in SUFFIXES.items() if form in written for each in suffixes]
    meant = did_you_mean(suffix, known) or f"; expected one of {', '.join(known)}."
    raise UsageError(f"-o {output} has the suffix {suffix}, which is no known format{meant} --to FORMAT says another")


def _content(source: str, target: str) -> str:
    """Return the kind of data that two formats share."""
    for content, formats in (("alignments", ALIGNMENTS), ("rows", ROWS), ("sequences", SEQUENCES)):
        if {source, target} & set(formats) - {"table", "jsonl"}:
            return content
    raise UsageError("tables and JSON lines hold rows or sequences: say which, --of rows or --of sequences")


# --- sequences


def _sequences(source: str, target: str, settings: argparse.Namespace) -> Write:
    pairs, features = _pairs(source, settings)
    if settings.chunks is not None:
        scheme = SCHEMES[settings.chunks]
        pairs = ((tokens, scheme.rewritten(labels)) for tokens, labels in pairs)
    if features and target in ("conll", "table"):
        raise UsageError(f"attributes cannot be converted back to columns: use crfsuite or jsonl instead of {target}")
    if settings.features and (target not in ("crfsuite", "jsonl") or features):
        raise UsageError("--features makes attributes from columns; it is for --to crfsuite and jsonl only")
    if not features and (target == "crfsuite" or settings.features):
        pairs, features = _with_attributes(pairs, settings.features), True
    writer = _writers(features, settings)[target]

    def write(file: TextIO) -> None:
        for i, (tokens, labels) in enumerate(pairs):
            writer(file, i, tokens, labels)

    return write


def _pairs(source: str, settings: argparse.Namespace) -> tuple[Iterator[Pair], bool]:
    """Return tokens and labels, and whether tokens are features."""
    if source == "conllu":  # the labels are universal parts of speech
        from maxmargin.structures.dependencies.conllu import iterate_conllu

        sentences = iterate_conllu(opened(settings.data), single_root=False)
        return (([(row[0],) for row in each.rows], [row[2] for row in each.rows]) for each in sentences), False
    from maxmargin.command.files.token_files import token_file

    found = (sentence for sentence, _ in token_file(source, settings.data, None, True, settings))
    first = next(found, None)
    if first is None:
        return iter(()), source == "crfsuite"
    return (_pair(sentence) for sentence in chain([first], found)), hasattr(first, "weight")


def _pair(sentence: Any) -> Pair:
    if getattr(sentence, "weight", 1.0) != 1.0:
        raise ValueError("a sequence has a weight, which the new format cannot hold")
    return sentence.tokens, sentence.labels or None


def _writers(features: bool, settings: argparse.Namespace) -> dict[str, Callable[..., None]]:
    """Return, for every format, a function that writes a sequence, given its number."""
    from maxmargin.structures.sequences.conll import write_conll
    from maxmargin.structures.sequences.crfsuite import write_crfsuite
    from maxmargin.structures.sequences.jsonl import record_of

    def conll(file: TextIO, i: int, tokens: Any, labels: Any) -> None:
        blanks = any(" " in column for token in tokens for column in token)
        write_conll(file, [tokens], None if labels is None else [labels], "\t" if blanks else " ")

    def crfsuite(file: TextIO, i: int, tokens: Any, labels: Any) -> None:
        if labels is None:
            raise ValueError("the data have no labels, with which every line of a crfsuite file begins")
        write_crfsuite(file, [tokens], [labels])

    def table(file: TextIO, i: int, tokens: Any, labels: Any) -> None:
        writer = csv.writer(file, lineterminator="\n")
        if i == 0:
            columns = ["word", *(f"column{k}" for k in range(2, len(tokens[0]) + 1))]
            writer.writerow([settings.id or "sequence", *columns, *([settings.label or "label"] if labels else [])])
        for t, token in enumerate(tokens):
            writer.writerow([i + 1, *token, *([labels[t]] if labels else [])])

    def jsonl(file: TextIO, i: int, tokens: Any, labels: Any) -> None:
        file.write(json.dumps(record_of(tokens, labels, features), ensure_ascii=False) + "\n")

    return {"conll": conll, "crfsuite": crfsuite, "table": table, "jsonl": jsonl}


def _with_attributes(pairs: Iterator[Pair], features: str | None) -> Iterator[Pair]:
    first = next(pairs, None)
    if first is None:
        return
    templates = TokenTemplates.read(features) if features else TokenTemplates.usual(len(first[0][0]))
    for tokens, labels in chain([first], pairs):
        yield templates.attributes(tokens), labels


# --- rows


def _rows(source: str, target: str, settings: argparse.Namespace) -> Write:
    return partial(_write_rows, source, target, settings)


def _write_rows(source: str, target: str, settings: argparse.Namespace, file: TextIO) -> None:
    """Write rows. Tables have a column for every feature, so an svmlight file must be read completely first."""
    from maxmargin.command.files.feature_columns import FileRows
    from maxmargin.inputs.readers.jsonl_rows import iterate_jsonl_rows, write_jsonl_rows
    from maxmargin.inputs.readers.multilabel_rows import NumberedNames
    from maxmargin.inputs.readers.svmlight import iterate_svmlight, read_svmlight, write_svmlight
    from maxmargin.inputs.readers.tables import iterate_table_rows, write_table_rows

    said = settings.label or "label", settings.id or "query"
    whole = target == "table" and source != "table"
    data, at_once = opened(settings.data), 2**62 if whole else AT_ONCE
    if source == "svmlight":
        parts: Any = [read_svmlight(data)] if whole else iterate_svmlight(data, at_once=at_once)
    else:
        parts = iterate_table_rows(data, *said, at_once=at_once) if source == "table" else None
        parts = iterate_jsonl_rows(data, at_once=at_once) if parts is None else parts
    for k, rows in enumerate(parts):
        names = NumberedNames(rows.X.shape[1], 1) if source == "svmlight" else rows.names
        if target == "jsonl":
            write_jsonl_rows(file, rows.X, rows.y, rows.qid, names)
        elif target == "table":
            write_table_rows(file, rows.X, rows.y, rows.qid, names, *said, head=k == 0)
        else:
            part = FileRows(settings.data, rows.X, rows.y)
            if source != "svmlight":
                part = FileRows.named(settings.data, rows.X, rows.y, rows.qid, names)
            if k == 0 and part.names is not None:
                some = ", ".join(f"{j} is {name}" for j, name in enumerate(part.names[:5], 1))
                say(f"svmlight files have no feature names; features are numbered from 1 ({some}, …)")
            write_svmlight(file, part.X, *_numbers(rows), zero_based=source != "svmlight" and part.names is None)


def _numbers(rows: Any) -> tuple[Any, Any]:
    """Return labels and queries in the form of svmlight files."""
    if rows.y is None:
        raise ValueError("the data have no labels, with which every line of an svmlight file begins")
    if rows.qid is not None and rows.qid.dtype == object:
        raise ValueError("queries are texts; expected whole numbers for an svmlight file")
    return rows.y, rows.qid


# --- alignments


def _alignments(source: str, target: str, settings: argparse.Namespace) -> Write:
    from maxmargin.structures.alignment.formats.a3m import read_a3m, write_a3m
    from maxmargin.structures.alignment.formats.fasta import read_aligned_fasta, write_fasta
    from maxmargin.structures.alignment.formats.stockholm import iterate_stockholm, write_stockholm

    data = opened(settings.data)
    inserted: Literal["inserted", "aligned"] = "inserted" if target == "a3m" else "aligned"
    if source == "stockholm":
        found = list(iterate_stockholm(data, inserted))
    else:
        found = [read_a3m(data) if source == "a3m" else read_aligned_fasta(data, inserted)]
    if target != "stockholm" and len(found) != 1:
        raise ValueError(f"the file has {len(found)} alignments; only a Stockholm file can hold several, or none")

    def write(file: TextIO) -> None:
        for alignment in found:
            if target == "stockholm":
                write_stockholm(file, alignment)
            else:
                (write_a3m if target == "a3m" else write_fasta)(file, alignment)

    return write
