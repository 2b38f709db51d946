"""SummedCharts: sum over all derivations of a sentence, where Charts searches for the best."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.structures.parsing.chart_rules import label_count
from maxmargin.structures.parsing.derivations import cell, empty_rows
from maxmargin.structures.parsing.productions import Rows


class SummedCharts:
    """Memory for sums over sentences of at most n_words words, which take place one after the other.

    Order of calls: `fill` with a sentence sets `log_z`; `spread` then sets `shares`. `word_shares` needs both, and
    `drawn` needs `fill`. The arguments are those of Charts.
    """

    log_z: float
    shares: Any  # compiled.inside.Shares

    def __init__(self, rules: Any, n_words: int):
        from maxmargin.structures.parsing.compiled.inside import Masses, Shares

        n_cells, n_symbols, n_rules = n_words * (n_words + 1) // 2, len(rules.label), len(rules.parent)
        self.rules, self.n_labels = rules, label_count(rules)
        self.masses = Masses(*np.empty((2, n_cells, n_symbols)), *np.empty((2, n_symbols + n_rules)))
        below, above = np.empty((2, n_cells, n_symbols))
        least, each = np.empty((2, n_rules))
        self.shares = Shares(below, above, np.empty((n_cells, self.n_labels)), least, each)

    def fill(self, table: Array, sentence: Any, bonus: Array) -> float:
        """Return log Z of the sentence, which is -inf if it has no derivation."""
        from maxmargin.structures.parsing.compiled.inside import fill_masses

        self.filled = (table, sentence, bonus, self.rules, self.masses)
        self.log_z = float(fill_masses(*self.filled))
        return self.log_z

    def spread(self, factor: float = 0.0, total: Array | None = None) -> float:
        """Return the entropy, and compute `shares`.

        If `total` is given, add to it `factor` times the expected number of uses of every number of the table.
        """
        from maxmargin.structures.parsing.compiled.inside import spread_shares

        total = np.zeros(0) if total is None else total
        return float(spread_shares(*self.filled, self.log_z, factor, self.shares, total))

    def word_shares(self) -> Array:
        """Return the probability of every tag (words, symbols), after `spread`."""
        n = len(self.filled[1].leaf)
        return np.asarray(self.shares.below[cell(np.arange(n), np.arange(1, n + 1), n)])

    def drawn(self, rng: np.random.Generator) -> Rows:
        """Draw a derivation with its probability."""
        from maxmargin.structures.parsing.compiled.inside import draw_derivation

        rows, stack = empty_rows(len(self.filled[1].leaf))
        draw_derivation(*self.filled, self.log_z, rng.random(1 + 2 * len(rows)), stack, rows)
        return rows
