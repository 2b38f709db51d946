"""Derivation: a derivation with its brackets; and the list of all derivations of a short sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.structures.parsing.productions import BEGIN, CHAIN, END, RULE, SPLIT, Rows
from maxmargin.structures.parsing.span_features import spans


class Derivation:
    """A derivation, usually the true one: its rows, and the brackets that they represent."""

    def __init__(self, rows: Rows, rules: Any):
        self.rows = rows
        self.n = n = (len(rows) + 1) // 2  # words
        self.cells = cell(rows[:, BEGIN], rows[:, END], n)
        labels, row_numbers = [], []
        for x, (chain, rule) in enumerate(rows[:, :2].tolist()):
            if rule >= 0 and rules.label[rules.parent[rule]] >= 0:
                labels.append(rules.label[rules.parent[rule]])
                row_numbers.append(x)
            if chain >= 0:
                steps = rules.step_label[rules.step[chain] : rules.step[chain + 1]]
                labels.extend(steps.tolist())
                row_numbers.extend([x] * len(steps))
        self.bracket_labels = np.array(labels, dtype=np.intp)
        self.brackets = np.array(row_numbers, dtype=np.intp)  # the row of each bracket
        self.words = rows[rows[:, RULE] < 0][:, [BEGIN, SPLIT]]  # (words, 2): position and symbol of the tag

    @classmethod
    def empty(cls, n_words: int, rules: Any) -> Derivation:
        """Return a derivation without rows, for searches that compare nothing with a true derivation."""
        derivation = cls(np.empty((0, 5), dtype=np.int32), rules)
        derivation.n = n_words
        return derivation

    def bonus(self, brackets: Array, each: float) -> Array:
        """Return scores of brackets plus their part of a Hamming loss.

        A bracket adds -each to the loss if this derivation has it, and each if not.

        brackets : (spans, labels) the scores of brackets
        """
        bonus = np.add(brackets, each, order="C")
        own = self.cells[self.brackets], self.bracket_labels
        bonus[own] = brackets[own] - each
        return bonus

    def by_span(self, n_labels: int) -> Any:
        """Return the derivation by spans, as compiled.cky_counts.TrueSpans."""
        from maxmargin.structures.parsing.compiled.cky_counts import TrueSpans

        begin, end = spans(self.n)
        hit = np.zeros((len(begin), n_labels), dtype=np.int32)
        hit[self.cells[self.brackets], self.bracket_labels] = 1
        table = np.zeros((self.n, self.n + 1), dtype=np.int32)
        table[begin, end] = hit.sum(axis=1)
        within = table[::-1].cumsum(axis=0)[::-1].cumsum(axis=1)
        columns = np.full((3, len(begin)), -2, dtype=np.int32)
        columns[:, self.cells] = self.rows[:, [RULE, SPLIT, CHAIN]].T
        return TrueSpans(hit, within[begin, end].astype(np.int32), columns[0], columns[1], columns[2])


def cell(begin: Any, end: Any, n: int) -> Any:
    """Return the row of a span in the arrays over spans, as compiled/cky.py numbers them."""
    begin, end = np.asarray(begin, dtype=np.intp), np.asarray(end, dtype=np.intp)
    return begin * n - begin * (begin - 1) // 2 + end - begin - 1


def joined(tables: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return the concatenation of arrays with equal numbers of columns."""
    return tables[0] if len(tables) == 1 else np.concatenate(tables)


def empty_rows(n: int) -> tuple[Rows, NDArray[np.int32]]:
    """Return memory for the rows of a derivation of n words, and for the stack with which these are written."""
    return np.empty((2 * n - 1, 5), dtype=np.int32), np.empty((n + 1, 3), dtype=np.int32)


def all_derivations(rules: Any, tags: Sequence[Any]) -> Iterator[Rows]:
    """Yield every derivation from a root, if word t may have the tags with the symbols tags[t].

    This is the reference for the searches in charts.
    """

    @cache
    def below(symbol: int, i: int, j: int) -> list[list[list[int]]]:
        """Return the derivations of a symbol at the words i … j-1 that begin with a tag or a binary rule."""
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
        """Return the derivations of a symbol at these words, with or without a chain of unary rules."""
        found = below(symbol, i, j)
        for q in np.flatnonzero(rules.top == symbol).tolist():
            found = found + [[[q, *rows[0][1:]], *rows[1:]] for rows in below(int(rules.bottom[q]), i, j)]
        return found

    for root in rules.roots.tolist():
        for rows in above(root, 0, len(tags)):
            yield np.array(rows, dtype=np.int32)
