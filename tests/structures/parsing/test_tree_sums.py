"""Sums over trees: against enumeration, at all scales, for all inputs and options."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from structures.parsing.tree_strategies import grammars, set_up
from structures.parsing.treebank import treebank
from thorough import examples

from maxmargin.problem.contract.tangents import Softness
from maxmargin.structures.parsing.tree_space import Unparseable
from maxmargin.structures.parsing.trees import Tree
from maxmargin.tasks import Grammar
from maxmargin.testing import check_sums

TREES = [
    Tree.parse(text)
    for text in (
        "(S (NP (D the) (N dog)) (VP (V barks)))",
        "(S (NP (N dogs)) (VP (V bark) (NP (N cats))))",
        "(NP (N dogs) (C and) (N cats))",
        "(N dogs)",
    )
]
TAGS, WORDS = [tree.tags() for tree in TREES], [tree.words() for tree in TREES]
RULES = "S -> NP VP\nNP -> D N | N | N C N | NP NP\nVP -> V | V NP"


@pytest.mark.parametrize("scale", [1e-8, 1.0, 30.0, 1e8])
def test_sums_are_those_over_all_trees(scale):
    check_sums(Grammar(), TAGS, TREES, trials=1, scale=scale, samples=30)


@pytest.mark.parametrize(
    "options",
    [
        {"inputs": "words", "span_features": ("first", "split_left")},
        {"span_features": (), "horizontal": None},
        {"vertical": 2, "horizontal": 1, "span_features": ("length", "after")},
        {"measure": "f1", "f1_words": 0},  # a scaled Hamming loss
        {"rules": RULES, "span_features": ()},
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::maxmargin.errors.LossReplaced")
def test_sums_with_options(options):
    trees = TREES[:2] if "rules" in options else TREES
    X = [tree.words() if "inputs" in options else tree.tags() for tree in trees]
    check_sums(Grammar(**options), X, trees, trials=1, samples=20)


@pytest.mark.filterwarnings("ignore::maxmargin.errors.LossReplaced")
@examples(6, 15)
@given(grammars(most=3, most_outputs=60), st.floats(-8, 8))
def test_sums_of_any_grammar(problem, log_scale):
    task, X, bank = problem
    task.measure = "hamming"
    check_sums(task, X, bank, trials=1, scale=10.0**log_scale, samples=0)


def test_marginals_are_those_of_all_trees():
    task, rng = set_up(Grammar("words"), WORDS, TREES), np.random.default_rng(0)
    w = rng.standard_normal(task.dim)
    for x, found in zip(WORDS, task.sums(w, WORDS).marginals(), strict=True):
        trees = list(task.outputs(x))
        p = np.exp(task.sums(w, [x] * len(trees)).log_probabilities(trees))
        assert p.sum() == pytest.approx(1.0)
        brackets = {bracket for tree in trees for bracket in tree.brackets()}
        expected = {b: sum(q for z, q in zip(trees, p, strict=True) if b in z.brackets()) for b in brackets}
        assert found.spans == pytest.approx(expected)
        for t, tags in enumerate(found.tags):
            assert sum(tags.values()) == pytest.approx(1.0)
            for tag, probability in tags.items():
                assert probability == pytest.approx(sum(q for z, q in zip(trees, p, strict=True) if z.tags()[t] == tag))


def test_sentences_and_trees_that_the_grammar_does_not_have():
    for on_failure in ("flat", "error"):
        task = set_up(Grammar(rules=RULES, on_failure=on_failure), TAGS[:2], TREES[:2])
        w = np.random.default_rng(0).standard_normal(task.dim)
        sums = task.sums(w, [["V", "D"], ["N", "N", "N", "V"]])
        assert sums.log_partitions[0] == -np.inf
        assert np.isnan(sums.entropies[0])
        assert sums.entropies[1] > 0
        assert sums.marginals()[0] == ({}, [{}, {}])
        odd = ["(X (V a) (D b))", "(S (NP (N a) (N b) (N c)) (VP (V d)))"]
        assert sums.log_probabilities(odd).tolist() == [-np.inf, -np.inf]
        assert sums.best_log_probabilities()[0] == -np.inf
        if on_failure == "error":
            with pytest.raises(Unparseable, match="sentence 0"):
                sums.sample(np.random.default_rng(0), 1)
        else:
            assert sums.sample(np.random.default_rng(0), 2)[0] == [task.decode(w, [["V", "D"]])[0]] * 2
    with pytest.raises(ValueError, match="2 sentences but 1 trees"):
        sums.log_probabilities(odd[:1])


def test_parts_of_a_batch_have_the_tangents_of_the_whole():
    trees = treebank(5)
    X = [tree.words() for tree in trees]
    task = set_up(Grammar("words"), X, trees)
    w, weights = np.random.default_rng(0).standard_normal(task.dim), np.array([1.0, 2.0, 0.5, 1.0, 3.0])
    batch, whole, parts = task.pack(X, trees), np.zeros(task.dim), np.zeros(task.dim)
    slacks = batch.add_tangents(w, weights, Softness(2.0, 1.0), whole).slacks
    for index in np.array([3, 0]), np.array([1, 2, 4]):
        found = batch.take(index).add_tangents(w, weights[index], Softness(2.0, 1.0), parts)
        np.testing.assert_array_equal(found.slacks, slacks[index])
    np.testing.assert_allclose(whole, parts, atol=1e-12)


@pytest.mark.parametrize("measure", ["f1", "zero_one"])
def test_losses_that_are_no_sums_are_refused(measure):
    task = set_up(Grammar(measure=measure), TAGS, TREES)
    batch, total = task.pack(TAGS, TREES), np.zeros(task.dim)
    batch.add_tangents(total, np.ones(4), Softness(), total)  # without a margin there is no loss
    with pytest.raises(ValueError, match="must be a sum over brackets"):
        batch.add_tangents(np.zeros(task.dim), np.ones(4), Softness(1.0, 1.0), total)
