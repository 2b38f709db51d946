"""Charts of drawn sentences, filled by the kernels, for the tests of these."""

from __future__ import annotations

import numpy as np
from structures.parsing.compiled import cky_twin as twin

from maxmargin.structures.parsing.compiled import cky

NOTHING = -np.inf


def new_chart(n_cells, rules):
    """A chart for the sentence, with numbers in it that an earlier sentence may have left."""
    n_symbols, n_rules = len(rules.label), len(rules.parent)
    scores = np.full((n_cells, n_symbols), 1e6)
    chain, rule, split = (np.full((n_cells, n_symbols), 77, dtype=np.int32) for _ in range(3))
    return cky.Chart(scores, chain, rule, split, np.ones(n_symbols), np.ones(n_rules), np.zeros(n_rules, np.int32))


def inside(drawn):
    """The chart with the best score of every symbol above."""
    chart = new_chart(len(drawn.bonus), drawn.rules)
    cky.inside(drawn.w, drawn.sentence, drawn.bonus, drawn.rules, chart)
    return chart


def each_span(n):
    """(begin, end, cell) of every span of n words."""
    return [(i, j, twin.cell(i, j, n)) for i in range(n) for j in range(i + 1, n + 1)]


def root_weights(drawn):
    """The weights of the roots, by symbol."""
    return dict(zip(drawn.rules.roots.tolist(), drawn.w[drawn.rules.productions :].tolist(), strict=False))


def around(drawn):
    """The chart, and the scores of everything around symbols that stand above and below."""
    chart = inside(drawn)
    n, rules = len(drawn.sentence.leaf), drawn.rules
    outer, outer_below = np.full(chart.above.shape, NOTHING), np.full(chart.above.shape, 1e6)
    for symbol, weight in root_weights(drawn).items():
        outer[twin.cell(0, n, n), symbol] = weight
    scores = np.ones(len(rules.parent))
    cky.outside(drawn.w, drawn.sentence, drawn.bonus, rules, chart.above, outer, outer_below, scores)
    return chart, outer, outer_below
