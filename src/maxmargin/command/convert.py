"""maxmargin convert: label sequences in another format, one by one."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import chain
from typing import Any

from maxmargin.command.errors import UsageError
from maxmargin.command.files.base import opened, written
from maxmargin.inputs.chunk_schemes import SCHEMES
from maxmargin.inputs.token_templates import TokenTemplates
from maxmargin.structures.dependencies.conllu import iterate_conllu
from maxmargin.structures.sequences.conll import iterate_conll, write_conll
from maxmargin.structures.sequences.crfsuite import iterate_crfsuite, write_crfsuite

Pair = tuple[Any, Any]  # tokens and labels


def run(settings: argparse.Namespace) -> int:
    """Read and write."""
    if settings.source == "crfsuite" and settings.to == "conll":
        raise UsageError("attributes cannot become columns again: crfsuite is converted to crfsuite only")
    if settings.features and (settings.to != "crfsuite" or settings.source == "crfsuite"):
        raise UsageError("--features makes attributes of columns: it is for --to crfsuite")
    pairs = _read(settings)
    if settings.chunks is not None:
        scheme = SCHEMES[settings.chunks]
        pairs = ((tokens, scheme.rewritten(labels)) for tokens, labels in pairs)
    if settings.to == "crfsuite" and settings.source != "crfsuite":
        pairs = _with_attributes(pairs, settings.features)
    write = write_crfsuite if settings.to == "crfsuite" else write_conll
    with written(settings.output) as file:
        for tokens, labels in pairs:
            write(file, [tokens], [labels])
    return 0


def _read(settings: argparse.Namespace) -> Iterator[Pair]:
    source = opened(settings.data)
    if settings.source == "conllu":  # a universal part of speech for every word
        for sentence in iterate_conllu(source, single_root=False):
            yield [(row[0],) for row in sentence.rows], [row[2] for row in sentence.rows]
        return
    iterate: Any = iterate_conll if settings.source == "conll" else iterate_crfsuite
    for each in iterate(source):
        if getattr(each, "weight", 1.0) != 1.0:
            raise ValueError("a sequence has a weight, which would be lost")
        yield each.tokens, each.labels


def _with_attributes(pairs: Iterator[Pair], features: str | None) -> Iterator[Pair]:
    first = next(pairs, None)
    if first is None:
        return
    templates = TokenTemplates.read(features) if features else TokenTemplates.usual(len(first[0][0]))
    for tokens, labels in chain([first], pairs):
        yield templates.attributes(tokens), labels
