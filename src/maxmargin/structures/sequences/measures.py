"""Chunk precision, recall and F1 of predicted tags."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from maxmargin.report.scoring.scorer import Scorer


class ChunkScore(NamedTuple):
    """Precision, recall and their harmonic mean over chunks, each between 0 and 1."""

    precision: float
    recall: float
    f1: float


def chunks(tags: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Yield the chunks of one sentence's IOB tags.

    Ill-formed tags are read as ``conlleval`` reads them: an ``I-`` that continues no chunk of its own type begins a
    chunk. Hence IOB1 tags are read correctly as well.

    Parameters
    ----------
    tags : sequence of str
        The tags of a sentence.

    Returns
    -------
    iterator of (first token, one past the last token, type).

    Examples
    --------
    >>> from maxmargin.metrics import chunks
    >>> list(chunks(["B-PER", "I-PER", "O", "B-LOC"]))
    [(0, 2, 'PER'), (3, 4, 'LOC')]
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
    """Return precision, recall and F1 over the chunks of all sentences, as ``conlleval`` counts.

    A predicted chunk is right if a true chunk has the same first token, last token and type (Tjong Kim Sang and
    Buchholz, CoNLL 2000). A ratio without any chunk to count is 0. ``conlleval`` prints these times one hundred.

    Parameters
    ----------
    true_tags, predicted_tags : sequence of lists of str
        The tags of all sentences.

    Returns
    -------
    ChunkScore, with precision, recall and f1.

    Examples
    --------
    >>> from maxmargin.metrics import chunk_f1
    >>> chunk_f1([["B-PER", "O", "B-LOC"]], [["B-PER", "O", "O"]])
    ChunkScore(precision=1.0, recall=0.5, f1=0.6666666666666666)

    See Also
    --------
    chunk_report : the same for every type of chunk.
    """
    n_true = n_predicted = n_right = 0
    for true, predicted in same_positions(true_tags, predicted_tags):
        true_chunks = set(chunks(true))
        predicted_chunks = set(chunks(predicted))
        n_true += len(true_chunks)
        n_predicted += len(predicted_chunks)
        n_right += len(true_chunks & predicted_chunks)
    return ratios(n_right, n_predicted, n_true)


def ratios(right: int, found: int, true: int) -> ChunkScore:
    """Return precision, recall and F1 of these counts; a ratio of nothing is 0."""
    precision = right / found if found else 0.0
    recall = right / true if true else 0.0
    return ChunkScore(precision, recall, 2 * precision * recall / (precision + recall) if right else 0.0)


def same_positions(truth: Sequence[Any], found: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield the true and the predicted tags of every sequence; raise if their numbers differ."""
    if len(truth) != len(found):
        raise ValueError(f"There are {len(truth)} true but {len(found)} predicted sequences.")
    for i, (true, predicted) in enumerate(zip(truth, found, strict=True)):
        if len(true) != len(predicted):
            raise ValueError(f"Sequence {i} has {len(true)} true but {len(predicted)} predicted tags.")
        yield true, predicted


chunk_f1_scorer = Scorer(chunk_f1, "f1")
