"""A treebank for the tests of parsers: short sentences with a phrase that belongs to the verb or to the noun."""

from __future__ import annotations

import numpy as np

from maxmargin.structures.parsing.trees import Tree

WORDS = {
    "D": ["the", "a"],
    "N": ["dog", "cat", "park", "bird", "tree"],
    "V": ["saw", "chased"],
    "P": ["in", "near"],
}


def treebank(n=24, seed=0):
    """Trees over words and tags.

    In (VP V NP PP) the noun has no determiner; one with a determiner takes the phrase along, (VP V (NP (NP D N) PP)).
    Rules alone do not see that, but rules that remember their parents do, and so do features of spans.
    """
    rng = np.random.default_rng(seed)
    return [_sentence(rng) for _ in range(n)]


def _sentence(rng):
    subject, thing = _noun(rng), _noun(rng)
    rest = [thing]
    if rng.random() < 0.7:
        place = Tree("PP", [_word(rng, "P"), _noun(rng)])
        rest = [thing, place] if len(thing) == 1 else [Tree("NP", [thing, place])]
    return Tree("S", [subject, Tree("VP", [_word(rng, "V"), *rest])])


def _noun(rng):
    if rng.random() < 0.5:
        return Tree("NP", [_word(rng, "N")])
    return Tree("NP", [_word(rng, "D"), _word(rng, "N")])


def _word(rng, tag):
    return Tree(tag, [str(rng.choice(WORDS[tag]))])


class NltkTree(list):
    """A tree as nltk has it: a list of children with a label."""

    def __init__(self, label, children):
        super().__init__(children)
        self._label = label

    @classmethod
    def of(cls, tree):
        """From a Tree."""
        return cls(tree.label, [child if isinstance(child, str) else cls.of(child) for child in tree.children])

    def label(self):
        """The label, which nltk has as a method."""
        return self._label


def nested(tree):
    """A tree as (label, *children) tuples."""
    return (tree.label, *(child if isinstance(child, str) else nested(child) for child in tree.children))
