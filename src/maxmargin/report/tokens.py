"""Sentences with their labels, and the mistakes in them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from maxmargin.report.findings import note
from maxmargin.report.html import Element, short

MOST_TOKENS = 150  # the most tokens that are shown
WORD = re.compile(r"(?:w|word|form|token|text|lower|w\[0\]|word\[0\]|0)=(.*)", re.DOTALL)
NAMES = ("word", "form", "token", "text", "w", "lower")


class TokenMark(NamedTuple):
    """The labels of a token."""

    found: str  # the predicted label, empty for none
    true: str | None = None  # the true label, if the predicted one is wrong
    goes_on: bool = False  # whether it continues the span of the token before


def words_of(x: Any) -> list[str]:
    """Return the tokens of a sequence as words if they have words, otherwise their numbers."""
    n = int(x.shape[0]) if hasattr(x, "shape") else len(x)
    return [str(t) for t in range(n)] if hasattr(x, "shape") else [_word(token, t) for t, token in enumerate(x)]


def sentence(words: Sequence[str], marks: Sequence[TokenMark]) -> list[Any]:
    """Return words with their labels below them; a wrong label is above the true one."""
    first = 0
    if len(words) > MOST_TOKENS:  # begin shortly before the first mistake
        wrong = next((t for t, mark in enumerate(marks) if mark.true is not None), 0)
        first = min(max(0, wrong - 20), len(words) - MOST_TOKENS)
    shown = range(first, min(len(words), first + MOST_TOKENS))
    drawn = Element("div", [[_token(words[t], marks[t]), " "] for t in shown], class_="tokens", dir="auto")
    cut = f"Tokens {shown.start} to {shown.stop - 1} of {len(words)} are shown." if len(shown) < len(words) else None
    return [drawn, note(cut) if cut else None]


def legend() -> Element:
    """Return an explanation of how to read a sentence."""
    return note(
        "Below every word stands its predicted label; words with a wrong one are marked, with the ",
        Element("span", "true label", class_="bad"),
        " below it.",
    )


def _token(word: str, mark: TokenMark) -> Element:
    wrong = mark.true is not None
    kinds = ["token", *(["wrong"] if wrong else []), *(["span"] if mark.found else [])]
    return Element(
        "span",
        Element("bdi", short(word, 60)),
        Element("small", short(mark.found, 40) if mark.found else "–") if mark.found or wrong else None,
        Element("small", short(mark.true, 40) if mark.true else "–", class_="was") if wrong else None,
        class_=" ".join(kinds),
    )


def _word(token: Any, t: int) -> str:
    if isinstance(token, str):
        return token
    if isinstance(token, Mapping):
        named = [token[name] for name in NAMES if isinstance(token.get(name), str)]
        texts = named or [value for value in token.values() if isinstance(value, str)]
    elif isinstance(token, tuple) and token:  # columns, the first of which is the word
        texts = [str(token[0])]
    elif isinstance(token, Sequence):
        texts = [each for each in token if isinstance(each, str)]
        texts = [each for each in texts if WORD.fullmatch(each)] or texts
    else:
        texts = []
    if not texts:
        return str(t)
    found = WORD.fullmatch(texts[0])
    return found.group(1) if found else texts[0]
