"""Span and AnnotatedText: what annotation tools say about a text, in character offsets."""

from __future__ import annotations

from typing import Any, NamedTuple


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
    if not all(isinstance(at, int) and not isinstance(at, bool) for at in (start, end)):
        raise ValueError(f"a span has the offsets {start!r:.40} and {end!r:.40}; expected whole numbers")
    if not isinstance(label, str) or not label:
        raise ValueError(f"the span {start}:{end} has the label {label!r:.40}; expected a text that is not empty")
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
