"""The entities of documents, from chunk labels or from spans, in the form in which entity scores compare them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from maxmargin.inputs.tokens.chunk_schemes import ANY, ChunkScheme, named_scheme
from maxmargin.structures.sequences.measures import same_positions


class Entity(NamedTuple):
    """An entity of a document: positions start:end, of tokens or of characters, and its type."""

    start: int
    end: int
    type: str


def paired_entities(truth: Any, found: Any, scheme: str | None) -> list[tuple[list[Entity], list[Entity]]]:
    """Return the true and the predicted entities of every document, in the order of their positions.

    truth, found : for every document its chunk labels, or its spans (start, end, type, …); the same form in both.
    scheme : None reads labels of any chunk scheme as conlleval does; a scheme counts only chunks that it would write.
    """
    truth, found = list(truth), list(found)
    reads = None if scheme is None else named_scheme(scheme)
    labelled = _has_labels(truth, found)
    if labelled:
        list(same_positions(truth, found))  # raises if lengths differ
    elif len(truth) != len(found):
        raise ValueError(f"There are {len(truth)} true but {len(found)} predicted documents.")
    elif reads is not None:
        raise ValueError(f"scheme is {scheme!r}, but there are spans and no labels; leave it out")
    each = []
    for name, documents in (("true", truth), ("predicted", found)):
        each.append([_entities(y, labelled, reads, f"Document {i}, {name}") for i, y in enumerate(documents)])
    return list(zip(*each, strict=True))


def _has_labels(truth: Sequence[Any], found: Sequence[Any]) -> bool:
    """Return whether documents are given as labels; raise if some have labels and others spans."""
    kinds = {
        (name, isinstance(y[0], str))
        for name, documents in (("true", truth), ("predicted", found))
        for y in documents
        if len(y)
    }
    if len({labels for _, labels in kinds}) > 1:
        said = sorted(f"{name} documents have {'labels' if labels else 'spans'}" for name, labels in kinds)
        raise ValueError(f"Some {', some '.join(said)}; expected labels everywhere, or spans everywhere.")
    return any(labels for _, labels in kinds)


def _entities(y: Any, labelled: bool, scheme: ChunkScheme | None, where: str) -> list[Entity]:
    if labelled:
        known = ANY if scheme is None else scheme
        for t, label in enumerate(y):
            if not (isinstance(label, str) and known.knows(label)):
                letters = ", ".join(f"'{letter}-…'" for letter in f"BI{known.last}{known.unit}")
                raise ValueError(f"{where} label {t} is {label!r}; expected 'O' or one of {letters}.")
        return [Entity(*chunk) for chunk in (ANY.chunks(y) if scheme is None else scheme.well_formed_chunks(y))]
    return sorted(_span(span, f"{where} span {k}") for k, span in enumerate(y))


def _span(span: Any, where: str) -> Entity:
    whole = (int, np.integer)
    if (
        not isinstance(span, Sequence)
        or len(span) < 3
        or not all(isinstance(at, whole) and not isinstance(at, bool) for at in span[:2])
        or not isinstance(span[2], str)
        or not 0 <= span[0] < span[1]
    ):
        raise ValueError(f"{where} is {span!r}; expected (start, end, type) with 0 <= start < end and a text as type.")
    return Entity(int(span[0]), int(span[1]), span[2])
