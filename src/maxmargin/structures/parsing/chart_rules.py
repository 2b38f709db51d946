"""ChartGrammar: a grammar in the flat form that compiled charts read."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.structures.parsing.productions import Productions


class ChartGrammar(NamedTuple):
    """A grammar by names and as flat arrays; tags are numbered in the order of `productions.tags`."""

    productions: Productions
    rules: Any  # compiled.cky.Rules
    tag_symbols: NDArray[np.intp]  # (tags,): the symbol of every tag
    tag_numbers: NDArray[np.int32]  # (symbols,): the number of every tag; -1 for symbols that are not tags
    n_labels: int  # the number of labels that brackets can have
    longest_chain: int  # the largest number of unary rules over one span

    @classmethod
    def of(cls, productions: Productions) -> ChartGrammar:
        """Return the flat form of a grammar whose binary rules are sorted."""
        symbols, rules = np.array(list(productions.tags.values()), dtype=np.intp), flat_rules(productions)
        numbers = np.full(len(productions.symbols), -1, dtype=np.int32)
        numbers[symbols] = np.arange(len(symbols))
        return cls(productions, rules, symbols, numbers, label_count(rules), longest_chain(rules))

    @property
    def block(self) -> int:
        """The number of productions, which is the length of a block of their scores."""
        return int(self.rules.productions)

    @property
    def first_anchored(self) -> int:
        """The position behind the scores of all productions and roots."""
        return self.block + len(self.rules.roots)

    @property
    def label_names(self) -> list[str]:
        """The labels of brackets, in the order of their numbers."""
        return label_names(self.productions)


def label_count(rules: Any) -> int:
    """Return the number of labels that brackets can have."""
    return int(rules.label.max(initial=-1)) + 1


def longest_chain(rules: Any) -> int:
    """Return the largest number of unary rules over one span."""
    return int(np.diff(rules.step).max(initial=0))


def label_names(productions: Productions) -> list[str]:
    """Return the labels of brackets, in the order of their numbers."""
    return sorted({symbol.name for symbol in productions.symbols if symbol.kind == "label"})


def flat_rules(productions: Productions) -> Any:
    """Return the grammar as compiled.cky.Rules; its binary rules must be sorted by their left child."""
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
