"""Charts: search the derivations of a sentence for the best, the k best, or the most violated one."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.arrays import Array
from maxmargin.structures.parsing.productions import BEGIN, CHAIN, END, RULE, SPLIT, Productions, Rows
from maxmargin.structures.parsing.span_features import spans

Value = Callable[
    [Any, Any], Any
]  # (loss, margin) -> violation, which rises with the loss and falls linearly with margin

BRACKETS, HAMMING, ZERO_ONE, K_BEST = range(4)  # what compiled/cky_counts.py can count of a derivation


class Loss(NamedTuple):
    """A loss as a function of counts: m right among q brackets, or q alone (see compiled/cky_counts.py)."""

    kind: int
    n_true: int  # brackets of the true tree
    scale: float = 1.0

    def of(self, m: Any, q: Any) -> Any:
        """The loss at these counts."""
        if self.kind == BRACKETS:
            return 1.0 - 2.0 * m / np.maximum(self.n_true + q, 1) if self.n_true else np.minimum(q, 1.0)
        return self.scale * q

    def highest(self, n_words: int, longest_chain: int) -> float:
        """No parse of so many words has a higher one."""
        most = self.n_true + (n_words - 1) + (2 * n_words - 1) * longest_chain
        return self.scale * most if self.kind == HAMMING else 1.0


class Truth:
    """The true derivation of a sentence: its rows, and what of it each span has."""

    def __init__(self, rows: Rows, rules: Any):
        self.rows = rows
        self.n = n = (len(rows) + 1) // 2
        self.cells = cell(rows[:, BEGIN], rows[:, END], n)
        labels, at = [], []
        for x, (chain, rule) in enumerate(rows[:, :2].tolist()):
            if rule >= 0 and rules.label[rules.parent[rule]] >= 0:
                labels.append(rules.label[rules.parent[rule]])
                at.append(x)
            if chain >= 0:
                steps = rules.step_label[rules.step[chain] : rules.step[chain + 1]]
                labels.extend(steps.tolist())
                at.extend([x] * len(steps))
        self.bracket_labels = np.array(labels, dtype=np.intp)
        self.brackets = np.array(at, dtype=np.intp)  # rows of the brackets
        self.words = rows[rows[:, RULE] < 0][:, [BEGIN, SPLIT]]  # (word, tag symbol)

    def bonus(self, n_labels: int, each: float) -> Array:
        """(spans, labels): what predicting a bracket adds to the loss, -each where it is right."""
        bonus = np.full((self.n * (self.n + 1) // 2, n_labels), each)
        bonus[self.cells[self.brackets], self.bracket_labels] = -each
        return bonus

    def loss(self, loss: Loss, rows: Rows, rules: Any) -> float:
        """The loss of another derivation."""
        if loss.kind == ZERO_ONE:
            return float(not np.array_equal(rows, self.rows))
        mine = Truth(rows, rules)._labelled_spans()
        true = self._labelled_spans()
        right = len(true & mine)
        return float(loss.of(right, len(mine)) if loss.kind == BRACKETS else loss.of(0, len(true ^ mine)))

    def _labelled_spans(self) -> set[tuple[int, int]]:
        return set(zip(self.cells[self.brackets].tolist(), self.bracket_labels.tolist(), strict=True))

    def by_span(self, n_labels: int) -> Any:
        """As compiled.cky_counts.Truth."""
        from maxmargin.structures.parsing.compiled.cky_counts import Truth as Arrays

        begin, end = spans(self.n)
        hit = np.zeros((len(begin), n_labels), dtype=np.int32)
        hit[self.cells[self.brackets], self.bracket_labels] = 1
        table = np.zeros((self.n, self.n + 1), dtype=np.int32)
        table[begin, end] = hit.sum(axis=1)
        within = table[::-1].cumsum(axis=0)[::-1].cumsum(axis=1)
        columns = np.full((3, len(begin)), -2, dtype=np.int32)
        columns[:, self.cells] = self.rows[:, [RULE, SPLIT, CHAIN]].T
        return Arrays(hit, within[begin, end].astype(np.int32), columns[0], columns[1], columns[2])


class Charts:
    """Room to parse sentences of up to so many words, one after the other."""

    def __init__(self, rules: Any, n_words: int):
        from maxmargin.structures.parsing.compiled.cky import Chart

        n_cells, n_symbols, n_rules = n_words * (n_words + 1) // 2, len(rules.label), len(rules.parent)
        self.rules, self.n_labels = rules, int(rules.label.max(initial=-1)) + 1
        chain, rule, split = (np.empty((n_cells, n_symbols), dtype=np.int32) for _ in range(3))
        line, best, at = np.empty(n_symbols), np.empty(n_rules), np.empty(n_rules, dtype=np.int32)
        self.chart = Chart(np.empty((n_cells, n_symbols)), chain, rule, split, line, best, at)

    def best(self, w: Array, sentence: Any, bonus: Array | None = None) -> tuple[Rows | None, float]:
        """The derivation with the highest score, bonus[span, label] included; None where there is none."""
        from maxmargin.structures.parsing.compiled import cky

        n = len(sentence.leaf)
        cky.inside(w, sentence, self._none(n) if bonus is None else bonus, self.rules, self.chart)
        root, score = cky.best_root(w, n, self.rules, self.chart.above)
        if root < 0:
            return None, float(score)
        rows, stack = _empty_rows(n)
        cky.trace(self.rules.roots[root], n, self.rules, self.chart, stack, rows)
        return rows, float(score)

    def k_best(self, w: Array, sentence: Any, k: int) -> list[tuple[Rows, float]]:
        """The k derivations with the highest scores, best first; fewer where there are not so many."""
        if self.best(w, sentence)[0] is None:
            return []
        # No derivation is true here, and counts are not read.
        nowhere = Truth(np.empty((0, 5), dtype=np.int32), self.rules)
        nowhere.n = len(sentence.leaf)
        fronts = self._fronts(w, sentence, K_BEST, nowhere, -np.inf, k)
        entries, scores = self._at_root(w, len(sentence.leaf), fronts)
        best = [x for x in np.argsort(-scores, kind="stable")[:k] if scores[x] > -np.inf]
        return [(_traced(entries[x], len(sentence.leaf), fronts), float(scores[x])) for x in best]

    def most_violated(self, w: Array, sentence: Any, truth: Truth, loss: Loss, score: float, value: Value) -> Rows:
        """The derivation z with the highest value(Δ(z), score - score(z)), where `score` is that of the true one."""
        best, best_score = self.best(w, sentence)
        assert best is not None  # the truth is one
        n = len(sentence.leaf)
        highest = loss.highest(n, int(np.diff(self.rules.step).max(initial=0)))
        best_loss = truth.loss(loss, best, self.rules)
        if best_loss >= highest:
            return best  # nothing scores more or costs more
        reached = max(float(value(best_loss, score - best_score)), 0.0)
        at_zero, at_one = float(value(highest, 0.0)), float(value(highest, 1.0))
        # Whatever its loss, a derivation that gets there has at most this margin. A little more, for rounding.
        widest = (at_zero - reached) / (at_zero - at_one)
        least = score - widest - 1e-9 * (1.0 + abs(score) + abs(widest))
        fronts = self._fronts(w, sentence, loss.kind, truth, least, 32)
        entries, scores = self._at_root(w, n, fronts)
        if not len(entries):  # where large weights cancel, rounding may hide even the best
            return best
        m, q = fronts.entry[entries, 0], fronts.entry[entries, 1]
        violations = value(loss.of(m.astype(float), q.astype(float)), score - scores)
        return _traced(entries[int(np.argmax(violations))], n, fronts)

    def _fronts(self, w: Array, sentence: Any, kind: int, truth: Truth, least: float, room: int) -> Any:
        """The filled fronts; charts for best() must be those of this sentence. Room is doubled until it is enough."""
        from maxmargin.structures.parsing.compiled import cky, cky_counts

        n, n_symbols = sentence.leaf.shape
        n_cells, above = n * (n + 1) // 2, self.chart.above
        outer, outer_below = np.full((n_cells, n_symbols), -np.inf), np.empty((n_cells, n_symbols))
        outer[n - 1, self.rules.roots] = w[self.rules.productions : self.rules.productions + len(self.rules.roots)]
        none, scores = self._none(n), self.chart.best
        cky.outside(w, sentence, none, self.rules, above, outer, outer_below, scores)
        capacity = 4 * n_cells * n_symbols
        arrays, filled = truth.by_span(self.n_labels), False
        while not filled:
            span = (n_symbols, room)
            line = [np.empty((*span, 7), dtype=np.int32), np.empty(span), np.empty(n_symbols, dtype=np.int32)]
            table = [np.empty((n_cells, n_symbols), dtype=np.int32) for _ in range(2)]
            fronts = cky_counts.Fronts(
                np.empty((capacity, 7), dtype=np.int32),
                np.empty(capacity),
                *table,
                *line,
                *map(np.empty_like, line),
            )
            filled = cky_counts.fill_fronts(
                w, kind, sentence, none, self.rules, arrays, above, outer, outer_below, least, scores, fronts
            )
            room, capacity = room if kind == K_BEST else 2 * room, 2 * capacity
        return fronts

    def _at_root(self, w: Array, n: int, fronts: Any) -> tuple[NDArray[np.intp], Array]:
        """All entries of the whole sentence, and their scores."""
        entries, scores = [], []
        for k, symbol in enumerate(self.rules.roots):
            first = fronts.first[n - 1, symbol]
            mine = np.arange(first, first + fronts.size[n - 1, symbol])
            entries.append(mine)
            scores.append(fronts.score[mine] + w[self.rules.productions + k])
        return np.concatenate(entries), np.concatenate(scores)

    def _none(self, n: int) -> Array:
        return np.zeros((n * (n + 1) // 2, self.n_labels))


def cell(begin: Any, end: Any, n: int) -> Any:
    """The row of a span in all tables, as in compiled/cky.py."""
    begin, end = np.asarray(begin, dtype=np.intp), np.asarray(end, dtype=np.intp)
    return begin * n - begin * (begin - 1) // 2 + end - begin - 1


def flat(productions: Productions) -> Any:
    """The grammar as compiled.cky.Rules; binary rules must be sorted by their left child."""
    from maxmargin.structures.parsing.compiled.cky import Rules

    symbols = list(productions.symbols)
    names = sorted({symbol.name for symbol in symbols if symbol.kind == "label"})
    numbers = {name: k for k, name in enumerate(names)}
    label = [numbers[symbol.name] if symbol.kind == "label" else -1 for symbol in symbols]
    binary = np.array(list(productions.binary), dtype=np.int32).reshape(-1, 3)
    steps, productions_of, labels_of = [0], [], []
    for chain in productions.chains:
        for pair in pairwise(chain):
            productions_of.append(len(binary) + productions.unary[pair])
            labels_of.append(label[pair[0]])
        steps.append(len(labels_of))

    def ints(values: Any) -> NDArray[np.int32]:
        return np.array(values, dtype=np.int32)

    return Rules(
        np.searchsorted(binary[:, 1], np.arange(len(symbols) + 1)).astype(np.int32),
        ints(binary[:, 0]),
        ints(binary[:, 1]),
        ints(binary[:, 2]),
        ints(label),
        ints([chain[0] for chain in productions.chains]),
        ints([chain[-1] for chain in productions.chains]),
        ints(steps),
        ints(productions_of),
        ints(labels_of),
        len(binary) + len(productions.unary),
        ints(list(productions.roots)),
    )


def _empty_rows(n: int) -> tuple[Rows, NDArray[np.int32]]:
    return np.empty((2 * n - 1, 5), dtype=np.int32), np.empty((n + 1, 3), dtype=np.int32)


def _traced(entry: int, n: int, fronts: Any) -> Rows:
    from maxmargin.structures.parsing.compiled.cky_counts import trace_entry

    rows, stack = _empty_rows(n)
    trace_entry(entry, n, fronts, stack, rows)
    return rows
