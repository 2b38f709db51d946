"""Charts: search all derivations of a sentence for the best, the k best, or the most violated one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.checks import check_memory
from maxmargin.structures.parsing.chart_rules import label_count, longest_chain
from maxmargin.structures.parsing.compiled.kinds import K_BEST
from maxmargin.structures.parsing.derivations import Derivation, empty_rows, joined
from maxmargin.structures.parsing.losses import Loss, losses
from maxmargin.structures.parsing.productions import Rows

MANY_SPANS = 4096  # the number of spans that are searched in one compiled call
FEW_TREES = 1024  # the length of a list of the best trees for which memory is taken at first

Found = tuple[Rows | None, float]  # a derivation, or None if there is none, and its score
Violation = Callable[[Any, Any], Any]  # (loss, margin) -> number; it rises with the loss and is linear in -margin


class Charts:
    """Memory for searches in sentences of at most n_words words, which take place one after the other.

    All searches take the same arguments. `table` holds the scores of productions and roots (see compiled/cky.py);
    `sentence` is a compiled.cky.Sentence; `bonus` (spans, labels) holds the scores of brackets.
    """

    def __init__(self, rules: Any, n_words: int):
        from maxmargin.structures.parsing.compiled.cky import Chart

        n_cells, n_symbols, n_rules = n_words * (n_words + 1) // 2, len(rules.label), len(rules.parent)
        self.rules, self.n_labels = rules, label_count(rules)
        chain, rule, split = (np.empty((n_cells, n_symbols), dtype=np.int32) for _ in range(3))
        below, best, best_split = np.empty(n_symbols), np.empty(n_rules), np.empty(n_rules, dtype=np.int32)
        self.chart = Chart(np.empty((n_cells, n_symbols)), chain, rule, split, below, best, best_split)

    def best(self, table: Array, sentence: Any, bonus: Array) -> Found:
        """Return the derivation with the highest score."""
        return self._best_together(table, [sentence], [bonus])[0]

    def best_of_all(self, table: Array, sentences: Sequence[Any], bonuses: Sequence[Array]) -> list[Found]:
        """Return the derivation with the highest score of every sentence.

        One compiled call searches several sentences, whose arrays take some megabytes together. Other threads can run
        during such a call; a call for a single sentence would be too short for that.
        """
        found: list[Found] = []
        own, each, spans = [], [], 0
        for sentence, bonus in zip(sentences, bonuses, strict=True):
            own.append(sentence)
            each.append(bonus)
            spans += len(sentence.places)
            if spans > MANY_SPANS:
                found += self._best_together(table, own, each)
                own, each, spans = [], [], 0
        return found + self._best_together(table, own, each) if own else found

    def _best_together(self, table: Array, sentences: Sequence[Any], bonuses: Sequence[Array]) -> list[Found]:
        from maxmargin.structures.parsing.compiled import cky

        lengths = np.array([len(sentence.leaf) for sentence in sentences])
        words, cells = (np.append(0, np.cumsum(each)) for each in (lengths, lengths * (lengths + 1) // 2))
        together = cky.Sentence(*(joined(arrays) for arrays in zip(*sentences, strict=True)))
        scores, stack = np.empty(len(sentences)), np.empty((int(lengths.max()) + 1, 3), dtype=np.int32)
        rows = np.empty((2 * words[-1] - len(sentences), 5), dtype=np.int32)
        cky.best_of_all(table, together, joined(bonuses), words, cells, self.rules, self.chart, stack, scores, rows)
        each = np.split(rows, np.cumsum(2 * lengths - 1)[:-1])
        return [(own if score > -np.inf else None, score) for own, score in zip(each, scores.tolist(), strict=True)]

    def k_best(self, table: Array, sentence: Any, bonus: Array, k: int) -> list[tuple[Rows, float]]:
        """Return the k derivations with the highest scores, best first; fewer if there are fewer."""
        if self.best(table, sentence, bonus)[0] is None:
            return []
        n, n_symbols = sentence.leaf.shape
        nothing, room = Derivation.empty(n, self.rules), min(k, FEW_TREES)
        fronts = self._fronts(table, sentence, bonus, K_BEST, nothing, -np.inf, room)
        if room < k and fronts.size.max() >= room:  # there may be more
            check_memory(f"a list of the {k:,} best trees", 72.0 * n_symbols * k, "ask for a smaller n")
            fronts = self._fronts(table, sentence, bonus, K_BEST, nothing, -np.inf, k)
        entries, scores = self._at_root(table, n, fronts)
        best = [x for x in np.argsort(-scores, kind="stable")[:k] if scores[x] > -np.inf]
        return [(_traced(entries[x], n, fronts), float(scores[x])) for x in best]

    def most_violated(
        self,
        table: Array,
        sentence: Any,
        bonus: Array,
        truth: Derivation,
        loss: Loss,
        true_score: float,
        violation: Violation,
    ) -> tuple[Rows, float, float]:
        """Return the derivation z with the highest violation(Δ(z), true_score - score(z)), score(z) and Δ(z)."""
        best, best_score = self.best(table, sentence, bonus)
        assert best is not None  # there is at least the true one
        n = len(sentence.leaf)
        highest = loss.highest(n, longest_chain(self.rules))
        [best_loss] = losses([truth], [loss], [best], self.rules)
        if best_loss >= highest:
            return best, best_score, best_loss  # no other derivation has a higher score or a higher loss
        reached = max(float(violation(best_loss, true_score - best_score)), 0.0)
        at_zero, at_one = float(violation(highest, 0.0)), float(violation(highest, 1.0))
        # A derivation with at least this violation has at most this margin, whatever its loss. `least` adds rounding.
        widest = (at_zero - reached) / (at_zero - at_one)
        least = true_score - widest - 1e-9 * (1.0 + abs(true_score) + abs(widest))
        fronts = self._fronts(table, sentence, bonus, loss.kind, truth, least, 32)
        entries, scores = self._at_root(table, n, fronts)
        if not len(entries):  # where large weights cancel out, rounding may drop even the best derivation
            return best, best_score, best_loss
        m, q = fronts.entry[entries, 0], fronts.entry[entries, 1]
        each = loss.of(m.astype(float), q.astype(float))
        x = int(np.argmax(violation(each, true_score - scores)))
        return _traced(entries[x], n, fronts), float(scores[x]), float(each[x])

    def _fronts(
        self, table: Array, sentence: Any, bonus: Array, kind: int, truth: Derivation, least: float, room: int
    ) -> Any:
        """Return the fronts of the sentence with which best() was called last.

        `room` is the number of entries per symbol for which memory is allocated. It is doubled until it suffices.
        """
        from maxmargin.structures.parsing.compiled import cky, cky_counts

        n, n_symbols = sentence.leaf.shape
        n_cells, above = n * (n + 1) // 2, self.chart.above
        outer, outer_below = np.full((n_cells, n_symbols), -np.inf), np.empty((n_cells, n_symbols))
        outer[n - 1, self.rules.roots] = table[self.rules.productions : self.rules.productions + len(self.rules.roots)]
        scores = self.chart.best
        cky.outside(table, sentence, bonus, self.rules, above, outer, outer_below, scores)
        capacity = 4 * n_cells * n_symbols
        true_spans, filled = truth.by_span(self.n_labels), False
        while not filled:
            span = (n_symbols, room)
            line = [np.empty((*span, 7), dtype=np.int32), np.empty(span), np.empty(n_symbols, dtype=np.int32)]
            index = [np.empty((n_cells, n_symbols), dtype=np.int32) for _ in range(2)]
            fronts = cky_counts.Fronts(
                np.empty((capacity, 7), dtype=np.int32),
                np.empty(capacity),
                *index,
                *line,
                *map(np.empty_like, line),
            )
            filled = cky_counts.fill_fronts(
                table, kind, sentence, bonus, self.rules, true_spans, above, outer, outer_below, least, scores, fronts
            )
            room, capacity = room if kind == K_BEST else 2 * room, 2 * capacity
        return fronts

    def _at_root(self, table: Array, n: int, fronts: Any) -> tuple[NDArray[np.intp], Array]:
        """Return all entries for the whole sentence, and their scores including the scores of roots."""
        entries, scores = [], []
        for k, symbol in enumerate(self.rules.roots):
            first = fronts.first[n - 1, symbol]
            entries.append(np.arange(first, first + fronts.size[n - 1, symbol]))
            scores.append(fronts.score[entries[-1]] + table[self.rules.productions + k])
        return np.concatenate(entries), np.concatenate(scores)


def _traced(entry: int, n: int, fronts: Any) -> Rows:
    """Return the rows of the derivation that an entry represents."""
    from maxmargin.structures.parsing.compiled.cky_counts import trace_entry

    rows, stack = empty_rows(n)
    trace_entry(entry, n, fronts, stack, rows)
    return rows
