import pickle

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from structures.parsing.compiled import cky_twin as twin
from structures.parsing.tree_strategies import treebanks, trees, written_rules

from maxmargin.structures.parsing.chart_rules import flat_rules
from maxmargin.structures.parsing.derivations import all_derivations
from maxmargin.structures.parsing.productions import NoDerivation, Productions
from maxmargin.structures.parsing.trees import Tree

HORIZONTAL, VERTICAL = [0, 1, 2, None], [1, 2, 3]
memories = st.sampled_from(HORIZONTAL), st.sampled_from(VERTICAL)


def listed(productions, tags):
    """All trees of words with these possible tags, as strings, one for every derivation."""
    symbols, words = productions.tags, [f"w{t}" for t in range(len(tags))]
    known = [[symbols[tag] for tag in some if tag in symbols] for some in tags]
    derivations = list(all_derivations(flat_rules(productions), known))
    return [str(productions.tree(rows, words)) for rows in derivations], derivations


# --- there and back


@given(trees(most=7, cycles=False), *memories)
def test_a_tree_is_its_derivation_and_back(tree, horizontal, vertical):
    productions = Productions(horizontal, vertical).read([tree]).sort()
    rows = productions.derivation(tree, "it")
    assert productions.tree(rows, tree.words()) == tree
    assert rows.shape == (2 * len(tree) - 1, 5)
    assert rows.dtype == np.int32


@given(treebanks(most_trees=4, most=5), *memories)
def test_all_trees_of_a_treebank_are_derived(bank, horizontal, vertical):
    productions = Productions(horizontal, vertical).read(bank).sort()
    for tree in bank:
        assert productions.tree(productions.derivation(tree, "it"), tree.words()) == tree


@given(treebanks(), *memories)
def test_derivations_are_those_of_the_trees_that_the_treebank_allows(bank, horizontal, vertical):
    """One derivation for each of these trees; with horizontal=None they have only rules that were read."""
    productions = Productions(horizontal, vertical).read(bank).sort()
    allowed = twin.read(bank, horizontal, vertical)
    for tags in ([[tag] for tag in bank[0].tags()], [["a", "b", "A"]] * 2):
        found, derivations = listed(productions, tags)
        assert len(set(found)) == len(found)
        assert set(found) == {str(tree) for tree in twin.allowed_trees(allowed, tags)}
        for text, rows in zip(found, derivations, strict=True):
            np.testing.assert_array_equal(productions.derivation(Tree.parse(text), "it"), rows)


@given(written_rules(), st.data())
def test_given_rules_are_a_context_free_grammar(rules, data):
    labels = {parent for parent, _ in rules}
    tags = sorted({child for _, children in rules for child in children} - labels)
    assume(tags)
    sentence = data.draw(st.lists(st.sampled_from(tags), min_size=1, max_size=4))
    lines = [f"{parent} {data.draw(st.sampled_from(['->', '→']))} {' '.join(children)}" for parent, children in rules]
    given = lines if data.draw(st.booleans()) else "\n".join(lines)
    productions = Productions(data.draw(memories[0])).read_rules(given).sort()
    expected = {str(tree) for tree in twin.trees_of_rules(rules, "S", sentence)}
    found, _ = listed(productions, [[tag] for tag in sentence])
    assert set(found) == expected
    assert len(found) == len(expected)


def test_choices_on_one_line():
    productions = Productions().read_rules("\n S -> A B | A B C | a \n\n A -> a | b\nB→b\n")
    same = Productions().read_rules(["S -> A B", "S -> A B C", "S -> a", "A -> a", "A -> b", "B -> b"])
    for one, other in zip(productions.sort().names(), same.sort().names(), strict=True):
        assert one == other
    assert set(productions.tags) == {"C", "a", "b"}


def test_given_rules_are_taken_as_they_are():
    for horizontal in HORIZONTAL:
        productions = Productions(horizontal).read_rules("S -> a b c | d e f g").sort()
        assert listed(productions, [["a"], ["b"], ["c"]])[0] == ["(S (a w0) (b w1) (c w2))"]
        assert listed(productions, [["a"], ["e"], ["b"], ["c"]])[0] == []


