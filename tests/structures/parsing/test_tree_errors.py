import pytest
from hypothesis import given
from structures.parsing.tree_strategies import corpora

from maxmargin.structures.parsing.tree_errors import bracket_errors, node_errors, tag_errors
from maxmargin.structures.parsing.trees import Tree


def test_bracket_errors_by_hand():
    once, thrice = Tree.parse("(NP (NN a))"), Tree.parse("(NP (NP (NP (NN a))))")
    assert bracket_errors(thrice, once) == ([False, True, True], [])
    assert bracket_errors(once, thrice) == ([False], [("NP", 0, 1)] * 2)
    truth, found = "(S (X (A a) (A b)) (Y (A c)))", "(S (A a) (X (A b) (A c)))"
    assert bracket_errors(Tree.parse(found), Tree.parse(truth)) == ([False, True], [("X", 0, 2), ("Y", 2, 3)])


@given(corpora())
def test_bracket_errors_are_what_does_not_match(pairs):
    for tree, truth in pairs:
        if len(tree) != len(truth):
            with pytest.raises(ValueError, match=f"The tree has {len(tree)} words, but the true one {len(truth)}"):
                bracket_errors(tree, truth)
            continue
        wrong, missed = bracket_errors(tree, truth)
        right = [bracket for bracket, is_wrong in zip(tree.brackets(), wrong, strict=True) if not is_wrong]
        assert sorted(right + missed) == sorted(truth.brackets())
        for bracket in missed:  # no bracket is both missed and wrong
            assert bracket not in [b for b, is_wrong in zip(tree.brackets(), wrong, strict=True) if is_wrong]


def test_brackets_and_tags_of_nodes_by_hand():
    truth = Tree.parse("(S (NP (DT a) (NN b)) (VP (VB c)))")
    tree = Tree.parse("(S (NP (NP (DT a) (JJ b))) (PP (VB c)))")
    assert tag_errors(tree, truth) == [False, True, False]
    # The lower of the two NPs, the tag of b, and PP.
    assert node_errors(tree, truth) == [False, False, True, False, True, True, False]
    assert node_errors(tree, tree) == [False] * 7
