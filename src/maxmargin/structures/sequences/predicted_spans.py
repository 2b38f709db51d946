"""Predict labelled spans of characters in raw texts, by way of the tokens of a tokeniser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from maxmargin.base.predictions import Predictions
from maxmargin.inputs.spans.span import Span
from maxmargin.inputs.tokens.tokeniser import Tokeniser


def predicted_spans(model: Any, texts: Sequence[str], tokeniser: Tokeniser | None) -> list[list[Span]]:
    """Return the predicted spans of every text; the confidence of a span is that of its chunk.

    model : a fitted SequenceLabeler whose templates read words.
    tokeniser : None for that of the templates.
    """
    templates = model.task_.packer_.templates
    if templates is None or len(templates.columns) != 1:
        columns = "reads features" if templates is None else f"reads the columns {', '.join(templates.columns)}"
        raise ValueError(
            f"predict_spans needs a model that makes features from words, but this one {columns} of tokens; train with "
            "features=TokenTemplates(…, tokeniser=Tokeniser())"
        )
    tokeniser = templates.tokeniser if tokeniser is None else tokeniser
    if tokeniser is None:
        raise ValueError("the templates of the model have no tokeniser; give one, as in tokeniser=Tokeniser()")
    if isinstance(texts, str):
        raise ValueError(f"texts is the string {texts!r:.40}; expected a list of texts")
    offsets = []
    for i, text in enumerate(texts):
        try:
            offsets.append(tokeniser.offsets(text))
        except ValueError as error:
            raise ValueError(f"document {i}: {error}") from None
    words = [[text[a:b] for a, b in at] for text, at in zip(texts, offsets, strict=True)]
    filled = [i for i, sentence in enumerate(words) if sentence]
    found: list[list[Span]] = [[] for _ in words]
    if filled:
        for i, chunks in zip(filled, model.predict_confidence([words[i] for i in filled], of="chunk"), strict=True):
            at = offsets[i]
            found[i] = [Span(at[a][0], at[b - 1][1], kind, p) for a, b, kind, p in chunks]
    return Predictions(found)
