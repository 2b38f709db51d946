"""Charts: search all derivations of a sentence for the best, the k best, or the most violated one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.checks import check_memory
from maxmargin.structures.parsing.compiled.kinds import BRACKETS, HAMMING, K_BEST, ZERO_ONE
from maxmargin.structures.parsing.productions import BEGIN, CHAIN, END, RULE, SPLIT, Productions, Rows
from maxmargin.structures.parsing.span_features import spans

MANY_SPANS = 4096  # of sentences that are searched in one call
FEW_TREES = 1024  # for which there is room at first, in a list of the best ones

Violation = Callable[[Any, Any], Any]  # of loss and margin: it rises with the loss and falls linearly with the margin


class Loss(NamedTuple):
    """A loss as a function of the counts m and q, whose meaning depends on the kind (see compiled/cky_counts.py)."""

    kind: int  # one of compiled/kinds.py
    n_true: int  # brackets of the true tree
    scale: float = 1.0  # not used by BRACKETS

    def of(self, m: Any, q: Any) -> Any:
        """The loss of a tree with these counts."""
        if self.kind == BRACKETS:
            return 1.0 - 2.0 * m / np.maximum(self.n_true + q, 1) if self.n_true else np.minimum(q, 1.0)
        return self.scale * q

    def highest(self, n_words: int, longest_chain: int) -> float:
        """A bound on the losses of all trees over so many words."""
        most = self.n_true + (n_words - 1) + (2 * n_words - 1) * longest_chain
        return self.scale * most if self.kind == HAMMING else 1.0


class Derivation:
    """A derivation, mostly the true one: its rows, and the brackets that they stand for."""

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
        """One without rows, in place of the true derivation where nothing is compared with it."""
        derivation = cls(np.empty((0, 5), dtype=np.int32), rules)
        derivation.n = n_words
        return derivation

    def bonus(self, n_labels: int, each: float) -> Array:
        """(spans, labels): what a predicted bracket adds to the Hamming loss: -each where this has it, else each."""
        bonus = np.full((self.n * (self.n + 1) // 2, n_labels), each)
        bonus[self.cells[self.brackets], self.bracket_labels] = -each
        return bonus

    def by_span(self, n_labels: int) -> Any:
        """What kernels read of it, as compiled.cky_counts.TrueSpans."""
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


def losses(truths: Sequence[Derivation], each: Sequence[Loss], found: Sequence[Rows], rules: Any) -> list[float]:
    """Of the derivations with these rows, each over the words of a true one."""
    from maxmargin.structures.parsing.compiled.brackets import count_brackets

    if not found:
        return []
    ends, most = np.cumsum([len(rows) for rows in found]), max(truth.n for truth in truths)
    table = np.empty((most * (most + 1) // 2, label_count(rules)), dtype=np.uint8)
    counts = np.zeros((len(found), 3), dtype=np.int64)
    count_brackets(_joined([truth.rows for truth in truths]), _joined(found), ends, rules, table, counts)
    values = []
    for truth, loss, rows, (true, q, m) in zip(truths, each, found, counts.tolist(), strict=True):
        if loss.kind == ZERO_ONE:
            values.append(float(not np.array_equal(rows, truth.rows)))
        else:
            values.append(float(loss.of(m, q) if loss.kind == BRACKETS else loss.of(0, true + q - 2 * m)))
    return values


class Charts:
    """Searches in sentences of at most n_words words, one after the other in the same memory."""

    def __init__(self, rules: Any, n_words: int):
        from maxmargin.structures.parsing.compiled.cky import Chart

        n_cells, n_symbols, n_rules = n_words * (n_words + 1) // 2, len(rules.label), len(rules.parent)
        self.rules, self.n_labels = rules, label_count(rules)
        chain, rule, split = (np.empty((n_cells, n_symbols), dtype=np.int32) for _ in range(3))
        below, best, best_split = np.empty(n_symbols), np.empty(n_rules), np.empty(n_rules, dtype=np.int32)
        self.chart = Chart(np.empty((n_cells, n_symbols)), chain, rule, split, below, best, best_split)

    def best(self, w: Array, sentence: Any, bonus: Array | None = None) -> tuple[Rows | None, float]:
        """The derivation with the highest score, bonus[span, label] included, and the score; None without any."""
        return self._best_together(w, [sentence], [bonus])[0]

    def best_of_all(
        self, w: Array, sentences: Sequence[Any], bonuses: Sequence[Array | None] | None = None
    ) -> list[tuple[Rows | None, float]]:
        """The same of many sentences, as many in one compiled call as have tables of some megabytes.

        Within a call other threads are free to run whatever they have to, which single sentences are too short for.
        """
        found: list[tuple[Rows | None, float]] = []
        own, each, spans = [], [], 0
        for sentence, bonus in zip(sentences, bonuses or [None] * len(sentences), strict=True):
            own.append(sentence)
            each.append(bonus)
            spans += len(sentence.places)
            if spans > MANY_SPANS:
                found += self._best_together(w, own, each)
                own, each, spans = [], [], 0
        return found + self._best_together(w, own, each) if own else found

    def _best_together(
        self, w: Array, sentences: Sequence[Any], bonuses: Sequence[Array | None]
    ) -> list[tuple[Rows | None, float]]:
        from maxmargin.structures.parsing.compiled import cky

        lengths = np.array([len(sentence.leaf) for sentence in sentences])
        words, cells = (np.append(0, np.cumsum(each)) for each in (lengths, lengths * (lengths + 1) // 2))
        filled = zip(lengths, bonuses, strict=True)
        bonus = _joined([no_bonus(n, self.n_labels) if own is None else own for n, own in filled])
        together = cky.Sentence(*(_joined(tables) for tables in zip(*sentences, strict=True)))
        scores, stack = np.empty(len(sentences)), np.empty((int(lengths.max()) + 1, 3), dtype=np.int32)
        rows = np.empty((2 * words[-1] - len(sentences), 5), dtype=np.int32)
        cky.best_of_all(w, together, bonus, words, cells, self.rules, self.chart, stack, scores, rows)
        each = np.split(rows, np.cumsum(2 * lengths - 1)[:-1])
        return [(own if score > -np.inf else None, score) for own, score in zip(each, scores.tolist(), strict=True)]

    def k_best(self, w: Array, sentence: Any, k: int) -> list[tuple[Rows, float]]:
        """The k derivations with the highest scores, best first; fewer where there are not as many."""
        if self.best(w, sentence)[0] is None:
            return []
        n, n_symbols = sentence.leaf.shape
        nothing, room = Derivation.empty(n, self.rules), min(k, FEW_TREES)
        fronts = self._fronts(w, sentence, K_BEST, nothing, -np.inf, room)
        if room < k and fronts.size.max() >= room:  # there may be more
            check_memory(f"a list of the {k:,} best trees", 72.0 * n_symbols * k, "ask for a smaller n")
            fronts = self._fronts(w, sentence, K_BEST, nothing, -np.inf, k)
        entries, scores = self._at_root(w, n, fronts)
        best = [x for x in np.argsort(-scores, kind="stable")[:k] if scores[x] > -np.inf]
        return [(_traced(entries[x], n, fronts), float(scores[x])) for x in best]

    def most_violated(
        self, w: Array, sentence: Any, truth: Derivation, loss: Loss, true_score: float, violation: Violation
    ) -> Rows:
        """The derivation z with the highest violation(Δ(z), true_score - score(z))."""
        best, best_score = self.best(w, sentence)
        assert best is not None  # there is at least the true one
        n = len(sentence.leaf)
        highest = loss.highest(n, longest_chain(self.rules))
        [best_loss] = losses([truth], [loss], [best], self.rules)
        if best_loss >= highest:
            return best  # no other derivation has a higher score or a higher loss
        reached = max(float(violation(best_loss, true_score - best_score)), 0.0)
        at_zero, at_one = float(violation(highest, 0.0)), float(violation(highest, 1.0))
        # A derivation that violates as much has at most this margin, whatever its loss. A little more, for rounding.
        widest = (at_zero - reached) / (at_zero - at_one)
        least = true_score - widest - 1e-9 * (1.0 + abs(true_score) + abs(widest))
        fronts = self._fronts(w, sentence, loss.kind, truth, least, 32)
        entries, scores = self._at_root(w, n, fronts)
        if not len(entries):  # where large weights cancel out, rounding may drop even the best derivation
            return best
        m, q = fronts.entry[entries, 0], fronts.entry[entries, 1]
        violations = violation(loss.of(m.astype(float), q.astype(float)), true_score - scores)
        return _traced(entries[int(np.argmax(violations))], n, fronts)

    def _fronts(self, w: Array, sentence: Any, kind: int, truth: Derivation, least: float, room: int) -> Any:
        """The fronts of the sentence with which best() was called last; their room is doubled until it is enough."""
        from maxmargin.structures.parsing.compiled import cky, cky_counts

        n, n_symbols = sentence.leaf.shape
        n_cells, above = n * (n + 1) // 2, self.chart.above
        outer, outer_below = np.full((n_cells, n_symbols), -np.inf), np.empty((n_cells, n_symbols))
        outer[n - 1, self.rules.roots] = w[self.rules.productions : self.rules.productions + len(self.rules.roots)]
        zero, scores = no_bonus(n, self.n_labels), self.chart.best
        cky.outside(w, sentence, zero, self.rules, above, outer, outer_below, scores)
        capacity = 4 * n_cells * n_symbols
        true_spans, filled = truth.by_span(self.n_labels), False
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
                w, kind, sentence, zero, self.rules, true_spans, above, outer, outer_below, least, scores, fronts
            )
            room, capacity = room if kind == K_BEST else 2 * room, 2 * capacity
        return fronts

    def _at_root(self, w: Array, n: int, fronts: Any) -> tuple[NDArray[np.intp], Array]:
        """All entries for the whole sentence, and their scores with the weights of their roots."""
        entries, scores = [], []
        for k, symbol in enumerate(self.rules.roots):
            first = fronts.first[n - 1, symbol]
            entries.append(np.arange(first, first + fronts.size[n - 1, symbol]))
            scores.append(fronts.score[entries[-1]] + w[self.rules.productions + k])
        return np.concatenate(entries), np.concatenate(scores)


def _joined(tables: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Tables with as many columns, one below the other."""
    return tables[0] if len(tables) == 1 else np.concatenate(tables)


