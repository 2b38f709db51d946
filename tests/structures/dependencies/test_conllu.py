"""CoNLL-U files: round trips, and errors that name file and line."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structures.dependencies.tree_lists import all_heads

from maxmargin.formats import ConlluSentence, iterate_conllu, read_conllu, write_conllu

TEXT = """# sent_id = 1
# text = Don't sleep.
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tDo\tdo\tAUX\tVB\tMood=Imp\t3\taux\t3:aux\t_
2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t3:advmod\t_
2.1\tyou\tyou\tPRON\tPRP\t_\t_\t_\t3:nsubj\t_
3\tsleep\tsleep\tVERB\tVB\t_\t0\troot\t0:root\tSpaceAfter=No
4\t.\t.\tPUNCT\t.\t_\t3\tpunct\t3:punct\t_

1\tYes\tyes\tINTJ\tUH\t_\t0\troot\t_\t_

"""


def test_reading():
    first, second = read_conllu(io.StringIO(TEXT))
    assert first.tokens[:2] == [("Do", "AUX", "VB"), ("n't", "PART", "RB")]
    assert first.heads == [3, 3, 0, 3]
    assert first.arcs[0] == (3, "aux")
    assert first.text == "Don't sleep."
    assert (len(first), second.forms, second.text) == (4, ["Yes"], None)


def written(sentences):
    file = io.StringIO()
    write_conllu(file, sentences)
    return file.getvalue()


def test_what_was_read_is_written_again():
    assert written(read_conllu(io.StringIO(TEXT))) == TEXT
    assert written(iterate_conllu(io.StringIO(TEXT.rstrip("\n")))) == TEXT  # the last empty line may be missing


def test_predicted_arcs_are_written():
    first, _ = read_conllu(io.StringIO(TEXT))
    changed = first.with_arcs([(2, "aux"), (0, "root"), (2, "x"), (2, "punct")])
    (again,) = read_conllu(io.StringIO(written([changed])))
    assert again == changed
    assert again.arcs[1] == (0, "root")
    assert first.with_arcs([3, 1, 0, 3]).arcs[1] == (1, "advmod")
    with pytest.raises(ValueError, match="there are 1 arcs; expected 4"):
        first.with_arcs([0])


fields = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=5)


@st.composite
def conllu_sentences(draw):
    heads = draw(st.sampled_from(all_heads(draw(st.integers(1, 4)))))
    rows = [(*(draw(fields) for _ in range(5)), head, draw(fields), draw(fields), draw(fields)) for head in heads]
    return ConlluSentence(rows, draw(st.lists(fields.map("# {}".format), max_size=2)))


@given(st.lists(conllu_sentences(), min_size=1, max_size=3))
def test_round_trip(sentences):
    assert read_conllu(io.StringIO(written(sentences))) == sentences


def test_compressed_files(tmp_path):
    path = tmp_path / "two.conllu.xz"
    write_conllu(path, read_conllu(io.StringIO(TEXT)))
    assert written(read_conllu(path)) == TEXT


WORD = "1\tYes\tyes\tINTJ\tUH\t_\t0\troot\t_\t_\n"
TWO = "2\tNo\tno\tINTJ\tUH\t_\t{}\tconj\t_\t_\n"
BAD = {
    "columns": (WORD + "2\tNo\n", "line 2: the line has 2 columns; expected 10, with tabs between them"),
    "id": (WORD + WORD, "line 2: the id is '1'; expected 2, the next word"),
    "id of a word": ("x" + WORD, "line 1: the id is 'x1'; expected 1"),
    "head": (WORD + TWO.format("first"), "line 2: the head is 'first'; expected the number of a word, 0 or _"),
    "head out of range": (
        WORD + TWO.format(7),
        "line 1: the sentence: word 2 has the head 7; expected 0, the root, or",
    ),
    "cycle": (WORD + TWO.format(2), "line 1: the sentence is not a tree: the words 2 -> 2 form a cycle"),
    "no root": (WORD.replace("\t0\t", "\t2\t") + TWO.format(1), "line 1: the sentence has no root"),
    "two roots": (WORD + TWO.format(0), "line 1: the sentence has 2 roots, the words 1, 2; expected one"),
    "some heads": (WORD + TWO.format("_"), "line 1: word 2 has no head, but others have one"),
    "no words": ("# text\n\n", "line 2: there is a sentence without words"),
    "late comment": (WORD + "# text\n", "line 2: a comment stands among the words of a sentence"),
}


@pytest.mark.parametrize("case", BAD)
def test_errors_name_the_line(case, tmp_path):
    text, message = BAD[case]
    path = tmp_path / "bad.conllu"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"bad.conllu, {message}"):
        read_conllu(path)


def test_several_roots_may_be_allowed_and_heads_missing():
    assert read_conllu(io.StringIO(WORD + TWO.format(0)), single_root=False)[0].heads == [0, 0]
    (bare,) = read_conllu(io.StringIO(WORD.replace("\t0\t", "\t_\t")))
    assert bare.tokens == [("Yes", "INTJ", "UH")]
    with pytest.raises(ValueError, match="word 1, 'Yes', has no head"):
        assert bare.heads


def test_what_cannot_be_written():
    with pytest.raises(ValueError, match="sentence 0: form of word 1 is 'a\\\\tb'; expected text without tabs"):
        written([ConlluSentence([("a\tb", "_", "_", "_", "_", 0, "_", "_", "_")])])
    with pytest.raises(ValueError, match="sentence 0 is a list; expected a ConlluSentence"):
        written([[]])
