"""Chunk precision, recall and F1 of predicted tags."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple


class ChunkScore(NamedTuple):
    """Precision, recall and their harmonic mean over chunks, each between 0 and 1."""

    precision: float
    recall: float
    f1: float


def chunks(tags: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """The chunks ``(first token, one past the last token, type)`` of one sentence's IOB tags.

    Ill-formed tags are read as ``conlleval`` reads them: an ``I-`` that continues no chunk of its own type
    begins a chunk. Hence IOB1 tags are read rightly too.
    """
    start = 0
    open_type: str | None = None
    for t, tag in enumerate(tags):
        prefix, _, kind = tag.partition("-")
        if prefix not in ("B", "I", "O"):
            raise ValueError(f"The tag {tag!r} is not an IOB tag, which is 'O' or begins with 'B-' or 'I-'.")
        continues = prefix == "I" and kind == open_type
        if continues:
            continue
        if open_type is not None:
            yield start, t, open_type
        open_type = None if prefix == "O" else kind
        start = t
    if open_type is not None:
        yield start, len(tags), open_type


def chunk_f1(true_tags: Sequence[Sequence[str]], predicted_tags: Sequence[Sequence[str]]) -> ChunkScore:
    """Precision, recall and F1 over the chunks of all sentences, as ``conlleval`` counts.

    A predicted chunk is right when a true chunk has the same first token, last token and type (Tjong Kim Sang
    and Buchholz, CoNLL 2000). A ratio without any chunk to count is 0. ``conlleval`` prints these times one
    hundred.
    """
    if len(true_tags) != len(predicted_tags):
        raise ValueError(f"There are {len(true_tags)} true but {len(predicted_tags)} predicted sequences.")
    n_true = n_predicted = n_right = 0
    for i, (true, predicted) in enumerate(zip(true_tags, predicted_tags, strict=True)):
        if len(true) != len(predicted):
            raise ValueError(f"Sequence {i} has {len(true)} true but {len(predicted)} predicted tags.")
        true_chunks = set(chunks(true))
        predicted_chunks = set(chunks(predicted))
        n_true += len(true_chunks)
        n_predicted += len(predicted_chunks)
        n_right += len(true_chunks & predicted_chunks)
    precision = n_right / n_predicted if n_predicted else 0.0
    recall = n_right / n_true if n_true else 0.0
    f1 = 2 * precision * recall / (precision + recall) if n_right else 0.0
    return ChunkScore(precision, recall, f1)
