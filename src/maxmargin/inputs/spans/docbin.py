"""Annotated texts in spaCy's DocBin files (.spacy), which need spaCy."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

from maxmargin.inputs.readers.compressed import replacing_compressed
from maxmargin.inputs.spans.span import AnnotatedText, Span, first_overlap

PIECE = re.compile(r"\w+|\s+|[^\w\s]")


def iterate_docbin(source: str | os.PathLike[str]) -> Iterator[AnnotatedText]:
    """Yield the texts of a file with their entities; a text without entity annotation is not annotated."""
    spacy, path = _spacy(), Path(source)
    content = path.read_bytes()
    try:
        documents = list(spacy.tokens.DocBin().from_bytes(content).get_docs(spacy.vocab.Vocab()))
    except Exception as error:  # msgpack, zlib and spaCy raise errors of many classes
        raise ValueError(f"{path.name} is not a DocBin file of spaCy: {type(error).__name__}: {error}") from None
    for doc in documents:
        spans = [Span(ent.start_char, ent.end_char, ent.label_) for ent in doc.ents]
        yield AnnotatedText(doc.text, spans if doc.has_annotation("ENT_IOB") else None)


def write_docbin(target: str | os.PathLike[str], documents: Iterable[AnnotatedText]) -> None:
    """Write a DocBin file; tokens are words, punctuation and blanks, and are cut where a span begins or ends."""
    spacy = _spacy()
    vocab, file = spacy.vocab.Vocab(), spacy.tokens.DocBin(store_user_data=False)
    for i, document in enumerate(documents):
        both = first_overlap(document.spans or [])
        if both is not None:
            (a, b, label, _), (c, d, other, _) = both
            raise ValueError(
                f"document {i}: the spans {a}:{b} {label!r} and {c}:{d} {other!r} overlap, which spaCy's entities "
                "cannot; leave one of them out"
            )
        file.add(_doc(spacy, vocab, document))
    with replacing_compressed(Path(target)) as stream:
        stream.write(file.to_bytes())


def _doc(spacy: Any, vocab: Any, document: AnnotatedText) -> Any:
    text = document.text
    starts = {span.start for span in document.spans or ()}
    ends = {span.end for span in document.spans or ()}
    bounds = sorted({0, len(text), *starts, *ends, *(found.start() for found in PIECE.finditer(text))})
    words: list[str] = []
    blanks: list[bool] = []
    for start, end in pairwise(bounds):
        if text[start:end] == " " and words and not blanks[-1] and start not in starts and end not in ends:
            blanks[-1] = True
        else:
            words.append(text[start:end])
            blanks.append(False)
    doc = spacy.tokens.Doc(vocab, words=words, spaces=blanks)
    if document.spans is not None:
        doc.set_ents([doc.char_span(start, end, label=label) for start, end, label, _ in document.spans])
    return doc


def _spacy() -> Any:
    try:
        return import_module("spacy")
    except ImportError:
        raise ImportError("DocBin files need spaCy, which is not installed: pip install spacy") from None
