"""SegmentText: features of segments of text, computed from the words of their tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any, ClassVar

from maxmargin.base.files.fields import Each, OneOf, Text, Whole
from maxmargin.base.files.objects import Fields

LONGEST = 5  # words of the longest text that is a feature; longer ones hardly occur twice
REPEATED = re.compile(r"(.)\1+")


class SegmentText:
    """Features of segments of text, as `segment_features` of SegmentLabeler.

        text      the words in lower case, for segments of at most five words
        shape     the shapes of the words ("Xx" of "Madrid", "X" of "UN", "9" of "1999"), equal neighbours once
        ends      the first and the last word in lower case, for segments of two words or more
        around    the words before and after the segment in lower case

    Parameters
    ----------
    word : str, int or callable
        Where to find the word of a token: the name of a feature (token[word] of a dict; the attribute that begins with
        "word=" of a list), the number of a column of tokens that are tuples, or a function of a token.
    kinds : sequence of str
        The features to compute.

    See Also
    --------
    maxmargin.SegmentLabeler : Takes it as `segment_features`.

    Examples
    --------
    >>> from maxmargin import tasks
    >>> features = tasks.SegmentText(word=0, kinds=["text", "shape"])
    >>> features([("to",), ("New",), ("York",)], 1, 3)
    ['text=new york', 'shape=Xx']
    """

    KINDS = ("text", "shape", "ends", "around")

    saved: ClassVar[Fields] = {"word": OneOf(Text(), Whole()), "kinds": Each(Text(*KINDS), kind=tuple)}

    def __init__(self, word: str | int | Callable[[Any], str] = "word", kinds: Sequence[str] = KINDS):
        unknown = [kind for kind in kinds if kind not in self.KINDS]
        if unknown:
            raise ValueError(f"kinds must be of {', '.join(map(repr, self.KINDS))}, got {unknown[0]!r}")
        self.word, self.kinds = word, tuple(kinds)

    def __repr__(self) -> str:
        return f"SegmentText({self.word!r}, {self.kinds!r})"

    def __call__(self, tokens: Sequence[Any], begin: int, end: int) -> list[str]:
        return self.of_sequence(tokens)(begin, end)

    def of_sequence(self, tokens: Sequence[Any]) -> Callable[[int, int], list[str]]:
        """Return a function (begin, end) -> features for one sequence."""
        words = [self._word(token, t) for t, token in enumerate(tokens)]
        small, shapes = ["<s>", *map(str.lower, words), "</s>"], [shape(word) for word in words]
        runs = [each for each, _ in groupby(shapes)]  # shapes of maximal runs of tokens with equal shapes
        run = [number for number, (_, run) in enumerate(groupby(shapes)) for _ in run]
        text, shaped, ends, around = (kind in self.kinds for kind in self.KINDS)

        def features(begin: int, end: int) -> list[str]:
            found = []
            if text and end - begin <= LONGEST:
                found.append("text=" + " ".join(small[begin + 1 : end + 1]))
            if shaped:
                found.append("shape=" + " ".join(runs[run[begin] : run[end - 1] + 1]))
            if ends and end - begin > 1:
                found.append(f"ends={small[begin + 1]}|{small[end]}")
            if around:
                found.append(f"around={small[begin]}|{small[end + 1]}")
            return found

        return features

    def _word(self, token: Any, t: int) -> str:
        if callable(self.word):
            return self.word(token)
        if isinstance(self.word, int):
            if isinstance(token, str) and self.word == 0:
                return token
            if isinstance(token, Sequence) and not isinstance(token, str) and len(token) > self.word:
                return str(token[self.word])
        elif isinstance(token, Mapping):
            if isinstance(token.get(self.word), str):
                return str(token[self.word])
        elif isinstance(token, Sequence):
            start = f"{self.word}="
            for attribute in token:
                if attribute.startswith(start):
                    return str(attribute[len(start) :])
        raise ValueError(f"token {t} is {token!r}, which has no {self.word!r}; name the feature that is the word")


def shape(word: str) -> str:
    """Return the kinds of characters of a word in order: "Xx" for "Madrid", "9.9" for "3.14"."""
    kinds = "".join("X" if c.isupper() else "x" if c.isalpha() else "9" if c.isdigit() else c for c in word)
    return REPEATED.sub(r"\1", kinds)
