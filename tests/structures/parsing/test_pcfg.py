"""PCFG: probabilities by hand, what they sum to, ambiguous sentences, smoothing, and bad input."""

from itertools import product
from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from structures.parsing.tree_strategies import treebanks
from structures.parsing.treebank import treebank

from maxmargin import PCFG, Tree
from maxmargin.problem.contract.examples import dot
from maxmargin.structures.parsing.tree_space import Unparseable

# Who saw what with the telescope: twice the verb, once the noun.
TELESCOPE = [
    "(S (NP (N I)) (VP (V saw) (NP (N her)) (PP (P with) (NP (N it)))))",
    "(S (NP (N I)) (VP (V saw) (NP (N her)) (PP (P with) (NP (N it)))))",
    "(S (NP (N I)) (VP (V saw) (NP (NP (D the) (N man)) (PP (P with) (NP (N it))))))",
]
TAGS = [Tree.parse(text).tags() for text in TELESCOPE]
BY_HAND = {  # horizontal=1: a part remembers the child before it
    "S → NP VP": 3 / 3,
    "NP → N": 8 / 10,
    "NP → D N": 1 / 10,
    "NP → NP PP": 1 / 10,
    "VP → V VP⟨V⟩": 2 / 3,
    "VP → V NP": 1 / 3,
    "VP⟨V⟩ → NP PP": 2 / 2,
    "PP → P NP": 3 / 3,
}


def probabilities(model, kind):
    """By name."""
    weights = model.weights_[kind]
    return dict(zip(weights.names[0], np.exp(weights.values).tolist(), strict=True))


def test_probabilities_by_hand():
    model = PCFG().fit(TAGS, TELESCOPE)
    assert probabilities(model, "rules") == pytest.approx(BY_HAND)
    assert probabilities(model, "roots") == {"S": 1.0}
    assert set(model.weights_) == {"rules", "roots"}
    assert {name for name, _ in model.top_weights(n=2)} == {"rules: rule=NP → D N", "rules: rule=NP → NP PP"}


def test_an_ambiguous_sentence():
    """I saw her with it: there are two trees, and their probabilities are products."""
    model = PCFG().fit(TAGS, TELESCOPE)
    x = ["N", "V", "N", "P", "N"]
    to_verb = "(S (NP (N N)) (VP (V V) (NP (N N)) (PP (P P) (NP (N N)))))"
    to_noun = "(S (NP (N N)) (VP (V V) (NP (NP (N N)) (PP (P P) (NP (N N))))))"
    expected = [(to_verb, 0.8**3 * 2 / 3), (to_noun, 0.8**3 * 0.1 * 1 / 3)]
    found = [(str(tree), exp(score)) for tree, score in model.predict_nbest([x], 9)[0]]
    assert [tree for tree, _ in found] == [tree for tree, _ in expected]
    assert [p for _, p in found] == pytest.approx([p for _, p in expected])
    assert str(model.predict([x])[0]) == to_verb
    assert model.decision_function([x])[0] == pytest.approx(log(0.8**3 * 2 / 3))
    other = PCFG().fit(TAGS + TAGS[2:] * 60, TELESCOPE + TELESCOPE[2:] * 60)
    assert str(other.predict([x])[0]) == to_noun


def test_roots_and_unary_rules_are_counted():
    trees = ["(A (B (a w)))", "(A (B (a w)))", "(A (a w))", "(B (a w) (a w))", "(a w)"]
    model = PCFG().fit([Tree.parse(tree).tags() for tree in trees], trees)
    assert probabilities(model, "rules") == pytest.approx(
        {"A → B": 2 / 3, "A → a": 1 / 3, "B → a": 2 / 3, "B → a a": 1 / 3}
    )
    assert probabilities(model, "roots") == pytest.approx({"A": 3 / 5, "B": 1 / 5, "a": 1 / 5})


def of_parents(model):
    """The weights of rules by parent, and those of roots."""
    task = model.task_
    parents = [*task.features_.rules.parent.tolist(), *(parent for parent, _ in task.productions_.unary)]
    groups = {parent: [] for parent in parents} | {"root": model.w_[len(parents) :]}
    for parent, weight in zip(parents, model.w_, strict=False):
        groups[parent].append(weight)
    return groups


@given(
    treebanks(most_trees=5),
    st.sampled_from([0.0, 0.5, 2.0]),
    st.sampled_from([0, 1, None]),
    st.integers(1, 3),
)
def test_probabilities_of_a_parent_sum_to_one(bank, smoothing, horizontal, vertical):
    model = PCFG(smoothing, horizontal, vertical).fit([tree.tags() for tree in bank], bank)
    for weights in of_parents(model).values():
        assert sum(map(exp, weights)) == pytest.approx(1.0)


def test_probabilities_of_all_trees_sum_to_one():
    """In a grammar that has finitely many trees, and whose training trees show all chains of its unary rules."""
    bank = [
        "(S (A (a w)) (B (b w)))",
        "(S (A (a w) (b w)))",
        "(S (a w) (b w) (a w))",
        "(a w)",
        "(S (B (b w)) (B (a w)))",
        "(S (A (a w)))",
    ]
    model = PCFG(horizontal=None).fit([Tree.parse(tree).tags() for tree in bank], bank)
    total = 0.0
    for n in (1, 2, 3, 4):
        for x in product("ab", repeat=n):
            total += sum(exp(dot(model.task_.psi(x, tree), model.w_)) for tree in model.task_.outputs(x))
    assert total == pytest.approx(1.0)


