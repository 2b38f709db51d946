"""All derivations of a short sentence, one by one: the reference for the searches in charts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np

from maxmargin.structures.parsing.productions import Rows


def all_derivations(rules: Any, tags: Sequence[Any]) -> Iterator[Rows]:
    """Every derivation from a root, if word t may have the tags with the symbols tags[t]."""

    @cache
    def below(symbol: int, i: int, j: int) -> list[list[list[int]]]:
        """The derivations of a symbol at the words i … j-1 that end in a tag or a binary rule."""
        if j == i + 1:
            return [[[-1, -1, i, symbol, j]]] if symbol in tags[i] else []
        return [
            [[-1, r, i, k, j], *left, *right]
            for r in np.flatnonzero(rules.parent == symbol).tolist()
            for k in range(i + 1, j)
            for left in above(int(rules.left[r]), i, k)
            for right in above(int(rules.right[r]), k, j)
        ]

    @cache
    def above(symbol: int, i: int, j: int) -> list[list[list[int]]]:
        """The derivations of a symbol at these words, with or without a chain of unary rules."""
        found = below(symbol, i, j)
        for q in np.flatnonzero(rules.top == symbol).tolist():
            found = found + [[[q, *rows[0][1:]], *rows[1:]] for rows in below(int(rules.bottom[q]), i, j)]
        return found

    for root in rules.roots.tolist():
        for rows in above(root, 0, len(tags)):
            yield np.array(rows, dtype=np.int32)
