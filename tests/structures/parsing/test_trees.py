import copy
import os
import pickle
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structures.parsing.tree_strategies import recursive, trees
from structures.parsing.treebank import NltkTree

from maxmargin.structures.parsing.trees import Tree, check_forest, without_function_tags

DEPTH = 10_000  # more than the interpreter's stack has
SENTENCE = "(S (NP-SBJ (PRP it)) (VP (VBZ works) (NP (-NONE- *))) (. .))"


def deep(label="X"):
    tree = Tree("NN", ["end"])
    for _ in range(DEPTH):
        tree = Tree(label, [tree, Tree("NN", ["step"])])
    return tree


@given(trees())
def test_a_tree_knows_its_words_and_brackets(tree):
    tokens, brackets, height = recursive(tree)
    assert tree.tokens() == tokens
    assert tree.words() == [word for word, _ in tokens]
    assert tree.tags() == [tag for _, tag in tokens]
    assert tree.brackets() == brackets
    assert tree.height() == height
    assert len(tree) == len(tokens)
    phrases = [node.label for node in tree.subtrees() if not node.is_preterminal]
    assert phrases == [label for label, _, _ in brackets]
    assert [node.label for node in tree.preterminals()] == tree.tags()


@given(trees())
def test_what_is_written_is_read(tree):
    read = Tree.parse(str(tree))
    assert read == tree
    assert hash(read) == hash(tree)
    assert Tree.parse(f"( {tree} )") == tree
    assert eval(repr(tree), {"Tree": Tree}) == tree


@given(trees(most=3, words=st.sampled_from("ab")), trees(most=3, words=st.sampled_from("ab")))
def test_trees_are_equal_when_they_are_written_alike(a, b):
    assert (a == b) == (str(a) == str(b))


def test_equality_does_not_rest_on_hashes_being_different():
    texts = ["(A a)", "(A b)", "(B a)", "(A (A a))", "(A (A b))", "(A (B a))", "(A (A a) (A a))", "(A (A a) (A b))"]
    forest = [Tree.parse(text) for text in texts]
    for tree in forest:
        for node in tree.subtrees():
            object.__setattr__(node, "_hash", 7)
    for a in forest:
        assert [a == b for b in forest] == [a is b for b in forest]


def test_a_tree_equals_nothing_else():
    tree = Tree.parse("(NN a)")
    assert tree != "(NN a)"
    assert len({tree, Tree("NN", ["a"]), "(NN a)"}) == 2


def test_one_line_of_text_and_its_parts():
    tree = Tree.parse("  ( (S\n (NP (-LRB- -LRB-)\t(NN a))\n(VP (VBZ works) ) ) )\n")
    assert str(tree) == "(S (NP (-LRB- -LRB-) (NN a)) (VP (VBZ works)))"
    assert tree.label == "S"
    assert tree.children == tree.branches == (Tree.parse("(NP (-LRB- -LRB-) (NN a))"), Tree.parse("(VP (VBZ works))"))
    preterminal = tree.branches[1].branches[0]
    assert preterminal.is_preterminal
    assert preterminal.children == ("works",)
    assert preterminal.branches == ()


def test_brackets_in_words_are_written_as_the_treebank_does():
    assert str(Tree("-LRB-", ["("])) == "(-LRB- -LRB-)"
    assert str(Tree("SYM", [":)"])) == "(SYM :-RRB-)"


def test_blanks_that_are_no_ascii_whitespace_may_stand_in_words():
    tree = Tree("CD", ["1\xa0000"])
    assert Tree.parse(str(tree)) == tree


@pytest.mark.parametrize(
    ("label", "children", "message"),
    [
        ("S", [], "S has no children"),
        ("S", "it", r"the children of S are a string, 'it'; expected \['it'\]"),
        ("S", ["it", "works"], "S has 2 children, among them the word 'it'"),
        ("S", [Tree("NN", ["it"]), "works"], "among them the word 'works'; a word needs a node of its own"),
        ("S", [7], "a child of S is 7; expected a Tree or a word"),
        ("S", [("NN", "it")], "expected a Tree or a word"),
        ("S", [""], "the word below S must be .* not ''"),
        ("S", ["it works"], "the word below S must be .* not 'it works'"),
        ("", ["it"], "not ''"),
        ("N P", ["it"], "not 'N P'"),
        ("(", ["it"], r"not '\('"),
        (None, ["it"], "a label must be a string, not None"),
    ],
)
def test_what_is_no_tree_is_refused(label, children, message):
    with pytest.raises(ValueError, match=message):
        Tree(label, children)


def test_a_tree_cannot_be_changed():
    tree = Tree.parse(SENTENCE)
    for change in (
        lambda: setattr(tree, "label", "X"),
        lambda: delattr(tree, "label"),
        lambda: setattr(tree, "new", 1),
    ):
        with pytest.raises(AttributeError, match="a Tree is immutable"):
            change()
    children = [Tree("NN", ["a"])]
    tree = Tree("NP", children)
    children.append(Tree("NN", ["b"]))
    assert len(tree) == 1