@given(treebanks(most_trees=4), st.integers(0, 2**32 - 1))
def test_no_other_probabilities_make_the_treebank_likelier(bank, seed):
    X = [tree.tags() for tree in bank]
    model = PCFG().fit(X, bank)
    rng = np.random.default_rng(seed)
    counts = np.zeros(model.task_.dim)
    for x, tree in zip(X, bank, strict=True):
        np.add.at(counts, *model.task_.psi(x, tree))
    other = {parent: log_probabilities(rng, len(weights)) for parent, weights in of_parents(model).items()}
    place = {parent: iter(weights) for parent, weights in other.items()}
    task = model.task_
    parents = [*task.features_.rules.parent.tolist(), *(parent for parent, _ in task.productions_.unary)]
    w = np.array([next(place[parent]) for parent in parents] + list(place["root"]))
    assert counts @ w <= counts @ model.w_ + 1e-9


def log_probabilities(rng, n):
    p = rng.random(n) + 1e-3
    return np.log(p / p.sum())


# --- rules that were never seen

RULES = "S -> A B | A A\nA -> N | B\nB -> N | M"


def test_unseen_rules_are_never_used():
    model = PCFG(rules=RULES).fit([["N", "N"]], ["(S (A (N a)) (B (N b)))"])
    weights = model.weights_["rules"]
    assert {rule for rule, p in probabilities(model, "rules").items() if p == 0} == {"S → A A", "A → B", "B → M"}
    assert weights["S → A B"] == weights["A → N"] == weights["B → N"] == 0
    np.testing.assert_array_equal(model.decision_function([["N", "N"], ["N", "M"], ["M", "M"]]), [0, -np.inf, -np.inf])
    assert model.predict_nbest([["N", "N"]], 10) == [[(Tree.parse("(S (A (N N)) (B (N N)))"), 0.0)]]
    with pytest.raises(Unparseable, match="sentence 0: the grammar has no tree for its tags"):
        model.predict([["N", "M"]])
    flat = PCFG(rules=RULES, on_failure="flat").fit([["N", "N"]], ["(S (A (N a)) (B (N b)))"])
    assert str(flat.predict([["N", "M"]])[0]) == "(S (N N) (M M))"


def test_a_parent_that_was_never_seen():
    model = PCFG(rules="S -> a b | C\nC -> a b").fit([["a", "b"]], ["(S (a w) (b w))"])
    assert probabilities(model, "rules") == {"S → a b": 1.0, "S → C": 0.0, "C → a b": 0.0}
    assert not np.isnan(model.w_).any()


def test_smoothing():
    model = PCFG(0.5, rules=RULES).fit([["N", "N"]], ["(S (A (N a)) (B (N b)))"])
    assert probabilities(model, "rules") == pytest.approx(
        {"S → A B": 0.75, "S → A A": 0.25, "A → N": 0.75, "A → B": 0.25, "B → N": 0.75, "B → M": 0.25}
    )
    assert len(model.predict_nbest([["N", "N"]], 10)[0]) == 6
    assert np.isfinite(model.decision_function([["M", "M"]])).all()


# --- as an estimator


def test_parses_what_it_has_seen():
    Y, new = treebank(40), treebank(20, seed=1)
    model = PCFG(vertical=2).fit([tree.tags() for tree in Y], Y)
    assert model.score([tree.tags() for tree in new], new) == 1.0
    assert model.predict([tree.tokens() for tree in new]) == new
    plain = PCFG().fit([tree.tags() for tree in Y], Y)  # does not remember where a noun stands
    assert plain.score([tree.tags() for tree in new], new) < 1.0


def test_grid_search():
    Y = treebank(40)
    X = [tree.tags() for tree in Y]
    search = GridSearchCV(PCFG(on_failure="flat"), {"vertical": [1, 2], "smoothing": [0.0, 1.0]}, cv=4).fit(X, Y)
    assert search.best_params_["vertical"] == 2
    assert clone(search.best_estimator_).get_params() == search.best_estimator_.get_params()


BAD = [
    *[
        ({"smoothing": s}, TAGS, TELESCOPE, "smoothing must be a finite number >= 0, got")
        for s in (-1, np.nan, np.inf, "1", None)
    ],
    ({}, TAGS[:2], TELESCOPE, "X has 2 sentences and Y 3 trees; expected equal numbers, at least one"),
    ({}, [], [], "X has 0 sentences and Y 0 trees; expected equal numbers, at least one"),
    ({"horizontal": "all"}, TAGS, TELESCOPE, "horizontal must be a whole number >= 0, got 'all'"),
    ({"on_failure": "skip"}, TAGS, TELESCOPE, "on_failure must be one of 'error', 'flat', got 'skip'"),
    ({"rules": RULES}, TAGS, TELESCOPE, "the tree of sentence 0: the grammar has no label NP"),
    ({}, [["N"], *TAGS[1:]], TELESCOPE, "sentence 0 has 1 words, but its tree has 5"),
    (
        {},
        [["N", "N", "N", "P", "N"], *TAGS[1:]],
        TELESCOPE,
        "word 1 of sentence 0 has the tag 'N', but 'V' in its tree",
    ),
]


@pytest.mark.parametrize(("options", "X", "Y", "message"), BAD, ids=[f"{case[0]} {case[3]}" for case in BAD])
def test_bad_input(options, X, Y, message):
    model = PCFG(**options)
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y)
    assert not hasattr(model, "w_")