def test_a_label_may_be_a_tag():
    """A part remembers the kinds of the children before it, not only their names."""
    bank = [Tree.parse("(A (B (B b)) (C c) (D d))"), Tree.parse("(A (B b) (C c) (E e))")]
    productions = Productions().read(bank).sort()
    assert listed(productions, [["B"], ["C"], ["D"]])[0] == ["(A (B (B w0)) (C w1) (D w2))"]
    rules, roots = productions.names()
    assert rules == [
        "A → B A⟨B⟩",
        "A → 'B' A⟨'B'⟩",
        "A⟨B⟩ → C D",
        "A⟨'B'⟩ → C E",
        "B → 'B'",
    ]
    assert roots == ["A"]


@given(treebanks(most_trees=4), *memories)
def test_no_two_rules_have_the_same_name(bank, horizontal, vertical):
    productions = Productions(horizontal, vertical).read(bank).sort()
    for names, known in zip(
        productions.names(), (productions.binary | productions.unary, productions.roots), strict=True
    ):
        assert len(set(names)) == len(names) == len(known)


# --- what is remembered, by hand


def test_children_are_split_from_the_left():
    tree = Tree.parse("(A (B b) (C c) (D d) (E e))")
    names = {h: set(Productions(h).read([tree]).sort().names()[0]) for h in (0, 1, None)}
    assert names[0] == {"A → B A⟨⟩", "A⟨⟩ → C A⟨⟩", "A⟨⟩ → D E"}
    assert names[1] == {"A → B A⟨B⟩", "A⟨B⟩ → C A⟨C⟩", "A⟨C⟩ → D E"}
    assert names[None] == {"A → B A⟨B⟩", "A⟨B⟩ → C A⟨B C⟩", "A⟨B C⟩ → D E"}
    assert set(Productions(2).read([tree]).names()[0]) == names[None]


def test_labels_remember_their_ancestors():
    tree = Tree.parse("(S (NP (N a) (PP (P b) (NP (N c)))) (V d))")
    names = Productions(0, 2).read([tree]).sort().names()
    assert set(names[0]) == {"S → NP^S V", "NP^S → N PP^NP", "PP^NP → P NP^PP", "NP^PP → N"}
    assert names[1] == ["S"]
    assert "PP^NP^S → P NP^PP^NP" in Productions(0, 3).read([tree]).sort().names()[0]


def test_chains_are_read_as_a_whole():
    """The trees have S over A and A over B, but not both in one chain; nor do they have A over a by itself."""
    bank = [Tree.parse("(S (A (a w)))"), Tree.parse("(A (B (a w)))")]
    productions = Productions().read(bank).sort()
    assert sorted(listed(productions, [["a"]])[0]) == ["(A (B (a w0)))", "(S (A (a w0)))"]
    with pytest.raises(NoDerivation, match="it: the grammar has no unary rules S → A → B → a"):
        productions.derivation(Tree.parse("(S (A (B (a w))))"), "it")


def test_binary_rules_are_sorted_by_their_left_child():
    bank = [Tree.parse("(S (B b) (A a))"), Tree.parse("(S (A a) (S (B b) (B b)))"), Tree.parse("(T (B b) (A a))")]
    productions = Productions().read(bank).sort()
    left = [rule[1] for rule in productions.binary]
    assert left == sorted(left)
    assert list(productions.binary.values()) == [0, 1, 2, 3]
    rules = flat_rules(productions)
    for symbol in range(len(rules.label)):
        own = range(rules.first[symbol], rules.first[symbol + 1])
        assert [r for r in range(4) if rules.left[r] == symbol] == list(own)


def test_roots_are_counted():
    bank = [Tree.parse("(A (b w))"), Tree.parse("(b w)"), Tree.parse("(A (b w) (b w))")]
    productions = Productions().read(bank)
    assert [(list(productions.symbols)[s].name, count) for s, count in productions.roots.items()] == [
        ("A", 2),
        ("b", 1),
    ]


def test_deep_trees_need_no_stack():
    tree = Tree("a", ["end"])
    for k in range(3000):
        tree = Tree("S", [tree, Tree("a", ["w"])] if k % 2 else [Tree("a", ["w"]), tree])
    productions = Productions(0, 2).read([tree]).sort()
    assert productions.tree(productions.derivation(tree, "it"), tree.words()) == tree


