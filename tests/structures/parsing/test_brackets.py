import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structures.parsing.tree_strategies import trees

from maxmargin.formats import read_trees, write_trees
from maxmargin.structures.parsing.trees import Tree

IT_WORKS = Tree.parse("(S (NP (PRP it)) (VP (VBZ works)))")
YES = Tree.parse("(INTJ (UH yes))")


@pytest.mark.parametrize("suffix", [".mrg", ".txt.gz", ".xz", ".bz2", ""])
def test_files_are_read_as_they_were_written(tmp_path, suffix):
    path = tmp_path / f"trees{suffix}"

    @given(st.lists(trees(), max_size=5))
    def round_trip(forest):
        write_trees(path, forest)
        assert read_trees(path) == forest
        assert read_trees(str(path)) == forest
        assert read_trees([path, path]) == forest + forest

    round_trip()


def test_one_tree_a_line_in_utf8(tmp_path):
    path = tmp_path / "trees"
    write_trees(path, [IT_WORKS, "(NP (NN Käse))", ("X", ("-LRB-", "("))])
    assert path.read_bytes().decode("utf-8") == f"{IT_WORKS}\n(NP (NN Käse))\n(X (-LRB- -LRB-))\n"


def test_open_files_are_read_and_written(tmp_path):
    assert read_trees(io.StringIO(f"{IT_WORKS} {YES}")) == [IT_WORKS, YES]
    path = tmp_path / "latin1"
    path.write_bytes("(NP (NN Käse))".encode("latin-1"))
    with path.open(encoding="latin-1") as file:
        assert read_trees(file) == [Tree.parse("(NP (NN Käse))")]
    target = io.StringIO()
    write_trees(target, [YES])
    assert target.getvalue() == "(INTJ (UH yes))\n"
    with pytest.raises(ValueError, match="latin1, line 1: this is not UTF-8"):
        read_trees(path)
    with path.open("rb") as file, pytest.raises(TypeError, match="latin1 was opened for bytes"):
        read_trees(file)


def test_files_of_other_systems_are_read(tmp_path):
    path = tmp_path / "trees"
    path.write_bytes(b"\xef\xbb\xbf( (S (NP (PRP it))\r\n   (VP (VBZ works))) )\r\n( (INTJ (UH yes)) )\r\n")
    assert read_trees(path) == [IT_WORKS, YES]
    path.write_bytes(b"")
    assert read_trees(path) == []


def test_a_bad_tree_is_named_before_the_file_is_touched(tmp_path):
    path = tmp_path / "trees"
    write_trees(path, [YES])
    with pytest.raises(ValueError, match="tree 1: 7 is not a tree"):
        write_trees(path, [IT_WORKS, 7])
    assert read_trees(path) == [YES]


@pytest.mark.parametrize("one", [YES, str(YES), 3, None])
def test_one_tree_is_no_list_of_trees(tmp_path, one):
    with pytest.raises(ValueError, match=r"trees is .*; expected a list of trees"):
        write_trees(tmp_path / "trees", one)
    assert not (tmp_path / "trees").exists()


def test_what_is_no_file_is_refused(tmp_path):
    for source in (3, None, [3]):
        with pytest.raises(ValueError, match="expected a path or an open text file"):
            read_trees(source)
    (tmp_path / "plain.gz").write_text(str(YES))
    with pytest.raises(ValueError, match=r"^plain\.gz is not compressed"):
        read_trees(tmp_path / "plain.gz")


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("(S (NP a)", 2, r"a bracket is not closed; 1 '\)' missing at the end"),
        ("(S\n(NP\n a", 2, r"a bracket is not closed; 2 '\)' missing at the end"),
        ("(S a)\n)", 3, r"an unexpected '\)'"),
        ("\n()", 3, "an empty bracket"),
        ("( )", 2, "an empty bracket"),
        ("(S\n () (NP a))", 3, r"an empty bracket \(in the tree that begins in line 2\)"),
        ("(S)", 2, "S has neither a word nor a subtree"),
        ("( (S a)\n(S b) )", 3, "a bracket without a label"),
        ("(S ((NP a)))", 2, "a bracket without a label"),
        ("(((S a)))", 2, "a bracket without a label"),
        # If a tree is not closed, the next one stands inside it.
        ("( (S (NP a)\n( (S b) )", 3, r"a bracket without a label \(in the tree that begins in line 2\)"),
        ("(S (NP a) b)", 2, "the word 'b' beside a subtree"),
        ("( (NP a) b)", 2, "the word 'b' beside a subtree"),
        ("(S b (NP a))", 2, "a subtree beside the word 'b'"),
        ("(S a\n b)", 3, "two words below S, 'a' and 'b'"),
        ("S (NP a)", 2, "'S' stands outside of all brackets"),
    ],
)
def test_errors_name_the_file_and_the_line(tmp_path, text, line, message):
    path = tmp_path / "bad.mrg"
    path.write_text(f"(INTJ (UH yes))\n{text}\n")
    with pytest.raises(ValueError, match=f"^bad.mrg, line {line}: {message}"):
        read_trees(path)
    with pytest.raises(ValueError, match=r"character \d+: " + message.split(r" \(in")[0]):
        Tree.parse(text)
