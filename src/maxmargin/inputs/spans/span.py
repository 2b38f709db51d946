"""Span and AnnotatedText: what annotation tools say about a text, in character offsets."""

from __future__ import annotations

from typing import Any, NamedTuple

from maxmargin.base.checks import is_whole


class Span(NamedTuple):
    """A labelled span of a text: the characters start:end.

    Offsets count Unicode characters (code points), as Python does.

    Examples
    --------
    >>> from maxmargin.formats import Span
    >>> Span(0, 3, "PER")
    Span(start=0, end=3, label='PER', confidence=None)
    """

    start: int  # the first character
    end: int  # one past the last character
    label: str
    confidence: float | None = None  # the probability of a predicted span; None for an annotation


class AnnotatedText(NamedTuple):
    """A text with its labelled spans.

    Examples
    --------
    >>> from maxmargin.formats import AnnotatedText, Span
    >>> document = AnnotatedText("Ada slept.", [Span(0, 3, "PER")])
    >>> document.text[0:3]
    'Ada'
    """

    text: str
    spans: list[Span] | None  # in the order of their positions; None if nobody has annotated the text
    name: str = ""  # the identifier of the document in its file


def checked_span(text: str, start: Any, end: Any, label: Any, said: Any = None) -> Span:
    """Return a span, or raise a ValueError if it does not fit the text.

    said : the characters of the span according to its file, or None.
    """
    start, end, label, _ = as_span((start, end, label))
    if not 0 <= start < end <= len(text):
        raise ValueError(
            f"the span {start}:{end} {label!r} does not fit the text, which has {len(text)} characters; expected "
            f"0 <= start < end <= {len(text)}"
        )
    if said is not None and said != text[start:end]:
        raise ValueError(
            f"the span {start}:{end} {label!r} is {said!r:.40} in the annotation but {text[start:end]!r:.40} in the "
            "text; expected offsets that count Unicode characters of this text"
        )
    return Span(start, end, label)


def as_span(given: Any) -> Span:
    """Return a tuple (start, end, label) or (start, end, label, confidence) as a Span, or raise a ValueError."""
    if not isinstance(given, tuple | list) or len(given) not in (3, 4):
        raise ValueError(f"a span is {given!r:.60}; expected a Span, or a tuple (start, end, label)")
    start, end, label, *confidence = given
    if not is_whole(start) or not is_whole(end):
        raise ValueError(f"a span has the offsets {start!r:.40} and {end!r:.40}; expected whole numbers")
    if not isinstance(label, str) or not label:
        raise ValueError(f"the span {start}:{end} has the label {label!r:.40}; expected a text that is not empty")
    return Span(int(start), int(end), label, *confidence)


def as_document(i: int, given: Any) -> AnnotatedText:
    """Return document i with spans of the class Span, or raise a ValueError that says what it is instead."""
    if not isinstance(given, AnnotatedText):
        raise ValueError(f"document {i} is {given!r:.60}; expected an AnnotatedText")
    text, spans, name = given
    if not isinstance(text, str) or not isinstance(name, str):
        what, found = ("text", text) if not isinstance(text, str) else ("name", name)
        raise ValueError(f"document {i} has the {what} {found!r:.40}; expected a string")
    try:
        return AnnotatedText(text, None if spans is None else [as_span(span) for span in spans], name)
    except (TypeError, ValueError) as error:
        raise ValueError(f"document {i}: {error}") from None


def in_order(spans: list[Span]) -> list[Span]:
    """Return the spans in the order of their positions."""
    return sorted(spans, key=lambda span: span[:3])


def first_overlap(spans: list[Span]) -> tuple[Span, Span] | None:
    """Return two spans that overlap, or None; the spans are in the order of their positions."""
    last: Span | None = None
    for span in spans:
        if last is not None and span.start < last.end:
            return last, span
        last = span
    return None