def test_a_long_flat_tree():
    tree = Tree("S", [Tree(f"t{k % 7}", ["w"]) for k in range(2000)])
    for horizontal in (0, 3):
        productions = Productions(horizontal).read([tree]).sort()
        assert productions.tree(productions.derivation(tree, "it"), tree.words()) == tree


def test_pickle():
    tree = Tree.parse("(A (B b) (C c) (D d))")
    productions = pickle.loads(pickle.dumps(Productions().read([tree]).sort()))
    assert productions.tree(productions.derivation(tree, "it"), tree.words()) == tree


# --- what a grammar does not have

BANK = ["(S (A (a w)) (b w))", "(S (b w) (b w) (a w))", "(A (a w))"]
UNKNOWN = [
    ("(S (A (c w)) (b w))", "the grammar has no tag c"),
    ("(S (B (a w)) (b w))", "the grammar has no label B"),
    ("(S (b w) (A (a w)))", "the grammar has no rule S → b A"),
    ("(S (A (a w)) (b w) (b w))", "the grammar has no part S⟨A⟩"),
    ("(S (b w) (a w) (a w))", "the grammar has no rule S⟨b⟩ → a a"),
    ("(A (b w))", "the grammar has no unary rules A → b"),
    ("(b w)", "b is not a root of the grammar"),
    ("(A (S (b w) (b w) (a w)))", "the grammar has no unary rules A → S"),
]


@pytest.mark.parametrize(("text", "message"), UNKNOWN, ids=[case[1] for case in UNKNOWN])
def test_trees_without_a_derivation(text, message):
    productions = Productions().read(map(Tree.parse, BANK)).sort()
    with pytest.raises(NoDerivation, match=f"^tree 7: {message}$"):
        productions.derivation(Tree.parse(text), "tree 7")


CYCLES = [
    ("(S (S (a w) (b w)))", "S → S"),
    ("(A (S (S (a w))))", "S → S"),
    ("(S (A (S (a w) (b w))))", "S → A → S"),
    ("(B (S (A (S (a w)))))", "S → A → S"),
]


@pytest.mark.parametrize(("text", "cycle"), CYCLES, ids=[case[0] for case in CYCLES])
def test_unary_cycles_in_trees(text, cycle):
    message = f"tree 1 has the unary cycle {cycle}; a label may stand only once over the same words"
    with pytest.raises(ValueError, match=message):
        Productions().read([Tree.parse(BANK[0]), Tree.parse(text)])


def test_cleaned_trees_have_no_repeated_nodes():
    Productions().read([Tree.parse("(S (S (S (a w)) (b w)))").cleaned()])


RULES = [
    ("S -> A\nA -> S a", None),
    ("S -> A | a\nA -> S", "the rules have the unary cycle (S → A → S|A → S → A), so sentences have infinitely many"),
    ("S -> S", "unary cycle S → S"),
    (["S -> A b", "A -> B", "B -> C", "C -> A | a"], "unary cycle (A → B → C → A|B → C → A → B|C → A → B → C)"),
    ("", "no rules given; expected strings like 'NP -> DT NN | NNP'"),
    ([" ", ""], "no rules given"),
    ("S A B", "the rule 'S A B' cannot be read; expected something like 'NP -> DT NN | NNP'"),
    ("S -> A |", "the rule 'S -> A |' cannot be read"),
    ("S ->", "the rule 'S ->' cannot be read"),
    ("-> A B", "the rule '-> A B' cannot be read"),
    ("S T -> A B", "the rule 'S T -> A B' cannot be read"),
    ("S -> A -> B", "the rule 'S -> A -> B' cannot be read"),
    (["S -> A B", 7], "the rule 7 cannot be read"),
    (7, "rules are 7; expected strings like 'NP -> DT NN | NNP'"),
]


@pytest.mark.parametrize(("rules", "message"), RULES, ids=[repr(case[0]) for case in RULES])
def test_bad_rules(rules, message):
    if message is None:
        assert Productions().read_rules(rules).roots
        return
    with pytest.raises(ValueError, match=message.replace("|'", r"\|'").replace(" | ", r" \| ")):
        Productions().read_rules(rules)


def test_given_rules_know_no_ancestors():
    with pytest.raises(
        ValueError, match="given rules do not contain the ancestors of labels; expected vertical=1, got 2"
    ):
        Productions(vertical=2).read_rules("S -> a b")