def no_bonus(n: int, n_labels: int) -> Array:
    """(spans, labels) of a sentence of n words: labels add nothing."""
    return np.zeros((n * (n + 1) // 2, n_labels))


def cell(begin: Any, end: Any, n: int) -> Any:
    """The row of a span in all tables, as compiled/cky.py numbers them."""
    begin, end = np.asarray(begin, dtype=np.intp), np.asarray(end, dtype=np.intp)
    return begin * n - begin * (begin - 1) // 2 + end - begin - 1


def label_count(rules: Any) -> int:
    """How many labels brackets can have."""
    return int(rules.label.max(initial=-1)) + 1


def longest_chain(rules: Any) -> int:
    """The largest number of unary rules over one span."""
    return int(np.diff(rules.step).max(initial=0))


def label_names(productions: Productions) -> list[str]:
    """The labels of brackets, in the order of their numbers."""
    return sorted({symbol.name for symbol in productions.symbols if symbol.kind == "label"})


def flat_rules(productions: Productions) -> Any:
    """The grammar as compiled.cky.Rules; its binary rules must be sorted by their left child."""
    from maxmargin.structures.parsing.compiled.cky import Rules

    symbols = list(productions.symbols)
    numbers = {name: k for k, name in enumerate(label_names(productions))}
    label = [numbers[symbol.name] if symbol.kind == "label" else -1 for symbol in symbols]
    binary = np.array(list(productions.binary), dtype=np.int32).reshape(-1, 3)
    steps, step_productions, step_labels = [0], [], []
    for chain in productions.chains:
        for pair in pairwise(chain):
            step_productions.append(len(binary) + productions.unary[pair])
            step_labels.append(label[pair[0]])
        steps.append(len(step_labels))

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
        ints(step_productions),
        ints(step_labels),
        len(binary) + len(productions.unary),
        ints(list(productions.roots)),
    )


def empty_rows(n: int) -> tuple[Rows, NDArray[np.int32]]:
    """MemoryBudget for the rows of a derivation of n words, and for the stack that writing them needs."""
    return np.empty((2 * n - 1, 5), dtype=np.int32), np.empty((n + 1, 3), dtype=np.int32)


def _traced(entry: int, n: int, fronts: Any) -> Rows:
    """The rows of the derivation that an entry stands for."""
    from maxmargin.structures.parsing.compiled.cky_counts import trace_entry

    rows, stack = empty_rows(n)
    trace_entry(entry, n, fronts, stack, rows)
    return rows
