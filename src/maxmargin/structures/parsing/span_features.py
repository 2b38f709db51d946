"""SpanFeatures: the tokens at the ends of a span and around it, its length, and the tokens at its split.

Every value of a feature is combined with every rule, so that w has for each value a block of weights, one per rule
(compare Hall, Durrett and Klein 2014, who parse with such features and little grammar).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.files.fields import Each, Label, Mapped, Text, Whole
from maxmargin.base.files.objects import Dropped, Fields

SPAN = ("first", "last", "before", "after", "length")
SPLIT = ("split_left", "split_right")
LENGTHS = np.array([0, 0, 1, 2, 3, 4, 5, 5, 6, 6, 6, 7, 7, 7, 7, 7, 8, 8, 8, 8, 8, 9])  # bucket of every length
COMMON = 5  # a token with fewer occurrences in training shares its weights with others of the same ending

Places = NDArray[np.int64]


class SpanFeatures:
    """The features of spans and splits, and the positions in w of their blocks of weights.

    names : some of "first" and "last" (the tokens at the ends of a span), "before" and "after" (those next to it),
        "length", "split_left" and "split_right" (the tokens on both sides of a binary rule's split)
    """

    saved: ClassVar[Fields] = {
        "of_spans": Each(Text(*SPAN)),
        "of_splits": Each(Text(*SPLIT)),
        "numbers_": Mapped(Label(), Whole()),
        **dict.fromkeys(("block_", "outside_", "rare_", "first_", "end_"), Dropped()),  # see `lay_out`
    }

    def __init__(self, names: Sequence[str]):
        listed = isinstance(names, Iterable) and not isinstance(names, str)
        wrong = [name for name in names if name not in SPAN + SPLIT] if listed else [names]
        if wrong:
            known = ", ".join(map(repr, SPAN + SPLIT))
            raise ValueError(f"span_features has {wrong[0]!r}; expected a list of some of {known}")
        self.of_spans = [name for name in SPAN if name in names]
        self.of_splits = [name for name in SPLIT if name in names]

    def _check_saved(self) -> None:
        if list(self.numbers_.values()) != list(range(len(self.numbers_))):
            raise ValueError("tokens are not numbered in order")

    def fit(self, X: Sequence[Sequence[Hashable]], first: int, block: int) -> SpanFeatures:
        """Number the tokens of the training sentences; the weights begin at `first`, in blocks of this size."""
        counts = Counter(token for x in X for token in x)
        common = [token for token, count in counts.items() if count >= COMMON]
        endings = Counter(_ending(token) for token, count in counts.items() if count < COMMON)
        common += [ending for ending, count in endings.items() if count >= COMMON]
        self.numbers_ = {token: number for number, token in enumerate(common)}
        return self.lay_out(first, block)

    def lay_out(self, first: int, block: int) -> SpanFeatures:
        """Compute where the weights of every feature begin, for blocks of this size from `first` on."""
        self.block_, n_common = block, len(self.numbers_)
        self.outside_, self.rare_ = n_common, n_common + 1  # outside of the sentence; all other tokens
        self.first_ = {}
        for name in self.of_spans + self.of_splits:
            self.first_[name] = first
            first += self._n_values(name) * block
        self.end_ = first
        return self

    def tokens(self, x: Sequence[Hashable]) -> NDArray[np.int64]:
        """Return the number of every token, with the number of the outside before and after them."""
        numbers = self.numbers_
        inside = (numbers.get(token, numbers.get(_ending(token), self.rare_)) for token in x)
        return np.array([self.outside_, *inside, self.outside_], dtype=np.int64)

    def places(self, tokens: NDArray[np.int64]) -> tuple[Places, Places]:
        """Return the blocks of spans (spans, 1 + features), whose first column is for all rules, and of splits."""
        n = len(tokens) - 2
        begin, end = spans(n)
        values: dict[str, Any] = {
            "first": tokens[begin + 1],
            "last": tokens[end],
            "before": tokens[begin],
            "after": tokens[end + 1],
            "length": LENGTHS[np.minimum(end - begin, len(LENGTHS) - 1)],
            "split_left": tokens[:n],
            "split_right": tokens[1 : n + 1],
        }
        blocks = {name: first + values[name] * self.block_ for name, first in self.first_.items()}
        of_spans = np.zeros((len(begin), 1 + len(self.of_spans)), dtype=np.int64)
        for f, name in enumerate(self.of_spans, 1):
            of_spans[:, f] = blocks[name]
        of_splits = np.zeros((n, len(self.of_splits)), dtype=np.int64)
        for f, name in enumerate(self.of_splits):
            of_splits[:, f] = blocks[name]
        return of_spans, of_splits

    def parts(self, w: Any) -> dict[str, Any]:
        """Return the weights (values, rules) by feature. Values are numbered tokens, the outside, and all others."""
        parts = {}
        for name, first in self.first_.items():
            n = self._n_values(name)
            parts[name] = w[first : first + n * self.block_].reshape(n, self.block_)
        return parts

    def names(self) -> dict[str, list[str]]:
        """Return the meaning of every value of every feature, in the order of `parts`."""
        tokens = [token if isinstance(token, str) else f"rare: {token}" for token in self.numbers_]
        tokens += ["outside the sentence", "any other"]
        longest = [np.flatnonzero(bucket == LENGTHS) for bucket in range(int(LENGTHS.max()) + 1)]
        lengths = [" to ".join(str(n) for n in dict.fromkeys((each[0] or 1, each[-1]))) for each in longest[:-1]]
        lengths.append(f"{longest[-1][0]} or more")
        return {name: lengths if name == "length" else tokens for name in self.first_}

    def _n_values(self, name: str) -> int:
        return int(LENGTHS.max()) + 1 if name == "length" else self.rare_ + 1


@lru_cache(maxsize=256)
def spans(n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the begin and the end of all spans of n words, in the order of the cells of a chart."""
    begin, end = np.triu_indices(n)
    return begin, end + 1


def _ending(token: Hashable) -> Hashable:
    """Return the class of a rare word: its shape and its last letters. Other tokens than strings are their own."""
    if not isinstance(token, str):
        return token
    shape = "9" if any(map(str.isdigit, token)) else "A" if token[:1].isupper() else "a"
    return shape, token[-2:].lower()
