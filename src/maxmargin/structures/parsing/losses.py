"""Loss: the loss of a parse tree as a function of counts of its brackets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from maxmargin.structures.parsing.chart_rules import label_count
from maxmargin.structures.parsing.compiled.kinds import BRACKETS, HAMMING, ZERO_ONE
from maxmargin.structures.parsing.derivations import Derivation, joined
from maxmargin.structures.parsing.productions import Rows

TreeMeasure = Literal["hamming", "f1", "zero_one"]

MEASURES = get_args(TreeMeasure)


class Loss(NamedTuple):
    """A loss as a function of the counts m and q, whose meaning depends on the kind (see compiled/cky_counts.py)."""

    kind: int  # one of compiled/kinds.py
    n_true: int  # the number of brackets of the true tree
    scale: float = 1.0  # not used by BRACKETS

    @classmethod
    def of_measure(cls, measure: str, n_words: int, n_brackets: int, f1_words: int = 20) -> Loss:
        """Return the loss for a true tree with these numbers of words and brackets.

        With more than f1_words words, "f1" is replaced by a Hamming loss that is scaled to a similar size.
        """
        if measure == "zero_one":
            return cls(ZERO_ONE, n_brackets)
        if measure == "hamming":
            return cls(HAMMING, n_brackets)
        if n_words > f1_words:
            return cls(HAMMING, n_brackets, 0.5 / max(n_brackets, 1))
        return cls(BRACKETS, n_brackets)

    def of(self, m: Any, q: Any) -> Any:
        """Return the loss of a tree with these counts."""
        if self.kind == BRACKETS:
            return 1.0 - 2.0 * m / np.maximum(self.n_true + q, 1) if self.n_true else np.minimum(q, 1.0)
        return self.scale * q

    def highest(self, n_words: int, longest_chain: int) -> float:
        """Return an upper bound on the losses of all trees over this number of words."""
        most = self.n_true + (n_words - 1) + (2 * n_words - 1) * longest_chain
        return self.scale * most if self.kind == HAMMING else 1.0


def check_measure(measure: Any) -> None:
    """Raise a ValueError unless the measure is a known one."""
    if measure not in MEASURES:
        raise ValueError(f"measure must be one of {', '.join(map(repr, MEASURES))}, got {measure!r}")


def losses(truths: Sequence[Derivation], each: Sequence[Loss], found: Sequence[Rows], rules: Any) -> list[float]:
    """Return the losses of the derivations with these rows, each of which has the words of a true derivation."""
    from maxmargin.structures.parsing.compiled.brackets import count_brackets

    if not found:
        return []
    ends, most = np.cumsum([len(rows) for rows in found]), max(truth.n for truth in truths)
    table = np.empty((most * (most + 1) // 2, label_count(rules)), dtype=np.uint8)
    counts = np.zeros((len(found), 3), dtype=np.int64)
    count_brackets(joined([truth.rows for truth in truths]), joined(found), ends, rules, table, counts)
    values = []
    for truth, loss, rows, (true, q, m) in zip(truths, each, found, counts.tolist(), strict=True):
        if loss.kind == ZERO_ONE:
            values.append(float(not np.array_equal(rows, truth.rows)))
        else:
            values.append(float(loss.of(m, q) if loss.kind == BRACKETS else loss.of(0, true + q - 2 * m)))
    return values
