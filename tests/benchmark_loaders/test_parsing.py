"""Grammars and parsers on the sample of the Penn Treebank."""

from functools import cache

import pytest

from benchmarks.loaders import load_ptb_sample
from maxmargin import PCFG, Parser
from maxmargin.structures.parsing.productions import Productions

pytestmark = pytest.mark.data
SAMPLE = cache(load_ptb_sample)  # reading the archive takes longer than the tests


@pytest.mark.parametrize(("horizontal", "vertical"), [(0, 1), (2, 3), (None, 1)])
def test_every_tree_is_its_derivation_and_back(horizontal, vertical):
    trees = SAMPLE()
    productions = Productions(horizontal, vertical).read(trees).sort()
    for i, tree in enumerate(trees):
        assert productions.tree(productions.derivation(tree, f"tree {i}"), tree.words()) == tree
    for names in productions.names():
        assert len(set(names)) == len(names)


def test_parsing_short_sentences():
    trees = [tree for tree in SAMPLE() if len(tree) <= 10]
    X, n = [tree.tags() for tree in trees], len(trees) // 2
    parser, counted = (each.fit(X[:n], trees[:n]) for each in (Parser(on_failure="flat"), PCFG(on_failure="flat")))
    assert parser.certificate_.converged
    assert parser.score(X[:n], trees[:n]) > 0.98
    assert parser.score(X[n:], trees[n:]) > 0.74
    assert 0.7 < counted.score(X[n:], trees[n:]) < parser.score(X[n:], trees[n:])
