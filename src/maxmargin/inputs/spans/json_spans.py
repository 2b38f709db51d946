"""Annotated texts in JSON lines, as doccano and Prodigy export them.

    {"id": 1, "text": "Ada slept.", "label": [[0, 3, "PER"]]}                      doccano
    {"id": 1, "text": "Ada slept.", "entities": [{"id": 7, "label": "PER", "start_offset": 0, "end_offset": 3}]}
    {"text": "Ada slept.", "spans": [{"start": 0, "end": 3, "label": "PER"}], "answer": "accept"}      Prodigy

A record without any of these keys is a text that nobody has annotated. Other keys are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from maxmargin.base.errors import InvalidLabels, warn_caller
from maxmargin.inputs.readers.json_lines import JsonRecord, iterate_records, write_records
from maxmargin.inputs.readers.text_file import TextFile
from maxmargin.inputs.spans.span import AnnotatedText, Span, checked_span, in_order

DOCCANO = ("label", "labels", "entities")
PRODIGY = "spans"
A_TRIPLE = "[start, end, label]"
IN_DOCCANO = ("start_offset", "end_offset", "label")
IN_PRODIGY = ("start", "end", "label")


def iterate_json_spans(source: TextFile, form: str | None = None) -> Iterator[AnnotatedText]:
    """Yield the texts of a file; form is "doccano", "prodigy", or None: the keys of a record tell.

    Prodigy's records whose answer is "reject" or "ignore" are left out with a warning that counts them.
    """
    left_out, n, first = 0, 0, 0
    for record in iterate_records(source):
        n += 1
        if form != "doccano" and record.fields.get("answer", "accept") != "accept":
            if record.fields["answer"] not in ("reject", "ignore"):
                raise record.error(f"'answer' is {record.fields['answer']!r:.40}; expected accept, reject or ignore")
            left_out, first = left_out + 1, first or record.number
            continue
        text = record.value("text", "the text of a document")
        if not isinstance(text, str):
            raise record.error(f"'text' is {text!r:.40}; expected a text")
        try:
            spans = _spans(record, text, form)
        except ValueError as error:
            raise record.error(str(error)) from None
        yield AnnotatedText(text, spans, _name(record))
    if left_out:
        warn_caller(
            f"{left_out} of {n} records were left out, because their answer is not 'accept' (the first: line {first})",
            InvalidLabels,
        )


def write_doccano(target: TextFile, documents: Iterable[AnnotatedText]) -> None:
    """Write texts as doccano exports them for sequence labelling."""
    write_records(target, (_record(each, "label", lambda span: list(span[:3])) for each in documents))


def write_prodigy(target: TextFile, documents: Iterable[AnnotatedText]) -> None:
    """Write texts as Prodigy exports them."""
    keys = IN_PRODIGY
    write_records(
        target, (_record(each, PRODIGY, lambda span: dict(zip(keys, span, strict=False))) for each in documents)
    )


def _record(document: AnnotatedText, key: str, as_json: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {"id": document.name} if document.name else {}
    fields["text"] = document.text
    if document.spans is not None:
        fields[key] = [as_json(span) for span in document.spans]
    return fields


def _name(record: JsonRecord) -> str:
    name = record.fields.get("id", "")
    return str(name) if isinstance(name, str | int) and not isinstance(name, bool) else ""


def _spans(record: JsonRecord, text: str, form: str | None) -> list[Span] | None:
    wanted = {"doccano": DOCCANO, "prodigy": (PRODIGY,), None: (*DOCCANO, PRODIGY)}[form]
    keys = [key for key in wanted if key in record]
    if len(keys) > 1:
        raise ValueError(f"there are {' and '.join(map(repr, keys))}; expected one of them")
    if not keys:
        return None
    listed = record.fields[keys[0]]
    if not isinstance(listed, list):
        raise ValueError(f"{keys[0]!r} is {listed!r:.40}; expected a list of spans")
    if keys[0] == PRODIGY:
        return in_order([_from_dict(text, span, IN_PRODIGY) for span in listed])
    if keys[0] == "entities":
        return in_order([_from_dict(text, span, IN_DOCCANO) for span in listed])
    return in_order([_from_list(text, span) for span in listed])


def _from_dict(text: str, span: Any, keys: tuple[str, ...]) -> Span:
    if not isinstance(span, dict) or not all(key in span for key in keys):
        raise ValueError(f"a span is {span!r:.60}; expected a record with {', '.join(map(repr, keys))}")
    return checked_span(text, *(span[key] for key in keys))


def _from_list(text: str, span: Any) -> Span:
    if not isinstance(span, list) or len(span) != 3:
        raise ValueError(f"a span is {span!r:.60}; expected {A_TRIPLE}")
    return checked_span(text, *span)
