import io

import pytest

from maxmargin.datasets import read_clus

HEAD = """@RELATION ehd

@ATTRIBUTE arg1 NUMERIC
@ATTRIBUTE arg2 NUMERIC
@ATTRIBUTE class hierarchical 6,9,6/2,6/2/0,9/1,9/1/a

@DATA
"""


def test_labels_are_the_deepest_paths():
    X, labels = read_clus(io.StringIO(HEAD + "7,0,6@6/2@6/2/0\n3,2,9/1/a@9/1@9\n1,1,9\n\n"))
    assert X.tolist() == [[7, 0], [3, 2], [1, 1]]
    assert labels == ["6/2/0", "9/1/a", "9"]


@pytest.mark.parametrize("classes", ["6/2@9/1", "6@6/2@6/20", "6@9"])
def test_classes_of_several_ways_are_refused(classes):
    with pytest.raises(
        ValueError,
        match=r"the text, line 9: the classes are .*; expected all of them to be paths "
        r"in one notation",
    ):
        read_clus(io.StringIO(HEAD + f"3,2,9\n7,0,{classes}\n"))


@pytest.mark.parametrize("row", ["7,6/2", "7,0,1,6/2"])
def test_rows_have_all_columns(row):
    with pytest.raises(ValueError, match=r"the text, line 8: the row has \d values; expected 3"):
        read_clus(io.StringIO(HEAD + row))


def test_missing_numbers_are_refused():
    with pytest.raises(ValueError, match=r"the text, line 8: 'arg2' is '\?'; expected a finite number"):
        read_clus(io.StringIO(HEAD + "7,?,6/2\n"))
