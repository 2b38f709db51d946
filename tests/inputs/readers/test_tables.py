import io
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from maxmargin.formats import iterate_table_rows, read_table_rows, write_table_rows
from maxmargin.inputs.readers.tables import reading_table, write_table

CSV = 'query,size,label,"a, b"\n7,0.5,red,1\n7,0,green,-2\n\n"x",1e3,red,0\n'


def test_a_table_of_rows(tmp_path):
    rows = read_table_rows(io.StringIO("query,size,label\n7,0.5,red\n8,0,green\n"))
    assert rows.X.toarray().tolist() == [[0.5], [0]]
    assert (rows.y.tolist(), rows.qid.tolist(), rows.names) == (["red", "green"], [7, 8], ["size"])
    (tmp_path / "t.tsv").write_text("grade\tsize\n3\t1\n2.5\t0\n")
    rows = read_table_rows(tmp_path / "t.tsv", label="grade")
    assert (rows.y.tolist(), rows.qid, rows.names) == ([3, 2.5], None, ["size"])
    rows = read_table_rows(tmp_path / "t.tsv", label="none", names=["size"])
    assert (rows.X.toarray().tolist(), rows.y) == ([[1], [0]], None)
    assert read_table_rows(io.StringIO("label,a,b\n")).X.shape == (0, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (CSV, "line 5: the query is a text, 'x', but the first is a number; expected all of one kind"),
        ("label,a\n1,2\n1\n", "line 3: the row has 1 cells; expected 2, one for each column"),
        ("label,a\n1,\n", "line 2: the column 'a' has ''; expected a finite number"),
        ("label,a\n1,inf\n", "line 2: the column 'a' has 'inf'; expected a finite number"),
        ("label,a,a\n", "line 1: two columns are named 'a'"),
        ('label,a\n1,"2', "line 2: this is not a row of a table: unexpected end of data"),
        ("\n\n", "line 2: the table is empty; expected the names of its columns"),
        (f"label,a\n{'x' * 200_000},2\n", "line 2: this is not a row of a table: field larger than field limit"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        read_table_rows(io.StringIO(text))


def test_columns_are_found_by_their_names():
    text = "b,label,more,a\n1,x,no number,2\n"
    assert read_table_rows(io.StringIO(text), names=["a", "b"]).X.toarray().tolist() == [[2, 1]]
    with pytest.raises(ValueError, match=r"line 1: there is no column 'c'\. The columns are b, label, more, a"):
        read_table_rows(io.StringIO(text), names=["a", "c"])


texts = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=5)
numbers = st.floats(-1e100, 1e100)


@pytest.mark.parametrize("suffix", ["csv", "tsv.gz", "parquet"])
@given(data=st.data())
def test_what_is_written_is_read(suffix, tmp_path_factory, data):
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path_factory.mktemp("tables") / f"t.{suffix}"
    n, f = data.draw(st.integers(1, 4)), data.draw(st.integers(0, 3))
    columns = st.lists(texts.filter(lambda name: name not in ("label", "query") and name[:1] != "\ufeff"), unique=True)
    names = data.draw(columns.filter(lambda found: len(found) >= f).map(lambda found: found[:f]))
    X = np.array(data.draw(st.lists(numbers, min_size=n * f, max_size=n * f))).reshape(n, f)
    labels = st.integers(-(2**53), 2**53) | numbers if data.draw(st.booleans()) else texts.map(lambda text: f"x{text}")
    y, qid = (data.draw(st.lists(labels, min_size=n, max_size=n)) for _ in range(2))
    y, qid = ([float(each) if isinstance(each, int) else each for each in some] for some in (y, qid))
    write_table_rows(path, sparse.csr_array(X) if data.draw(st.booleans()) else X, y, qid, names)
    found = read_table_rows(path)
    assert (found.X.toarray() == X).all()
    assert (found.y.tolist(), found.qid.tolist(), found.names) == (y, qid, names)
    parts = list(iterate_table_rows(path, at_once=3))
    assert [label for part in parts for label in part.y.tolist()] == y


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@given(data=st.data())
def test_any_texts_are_written_and_read(suffix, tmp_path_factory, data):
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path_factory.mktemp("tables") / f"t.{suffix}"
    names = data.draw(st.lists(texts.filter(lambda text: text[:1] != "\ufeff"), min_size=1, max_size=3, unique=True))
    rows = data.draw(st.lists(st.tuples(*[texts] * len(names)), max_size=4))
    write_table(path, names, rows)
    with reading_table(path) as table:
        assert table.columns == names
        assert list(map(tuple, table)) == rows


def test_parquet_is_read_some_rows_at_a_time_with_its_row_in_errors(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pyarrow.table({"label": list(range(25_000)), "a": [1.5] * 24_999 + [None]})
    parquet.write_table(table, tmp_path / "t.parquet", row_group_size=7000)
    parts = iterate_table_rows(tmp_path / "t.parquet", at_once=8000)
    assert [next(parts).X.shape[0] for _ in range(3)] == [8000] * 3
    with pytest.raises(ValueError, match=r"t\.parquet, row 25000: the column 'a' has None; expected a finite number"):
        next(parts)
    with pytest.raises(ValueError, match="a column has values of several kinds"):
        write_table(tmp_path / "u.parquet", ["a"], [["x"], [2]])


def test_a_table_that_holds_far_more_than_its_size_is_refused(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    zeros = pyarrow.table({"a": np.zeros(12_000_000)})
    parquet.write_table(zeros, tmp_path / "t.parquet", compression="zstd", use_dictionary=False)
    with pytest.raises(ValueError, match=r"t\.parquet holds [\d,]+ bytes, more than 200 times its own size"):
        read_table_rows(tmp_path / "t.parquet")


def test_what_cannot_be_written(tmp_path):
    with pytest.raises(ValueError, match="which a table cannot hold"):
        write_table(io.StringIO(), ["a"], [["x\ry"]])
    with pytest.raises(ValueError, match="and different names"):
        write_table(io.StringIO(), ["a", "a"], [])
    with pytest.raises(ValueError, match="3 names for 2 columns"):
        write_table_rows(io.StringIO(), np.eye(2), names=["a", "b", "c"])
