import io
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from maxmargin.formats import iterate_mulan_rows, read_mulan_rows, write_mulan_rows
from maxmargin.inputs.readers.mulan import read_label_names

XML = '<labels xmlns="x">\n<label name="glad"><label name="calm"/></label>\n</labels>\n'
HEAD = """@relation songs
@attribute pace numeric
@attribute calm {0,1}
@attribute tone {dur, 'a moll', "it's"}
@attribute glad {0,1}
@attribute year {1990,2000}
@data
"""


def read(table, xml=XML):
    return read_mulan_rows(io.StringIO(table), io.StringIO(xml))


def test_rows_in_full_and_in_brackets():
    rows = read(HEAD + "0.5, 1, 'a moll', 0, 2000\n% a comment\n{0 -2, 2 \"it's\", 3 1}\n{}\n{ 2 'a moll' }\n")
    assert rows.labels == ["calm", "glad"]
    assert rows.names == ["pace", "tone=dur", "tone=a moll", "tone=it's", "year"]
    assert rows.X.toarray().tolist() == [
        [0.5, 0, 1, 0, 2000],
        [-2, 0, 0, 1, 1990],  # what is left out is the first of the listed values
        [0, 1, 0, 0, 1990],
        [0, 0, 1, 0, 1990],
    ]
    assert rows.Y.tolist() == [[1, 0], [0, 1], [0, 0], [0, 0]]
    assert read(HEAD).X.shape == (0, 5)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("1,2,3\n", "line 8: the row has 3 values; expected 5"),
        ("1,0,dur,1,?\n", "line 8: 'year' is '?'; expected a finite number"),
        ("\nx,0,dur,1,1990\n", "line 9: 'pace' is 'x'; expected a finite number"),
        ("1,0,mix,1,1990\n", "line 8: 'tone' is 'mix'; expected one of dur, a moll, it's"),
        ("1,2,dur,1,1990\n", "line 8: the label 'calm' is 2; expected 0 or 1"),
        ("1,,dur,1,1990\n", "line 8: value 2 is empty; expected a text (an empty text is written as '')"),
        ("1,0,'dur,1,1990\n", 'line 8: found "\'dur,1,1990"; expected a value'),
        ("{0 1, 9 1}\n", "line 8: '9' is not an attribute; expected the number of each once, from 0 to 4"),
        ("{0 1, 0 1}\n", "line 8: '0' is not an attribute; expected the number of each once, from 0 to 4"),
        ("{0 1, 0\n", "line 8: found '{0 1, 0' at the end; expected a closing curly bracket"),
        ("1,0,'dur' 2,1,1990\n", "line 8: found \"'dur' 2,1,1990\"; expected a value"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(rows, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        read(HEAD + rows)


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ("", "which is empty: the file ends; expected a line @data"),
        ("@relation x\nfoo\n", "line 2: found 'foo'; expected @attribute NAME KIND, or @data"),
        ("@attribute\n@data\n", "line 1: found '@attribute'; expected @attribute NAME KIND"),
        ("@attribute a real\n@attribute a real\n@data\n", "line 3: two attributes above this line are named 'a'"),
        ("@attribute a real\n@data\n", "line 2: no attribute above this line is the label 'glad'"),
        (f"@attribute t string\n{HEAD}", "line 8: the attribute 't', above this line, holds free text"),
    ],
)
def test_heads_that_are_wrong(head, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        read(head)


@pytest.mark.parametrize(
    ("xml", "message"),
    [
        ("<labels/>\n", "line 1: the file names no label"),
        ("<labels>\n<label/></labels>", "line 2: a label has no name"),
        ("<labels>\n<label name='a'/><label name='a'/></labels>", "line 2: the label 'a' is named a second time"),
        ("<labels>\n\n<label", "line 3: this is not XML: unclosed token"),
        ('<!DOCTYPE l [<!ENTITY a "aaaa">]><l/>', "line 1: there is a DOCTYPE; expected plain XML without one"),
    ],
)
def test_files_of_labels_that_are_wrong(xml, message):
    with pytest.raises(ValueError, match=message):
        read_label_names(io.StringIO(xml))


names = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1, max_size=6)
numbers = st.floats(-1e100, 1e100)


@given(st.data(), st.booleans())
def test_what_is_written_is_read(data, packed):
    n, f, k = (data.draw(st.integers(least, 4)) for least in (0, 0, 1))
    called = data.draw(st.lists(names, min_size=f + k, max_size=f + k, unique=True))
    X = np.array(data.draw(st.lists(numbers, min_size=n * f, max_size=n * f))).reshape(n, f)
    Y = np.array(data.draw(st.lists(st.integers(0, 1), min_size=n * k, max_size=n * k))).reshape(n, k)
    table, labels = io.StringIO(), io.StringIO()
    write_mulan_rows(table, labels, sparse.csr_array(X) if packed else X, Y, called[f:], called[:f])
    found = read(table.getvalue(), labels.getvalue())
    assert (found.names, found.labels) == (called[:f], called[f:])
    assert (found.X.toarray() == X).all()
    assert (found.Y == Y).all()
    parts = list(iterate_mulan_rows(io.StringIO(table.getvalue()), io.StringIO(labels.getvalue()), at_once=2))
    assert [part.X.shape[0] for part in parts] == [min(2, n - begin) for begin in range(0, n, 2)]
    if parts:
        assert (np.vstack([part.X.toarray() for part in parts]) == X).all()


def test_what_cannot_be_written():
    X, Y = np.eye(2), np.eye(2)
    for arguments, message in [
        ((X, Y, ["a"]), "Y \\(2, 2\\) and 1 labels"),
        ((X, Y, ["a", "x0"]), "two columns have the same name"),
        ((X, Y + 1, ["a", "b"]), "zeros and ones"),
        ((X, Y, ["a\n", "b"]), "cannot be the name of a label"),
        ((np.full((2, 2), np.inf), Y, ["a", "b"]), "not finite"),
        ((X, Y, ["a", "b"], ["c\n", "d"]), "contains a line break"),
    ]:
        with pytest.raises(ValueError, match=message):
            write_mulan_rows(io.StringIO(), io.StringIO(), *arguments)
