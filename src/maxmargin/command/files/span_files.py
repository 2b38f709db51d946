"""Texts with labelled spans of characters: training sentences from annotation tools, and predicted spans."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, cast

from maxmargin.command.errors import UsageError
from maxmargin.command.files.base import opened, some_at_a_time
from maxmargin.inputs.spans.files import SpanFormat, iterate_spans
from maxmargin.inputs.tokens.tokeniser import Tokeniser
from maxmargin.structures.sequences.conll import ConllSentence


class SpansFile:
    """A file of annotated texts, whose words and chunk labels a tokeniser makes."""

    names: list[str] | None = None

    def __init__(self, name: str, form: str, templates: Any):
        self.file, self.form, self.tokeniser = name, cast(SpanFormat, form), _tokeniser(templates)

    def __iter__(self) -> Iterator[tuple[ConllSentence, Any]]:
        found = self.tokeniser.labelled(iterate_spans(opened(self.file), self.form))
        for i, words, labels in zip(found.documents, found.X, found.Y, strict=True):
            if None in labels:
                raise ValueError(
                    f"{self.file}, document {i} is not annotated; expected spans, or an empty list of them"
                )
            yield ConllSentence([(word,) for word in words], cast(list[str], labels)), None


def predicted_file(model: Any, name: str, form: str) -> Iterator[tuple[str, Any]]:
    """Yield the texts of a file with predicted spans, as lines of doccano's format with a key "predicted"."""
    for some in some_at_a_time(iterate_spans(opened(name), cast(SpanFormat, form))):
        for document, spans in zip(some, _predicted(model, [each.text for each in some]), strict=True):
            record: dict[str, Any] = {"id": document.name} if document.name else {}
            record["text"] = document.text
            if document.spans is not None:
                record["label"] = [list(span[:3]) for span in document.spans]
            record["predicted"] = [list(span) for span in spans]
            yield json.dumps(record, ensure_ascii=False) + "\n", record["predicted"]


def predicted_texts(model: Any, texts: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """Yield the predicted spans of every text, a line for each: start, end, label, confidence and its characters."""
    texts = list(texts)
    for text, spans in zip(texts, _predicted(model, texts), strict=True):
        lines = [f"{a}\t{b}\t{label}\t{p:.3f}\t{' '.join(text[a:b].split())}\n" for a, b, label, p in spans]
        yield "".join(lines), [list(span) for span in spans]


def _predicted(model: Any, texts: list[str]) -> Any:
    if not hasattr(model, "predict_spans"):
        raise UsageError("this model does not label words; texts are for models of sequences")
    return model.predict_spans(texts, _tokeniser(model.task_.packer_.templates))


def _tokeniser(templates: Any) -> Tokeniser:
    """Return the tokeniser of the templates, or the usual one."""
    found: Tokeniser | None = None if templates is None else templates.tokeniser
    return Tokeniser() if found is None else found
