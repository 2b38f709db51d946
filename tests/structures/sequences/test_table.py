import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.formats import ConllSentence, read_table_sequences, write_table_sequences

CSV = "sequence,word,tag,label\n1,Ada,NNP,I-PER\n1,slept,VBD,O\nb,Yes,UH,O\n"


def test_rows_of_a_sequence_are_together():
    first, second = read_table_sequences(io.StringIO(CSV))
    assert first == ConllSentence([("Ada", "NNP"), ("slept", "VBD")], ["I-PER", "O"])
    assert second == ConllSentence([("Yes", "UH")], ["O"])
    assert read_table_sequences(io.StringIO(CSV), chunks="BIO")[0].labels == ["B-PER", "O"]
    other = io.StringIO(CSV.replace("sequence", "s").replace("label", "l"))
    assert read_table_sequences(other, sequence="s", label="none")[1] == ConllSentence([("Yes", "UH", "O")], [])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{CSV}1,x,y,O\n", "line 5: the sequence '1' begins a second time; expected all of its rows together"),
        ("word,label\na,O\n", "line 1: there is no column 'sequence'. The columns are word, label"),
        ("sequence,label\na,O\n", "line 1: there is no column of tokens; expected at least one"),
        ("sequence,word,label\n1,a\n", "line 2: the row has 2 cells; expected 3"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        read_table_sequences(io.StringIO(text))


texts = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=4)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@given(st.integers(1, 3).flatmap(lambda k: st.lists(st.lists(st.tuples(st.tuples(*[texts] * k), texts), min_size=1))))
def test_what_is_written_is_read(suffix, tmp_path_factory, sequences):
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path_factory.mktemp("tables") / f"t.{suffix}"
    X, Y = ([[pair[k] for pair in sequence] for sequence in sequences] for k in (0, 1))
    write_table_sequences(path, X, Y)
    assert read_table_sequences(path) == list(map(ConllSentence, X, Y))


def test_what_cannot_be_written():
    for X, Y, message in (
        ([[("a",)]], [[]], "sequence 0 has 1 tokens but 0 labels"),
        ([[]], [[]], "sequence 0 is empty"),
        ([[("a",)], [("a", "b")]], None, "sequence 1, token 0 has 2 columns; expected 1"),
    ):
        with pytest.raises(ValueError, match=message):
            write_table_sequences(io.StringIO(), X, Y)


def test_texts_are_kept_once():
    text = "sequence,word,label\n1,the-,x-y\n1,the-,x-y\n2,the-,x-y\n"
    first, second = read_table_sequences(io.StringIO(text))
    assert first.tokens[0][0] is second.tokens[0][0]
    assert first.labels[1] is second.labels[0]