@given(trees())
def test_trees_come_in_other_forms(tree):
    def converted(node, make):
        return make(node.label, [c if isinstance(c, str) else converted(c, make) for c in node.children])

    assert Tree.of(tree) is tree
    assert Tree.of(str(tree)) == tree
    for make in (NltkTree, lambda label, children: (label, *children), lambda label, children: [label, *children]):
        assert Tree.of(converted(tree, make)) == tree
        assert Tree.of(make("", [converted(tree, make)])) == tree  # the treebank's outer bracket
        assert Tree.of(make("X", [converted(tree, make), tree])) == Tree("X", [tree, tree])


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (7, "7 is not a tree; expected a Tree, a bracket string, an nltk.Tree or a tuple"),
        (None, "None is not a tree"),
        ((), r"\(\) is not a tree"),
        (("S",), "S has no children"),
        (("S", ("NP", 7)), "7 is not a tree"),
        (("S", ("", "a")), "a label must be a word without whitespace and brackets, not ''"),
        (("", ("S", "a"), ("S", "b")), "a label must be a word .* not ''"),
        (("S", ("NN", "a"), "b"), "S has 2 children, among them the word 'b'"),
        (("S", [("NN", "a")]), r"a label must be a string, not \('NN', 'a'\)"),
    ],
)
def test_other_things_are_no_trees(found, message):
    with pytest.raises(ValueError, match=message):
        Tree.of(found)


def test_a_forest_is_no_single_tree():
    for one in (Tree.parse(SENTENCE), SENTENCE, NltkTree("S", [NltkTree("NN", ["a"])]), 3):
        with pytest.raises(ValueError, match=r"^Y is .*; expected a list of trees"):
            check_forest(one, "Y")
        check_forest([one], "Y")


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("NP-SBJ-1", "NP"),
        ("NP=2", "NP"),
        ("S-TPC=1", "S"),
        ("-LRB-", "-LRB-"),
        ("-NONE-", "-NONE-"),
        ("-", "-"),
        ("=", "="),
        ("PRP$", "PRP$"),
        ("ADVP|PRT", "ADVP|PRT"),
    ],
)
def test_function_tags_follow_a_sign(label, expected):
    assert without_function_tags(label) == expected


def test_cleaned_by_hand():
    tree = Tree.parse("(S-1 (NP-SBJ=2 (NP (PRP it)) (SBAR (-NONE- 0) (S (-NONE- *T*-1)))) (VP (VBZ works)) (. .))")
    assert str(tree.cleaned()) == "(S (NP (PRP it)) (VP (VBZ works)) (. .))"
    assert str(tree.cleaned(unary_repeats=True)) == "(S (NP (NP (PRP it))) (VP (VBZ works)) (. .))"
    assert str(tree.cleaned(function_tags=True)) == "(S-1 (NP-SBJ=2 (NP (PRP it))) (VP (VBZ works)) (. .))"
    assert str(tree.cleaned(traces=True)) == (
        "(S (NP (NP (PRP it)) (SBAR (-NONE- 0) (S (-NONE- *T*-1)))) (VP (VBZ works)) (. .))"
    )
    assert tree.cleaned(traces=True, function_tags=True, unary_repeats=True) == tree
    assert Tree.parse("(S (NP (-NONE- *)))").cleaned() is None
    assert str(Tree.parse("(NP (NP (NP (NN a))))").cleaned()) == "(NP (NN a))"


@given(trees())
def test_cleaned_trees_are_clean(tree):
    cleaned = tree.cleaned()
    expected = [(word, tag) for word, tag in tree.tokens() if tag != "-NONE-"]
    if cleaned is None:
        assert not expected
        return
    assert cleaned.tokens() == expected
    for node in cleaned.subtrees():
        assert node.label in {"S", "NP", "VP", "ADVP", "PRT", "TOP", "-LRB-", "NN", "VB", ",", "."}
        assert [child.label for child in node.branches] != [node.label]
    assert cleaned.cleaned() == cleaned
    for node in tree.cleaned(traces=True, unary_repeats=True).subtrees():
        assert node.label == "-NONE-" or without_function_tags(node.label) == node.label


@given(trees())
def test_other_words(tree):
    words = [f"{word}{t}" for t, word in enumerate(tree.words())]
    changed = tree.with_words(words)
    assert changed.words() == words
    assert changed.tags() == tree.tags()
    assert changed.brackets() == tree.brackets()
    assert changed.with_words(tree.words()) == tree
    with pytest.raises(ValueError, match=f"the tree has {len(tree)} words; {len(tree) + 1} were given"):
        tree.with_words([*words, "more"])
    with pytest.raises(ValueError, match="not the string"):
        tree.with_words("x" * len(tree))


@given(trees())
def test_trees_are_copied_and_pickled(tree):
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert copy.deepcopy([tree]) == [tree]
    assert copy.copy(tree) == tree


def test_a_pickled_tree_is_found_again_where_strings_hash_otherwise():
    program = (
        "import pickle, sys; from maxmargin.structures.parsing.trees import Tree\n"
        f"assert pickle.load(sys.stdin.buffer) in {{Tree.parse({SENTENCE!r})}}"
    )
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    pickled = pickle.dumps(Tree.parse(SENTENCE))
    subprocess.run([sys.executable, "-c", program], input=pickled, env=environment, check=True)


@pytest.mark.slow
def test_trees_may_be_very_deep():
    tree = deep()
    assert tree == deep()
    assert tree != deep("Y")
    assert hash(tree) == hash(deep())
    assert len(tree) == DEPTH + 1
    assert tree.height() == DEPTH + 1
    assert tree.brackets()[-1] == ("X", 0, 2)
    assert Tree.parse(str(tree)) == tree
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert tree.cleaned() == tree
    assert tree.with_words(["w"] * len(tree)).words() == ["w"] * len(tree)
    nested = ("NN", "end")
    for _ in range(DEPTH):
        nested = ("X", nested, ("NN", "step"))
    assert Tree.of(nested) == tree


def test_notebooks_and_terminals_draw_trees():
    tree = Tree.parse(SENTENCE)
    assert tree._repr_svg_().startswith("<svg")
    assert tree.draw().splitlines()[-1].split() == ["it", "works", "*", "."]
