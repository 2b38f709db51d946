import pytest
from hypothesis import given
from hypothesis import strategies as st
from structures.parsing.tree_strategies import trees

from maxmargin.structures.parsing.bracket_notation import nodes_in
from maxmargin.structures.parsing.trees import Tree


@given(st.lists(trees(), max_size=4), st.data())
def test_trees_are_read_however_the_whitespace_is(forest, data):
    spaces = st.text(" \t\n\r\f\v", max_size=3)
    parts = []
    for tree in forest:
        for sign in str(tree).replace("(", " ( ").replace(")", " ) ").split(" "):
            if sign:
                parts += [data.draw(spaces), sign, " " if sign not in "()" else ""]
    parts.append(data.draw(spaces))
    assert list(nodes_in("".join(parts), Tree)) == forest


def test_the_caller_makes_the_nodes():
    text = "( (S (NP (PRP it))\n(VP (VBZ works))) ) (UH yes)"
    nested = list(nodes_in(text, lambda label, children: (label, *children)))
    assert nested == [("S", ("NP", ("PRP", "it")), ("VP", ("VBZ", "works"))), ("UH", "yes")]


def test_a_string_holds_one_tree():
    with pytest.raises(ValueError, match=r"^'' holds 0 trees; expected one"):
        Tree.parse("")
    with pytest.raises(ValueError, match=r"^3 is not a string; expected a tree in bracket notation"):
        Tree.parse(3)
    with pytest.raises(ValueError, match="holds 2 trees"):
        Tree.parse("(S a) (S b)")
    with pytest.raises(ValueError, match=r"^'\(S \(S .*\.\.\.', character 1: a bracket is not closed; 100 '\)'"):
        Tree.parse("(S " * 100)
