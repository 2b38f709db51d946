"""SummedCharts: sums over all derivations of a sentence, in the place of the best that Charts finds."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.structures.parsing.charts import cell, empty_rows, label_count, no_bonus
from maxmargin.structures.parsing.productions import Rows


class SummedCharts:
    """Sentences of at most n_words words, one after the other in the same memory: `fill` one, then ask for the rest."""

    log_z: float
    shares: Any  # compiled.inside.Shares, after `spread`

    def __init__(self, rules: Any, n_words: int):
        from maxmargin.structures.parsing.compiled.inside import Masses, Shares

        n_cells, n_symbols, n_rules = n_words * (n_words + 1) // 2, len(rules.label), len(rules.parent)
        self.rules, self.n_labels = rules, label_count(rules)
        self.masses = Masses(*np.empty((2, n_cells, n_symbols)), *np.empty((2, n_symbols + n_rules)))
        below, above = np.empty((2, n_cells, n_symbols))
        least, each = np.empty((2, n_rules))
        self.shares = Shares(below, above, np.empty((n_cells, self.n_labels)), least, each)

    def fill(self, w: Array, sentence: Any, bonus: Array | None = None) -> float:
        """log Z of the sentence, bonus[span, label] added to its scores; -inf if it has no derivation."""
        from maxmargin.structures.parsing.compiled.inside import fill_masses

        bonus = no_bonus(len(sentence.leaf), self.n_labels) if bonus is None else bonus
        self.filled = (w, sentence, bonus, self.rules, self.masses)
        self.log_z = float(fill_masses(*self.filled))
        return self.log_z

    def spread(self, factor: float = 0.0, total: Array | None = None) -> float:
        """The entropy, with `shares` filled; factor times what is expected of features but words' is added to total."""
        from maxmargin.structures.parsing.compiled.inside import spread_shares

        total = np.zeros(0) if total is None else total
        return float(spread_shares(*self.filled, self.log_z, factor, self.shares, total))

    def word_shares(self) -> Array:
        """(words, symbols): the probability of every tag, after `spread`."""
        n = len(self.filled[1].leaf)
        return np.asarray(self.shares.below[cell(np.arange(n), np.arange(1, n + 1), n)])

    def drawn(self, rng: np.random.Generator) -> Rows:
        """A derivation, with its probability."""
        from maxmargin.structures.parsing.compiled.inside import draw_derivation

        rows, stack = empty_rows(len(self.filled[1].leaf))
        draw_derivation(*self.filled, self.log_z, rng.random(1 + 2 * len(rows)), stack, rows)
        return rows
