"""Attribute strings from the spelling and the neighbours of words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

RUN = re.compile(r"(.)\1{2,}", re.DOTALL)


@lru_cache(maxsize=2**16)  # the same words occur at several positions
def word_shape(word: str) -> str:
    """Return the shape of a word: capitals as ``X``, small letters as ``x``, digits as ``d``, with runs cut to two.

    Cutting runs keeps the number of shapes small: ``Microsoft`` and ``London`` are both ``Xxx``.
    """
    return RUN.sub(r"\1\1", "".join(map(_kind, word)))


@lru_cache(maxsize=2**12)
def _kind(character: str) -> str:
    if character.isdigit():
        return "d"
    if character.isalpha():
        return "X" if character.isupper() else "x"
    return character


def spelling(word: str) -> list[str]:
    """Return attributes of one word: its lower case, shape, beginning and end, and the kinds of its characters."""
    lower = word.lower()
    attributes = [f"lower={lower}", f"shape={word_shape(word)}"]
    attributes += [f"prefix{k}={lower[:k]}" for k in (2, 3)]
    attributes += [f"suffix{k}={lower[-k:]}" for k in (2, 3, 4)]
    if word[:1].isupper():
        attributes.append("capital-first")
    if word.isupper():
        attributes.append("capital-all")
    if any(character.isdigit() for character in word):
        attributes.append("digit-some")
    if word.isdigit():
        attributes.append("digit-all")
    if "-" in word:
        attributes.append("hyphen")
    return attributes


def word_attributes(words: Sequence[str]) -> list[list[str]]:
    """Return attributes of every word of a sentence: its spelling, the word itself and its two neighbours."""
    padded = ["<s>", *words, "</s>"]
    return [
        ["bias", f"w[-1]={padded[t]}", f"w[0]={word}", f"w[1]={padded[t + 2]}", *spelling(word)]
        for t, word in enumerate(words)
    ]
